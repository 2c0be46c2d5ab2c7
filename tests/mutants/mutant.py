"""A planted fault: what is edited, and exactly which checks must not pass because of it."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Edit:
    """One place of one file: `old` must stand there exactly once."""

    file: str
    old: str
    new: str


@dataclass(frozen=True)
class Mutant:
    """A fault in a copy of an environment (files as in its folder) or of the framework ("simulacrum/..." files).

    caught_by: the checks that fail or stay open; all others must pass or be skipped.
    """

    name: str
    env: str
    edits: tuple[Edit, ...]
    caught_by: frozenset[str]

    @property
    def in_framework(self) -> bool:
        """Whether the framework is edited, so that the battery must run in a process of its own."""
        return any(edit.file.startswith("simulacrum/") for edit in self.edits)


def planted(name: str, env: str, caught_by: str, *edits: tuple[str, str, str]) -> Mutant:
    """A mutant from plain strings; `caught_by` holds the checks' names with spaces between."""
    return Mutant(name, env, tuple(Edit(*edit) for edit in edits), frozenset(caught_by.split()))


def copy_env(name: str, folder: Path, edits: Iterable[Edit] = ()) -> Path:
    """A copy of a built-in environment, or of one of the tests' kit, with the edits made; returns its folder."""
    made = folder / name
    home = next(place / name for place in (ROOT / "envs", ROOT / "tests" / "kit") if (place / name).is_dir())
    shutil.copytree(home, made, ignore=shutil.ignore_patterns("__pycache__", "*.json.tmp", "valid*"))
    _apply(made, [edit for edit in edits if not edit.file.startswith("simulacrum/")])
    return made


def copy_framework(folder: Path, edits: Iterable[Edit]) -> Path:
    """A copy of the framework with the edits made; returns the folder that holds it."""
    shutil.copytree(ROOT / "simulacrum", folder / "simulacrum", ignore=shutil.ignore_patterns("__pycache__"))
    _apply(folder, [edit for edit in edits if edit.file.startswith("simulacrum/")])
    return folder


def _apply(folder: Path, edits: Iterable[Edit]) -> None:
    for edit in edits:
        path = folder / edit.file
        text = path.read_text("utf-8")
        count = text.count(edit.old)
        assert count == 1, f"{edit.file} holds {count} times: {edit.old!r}"
        path.write_text(text.replace(edit.old, edit.new), "utf-8")
