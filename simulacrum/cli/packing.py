"""`simulacrum export-pack`: trajectories, their schema and flat columns as one checkable folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from simulacrum.cli import terminal
from simulacrum.cli.choices import complete_env


def export_pack(
    schema: Annotated[Path, typer.Argument(metavar="SCHEMA", help="schema.json of the environment.")],
    trajectories: Annotated[list[Path], typer.Argument(metavar="FILE", help="Trajectories: .json, .jsonl or .npz.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="The folder to write.")],
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a pack that stands there.")] = False,
    page: Annotated[
        Path | None,
        typer.Option("--page", metavar="FILE|DIR", help="Also show the first trajectory there, as `view` does."),
    ] = None,
    env: Annotated[
        str | None,
        typer.Option(
            "--env",
            metavar="NAME",
            help="For the page: the environment, where its own is not installed.",
            autocompletion=complete_env,
        ),
    ] = None,
) -> None:
    """Write a pack: manifest with hashes, schema, canonical trajectories, and CSV columns for other programs."""
    from simulacrum.trace import export_pack as write_pack

    pack = write_pack(schema, trajectories, out, overwrite=overwrite)
    counts = ", ".join(f"{count:,} {what}" for what, count in pack.counts.items())
    console = terminal.out()
    console.print(Text.assemble("wrote ", (str(pack.folder), "bold"), f": {counts} of {pack.env_id}"), soft_wrap=True)
    terminal.facts(console, [("sha256", str(pack.manifest["sha256"])), ("read", f"{pack.folder / 'README.md'}")])
    if page is not None:
        _show(trajectories[0], env, page)


def _show(trajectory: Path, env: str | None, page: Path) -> None:
    from simulacrum.cli.stories import Play, film
    from simulacrum.cli.viewing import write

    terminal.one_thread()
    with film(str(trajectory), Play(), env, "all") as found:
        write(found, page)
