"""Who may import whom inside a package: the twins stay apart, and nothing in them escapes the digest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from simulacrum.contract.origins import framework_folder, is_stdlib_name, module_file, owner, top_file
from simulacrum.contract.outside import check_installed, modules_of
from simulacrum.contract.problem import Problem, from_error
from simulacrum.contract.source import Import, Source, read_source
from simulacrum.errors import PackageError

TWINS = ("reference", "fast")
# Sources of chance and time that no digest, seed or replay knows of.
_CHANCE = {"random", "secrets", "uuid", "time", "datetime"}
# Ways round the import statement, which this check reads.
_HIDDEN = {"importlib", "runpy", "pkgutil", "ctypes"}
_HIDDEN_CALLS = {"__import__", "import_module", "exec", "eval"}

_SHARED_ROOMS = {
    "simulacrum",
    "simulacrum.errors",
    "simulacrum.twin",
    "simulacrum.twin.invariant",
    "simulacrum.twin.state",
    "simulacrum.portable",
    "simulacrum.portable.scalar",
}
_ROOMS = {
    "reference": _SHARED_ROOMS | {"simulacrum.twin.reference", "simulacrum.twin.sometimes", "simulacrum.twin.outside"},
    "fast": _SHARED_ROOMS | {"simulacrum.twin.batched", "simulacrum.portable.tensor"},
}
_OTHER_BASE = {"reference": "BatchedEnv", "fast": "ReferenceEnv"}
_THIRD_PARTY = {"reference": frozenset[str](), "fast": frozenset({"torch"})}


@dataclass(frozen=True)
class Reached:
    """A file that a module of the package runs, and the chain of files that led there."""

    source: Source
    chain: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.chain[-1]


def check_imports(folder: Path, outside: Sequence[str] = ()) -> list[Problem]:
    """The import problems of reference.py, fast.py and render.py, helper modules followed.

    `outside` names the distributions that the reference alone may import (`x-outside` of schema.json).
    """
    problems: list[Problem] = []
    driven = frozenset(module for name in outside for module in modules_of(name))
    imported: set[str] = set()
    ran: dict[str, list[Reached]] = {}
    for start in (*TWINS, "render"):
        if (folder / f"{start}.py").is_file():
            ran[start] = reachable(folder, start, problems)
            for reached in ran[start]:
                problems += _judge(folder, start, reached, driven)
                if start == "reference":
                    imported |= {one.module.split(".")[0] for one in reached.source.imports() if not one.level}
    problems += _shared(folder, *(ran.get(twin, []) for twin in TWINS))
    return [*problems, *check_installed(outside, imported)]


def _shared(folder: Path, reference: Sequence[Reached], fast: Sequence[Reached]) -> Iterator[Problem]:
    """Files that both twins run: what is wrong there is wrong in both, and no comparison can find it."""
    constants = (folder / "__init__.py").resolve()
    chains = {one.source.path.resolve(): " -> ".join(one.chain) for one in reference}
    for one in fast:
        path = one.source.path.resolve()
        if path in chains and path != constants:
            yield Problem(
                one.name,
                None,
                "what both twins run",
                f"no comparison can judge it: {' -> '.join(one.chain)}, and {chains[path]}",
                "write it twice, from the spec; constants that both need belong in __init__.py",
            )


def reachable(folder: Path, start: str, problems: list[Problem] | None = None) -> list[Reached]:
    """`start`.py and the project files that it imports, directly or not; unreadable ones are problems."""
    queue: list[tuple[Path, tuple[str, ...]]] = [(folder / f"{start}.py", ())]
    seen: set[Path] = set()
    found: list[Reached] = []
    while queue:
        path, chain = queue.pop(0)
        if path.resolve() in seen:
            continue
        seen.add(path.resolve())
        try:
            source = read_source(path)
        except PackageError as error:
            if problems is not None:
                problems.append(from_error(error, folder, _relative(path, folder)))
            continue
        reached = Reached(source, (*chain, _relative(path, folder)))
        found.append(reached)
        for entry in source.imports():
            target = _file_of(entry, path, folder)
            # The other twin is named where it is imported; reading on there would only repeat it.
            if target is not None and not _is_twin(target, folder):
                queue.append((target, reached.chain))
    return found


def own_modules(folder: Path, reached: Sequence[Reached]) -> set[str]:
    """The names by which `reached` files import each other absolutely: those of modules that are no package's own."""
    files = {one.source.path.resolve() for one in reached}
    found: set[str] = set()
    for one in reached:
        for entry in one.source.imports():
            target = None if entry.level else _file_of(entry, one.source.path, folder)
            if target is not None and target.resolve() in files:
                found.add(entry.module)
    return found


def _is_twin(path: Path, folder: Path) -> bool:
    return path.resolve() in {(folder / f"{twin}.py").resolve() for twin in TWINS}


