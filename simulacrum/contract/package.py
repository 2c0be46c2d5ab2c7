"""An environment package: one folder with spec.md, schema.json and the two twins, as an object."""

from __future__ import annotations

import difflib
import functools
import os
import types
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simulacrum.contract import discovery, loader
from simulacrum.contract.declared import parse_id
from simulacrum.contract.node import Node, read_json
from simulacrum.contract.schema import Schema, load_schema
from simulacrum.errors import ContractError, PackageError, UnknownEnvError, UsageError

if TYPE_CHECKING:  # this room must not import the twins' at run time
    from simulacrum.contract.spec import Spec
    from simulacrum.twin.batched import BatchedEnv
    from simulacrum.twin.reference import ReferenceEnv

REQUIRED_FILES = ("spec.md", "schema.json", "reference.py", "fast.py")
OPTIONAL_MODULES = ("probes", "render", "relations", "kernel")
# The bases of the twins, by name.
_BASES = {
    "reference": ("simulacrum.twin.reference", "ReferenceEnv"),
    "fast": ("simulacrum.twin.batched", "BatchedEnv"),
}


class EnvPackage:
    """An environment package. Cheap to make: schema, spec and modules are read at first use and then kept.

    `name` is the middle of the id ("toywalk" of "simulacrum/toywalk-v0"), `folder` an absolute path, `origin`
    how the package was found ("built-in", "entry point NAME", "path PATH").
    """

    def __init__(self, name: str, env_id: str, folder: Path, origin: str) -> None:
        self.name = name
        self.env_id = env_id
        self.folder = folder
        self.origin = origin

    @classmethod
    def open(cls, folder: Path, origin: str) -> EnvPackage:
        """The package in `folder`.

        Raises:
            PackageError: the folder or one of its required files is missing.
            SchemaError: schema.json cannot be read or has no proper `$id`.
        """
        folder = Path(os.path.abspath(folder))
        if not folder.is_dir():
            raise PackageError(
                "an environment package is a folder",
                expected=f"a folder with {', '.join(REQUIRED_FILES)}",
                found="a file" if folder.exists() else "nothing there",
                where=folder,
                next_step="give the folder that holds spec.md and schema.json",
            )
        missing = [name for name in REQUIRED_FILES if not os.path.isfile(folder / name)]
        if missing:
            raise PackageError(
                f"the environment package lacks {', '.join(missing)}",
                expected=", ".join(REQUIRED_FILES),
                where=folder,
                next_step="create the missing file, or start from `simulacrum new NAME`",
            )
        path = folder / "schema.json"
        env_id, name = parse_id(Node(read_json(path), "$", str(path)).need("$id", "it is the Gymnasium id"))
        return cls(name, env_id, folder, origin)

    @functools.cached_property
    def schema(self) -> Schema:
        """The parsed schema.json. Raises SchemaError."""
        return load_schema(self.folder / "schema.json")

    @functools.cached_property
    def spec(self) -> Spec:
        """The parsed spec.md. Raises SpecError."""
        from simulacrum.contract.spec import load_spec

        return load_spec(self.folder / "spec.md")

    @property
    def import_name(self) -> str:
        """The dotted name under which the folder's modules are imported."""
        return loader.package_name(self.name, self.folder)

    def module(self, name: str) -> types.ModuleType:
        """The module `name` of the folder ("fast", "reference", ...; "__init__" for the constants).

        Raises:
            PackageError: there is no such file, or it does not import (file, line and cause are named).
        """
        return loader.import_module(self.import_name, self.folder, name)

    def twin_class(self, name: str) -> type[Any]:
        """The one environment class that `reference.py` or `fast.py` defines. Raises PackageError."""
        home, base = _BASES[name]
        module = self.module(name)
        found = [
            kind
            for kind in vars(module).values()
            if isinstance(kind, type) and kind.__module__ == module.__name__ and _is_a(kind, home, base)
        ]
        leaves = [
            kind
            for kind in found
            if not any(other is not kind and issubclass(other, kind) for other in found)
        ]
        if len(leaves) != 1:
            raise PackageError(
                f"{name}.py must define one environment class",
                expected=f"one subclass of {base}",
                found=", ".join(kind.__name__ for kind in leaves) or "none",
                where=self.folder / f"{name}.py",
                next_step=f"write `class {self.name.capitalize()}({base})`"
                if not leaves
                else "keep one of them",
            )
        return leaves[0]

    def reference(self) -> ReferenceEnv:
        """A new instance of the reference twin (a `ReferenceEnv`). Raises PackageError."""
        return self._build("reference")

    def fast(self) -> BatchedEnv:
        """A new instance of the batched twin (a `BatchedEnv`). Raises PackageError. Imports torch."""
        return self._build("fast")

    def probes(self) -> types.ModuleType | None:
        """The module of scripted policies, or None where the package has none. Raises PackageError."""
        return self._optional("probes")

    def relations(self) -> types.ModuleType | None:
        """The module of declared relations, or None where the package has none. Raises PackageError."""
        return self._optional("relations")

    def render(self) -> types.ModuleType | None:
        """The module that draws a state, or None where the package has none. Raises PackageError."""
        return self._optional("render")

    def reload(self) -> None:
        """Forget everything read so far; the next use reads the files as they are now."""
        loader.forget(self.import_name)
        self.__dict__.pop("schema", None)
        self.__dict__.pop("spec", None)

    def _optional(self, name: str) -> types.ModuleType | None:
        return self.module(name) if (self.folder / f"{name}.py").is_file() else None

    def _build(self, name: str) -> Any:
        kind, schema = self.twin_class(name), self.schema
        try:
            return kind(schema)
        except Exception as error:
            raise loader.import_error(error, self.folder, name) from error

    def __repr__(self) -> str:
        return f"EnvPackage({self.env_id!r}, {str(self.folder)!r}, {self.origin!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, EnvPackage) and (self.env_id, self.folder) == (other.env_id, other.folder)

    def __hash__(self) -> int:
        return hash((self.env_id, self.folder))

    def __reduce__(self) -> tuple[Any, ...]:
        # What was read stays behind: the other process reads the files itself.
        return EnvPackage, (self.name, self.env_id, self.folder, self.origin)


