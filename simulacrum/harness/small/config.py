"""`small.json`: the same rules in a world small enough to be enumerated, and the package that this makes.

    {"constants": {"SIZE": 3}, "schema": {...}, "max_episode_steps": 6}

`constants` replaces literals of `__init__.py`, `schema` is a JSON merge patch (RFC 7396) of schema.json that may change
and remove what is there, `max_episode_steps` is the time limit. All are optional; `{}` says that the package is small
enough as it is.
"""

from __future__ import annotations

import ast
import contextlib
import json
import shutil
import tempfile
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any, cast

from simulacrum.contract import loader
from simulacrum.contract.digest import NATIVE_PREFIX
from simulacrum.contract.package import EnvPackage
from simulacrum.errors import PackageError, SchemaError

FILE = "small.json"
Small = dict[str, Any]  # the content of the file


def read_small(package: EnvPackage) -> Small | None:
    """The content of the package's small.json, None where it has none.

    Raises:
        PackageError: it is no JSON, or not of the shape of `small.schema.json`.
    """
    path = package.folder / FILE
    if not path.is_file():
        return None
    try:
        value = json.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise PackageError(f"{FILE} cannot be read", found=str(error), where=path) from None
    _check_shape(value, path)
    return cast("Small", value)


def _check_shape(value: Any, path: Path) -> None:
    import jsonschema

    schema = json.loads((Path(__file__).parent / "small.schema.json").read_text("utf-8"))
    error: Any = next(iter(jsonschema.Draft202012Validator(schema).iter_errors(value)), None)
    if error is not None:
        place = ".".join(map(str, error.absolute_path)) or "the whole"
        raise PackageError(
            f"{FILE} is not of the right shape: {error.message}",
            expected="constants, schema and max_episode_steps, each of them optional",
            where=f"{path}, {place}", next_step="docs/file-formats.md says what may stand in it",
        )  # fmt: skip


@contextlib.contextmanager
def small_package(package: EnvPackage, small: Small | None) -> Generator[EnvPackage]:
    """The package made small: a copy in a temporary folder, gone afterwards; the package itself where nothing changes.

    Raises:
        PackageError: a constant that `__init__.py` does not have, or has not as a literal of that kind; a patch of a
            place that schema.json does not have.
        SchemaError: the patched schema is none.
    """
    if not small:
        yield package
        return
    with tempfile.TemporaryDirectory(prefix=f"simulacrum-small-{package.name}-") as name:
        folder = Path(name) / package.name
        leave = shutil.ignore_patterns("__pycache__", "failures", "validation_report.json", f"{NATIVE_PREFIX}*")
        shutil.copytree(package.folder, folder, ignore=leave)
        _make_small(folder, small, package)
        made = EnvPackage.open(folder, f"small model of {package.folder}")
        try:
            yield made
        finally:
            loader.forget(made.import_name)


def _make_small(folder: Path, small: Small, package: EnvPackage) -> None:
    init, schema = folder / "__init__.py", folder / "schema.json"
    if small.get("constants"):
        text = init.read_text("utf-8") if init.is_file() else ""
        init.write_text(with_constants(text, small["constants"], str(package.folder / FILE)), "utf-8")
    patch: dict[str, Any] = dict(small.get("schema", {}))
    whole = json.loads(schema.read_text("utf-8"))
    made = merged(whole, patch, f"{package.folder / FILE}, schema")
    if "max_episode_steps" in small:
        made["x-max-episode-steps"] = small["max_episode_steps"]
    schema.write_text(json.dumps(made, indent=2), "utf-8")
    try:
        _ = EnvPackage.open(folder, "small model").schema
    except SchemaError as error:
        raise SchemaError(
            f"{FILE}: the schema that it makes does not hold together: {error.message}", expected=error.expected,
            found=error.found, where=f"{package.folder / FILE}, schema",
        ) from None  # fmt: skip


def with_constants(text: str, constants: Mapping[str, Any], where: str) -> str:
    """The source of `__init__.py` with the right-hand sides of these names replaced. Raises `PackageError`."""
    found = _literals(text)
    edits: list[tuple[int, int, str]] = []
    for name, value in constants.items():
        if name not in found:
            raise PackageError(
                f"{FILE}: no constant is called {name}", expected=f"one of {', '.join(found) or 'none'}", found=name,
                where=f"{where}, constants",
            )  # fmt: skip
        start, stop, old = found[name]
        if isinstance(old, bool) != isinstance(value, bool) or (isinstance(old, int) and not isinstance(value, int)):
            raise PackageError(
                f"{FILE}: {name} is of another kind", expected=f"{type(old).__name__}, as {old!r} is",
                found=repr(value), where=f"{where}, constants",
            )  # fmt: skip
        edits.append((start, stop, repr(float(value) if isinstance(old, float) else value)))
    data = text.encode()
    for start, stop, new in sorted(edits, reverse=True):
        data = data[:start] + new.encode() + data[stop:]
    return data.decode()


def _literals(text: str) -> dict[str, tuple[int, int, Any]]:
    """name -> (first byte, byte after, value) of each number, truth or text that is assigned at the top."""
    offsets = [0]
    for line in text.encode().splitlines(keepends=True):
        offsets.append(offsets[-1] + len(line))
    found: dict[str, tuple[int, int, Any]] = {}
    for node in ast.parse(text).body:
        target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
        target = node.target if isinstance(node, ast.AnnAssign) else target
        value = node.value if isinstance(node, (ast.Assign, ast.AnnAssign)) else None
        if not isinstance(target, ast.Name) or value is None:
            continue
        with contextlib.suppress(ValueError):
            start = offsets[value.lineno - 1] + value.col_offset
            stop = offsets[(value.end_lineno or 0) - 1] + (value.end_col_offset or 0)
            found[target.id] = (start, stop, ast.literal_eval(value))
    return found


def merged(whole: Any, patch: Any, where: str) -> Any:
    """`whole` after the merge patch (RFC 7396), in which every name must be there already. Raises `PackageError`."""
    if not isinstance(patch, dict) or not isinstance(whole, dict):
        return patch
    made: dict[str, Any] = dict(cast("dict[str, Any]", whole))
    for name, value in cast("dict[str, Any]", patch).items():
        if name not in made:
            raise PackageError(
                f"{FILE}: schema.json has no {name!r} there", expected=f"one of {', '.join(made)}", found=name,
                where=where,
            )  # fmt: skip
        if value is None:
            del made[name]
        else:
            made[name] = merged(made[name], value, f"{where}.{name}")
    return made