def _file_of(entry: Import, path: Path, folder: Path) -> Path | None:
    """The file of the package or project that an import runs; None for everything installed or built in."""
    if entry.level:
        base = path.parent
        for _ in range(entry.level - 1):
            base = base.parent
        return _inside(base, entry.module.split(".") if entry.module else [], entry.name)
    if entry.module.split(".")[0] == "simulacrum" or is_stdlib_name(entry.module.split(".")[0]):
        return None
    file = module_file(f"{entry.module}.{entry.name}") if entry.name else None
    file = file or module_file(entry.module)
    if file is None or file.suffix != ".py":
        return None
    own = file.resolve().is_relative_to(folder.resolve())
    return file if own or owner(file) == "project" else None


def _inside(base: Path, parts: list[str], name: str | None) -> Path | None:
    places = [[*parts, name], parts] if name else [parts]
    for place in places:
        target = base.joinpath(*place)
        if place and target.with_name(target.name + ".py").is_file():
            return target.with_name(target.name + ".py")
        if (target / "__init__.py").is_file():
            return target / "__init__.py"
    return None


def _judge(folder: Path, start: str, reached: Reached, driven: frozenset[str]) -> Iterator[Problem]:
    via = "" if len(reached.chain) == 1 else f" (reached through {' -> '.join(reached.chain)})"
    for entry in reached.source.imports():
        found = _twin_problem(folder, start, reached, entry) or (
            _outside_problem(start, entry, driven) if start in TWINS and not entry.typing_only else None
        )
        if found:
            message, mend = found
            yield Problem(reached.name, entry.line, f"imports of {start}.py", message + via, mend)
    if start in TWINS:
        for name, line in reached.source.calls(_HIDDEN_CALLS):
            yield Problem(
                reached.name,
                line,
                f"imports of {start}.py",
                f"{name}() can reach code that no check reads{via}",
                "use an import statement",
            )


def _twin_problem(folder: Path, start: str, reached: Reached, entry: Import) -> tuple[str, str] | None:
    """An import that leads to the other twin, or out of the package by dots."""
    path = reached.source.path
    own = path.resolve().is_relative_to(folder.resolve())
    if own and entry.level > len(path.resolve().relative_to(folder.resolve()).parts):
        return "the import leaves the package's folder", "copy what is needed, or import it by its full name"
    target = _file_of(entry, path, folder)
    bare = entry.level == 0 and entry.module.split(".")[0]
    if target is None and bare in TWINS and (folder / f"{bare}.py").is_file():
        target = folder / f"{bare}.py"
    if target is None:
        return None
    for twin in TWINS:
        if target.resolve() == (folder / f"{twin}.py").resolve() and twin != start:
            shown = f"{start}.py imports {twin}.py"
            if start in TWINS:
                return (
                    f"{shown}: twins that share code agree about its faults",
                    "write the rule a second time",
                )
            return f"{shown}: a drawing holds no game logic", "draw from the state alone"
    return None


def _outside_problem(start: str, entry: Import, driven: frozenset[str]) -> tuple[str, str] | None:
    """An import of something that a twin must not depend on; `driven` are modules that a reference may drive."""
    if entry.level:
        return None
    top = entry.module.split(".")[0]
    if top == "simulacrum":
        return _room_problem(start, entry)
    if top in _CHANCE:
        return f"{top} brings chance or time from outside", "draw with ctx.draw, count with ctx.t"
    if top in _HIDDEN:
        return f"{top} can import what no check reads", "use import statements"
    if is_stdlib_name(top) or top in _THIRD_PARTY[start] or (start == "reference" and top in driven):
        return None
    file = top_file(top)
    if file is not None and owner(file) in ("project", "framework"):
        return None
    if top == "torch":
        return (
            "the reference must be readable without torch",
            "use Python scalars and simulacrum.portable.scalar",
        )
    what = (
        "is not installed here"
        if file is None
        else "is not part of the digest, so its next version could change the rules unseen"
    )
    if top in driven:
        what = "is what the reference drives (x-outside): twins that share code agree about its faults"
    more = " and torch" if start == "fast" else ", and distributions that schema.json names under x-outside"
    return (f"{top} {what}", f"{start}.py takes the standard library, simulacrum's rooms and its own folder{more}")


def _room_problem(start: str, entry: Import) -> tuple[str, str] | None:
    other = _OTHER_BASE[start]
    if entry.name == other:
        return (
            f"{other} is the other twin's base",
            f"use {_OTHER_BASE['fast' if start == 'reference' else 'reference']}",
        )
    full = (
        f"{entry.module}.{entry.name}"
        if entry.name and _is_module(f"{entry.module}.{entry.name}")
        else entry.module
    )
    allowed = _ROOMS[start]
    if full in allowed:
        return None
    return (
        f"{full} is not for {start}.py",
        f"take {', '.join(sorted(allowed - _SHARED_ROOMS))}, or simulacrum.portable",
    )


def _is_module(dotted: str) -> bool:
    plain = framework_folder().joinpath(*dotted.split(".")[1:])
    return plain.with_name(plain.name + ".py").is_file() or (plain / "__init__.py").is_file()


def _relative(path: Path, folder: Path) -> str:
    try:
        return path.resolve().relative_to(folder.resolve()).as_posix()
    except ValueError:
        return str(path)
