"""Whose a module is: Python's own, an installed distribution's, the project's, or simulacrum's."""

from __future__ import annotations

import functools
import importlib.util
import sys
import sysconfig
from pathlib import Path

_INSTALLED = ("site-packages", "dist-packages")


def framework_folder() -> Path:
    """The folder of the simulacrum package that is running."""
    return Path(__file__).resolve().parents[1]


def owner(file: Path) -> str:
    """ "stdlib", "installed", "framework" or "project", by where a module's file lies."""
    path = file.resolve()
    if path.is_relative_to(framework_folder()):
        return "framework"
    if any(part in _INSTALLED for part in path.parts):
        return "installed"
    if any(path.is_relative_to(folder) for folder in _stdlib()):
        return "stdlib"
    return "project"


def top_file(top: str) -> Path | None:
    """The file (or folder, for a namespace package) of a top-level module, found without importing it.

    None for built-in modules and for names that are not there.
    """
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):
        return None
    if spec is None:
        return None
    if spec.origin and spec.has_location:
        return Path(spec.origin)
    places = list(spec.submodule_search_locations or ())
    return Path(places[0]) if places else None


def module_file(dotted: str) -> Path | None:
    """The Python file of an absolute module name, found without importing any part of it, or None."""
    top, *rest = dotted.split(".")
    start = top_file(top)
    if start is None:
        return None
    folder = start if start.is_dir() else start.parent
    if not rest:
        return start if start.is_file() else None
    if start.name != "__init__.py" and not start.is_dir():
        return None
    plain = folder.joinpath(*rest)
    for file in (plain / "__init__.py", plain.with_name(plain.name + ".py")):
        if file.is_file():
            return file
    return None


def is_stdlib_name(top: str) -> bool:
    return top in sys.stdlib_module_names or top in sys.builtin_module_names


@functools.cache
def _stdlib() -> tuple[Path, ...]:
    names = ("stdlib", "platstdlib")
    found = {Path(path).resolve() for name in names if (path := sysconfig.get_path(name))}
    return tuple(found)
