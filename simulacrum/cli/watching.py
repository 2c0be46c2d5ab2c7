"""`simulacrum watch`: the levels of the checks again and again, from the first one on, as files of a package change."""

from __future__ import annotations

from typing import Annotated

import typer

from simulacrum.cli.choices import Env


def watch(
    name: Env,
    level: Annotated[int, typer.Option("--level", min=1, max=3, help="The highest level to go on to.")] = 3,
) -> None:
    """Validate again whenever a file of the package changes.

    A change runs level 1 (the rules). While all is green and nothing changes, it goes on to level 2 (interactions of
    rules) and 3 (rollouts). The first divergence of a failure is shown. No report is written: `simulacrum validate`
    does that. Ctrl-C ends it.
    """
    from simulacrum.cli.watch_loop import watch_levels  # here: processes and live pages cost every command's start

    watch_levels(name, level)
