"""`simulacrum new`: a new environment from the template, and what to do with it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from simulacrum.cli import terminal


def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A Python name in lower case, such as two_doors.")],
    into: Annotated[Path, typer.Option("--into", metavar="DIR", help="The folder above the new one.")] = Path("."),
    env_id: Annotated[
        str | None, typer.Option("--id", metavar="ID", help="Gymnasium id, such as lab/two_doors-v0.")
    ] = None,
) -> None:
    """Write a new environment: a small game that passes every check, to be changed rule by rule.

    Nothing is ever overwritten. A TODO that you leave in spec.md is found by the check spec_contract.
    """
    from simulacrum.scaffold import CHECKLIST, write_package

    written = write_package(name, into, env_id=env_id)
    folder = terminal.short_path(written.folder)
    console = terminal.out()
    console.print(Text.assemble("wrote ", (written.env_id, "bold"), f" into {folder}"), soft_wrap=True)
    console.print()
    console.print("Validate it as it is, then change it in this order and validate again:")
    for number, (file, what) in enumerate(CHECKLIST, start=1):
        console.print(Text.assemble(f"  {number}. ", (f"{file:<13}", "bold"), what), soft_wrap=True)
    console.print()
    path = terminal.quoted(folder if folder.startswith(("/", "~", ".")) else f"./{folder}")
    terminal.facts(
        console,
        [
            ("validate", terminal.command(f"simulacrum validate {path}")),
            ("one check", terminal.command(f"simulacrum validate {path} -k spec_contract")),
            ("look", terminal.command(f"simulacrum render {path} --policy empty_when_full")),
            ("build", terminal.command(f'simulacrum.register_envs("{written.folder}")')),
        ],
    )