@dataclass(frozen=True)
class BrokenPackage:
    """A folder or entry point that should be a package and is none, with the error that says why."""

    name: str
    folder: Path | None
    error: ContractError
    origin: str = ""


def find_packages(*paths: str | Path) -> list[EnvPackage | BrokenPackage]:
    """All packages: built-in ones, those of entry points, and those at or directly below `paths`.

    A broken one never hides the others: it is listed as a BrokenPackage. A folder reached twice is listed
    once; a second folder with an id that is already taken is broken.
    """
    found: list[EnvPackage | BrokenPackage] = []
    seen: dict[Path, None] = {}
    ids: dict[str, Path] = {}
    for candidate in discovery.candidates(paths):
        if candidate.folder is None:
            found.append(BrokenPackage(candidate.name, None, candidate.error, candidate.origin))
            continue
        real = candidate.folder.resolve()
        if real in seen:
            continue
        seen[real] = None
        package = _open(candidate.folder, candidate.origin)
        if isinstance(package, EnvPackage):
            taken = ids.setdefault(package.env_id, package.folder)
            if taken != package.folder:
                error = PackageError(
                    f"the id {package.env_id} is already taken",
                    expected="one package for each id",
                    found=f"{package.folder} and {taken}",
                    where=package.folder / "schema.json",
                    next_step="change $id in one of the two schemas",
                )
                package = BrokenPackage(package.name, package.folder, error, package.origin)
        found.append(package)
    return found


def packages_at(path: str | Path) -> list[EnvPackage | BrokenPackage]:
    """The packages at a path: the folder itself, or the folders directly below it.

    Raises:
        PackageError: there is no such folder, or no package in it.
    """
    folder = Path(path).expanduser()
    places = discovery.folders_at(folder)
    if not places:
        raise PackageError(
            "no environment package here",
            expected=f"a folder with {', '.join(REQUIRED_FILES)}",
            found="no such folder" if not folder.exists() else "none of these files",
            where=folder,
            next_step="check the path, or make a package with `simulacrum new NAME`",
        )
    return [_open(place, f"path {folder}") for place in places]


def load_package(name: str | Path) -> EnvPackage:
    """The package of that name ("toywalk"), id ("simulacrum/toywalk-v0") or path ("./envs/toywalk").

    A name or id goes before a folder of the same spelling; write "./toywalk" for the folder.

    Raises:
        UnknownEnvError: nothing of that name; the message names the nearest known one and lists all.
        UsageError: the name belongs to several packages; give the id.
        ContractError: the package is broken (the error that says why).
    """
    if (
        isinstance(name, Path)
        or name.startswith((".", "~", os.sep))
        or (os.altsep and name.startswith(os.altsep))
    ):
        return EnvPackage.open(Path(name).expanduser(), f"path {name}")
    wanted = name.partition(":")[2] if ":" in name and not Path(name).exists() else name
    found = find_packages()
    matching = [package for package in found if wanted == getattr(package, "env_id", None)]
    matching = matching or [package for package in found if wanted == package.name]
    working = [package for package in matching if isinstance(package, EnvPackage)]
    if len(working) > 1:
        ids = ", ".join(package.env_id for package in working)
        raise UsageError(f"several packages are called {wanted}", found=ids, next_step="give the whole id")
    if working:
        return working[0]
    for package in matching:
        if isinstance(package, BrokenPackage):
            raise package.error
    if Path(name).is_dir():
        return EnvPackage.open(Path(name), f"path {name}")
    raise _unknown(name, wanted, found)


def _unknown(name: str, wanted: str, found: list[EnvPackage | BrokenPackage]) -> UnknownEnvError:
    working = [package for package in found if isinstance(package, EnvPackage)]
    spellings = {package.name: package.name for package in working} | {p.env_id: p.env_id for p in working}
    near = difflib.get_close_matches(wanted, list(spellings), n=1, cutoff=0.5)
    listed = ", ".join(sorted(package.env_id for package in working)) or "none"
    hint = f"did you mean {near[0]!r}?" if near else "list the known ones with `simulacrum list`"
    return UnknownEnvError(
        f"no environment is called {name!r}", expected=f"one of {listed}", found=name, next_step=hint
    )


def _open(folder: Path, origin: str) -> EnvPackage | BrokenPackage:
    try:
        package = EnvPackage.open(folder, origin)
        if origin == discovery.BUILT_IN and package.name != folder.name:
            raise PackageError(
                "a built-in package's folder has the name in its id",
                expected=package.name,
                found=folder.name,
                where=folder,
                next_step="rename the folder or change $id",
            )
    except ContractError as error:
        return BrokenPackage(folder.name, folder, error, origin)
    return package


def _is_a(kind: type[Any], home: str, base: str) -> bool:
    return any(parent.__module__ == home and parent.__name__ == base for parent in kind.__mro__)
