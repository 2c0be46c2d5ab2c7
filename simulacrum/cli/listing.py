"""`simulacrum list`: every environment that is found, and what the gate says to it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from simulacrum.cli import terminal
from simulacrum.cli.choices import Json

if TYPE_CHECKING:
    from simulacrum.attest.record import Report
    from simulacrum.contract.package import BrokenPackage, EnvPackage

STYLES = {"fresh": "green", "failing": "bold red", "damaged": "bold red", "broken": "bold red"}


@dataclass(frozen=True)
class Listed:
    """One environment. `gate` is the gate's status, or "broken"; `validated` names the configurations it opens for.

    `unbuilt` says why it has no native form, where a full run found that it cannot have one. `mutants` is the mutation
    score, None where none was measured. `transfer` is the verdict of `simulacrum transfer` on these files: equal,
    equivalent, "not shown" or different; None where it was not run.
    """

    id: str
    name: str
    gate: str
    why: list[str]
    validated: list[str]
    folder: str | None
    origin: str
    next_command: str
    unbuilt: str | None = None
    mutants: Mutants | None = None
    transfer: str | None = None


@dataclass(frozen=True)
class Mutants:
    """A mutation score: `312/312`, when it was finished, and why it is about something else than what is there now."""

    score: str
    killed: int
    counted: int
    finished: str
    age: str
    stale: bool
    why: str


def list_(
    paths: Annotated[list[Path] | None, typer.Argument(metavar="PATH", help="More folders to look into.")] = None,
    json: Json = False,
) -> None:
    """List the environments, each with the state of its gate and why.

    The exit code is 0 whatever the gates say.

    --json prints one document with version and environments, each with its id, name, gate (fresh, missing, stale,
    failing, partial, damaged, other_configuration or broken), why (sentences), validated (configurations), folder,
    origin, next_command, unbuilt, mutants (null, or score, killed, counted, finished, age, stale and why) and transfer
    (null, or the verdict of `simulacrum transfer`).
    """
    from simulacrum.contract.package import find_packages

    terminal.use_json(json)
    rows = [listed(package) for package in find_packages(*(paths or ()))]
    if json:
        terminal.print_json({"version": 1, "environments": [asdict(row) for row in rows]})
        return
    console = terminal.out()
    if not rows:
        console.print("no environments were found")
    else:
        console.print(_table(rows, wide=console.width >= 110))
    closed = next((row for row in rows if row.gate not in ("fresh", "broken")), None)
    start = closed.next_command if closed else "simulacrum new NAME"
    label = "validate" if closed else "write one"
    terminal.facts(console, [(label, terminal.command(start))])


def listed(package: EnvPackage | BrokenPackage) -> Listed:
    """What there is to say about one package; nothing is imported for it."""
    from simulacrum.attest.gate import gate_state
    from simulacrum.contract.package import BrokenPackage
    from simulacrum.errors import SimulacrumError

    if isinstance(package, BrokenPackage):
        folder = None if package.folder is None else str(package.folder)
        return _broken(package.name, package.name, package.error, folder, package.origin)
    folder = str(package.folder)
    try:
        _ = package.schema, package.spec
        state = gate_state(package)
    except SimulacrumError as error:
        return _broken(package.env_id, package.name, error, folder, package.origin)
    configurations = state.report.configurations if state.fresh and state.report else ()
    return Listed(
        id=package.env_id,
        name=package.name,
        gate=state.status,
        why=list(state.why),
        validated=[one.title for one in configurations if one.outcome == "passed"],
        folder=folder,
        origin=package.origin,
        next_command=f"simulacrum validate {terminal.spoken(package)}",
        unbuilt=next((str(one.details["reason"]) for one in configurations if "reason" in one.details), None),
        mutants=_mutants(package),
        transfer=_transfer(state.report) if state.status in ("fresh", "failing") else None,
    )


def _transfer(report: Report | None) -> str | None:
    found = None if report is None else report.checks.get("policy_transfer")
    return None if found is None else str(found.evidence.get("verdict") or found.status)


def _mutants(package: EnvPackage) -> Mutants | None:
    from simulacrum.attest.mutation import read_score

    known = read_score(package)
    if known is None:
        return None
    score = known.score
    return Mutants(score.text, score.killed, score.counted, score.finished, known.age, known.stale, known.why)


def _broken(env_id: str, name: str, error: Exception, folder: str | None, origin: str) -> Listed:
    mend = getattr(error, "next_step", None) or "mend it, then run `simulacrum list` again"
    where = getattr(error, "where", None)
    said = [str(getattr(error, "message", error)), *([f"at {where}"] if where else [])]
    return Listed(env_id, name, "broken", said, [], folder, origin, mend)


def _table(rows: list[Listed], *, wide: bool) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="dim")
    table.add_column("id", no_wrap=True, style="bold")
    table.add_column("gate", no_wrap=True)
    scored = any(row.mutants for row in rows)
    if scored:
        table.add_column("mutants", no_wrap=True)
    table.add_column("why", overflow="fold")
    if wide:
        table.add_column("folder", overflow="fold", style="dim")
    for row in rows:
        why = _why(row)
        folder = "-" if row.folder is None else terminal.short_path(Path(row.folder))
        gate = Text(row.gate.replace("_", " "), style=STYLES.get(row.gate, "yellow"))
        cells = [row.id, gate, *([_score(row.mutants)] if scored else [])]
        if wide:
            table.add_row(*cells, why, folder)
        else:
            table.add_row(*cells, Text.assemble(why, "\n", (folder, "dim")))
    return table


def _score(mutants: Mutants | None) -> Text:
    """`312/312` and how old it is: on two lines, so that the column stays narrow."""
    if mutants is None:
        return Text("-", style="dim")
    style = "dim" if mutants.stale else "green" if mutants.killed == mutants.counted else "yellow"
    more = "stale" if mutants.stale else "older battery" if mutants.why else mutants.age
    return Text.assemble((mutants.score, style), "\n", (more, "dim"))


def _why(row: Listed) -> str:
    if row.gate == "fresh":
        played = "" if row.transfer is None else f"; policies: {row.transfer}"
        return f"validated: {', '.join(row.validated)}{played}"
    shown = row.why[:3] + ([f"and {len(row.why) - 3} more"] if len(row.why) > 3 else [])
    text = "; ".join(shown)
    return f"{text}; {row.next_command}" if row.gate == "broken" else text
