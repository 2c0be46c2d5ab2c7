"""`simulacrum mutate`: plant faults in a twin, one at a time, and see which of them the battery finds."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simulacrum.cli import terminal
from simulacrum.cli.choices import Completion, Env, Json

if TYPE_CHECKING:
    from simulacrum.mutate.runner import Run


def complete_kind(incomplete: str) -> Completion:
    """The kinds of fault, with what each is about."""
    from simulacrum.trace.kinds import KINDS

    return [(kind.number, kind.title) for kind in KINDS if kind.number.startswith(incomplete)]


def mutate(
    name: Env,
    kinds: Annotated[
        list[str] | None,
        typer.Option(
            "--kinds", "-k", metavar="KIND", help="Only faults of this kind (repeatable).", autocompletion=complete_kind
        ),
    ] = None,
    file: Annotated[
        list[str] | None,
        typer.Option("--file", metavar="FILE", help="Change this file (repeatable). Default: fast.py"),
    ] = None,
    doses: Annotated[bool, typer.Option("--doses", help="The faults in their rarer forms.")] = False,
    rewrites: Annotated[
        bool, typer.Option("--rewrites", help="Changes that change nothing: each must pass all checks.")
    ] = False,
    sample: Annotated[
        int | None, typer.Option("--sample", min=1, help="Only so many, spread over kinds and operators.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the sample.")] = 0,
    only: Annotated[list[str] | None, typer.Option("--only", metavar="ID", help="This mutant (repeatable).")] = None,
    compile: Annotated[
        list[str] | None,
        typer.Option("--compile", metavar="FORM", help="Judge this form beside eager (repeatable); slow."),
    ] = None,
    matrix: Annotated[bool, typer.Option("--matrix", help="All checks on each mutant, without stopping.")] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="A fraction of each check; the score is then not kept.")
    ] = False,
    unread: Annotated[
        bool, typer.Option("--unread", help="Without spec_contract: only what running the twins shows counts.")
    ] = False,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=0, help="Processes. Default: one for each core.")] = 0,
    timeout: Annotated[float, typer.Option("--timeout", min=1.0, help="Seconds for one mutant.")] = 600.0,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="DIR", help="Keep results here, and go on with what is there."),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE", help="Draw which check finds which kind of fault (needs matplotlib)."),
    ] = None,
    json: Json = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show each mutant's diff and message.")] = False,
) -> None:
    """Plant faults in the batched twin, one at a time, and count those that the battery finds.

    Each mutant is judged in a process beside others by the required checks, the cheap ones first. Mutants that do not
    run are left out, and so are those that change nothing: the same graph of operations as the original. A run over
    all of fast.py is kept as the package's score, which `simulacrum list` shows.

    Exit codes: 0 no mutant survived (with --rewrites: every rewrite passed), 1 some did, 2 wrong usage.

    --json prints one JSON object a line, each with an "event":

    - `started`: version, package, env_id, folder, mutants (how many), of (how many there are), jobs, files, checks
    - `stage`: stage (trace, capture, read or judge), done, total
    - `mutant`: id, kind, operator, file, line, before, after, dose, note, diff, again, verdict {status, killer, named,
      rule, located, step, episode, t, row, transitions, seconds, checks, why, ...}
    - `finished`: seconds, judged, per_minute, score, summary, kept (path or null), survived (ids)
    - `error`, in place of `finished`: kind, message, expected, found, where, next
    """
    from simulacrum.cli import mutation_outcome, mutation_view, pictures
    from simulacrum.contract.package import load_package
    from simulacrum.plots import check_picture

    terminal.use_json(json)
    package = load_package(name)
    check_picture(plot)
    terminal.one_thread()
    from simulacrum.mutate.plan import Plan
    from simulacrum.mutate.runner import Run

    plan = Plan(
        package=package,
        files=tuple(file or ("fast.py",)),
        kinds=_kinds(kinds),
        doses=doses,
        rewrites=rewrites,
        sample=sample,
        seed=seed,
        only=tuple(only or ()),
        forms=_forms(compile),
        quick=quick,
        matrix=matrix,
        unread=unread,
        jobs=jobs or _cores(),
        timeout=timeout,
        output=output,
    )
    with mutation_view.view_for(plan, json=json, verbose=verbose) as view:
        run = Run(plan, view).go()
    from simulacrum.mutate.keep import keep, pairs

    mutation_outcome.show(run, keep(run), json=json, verbose=verbose)
    if plot is not None:
        pictures.mutants(plot, pairs(run), matrix=matrix, name=package.name)
    raise typer.Exit(terminal.FAILED if _failed(run) else terminal.PASSED)


def _failed(run: Run) -> bool:
    """Whether faults survived, or rewrites did not."""
    statuses = [verdict.status for verdict in run.verdicts.values()]
    if run.plan.rewrites:
        return any(status != "survived" for status in statuses) or any(one.open for one in run.verdicts.values())
    return any(status in ("survived", "timeout", "lost") for status in statuses)


def _kinds(kinds: list[str] | None) -> tuple[str, ...] | None:
    """The kinds in the spelling of the table; `--kinds K06,K12` names two."""
    from simulacrum.errors import UsageError
    from simulacrum.trace.kinds import BY_NUMBER

    named = [one.strip().upper() for text in kinds or () for one in text.replace(",", " ").split()]
    unknown = [one for one in named if one not in BY_NUMBER]
    if unknown:
        known = f"{min(BY_NUMBER)} to {max(BY_NUMBER)}"
        raise UsageError(f"no kind of fault is called {', '.join(unknown)}", expected=known)
    return tuple(named) or None


def _forms(compile: list[str] | None) -> tuple[str, ...]:
    if not compile:
        return ("eager",)
    import torch

    from simulacrum.engine.forms import resolve_form

    return tuple(dict.fromkeys(["eager", *(resolve_form(form, torch.device("cpu")) for form in compile)]))


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

