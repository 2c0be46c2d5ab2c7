"""The constants of spec.md held against `__init__.py`, which holds nothing else."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

from simulacrum.contract.problem import Problem, from_error
from simulacrum.contract.source import Source, read_source
from simulacrum.contract.spec import TIME_LIMIT_NAMES, Spec
from simulacrum.errors import PackageError

if TYPE_CHECKING:
    from simulacrum.contract.package import EnvPackage

_IMPORTS = {"__future__", "typing", "math", "simulacrum.portable", "simulacrum.portable.scalar"}


def check_constants(package: EnvPackage, spec: Spec | None) -> Iterator[Problem]:
    """`__init__.py` holds constants and nothing else, and they are those of the Constants table."""
    path = package.folder / "__init__.py"
    lines: dict[str, int] = {}
    values: dict[str, Any] = {}
    if path.is_file():
        try:
            source = read_source(path)
            problems = list(_only_constants(source, lines))
            yield from problems
            if problems:
                return  # running it could do anything
            values = {name: getattr(package.module("__init__"), name) for name in lines}
        except PackageError as error:
            yield from_error(error, package.folder, "__init__.py")
            return
    if spec is not None:
        yield from _same_constants(spec, values, lines)


def _only_constants(source: Source, lines: dict[str, int]) -> Iterator[Problem]:
    for node in source.tree.body:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue
        if isinstance(node, ast.ImportFrom) and not node.level and node.module in _IMPORTS:
            continue
        if isinstance(node, ast.Import) and all(alias.name in _IMPORTS for alias in node.names):
            continue
        targets = (
            node.targets
            if isinstance(node, ast.Assign)
            else [node.target]
            if isinstance(node, ast.AnnAssign)
            else []
        )
        names = [target.id for target in targets if isinstance(target, ast.Name)]
        if names and len(names) == len(targets) and all(name.isupper() for name in names):
            lines.update(dict.fromkeys(names, node.lineno))
        elif names != ["__all__"]:
            yield Problem(
                "__init__.py",
                node.lineno,
                "constants only",
                f"both twins may share constants and nothing else: {ast.unparse(node).splitlines()[0][:60]}",
                "keep UPPER_CASE = value lines here, and write each twin's logic in its own file",
            )


def _same_constants(spec: Spec, values: dict[str, Any], lines: dict[str, int]) -> Iterator[Problem]:
    rows = {row["name"]: row.line for row in spec.table("Constants").rows}
    for name, stated in spec.constants.items():
        if name in values:
            if not _same(stated, values[name]):
                yield Problem(
                    "__init__.py", lines[name], f"Constants.{name}",
                    f"spec.md:{rows[name]} says {stated!r}, __init__.py says {values[name]!r}",
                    "decide which of the two is right and mend the other (10 and 10.0 are not the same)",
                )  # fmt: skip
        elif name not in TIME_LIMIT_NAMES:
            yield Problem(
                "spec.md", rows[name], f"Constants.{name}", "the constant is not in __init__.py",
                f"add `{name} = {stated!r}` to __init__.py, or remove the row",
            )  # fmt: skip
    for name, line in lines.items():
        if name not in spec.constants:
            yield Problem(
                "__init__.py", line, f"Constants.{name}", "the constant is not in spec.md",
                f"add the row {name} under Constants, or keep it in the twin that needs it",
            )  # fmt: skip


def _same(stated: object, value: object) -> bool:
    """Equal, and of one kind; a float type that rounds (Float32) is compared after rounding."""
    exact = type(stated) is type(value) and stated == value
    if isinstance(stated, float) and isinstance(value, float):
        return bool(type(value)(stated) == value)
    if isinstance(stated, (tuple, list)) and isinstance(value, (tuple, list)):
        left, right = cast("list[object]", stated), cast("list[object]", value)
        return len(left) == len(right) and all(map(_same, left, right))
    return exact
