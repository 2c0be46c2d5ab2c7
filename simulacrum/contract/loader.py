"""Importing the modules of an environment's folder under a name of their own, always from source.

Each folder becomes the package `simulacrum_packages.NAME_HASH`, where HASH is made from the folder's path:
two folders of the same name never meet, relative imports work, and nothing has to be on `sys.path`. Bytecode
is neither read nor written. A `.pyc` is trusted by time and size, so an edit of equal length within the same
second would run the old code while its new content is hashed; compiling a few small files costs milliseconds.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.machinery
import importlib.util
import linecache
import re
import sys
import traceback
import types
from collections.abc import Sequence
from pathlib import Path

from simulacrum.errors import PackageError, SimulacrumError

ROOT = "simulacrum_packages"
# Set on every module imported here: the SHA-256 of the very bytes that were executed.
SOURCE_MARK = "__source_sha256__"


def package_name(name: str, folder: Path) -> str:
    """The dotted name under which the folder's modules are imported."""
    plain = re.sub(r"\W", "_", name)
    digest = hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:8]
    return f"{ROOT}.{plain}_{digest}"


def import_module(package: str, folder: Path, module: str) -> types.ModuleType:
    """The module `module` ("fast", or "__init__" for the package itself) of the folder, imported once.

    Raises:
        PackageError: the file is missing or does not import; the message names file, line and cause.
    """
    _prepare(package, folder)
    full = package if module == "__init__" else f"{package}.{module}"
    if full in sys.modules:
        return sys.modules[full]
    if module != "__init__" and importlib.util.find_spec(full) is None:
        raise PackageError(
            f"{module}.py is missing",
            expected=f"{module}.py",
            where=folder,
            next_step=f"create {module}.py in that folder",
        )
    try:
        return importlib.import_module(full)
    except Exception as error:
        raise import_error(error, folder, module) from error


def forget(package: str) -> None:
    """Drop the folder's modules, so that the next import reads the files again."""
    for name in [name for name in sys.modules if name == package or name.startswith(package + ".")]:
        del sys.modules[name]
    linecache.checkcache()
    importlib.invalidate_caches()


def changed_files(package: str) -> list[str]:
    """The files of the folder whose content is no longer what was imported, by file name."""
    changed: list[str] = []
    for name, module in list(sys.modules.items()):
        mark = (
            getattr(module, SOURCE_MARK, None) if name == package or name.startswith(package + ".") else None
        )
        if mark is not None and module.__file__ is not None:
            file = Path(module.__file__)
            if not file.is_file() or hashlib.sha256(file.read_bytes()).hexdigest() != mark:
                changed.append(file.name)
    return sorted(changed)


def import_error(error: Exception, folder: Path, module: str) -> PackageError:
    """A PackageError that says where in the folder the import of `module` failed, and why."""
    place = f"{folder / (module + '.py')}"
    cause = f"{type(error).__name__}: {error}"
    if isinstance(error, SyntaxError) and error.filename:
        place = f"{error.filename}, line {error.lineno}"
        cause = f"{type(error).__name__}: {error.msg}"
    else:
        for frame in traceback.extract_tb(error.__traceback__):
            if Path(frame.filename).resolve().is_relative_to(folder.resolve()):
                place = f"{frame.filename}, line {frame.lineno}"
    if isinstance(error, SimulacrumError):
        cause = f"{type(error).__name__}: {error.message}"
    hint = "mend that line"
    if isinstance(error, ModuleNotFoundError) and error.name:
        hint = f"install {error.name.split('.')[0]}, or mend the import"
    return PackageError(f"{module}.py does not import", found=cause, where=place, next_step=hint)


class _SourceLoader(importlib.machinery.SourceFileLoader):
    """Compiles the source at every import and leaves its hash on the module."""

    def get_code(self, fullname: str) -> types.CodeType:
        """The file as it is now, compiled; its hash is kept for `exec_module`, and no bytecode is looked at."""
        path = self.get_filename(fullname)
        self._hash = hashlib.sha256(data := self.get_data(path)).hexdigest()
        return self.source_to_code(data, path)

    def exec_module(self, module: types.ModuleType) -> None:
        super().exec_module(module)
        setattr(module, SOURCE_MARK, self._hash)


class _Finder:
    """Finds the modules below `simulacrum_packages` in the folders of their packages."""

    @staticmethod
    def find_spec(
        fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """NAME/__init__.py or else NAME.py in the first folder of `path` that has one; None for any other module."""
        if not fullname.startswith(ROOT + ".") or not path:
            return None
        tail = fullname.rpartition(".")[2]
        for folder in path:
            single, nested = Path(folder, f"{tail}.py"), Path(folder, tail, "__init__.py")
            if nested.is_file():
                return _spec(fullname, nested, is_package=True)
            if single.is_file():
                return _spec(fullname, single, is_package=False)
        return None


def _spec(fullname: str, file: Path, *, is_package: bool) -> importlib.machinery.ModuleSpec | None:
    loader = _SourceLoader(fullname, str(file))
    places = [str(file.parent)] if is_package else None
    return importlib.util.spec_from_file_location(
        fullname, file, loader=loader, submodule_search_locations=places
    )


def _prepare(package: str, folder: Path) -> None:
    """Make the root and the folder's own package importable."""
    if ROOT not in sys.modules:
        root = types.ModuleType(ROOT, "Environment packages, each under a name made from its folder.")
        root.__path__ = []
        sys.modules[ROOT] = root
    if _Finder not in sys.meta_path:
        sys.meta_path.insert(0, _Finder)
    if package in sys.modules:
        return
    init = folder / "__init__.py"
    if not init.is_file():
        bare = types.ModuleType(package, f"The environment package in {folder}.")
        bare.__path__ = [str(folder)]
        sys.modules[package] = bare
        return
    spec = _spec(package, init, is_package=True)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[package] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        forget(package)
        raise import_error(error, folder, "__init__") from error
