"""`new --from PREFIX:REST`: a package written from somebody else's program. One row below for each kind of program."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from simulacrum.errors import UsageError


@dataclass(frozen=True)
class Imported:
    """A package that was written from a program: what `new` prints of it.

    `found` are facts (label, text), `guesses` what has to be looked at, `todo` what is left, in order, as (file, what).
    """

    env_id: str
    folder: Path
    files: tuple[str, ...]
    origin: str
    found: tuple[tuple[str, str], ...]
    guesses: tuple[str, ...]
    todo: tuple[tuple[str, str], ...]
    commands: tuple[tuple[str, str], ...] = field(default=())


# The name, the rest of --from after the prefix, the folder above, and the id or None.
Writer = Callable[[str, str, "str | Path", "str | None"], Imported]


def _gym(name: str, rest: str, into: str | Path, env_id: str | None) -> Imported:
    from simulacrum.scaffold.gym_package import write_gym_package  # imports Gymnasium, which takes a while

    return write_gym_package(name, rest, into, env_id)


# What may stand before the first colon: how such a program is read, and an example.
ORIGINS: dict[str, tuple[Writer, str]] = {"gym": (_gym, "gym:CartPole-v1")}


def write_from(origin: str, name: str, into: str | Path = ".", *, env_id: str | None = None) -> Imported:
    """Write the package `into` / `name` from the program that `origin` names, whole or not at all.

    Args:
        origin: PREFIX:REST, such as gym:CartPole-v1 or gym:minigrid:MiniGrid-Empty-5x5-v0.
        name, into, env_id: as in `write_package`; the id's version is the program's own by default.

    Raises:
        UsageError: no such prefix, or nothing behind it.
        PackageError: the program is not there, or nothing that simulacrum can hold; nothing was written.
    """
    prefix, colon, rest = origin.partition(":")
    if prefix in ORIGINS and rest:
        return ORIGINS[prefix][0](name, rest, into, env_id)
    near = difflib.get_close_matches(prefix, ORIGINS, 1)
    example = ORIGINS[near[0] if near else next(iter(ORIGINS))][1]
    raise UsageError(
        "--from names no program" if not colon or prefix in ORIGINS else f"nothing is read from {prefix!r}",
        expected=", ".join(f"{known}:ID" for known in ORIGINS),
        found=origin,
        next_step=f"write --from gym:{origin}" if not colon else f"write it as in --from {example}",
    )
