"""`simulacrum record`: play some episodes and write down everything that happened."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from simulacrum.cli import terminal
from simulacrum.cli.choices import Env, Policy, Seed, complete_player

if TYPE_CHECKING:
    from simulacrum.contract.package import EnvPackage
    from simulacrum.trace.trajectory import Trajectory

UNLIMITED = 1000  # steps of an episode of an environment without a time limit, unless --max-steps says otherwise


def record(
    name: Env,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="File to write: .json, .jsonl or .npz.")],
    policy: Policy = "random",
    episodes: Annotated[int, typer.Option("--episodes", min=1, help="How many episodes of the row.")] = 1,
    seed: Seed = 0,
    form: Annotated[
        str,
        typer.Option("--form", help="Who plays: reference, eager or inductor.", autocompletion=complete_player),
    ] = "reference",
    param: Annotated[
        list[str] | None, typer.Option("--param", metavar="NAME=VALUE", help="A parameter's value (repeatable).")
    ] = None,
    max_steps: Annotated[
        int | None, typer.Option("--max-steps", min=1, help="Leave an episode after so many steps.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a file that stands there.")] = False,
) -> None:
    """Record episodes of one row: states, actions, rewards, observations and every word drawn, to the bit."""
    from simulacrum.contract.package import load_package
    from simulacrum.trace import write_trajectory

    terminal.one_thread()
    check_target(out, overwrite)
    package = load_package(name)
    params = params_of(param)
    row = play_episodes(package, policy, seed=seed, episodes=episodes, form=form, params=params, most=max_steps)
    write_trajectory(out, row, package.schema)
    console = terminal.out()
    console.print(_table(row))
    path = terminal.quoted(out)
    known = "" if not package.origin.startswith("path") else f" --env {terminal.spoken(package)}"
    rows: list[tuple[str, str | Text]] = [
        ("wrote", f"{out} ({len(row.starts)} episodes, {len(row.steps)} steps, {row.form})"),
        ("replay", terminal.command(f"simulacrum replay {path}{known}")),
    ]
    if package.render() is not None:
        rows.append(("render", terminal.command(f"simulacrum render {path}{known}")))
    terminal.facts(console, rows)


def check_target(path: Path, overwrite: bool) -> None:
    """Raise UsageError where a recording cannot or must not be written, before anything is played."""
    from simulacrum.errors import UsageError

    if path.suffix not in (".json", ".jsonl", ".npz"):
        raise UsageError(
            "a trajectory file of an unknown kind",
            expected="a name that ends in .json, .jsonl or .npz",
            found=str(path),
            next_step=f"did you mean {path.with_suffix('.json')}?",
        )
    if os.path.lexists(path) and not overwrite:
        raise UsageError(
            "there is something at that place already; nothing was touched",
            where=path,
            next_step="choose another name, or replace it with --overwrite",
        )


def play_episodes(
    package: EnvPackage,
    policy: str,
    *,
    seed: int = 0,
    episodes: int = 1,
    form: str = "reference",
    params: dict[str, Any] | None = None,
    most: int | None = None,
) -> Trajectory:
    """One row over some episodes as a checked trajectory. `most` leaves an episode after so many steps.

    Raises:
        UsageError: an unknown policy, form or parameter, or a parameter outside its bounds.
    """
    from simulacrum.cli.players import player
    from simulacrum.cli.policies import policy_of
    from simulacrum.errors import StateError, UsageError
    from simulacrum.trace import Trajectory, checked, schema_digest
    from simulacrum.trace.trajectory import Start
    from simulacrum.twin.state import params_values

    schema = package.schema
    try:
        values = params_values(schema, params)
    except StateError as error:
        raise UsageError(error.message, expected=error.expected, found=error.found, where="--param") from None
    limit = schema.max_episode_steps
    act = policy_of(package, policy, seed)
    row = player(package, form, seed=seed, params=values, limit=limit)
    most = most or (UNLIMITED if limit is None else limit)
    moments = list(_moments(row, act, episodes, most))
    header = Trajectory(schema.id, schema_digest(schema), row.form, seed, values, limit)
    starts = tuple(moment for moment in moments if isinstance(moment, Start))
    steps = tuple(moment for moment in moments if not isinstance(moment, Start))
    return checked(_with(header, starts, steps), schema)


def _with(header: Trajectory, starts: Any, steps: Any) -> Trajectory:
    from dataclasses import replace

    return replace(header, starts=starts, steps=steps)


def _moments(row: Any, act: Any, episodes: int, most: int) -> Iterator[Any]:
    for episode in range(episodes):
        yield row.start(episode)
        for _ in range(most):
            step = row.step(act(row.reading()))
            yield step
            if step.ended:
                break


def params_of(given: list[str] | None) -> dict[str, Any]:
    """The values that `--param NAME=VALUE` names. Raises UsageError for what is no number or truth."""
    from simulacrum.errors import UsageError

    values: dict[str, Any] = {}
    for text in given or ():
        name, _, value = text.partition("=")
        try:
            values[name] = _value(value)
        except ValueError:
            raise UsageError(
                "this is not a parameter's value",
                expected="NAME=VALUE, such as slip=0.2",
                found=text,
                where="--param",
            ) from None
    return values


def _value(text: str) -> bool | int | float:
    """The boolean, integer or float that a text spells. Raises ValueError."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        return int(text)
    except ValueError:
        return float(text)


def _table(row: Trajectory) -> Table:
    from simulacrum.trace import summarise

    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="dim")
    for heading in ("episode", "steps", "return"):
        table.add_column(heading, justify="right")
    table.add_column("end")
    rows = summarise([row])
    for one in rows[:20]:
        table.add_row(str(one.episode), str(one.length), f"{one.total:g}", one.ending)
    if len(rows) > 20:
        table.add_row("...", "", "", f"and {len(rows) - 20} more")
    return table
