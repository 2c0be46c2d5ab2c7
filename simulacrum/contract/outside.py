"""Installed distributions that a reference drives: `x-outside` of schema.json, held against what is installed.

Such a distribution is no file that a digest hashes, so its version is recorded in its place.
"""

from __future__ import annotations

import importlib.metadata
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from simulacrum.contract.node import Node, show
from simulacrum.contract.problem import Problem

# Before a distribution's name in a digest's environment, so that none is taken for a fact such as "system".
MARK = "outside "
_NORMAL = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_TWINS_OWN = ("simulacrum", "torch")


def parse_outside(root: Node) -> tuple[str, ...]:
    """The distributions under `x-outside`, () without it. Raises SchemaError."""
    node = root.get("x-outside")
    if node is None:
        return ()
    names: list[str] = []
    for place in node.as_array("x-outside").items():
        name = place.as_text("the name of a distribution")
        if not _NORMAL.fullmatch(name):
            place.fail(
                f"{name!r} is not the plain name of a distribution",
                expected="lower-case letters, digits and single hyphens, as in gymnasium or ale-py",
                found=show(name),
                mend="write the name that it is installed by, without a version",
            )
        if name in _TWINS_OWN:
            place.fail(
                f"{name} is nothing outside",
                expected="a program with rules of its own",
                found=name,
                mend="remove it: a reference is readable without torch, and simulacrum is hashed file by file",
            )
        if name in names:
            place.fail(f"{name} is named twice", found=name, mend="remove one of the two")
        names.append(name)
    if not names:
        node.fail("x-outside names no distribution", expected="at least one", found="[]", mend="remove x-outside")
    return tuple(names)


def modules_of(name: str) -> frozenset[str]:
    """The top-level modules that a distribution installs; none where it is not installed. Imports nothing."""
    try:
        found = importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        return frozenset()
    stated = found.read_text("top_level.txt")
    if stated:
        return frozenset(stated.split())
    paths = [PurePosixPath(str(path)) for path in found.files or ()]
    tops = {path.parts[0] if len(path.parts) > 1 else path.stem for path in paths if path.suffix == ".py"}
    return frozenset(top for top in tops if top.isidentifier())


def outside_versions(names: Iterable[str]) -> dict[str, str]:
    """The version of each distribution, by its key in a digest's environment; "absent" if not installed."""
    return {MARK + name: _version(name) for name in names}


def versions_like(recorded: Mapping[str, object]) -> dict[str, str]:
    """The versions now of the distributions that a recorded environment names."""
    return outside_versions(key.removeprefix(MARK) for key in recorded if key.startswith(MARK))


def check_installed(names: Iterable[str], imported: set[str]) -> Iterator[Problem]:
    """Each declared distribution is installed, and is one whose modules `imported` (top-level names) has."""
    for name in names:
        modules = modules_of(name)
        if not modules:
            yield Problem(
                "schema.json", None, "$.x-outside", f"{name} is not installed here",
                f"install it (pip install {name}), or mend the name",
            )  # fmt: skip
        elif not modules & imported:
            yield Problem(
                "schema.json", None, "$.x-outside", f"reference.py imports nothing of {name}",
                f"remove {name} from x-outside",
            )  # fmt: skip


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "absent"
