"""`simulacrum replay`: a recording played again by both twins, or the one step of a failure run again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from simulacrum.cli import terminal
from simulacrum.cli.choices import complete_env, complete_player

if TYPE_CHECKING:
    from simulacrum.contract.package import EnvPackage
    from simulacrum.trace.divergence import Divergence
    from simulacrum.trace.trajectory import Trajectory


def replay(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A trajectory, or the record of a failure.")],
    env: Annotated[
        str | None,
        typer.Option(
            "--env",
            metavar="NAME",
            help="The environment, where the file's own id is not installed.",
            autocompletion=complete_env,
        ),
    ] = None,
    form: Annotated[
        list[str] | None,
        typer.Option(
            "--form",
            help="Who plays: reference, eager, inductor (repeatable). Default: both twins.",
            autocompletion=complete_player,
        ),
    ] = None,
) -> None:
    """Replay a file and compare every bit.

    A trajectory is played again from its seed and actions. The record of a failure (failures/ID.json) is narrowed to
    its one step, which both twins take again from the same state with the same draws.

    Exit codes: 0 all bits agree, 1 something differs, 2 the file cannot be used.
    """
    from simulacrum.cli.sources import DIVERGENCE, header_of

    terminal.one_thread()
    if header_of(file).get("format") == DIVERGENCE:
        raise typer.Exit(_replay_failure(file, env))
    raise typer.Exit(_replay_trajectories(file, env, form))


def _replay_trajectories(file: Path, env: str | None, forms: list[str] | None) -> int:
    from simulacrum.cli.sources import read_recording

    package, rows = read_recording(file, env)
    console = terminal.out()
    console.print(Text.assemble((package.env_id, "bold"), f"  {file}"), soft_wrap=True)
    code = terminal.PASSED
    for number, row in enumerate(rows):
        chosen = list(dict.fromkeys(forms or ["reference", "eager", *_known(row.form)]))
        for form in chosen:
            found = _compare(package, row, form)
            what = f"trajectory {number}, seed {row.seed}: {len(row.starts)} episodes, {len(row.steps)} steps"
            verdict = Text("differs", style="bold red") if found else Text("equal", style="green")
            console.print(Text.assemble(f"{form:<10} ", verdict, f"  {what} of {row.form}"), soft_wrap=True)
            if found is not None:
                code = terminal.FAILED
                console.print()
                _show(found)
                break
    return code


def _known(form: str) -> list[str]:
    """The recording's own form, when it is one that can play."""
    return [form] if form in ("reference", "eager", "inductor") else []


def _compare(package: EnvPackage, row: Trajectory, form: str) -> Divergence | None:
    from simulacrum.cli.players import repeat
    from simulacrum.trace import Configuration, first_difference

    again = repeat(package, row, form)
    ran = Configuration(form, "cpu", 1, "disabled", dict(row.params), row.max_episode_steps)
    return first_difference(row, again, package.schema, configuration=ran)


def _replay_failure(file: Path, env: str | None) -> int:
    from simulacrum.cli.sources import package_for
    from simulacrum.harness.replay_step import replay_divergence
    from simulacrum.trace import read_divergence

    record = read_divergence(file)
    result = replay_divergence(file, package_for(file, record.env_id, env))
    console = terminal.out()
    console.print(Text(result.message, style="red" if result.differs else "green"), soft_wrap=True)
    if result.found is None:
        return terminal.PASSED
    console.print()
    _show(result.found)
    return terminal.FAILED


def _show(found: Divergence) -> None:
    from simulacrum.trace import render_plain, render_rich

    console = terminal.out()
    if console.is_terminal:
        console.print(render_rich(found))
    else:
        console.print(render_plain(found), soft_wrap=True)
