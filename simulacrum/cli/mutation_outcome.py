"""What a run of mutants comes to: tables by kind and by check, survivors with their diffs, the score."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from simulacrum.cli import terminal
from simulacrum.cli.mutation_view import PER_MINUTE, line
from simulacrum.mutate.keep import pairs
from simulacrum.mutate.matrix import summary
from simulacrum.mutate.mutant import Mutant
from simulacrum.mutate.runner import Run
from simulacrum.mutate.verdict import SAME_GRAPH, Verdict


def show(run: Run, kept: Path | None, *, json: bool, verbose: bool) -> None:
    """Print what the run came to."""
    told = summary(pairs(run), matrix=run.plan.matrix)
    rate = run.judged / run.seconds * PER_MINUTE if run.seconds and run.judged else 0.0
    survivors = [(m, v) for m, v in pairs(run) if v.status in ("survived", "timeout", "lost")]
    if json:
        terminal.print_json(
            {
                "event": "finished",
                "seconds": round(run.seconds, 1),
                "judged": run.judged,
                "per_minute": round(rate, 1),
                "score": told["total"]["score"],
                "summary": told,
                "kept": None if kept is None else str(kept),
                "survived": told["survivors"],
            }
        )
        return
    console = terminal.out()
    if not run.plan.rewrites:
        console.print()
        console.print(_kinds(told))
        console.print()
        console.print(_checks(told, run.plan.matrix))
        _show_survivors(console, run, survivors)
    else:
        _show_rewrites(console, run)
    console.print()
    terminal.facts(console, _facts(run, told, rate, kept))


def _kinds(told: dict[str, Any]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="dim")
    table.add_column("kind", no_wrap=True)
    for name in ("planted", "stillborn", "equivalent", "duplicate", "killed", "survived", "score"):
        table.add_column(name, justify="right")
    for kind, one in [*told["kinds"].items(), ("all", told["total"])]:
        cells = [one["planted"], one["stillborn"], one["equivalent"], one["duplicate"], one["killed"], one["survived"]]
        style = "bold" if kind == "all" else "red" if one["survived"] else ""
        share = f"{100 * one['killed'] / one['counted']:.0f} %" if one["counted"] else "-"
        table.add_row(kind, *(str(cell) if cell else "" for cell in cells), share, style=style)
    return table


def _checks(told: dict[str, Any], matrix: bool) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="dim")
    table.add_column("killed by", no_wrap=True)
    names = ["first", *(["all", "unique"] if matrix else []), "steps", "seconds"]
    for name in names:
        table.add_column(name, justify="right")
    for one in told["checks"]:
        steps = "" if one["steps"] is None else f"{one['steps']:.0f}"
        more = [str(one["all"]), str(one["unique"] or "")] if matrix else []
        table.add_row(one["path"], str(one["first"]), *more, steps, f"{one['seconds']:.1f}")
    return table


def _show_survivors(console: Console, run: Run, survivors: Sequence[tuple[Mutant, Verdict]]) -> None:
    for mutant, verdict in survivors:
        console.print()
        console.print(line(mutant, verdict), soft_wrap=True)
        if mutant.note:
            console.print(Text(mutant.note, style="dim"), soft_wrap=True)
        console.print(Text(mutant.diff.rstrip()), soft_wrap=True)
        if verdict.open:
            console.print(Text(f"inconclusive: {', '.join(verdict.open)}", style="yellow"), soft_wrap=True)
        console.print(terminal.command(_again(run, mutant)), soft_wrap=True)


def _show_rewrites(console: Console, run: Run) -> None:
    for mutant, verdict in pairs(run):
        if verdict.status != "survived" or verdict.open:
            console.print()
            by = verdict.killer or ", ".join(verdict.open) or verdict.status
            console.print(Text(f"refused by {by}: {verdict.message or verdict.why}", style="red"), soft_wrap=True)
            console.print(Text(mutant.diff.rstrip()), soft_wrap=True)
            console.print(terminal.command(_again(run, mutant)), soft_wrap=True)


def _again(run: Run, mutant: Mutant) -> str:
    """The command that runs this one again."""
    more = " --rewrites" if run.plan.rewrites else "" if mutant.file == "fast.py" else f" --file {mutant.file}"
    return f"simulacrum mutate {terminal.spoken(run.plan.package)} --only {mutant.id}{more} -v"


def _facts(run: Run, told: dict[str, Any], rate: float, kept: Path | None) -> list[tuple[str, str | Text]]:
    total = told["total"]
    if run.plan.rewrites:
        passed = [one for one in run.verdicts.values() if one.status == "survived" and not one.open]
        same = sum(one.why == SAME_GRAPH for one in passed)
        more = f", {same} of them by having the original's graph and a text that is not refused" if same else ""
        rows: list[tuple[str, str | Text]] = [("rewrites", f"{len(passed)} of {len(run.chosen)} pass{more}")]
    else:
        rows = [("score", _score(total))]
        if told["named"]:
            share = f"{told['located']} of {told['named']}"
            rows.append(("located", f"{share} first reports name the changed line's rule or field"))
        if told.get("smallest_set"):
            rows.append(("enough", ", ".join(told["smallest_set"])))
    if run.judged:
        median = f", median kill {told['median_seconds']:.1f} s" if told["median_seconds"] is not None else ""
        pace = f"{rate:.0f}" if rate >= 10 else f"{rate:.1f}"
        rows.append(("speed", f"{run.judged} judged in {run.seconds:.0f} s, {pace} a minute{median}"))
    if kept is not None:
        rows.append(("kept", terminal.short_path(kept)))
    if run.plan.output is not None:
        rows.append(("results", terminal.short_path(run.plan.output / "results.json")))
    return rows


def _score(total: dict[str, Any]) -> Text:
    left = [f"{total[name]} {name}" for name in ("timeout", "lost") if total[name]]
    style = "bold green" if total["killed"] == total["counted"] and not left else "bold red"
    read = f", {total['by_reading']} of them by reading alone" if total["by_reading"] else ""
    more = f" ({', '.join(left)})" if left else ""
    return Text.assemble((total["score"], style), f" killed{read}{more}")
