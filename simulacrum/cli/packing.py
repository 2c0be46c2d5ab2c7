"""`simulacrum export-pack`: trajectories, their schema and flat columns as one checkable folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from simulacrum.cli import terminal


def export_pack(
    schema: Annotated[Path, typer.Argument(metavar="SCHEMA", help="schema.json of the environment.")],
    trajectories: Annotated[list[Path], typer.Argument(metavar="FILE", help="Trajectories: .json, .jsonl or .npz.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="The folder to write.")],
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a pack that stands there.")] = False,
) -> None:
    """Write a pack: manifest with hashes, schema, canonical trajectories, and CSV columns for other programs."""
    from simulacrum.trace import export_pack as write_pack

    pack = write_pack(schema, trajectories, out, overwrite=overwrite)
    counts = ", ".join(f"{count:,} {what}" for what, count in pack.counts.items())
    console = terminal.out()
    console.print(Text.assemble("wrote ", (str(pack.folder), "bold"), f": {counts} of {pack.env_id}"), soft_wrap=True)
    terminal.facts(console, [("sha256", str(pack.manifest["sha256"])), ("read", f"{pack.folder / 'README.md'}")])
