"""The project files that a package's twins run beside those in their folder."""

from __future__ import annotations

import ast
import sys
import threading
import types
from pathlib import Path

from simulacrum.contract.loader import ROOT
from simulacrum.contract.origins import is_stdlib_name, module_file, owner

_STARTS = ("reference", "fast")
# CPython up to 3.12 may raise SystemError where two threads parse at once (its issue 106905).
_PARSER = threading.Lock()


def import_closure(package: str, folder: Path) -> dict[str, Path]:
    """Files outside `folder` that its twins depend on, by a name without a machine in it.

    Import statements are followed wherever they stand, loaded or not, so that the answer does not depend on
    what ran before. Where a module is loaded, what its globals come from is followed as well: that finds a
    helper imported by path. Left out are Python's own files, installed distributions and simulacrum; the
    siblings of a package that is itself installed are not. The module `mylib.rules` gets the name
    "mylib/rules.py".
    """
    home = _installed_home(folder)
    queue = [f"{package}.{twin}" for twin in _STARTS]
    seen = set(queue)
    found: dict[str, Path] = {}
    while queue:
        name = queue.pop()
        file = _file_of(name, package, folder)
        if file is None or not (
            _is_within(file, folder) or owner(file) == "project" or (home and _is_within(file, home))
        ):
            continue
        if not _is_within(file, folder):
            found[_stable_name(name, file)] = file
        following = {*_imported(name, file), *_used(name)}
        around = {
            ".".join(one.split(".")[:depth]) for one in following for depth in range(1, one.count(".") + 2)
        }
        fresh = sorted(around - seen - {ROOT, "__main__"})
        seen.update(fresh)
        queue += [one for one in fresh if not is_stdlib_name(one.split(".")[0])]
    return found


def _file_of(name: str, package: str, folder: Path) -> Path | None:
    """The file of a module: where it is loaded from, or would be."""
    loaded = getattr(sys.modules.get(name), "__file__", None)
    if isinstance(loaded, str):
        return Path(loaded)
    if not (name == package or name.startswith(package + ".")):
        return module_file(name)
    plain = folder.joinpath(*name.removeprefix(package).split(".")[1:])
    places = (plain / "__init__.py", plain.with_name(plain.name + ".py"))
    return next((place for place in places if place.is_file()), None)


def _imported(name: str, file: Path) -> set[str]:
    """The absolute names in a file's import statements; a name that is no module is dropped later."""
    try:
        with _PARSER:
            tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return set()
    parent = name if file.name == "__init__.py" else name.rpartition(".")[0]
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            steps = parent.split(".")
            around = steps[: len(steps) - node.level + 1] if node.level else []
            base = ".".join([*around, *([node.module] if node.module else [])])
            names |= {base, *(f"{base}.{alias.name}" for alias in node.names)}
    return names


def _used(name: str) -> set[str]:
    """The modules that a loaded module's globals are, or were made in.

    Submodules are among a package's globals once anybody has imported them, which says nothing about it.
    """
    names: set[str] = set()
    for value in list(vars(sys.modules[name]).values()) if name in sys.modules else ():
        home = value.__name__ if isinstance(value, types.ModuleType) else getattr(value, "__module__", None)
        is_child = isinstance(value, types.ModuleType) and value.__name__.startswith(name + ".")
        if isinstance(home, str) and home and not is_child:
            names.add(home)
    return names


def _is_within(file: Path, folder: Path) -> bool:
    return file.resolve().is_relative_to(folder.resolve())


def _stable_name(name: str, file: Path) -> str:
    plain = name.replace(".", "/")
    return f"{plain}/{file.name}" if file.stem == "__init__" else f"{plain}{file.suffix}"


def _installed_home(folder: Path) -> Path | None:
    """For a package inside an installed one, the top folder of the latter."""
    real = folder.resolve()
    for parent in real.parents:
        if parent.name in ("site-packages", "dist-packages"):
            return parent / real.relative_to(parent).parts[0]
    return None
