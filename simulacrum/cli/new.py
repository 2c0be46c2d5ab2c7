"""`simulacrum new`: a new environment from the template, or around somebody else's program, and what to do with it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from simulacrum.cli import terminal


def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A Python name in lower case, such as two_doors.")],
    into: Annotated[Path, typer.Option("--into", metavar="DIR", help="The folder above the new one.")] = Path("."),
    env_id: Annotated[
        str | None, typer.Option("--id", metavar="ID", help="Gymnasium id, such as lab/two_doors-v0.")
    ] = None,
    origin: Annotated[
        str | None,
        typer.Option("--from", metavar="gym:ID", help="Write it around an environment of Gymnasium's registry."),
    ] = None,
) -> None:
    """Write a new environment: a small game that passes every check, to be changed rule by rule.

    With --from gym:ID (or gym:MODULE:ID, which imports the module first) the reference is that environment itself, and
    what can be seen of its state and draws is filled in; the rules in spec.md and fast.py are left to write.

    Nothing is ever overwritten. A TODO that you leave in spec.md is found by the check spec_contract.
    """
    if origin is not None:
        _from_program(origin, name, into, env_id)
        return
    from simulacrum.scaffold import CHECKLIST, write_package

    written = write_package(name, into, env_id=env_id)
    folder = terminal.short_path(written.folder)
    console = terminal.out()
    console.print(Text.assemble("wrote ", (written.env_id, "bold"), f" into {folder}"), soft_wrap=True)
    console.print()
    console.print("Validate it as it is, then change it in this order and validate again:")
    _list(console, CHECKLIST)
    path = _spoken(folder)
    terminal.facts(
        console,
        [
            ("validate", terminal.command(f"simulacrum validate {path}")),
            ("one check", terminal.command(f"simulacrum validate {path} -k spec_contract")),
            ("look", terminal.command(f"simulacrum render {path} --policy empty_when_full")),
            ("build", terminal.command(f'simulacrum.register_envs("{written.folder}")')),
        ],
    )


def _from_program(origin: str, name: str, into: Path, env_id: str | None) -> None:
    from simulacrum.cli.agreeing import close_enough, show
    from simulacrum.cli.agreement import compare_with_origin
    from simulacrum.contract.package import load_package
    from simulacrum.scaffold import write_from

    terminal.one_thread()
    written = write_from(origin, name, into, env_id=env_id)
    folder = terminal.short_path(written.folder)
    console = terminal.out()
    console.print(Text.assemble("wrote ", (written.env_id, "bold"), f" into {folder}, around {origin}"), soft_wrap=True)
    terminal.facts(console, list[Any](written.found))
    console.print()
    found = compare_with_origin(load_package(written.folder), origin.removeprefix("gym:"))
    show(console, found)
    if not close_enough(found):
        told = "Mend reference.py until it does: what it holds is the measure of everything else."
        console.print(told, soft_wrap=True)
    console.print()
    if written.guesses:
        console.print("Guessed or left out; each stands in spec.md too:")
        for sentence in written.guesses:
            console.print(f"  - {sentence}", soft_wrap=True)
        console.print()
    console.print("What is left, in this order:")
    _list(console, written.todo)
    path = _spoken(folder)
    terminal.facts(
        console,
        [
            ("what is open", terminal.command(f"simulacrum validate {path} -k spec_contract")),
            ("the program", terminal.command(f"simulacrum agree {path}")),
            ("look", terminal.command(f"simulacrum render {path}")),
            ("at last", terminal.command(f"simulacrum validate {path}")),
        ],
    )


def _list(console: Console, rows: tuple[tuple[str, str], ...]) -> None:
    for number, (file, what) in enumerate(rows, start=1):
        console.print(Text.assemble(f"  {number}. ", (f"{file:<13}", "bold"), what), soft_wrap=True)
    console.print()


def _spoken(folder: str) -> str:
    return terminal.quoted(folder if folder.startswith(("/", "~", ".")) else f"./{folder}")
