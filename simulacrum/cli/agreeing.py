"""`simulacrum agree`: a reference that drives somebody's program, held against that program untouched."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from simulacrum.cli import terminal
from simulacrum.cli.choices import Json
from simulacrum.errors import UsageError


def agree(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A package by name, id or folder.")],
    origin: Annotated[
        str | None, typer.Option("--from", metavar="gym:ID", help="The program; else what schema.json names.")
    ] = None,
    steps: Annotated[int, typer.Option("--steps", min=1, help="States to step from.")] = 1000,
    json: Json = False,
) -> None:
    """Hold a reference against the program it drives: one step from each of many of its states.

    Exit code 0 where nothing differs, or where floats alone differ and the reference takes functions such as sine from
    simulacrum's portable ones; 1 where anything else does. It writes no report: whether the twins agree is for
    `simulacrum validate`.
    """
    terminal.use_json(json)
    terminal.one_thread()
    from simulacrum.cli.agreement import compare_with_origin, origin_of
    from simulacrum.contract.package import load_package

    package = load_package(name)
    gym_id = origin.removeprefix("gym:") if origin else origin_of(package)
    if gym_id is None or (origin and not origin.startswith("gym:")):
        raise UsageError(
            f"nothing says which program {package.name} is held against",
            expected="--from gym:ID",
            found=origin or "none, and none in schema.json",
            next_step=f"simulacrum agree {terminal.spoken(package)} --from gym:ID",
        )
    found = compare_with_origin(package, gym_id, steps)
    if json:
        parts = {key: vars(part) for key, part in found.parts.items()}
        terminal.print_json({"event": "agreement", **vars(found), "parts": parts, "exact": found.exact})
    else:
        show(terminal.out(), found)
    raise typer.Exit(terminal.PASSED if close_enough(found) else terminal.FAILED)


def close_enough(found: Any) -> bool:
    """Whether nothing differs but floats in what functions of the C library came to."""
    return found.failed is None and all(part.ulp and part.distance < 1e-6 for part in found.different.values())


def show(console: Console, found: Any) -> None:
    """The agreement in a few lines."""
    counted = f"{found.steps} steps and {found.resets} resets"
    if found.failed:
        told = f"with {found.origin} {found.failed}"
        console.print(Text.assemble(("does not agree ", "bold red"), told), soft_wrap=True)
    elif found.exact:
        told = f"with {found.origin}: {counted}, to the bit"
        console.print(Text.assemble(("agrees ", "bold green"), told), soft_wrap=True)
    else:
        style = ("agrees nearly ", "bold yellow") if close_enough(found) else ("does not agree ", "bold red")
        console.print(Text.assemble(style, f"with {found.origin}: {counted}"), soft_wrap=True)
    rows = [
        (name, f"differs in {part.different} of {part.compared}, by {part.ulp} ulp and {part.distance:.2g} at most")
        for name, part in found.different.items()
    ]
    if rows:
        terminal.facts(console, list[Any](rows))
