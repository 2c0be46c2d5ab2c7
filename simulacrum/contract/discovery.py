"""Where environment packages can be: the built-in folder, entry points, paths. Nothing found is imported."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from simulacrum.errors import ContractError, PackageError

GROUP = "simulacrum.envs"
BUILT_IN = "built-in"
BUILT_IN_PACKAGE = "simulacrum_envs"
# A folder that holds one of these means to be an environment package.
MARKS = ("schema.json", "spec.md", "reference.py", "fast.py")


@dataclass(frozen=True)
class Candidate:
    """A folder that means to be a package; `folder` is None where there is none, and `error` says why."""

    name: str
    origin: str
    folder: Path | None
    error: ContractError


_NO_ERROR = ContractError("no error")


def candidates(paths: Sequence[str | Path] = ()) -> Iterator[Candidate]:
    """Every folder that means to be a package: built-in ones, then entry points by name, then `paths`."""
    for folder in folders_at(built_in_folder()):
        yield Candidate(folder.name, BUILT_IN, folder, _NO_ERROR)
    for entry in sorted(
        importlib.metadata.entry_points(group=GROUP), key=lambda entry: (entry.name, entry.value)
    ):
        if entry.value != BUILT_IN_PACKAGE:
            yield from _of_entry_point(entry)
    for path in paths:
        place = Path(path).expanduser()
        folders = folders_at(place)
        if not folders:
            yield Candidate(place.name, f"path {place}", None, _no_package(place))
        for folder in folders:
            yield Candidate(folder.name, f"path {place}", folder, _NO_ERROR)


def built_in_folder() -> Path:
    """The folder of the environments that come with simulacrum; in an uninstalled checkout, its `envs/`."""
    place = package_folder(BUILT_IN_PACKAGE)
    return place if place is not None else Path(__file__).resolve().parents[2] / "envs"


def folders_at(folder: Path) -> list[Path]:
    """`folder` itself if it means to be a package, else the folders directly below it that do, by name."""
    if is_candidate(folder):
        return [folder]
    try:
        below = sorted(entry.name for entry in os.scandir(folder) if entry.is_dir())
    except OSError:
        return []
    return [
        folder / name for name in below if not name.startswith((".", "_")) and is_candidate(folder / name)
    ]


def is_candidate(folder: Path) -> bool:
    return any(os.path.isfile(folder / mark) for mark in MARKS)  # False, too, where we may not look


def package_folder(dotted: str) -> Path | None:
    """The folder of an importable package, found without running any code of it; None where there is none."""
    top, *rest = dotted.split(".")
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):
        return None
    for place in (spec.submodule_search_locations or ()) if spec else ():
        folder = Path(place, *rest)
        if folder.is_dir():
            return folder
    return None


def _of_entry_point(entry: importlib.metadata.EntryPoint) -> Iterator[Candidate]:
    origin = f"entry point {entry.name}"
    folder = package_folder(entry.value) if ":" not in entry.value else None
    if folder is None:
        error = PackageError(
            f"the entry point {entry.name} leads to no package",
            expected="the dotted name of an importable package",
            found=entry.value,
            where=_distribution(entry),
            next_step="mend the entry point in that distribution, or reinstall it",
        )
        yield Candidate(entry.name, origin, None, error)
        return
    folders = folders_at(folder)
    if not folders:
        yield Candidate(entry.name, origin, None, _no_package(folder))
    for place in folders:
        yield Candidate(place.name, origin, place, _NO_ERROR)


def _distribution(entry: importlib.metadata.EntryPoint) -> str:
    return f"distribution {entry.dist.name}" if entry.dist is not None else f"group {GROUP}"


def _no_package(place: Path) -> PackageError:
    return PackageError(
        "no environment package here",
        expected=f"a folder with {', '.join(MARKS)}",
        where=place,
        next_step="check the path",
    )
