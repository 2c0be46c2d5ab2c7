"""Which functions of the C library an environment's rules call, read from its source."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

# How `math` and NumPy call what simulacrum.portable.scalar has; a square root is the same everywhere.
PORTABLE = {
    "sin": "sin", "cos": "cos", "tan": "tan", "exp": "exp", "log": "log", "tanh": "tanh",
    "atan2": "atan2", "arctan2": "atan2", "pow": "pow", "power": "pow",
}  # fmt: skip
# What differs from machine to machine as well, and has no portable form.
FOREIGN = frozenset((
    "asin", "acos", "atan", "arcsin", "arccos", "arctan", "sinh", "cosh", "arcsinh", "arccosh", "arctanh", "asinh",
    "acosh", "atanh", "hypot", "log2", "log10", "log1p", "expm1", "exp2", "cbrt", "erf", "gamma", "float_power",
))  # fmt: skip
_LIBRARIES = ("math", "numpy")


@dataclass(frozen=True)
class Libm:
    """`modules`: {global name of a module: its functions to replace}, `plain`: {global name: portable function}.

    `arrays` are those of `plain` that come from NumPy, and may be given arrays. `foreign` are calls without a portable
    form and powers, as texts with file and line.
    """

    modules: dict[str, tuple[str, ...]]
    plain: dict[str, str]
    arrays: frozenset[str]
    foreign: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.modules or self.plain)

    @property
    def names(self) -> tuple[str, ...]:
        """The portable functions that are needed."""
        found = {PORTABLE[name] for names in self.modules.values() for name in names} | set(self.plain.values())
        return tuple(sorted(found))


def read_libm(kind: type[Any]) -> Libm:
    """What `reset` and `step` of a class reach, in the modules of the class and of its bases.

    Read from the source and not from a run: a rule that seldom applies counts as much. What is found in other modules
    that these import is not seen.
    """
    modules: dict[str, set[str]] = {}
    plain: dict[str, str] = {}
    foreign: list[str] = []
    arrays: set[str] = set()
    for module in dict.fromkeys(base.__module__ for base in kind.__mro__):
        if module in ("builtins", "typing", "abc", "gymnasium.core", "collections.abc"):
            continue
        tree = _tree(kind, module)
        if tree is None:
            continue
        aliases, names, from_numpy = _imported(tree)
        for node in _reached(tree):
            where = f"{module.replace('.', '/')}.py:{getattr(node, 'lineno', 0)}"
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in aliases:
                if node.attr in PORTABLE:
                    modules.setdefault(node.value.id, set()).add(node.attr)
                elif node.attr in FOREIGN:
                    foreign.append(f"{node.value.id}.{node.attr} in {where}")
            elif isinstance(node, ast.Name) and node.id in names:
                if names[node.id] in PORTABLE:
                    plain[node.id] = PORTABLE[names[node.id]]
                    arrays |= {node.id} if node.id in from_numpy else set()
                elif names[node.id] in FOREIGN:
                    foreign.append(f"{node.id} in {where}")
            elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) and not _whole(node.right):
                foreign.append(f"{ast.unparse(node)} in {where}")
    used = {name: tuple(sorted(found)) for name, found in modules.items()}
    return Libm(used, plain, frozenset(arrays), tuple(dict.fromkeys(foreign)))


def unpacked_names(kind: type[Any]) -> dict[str, list[str]]:
    """{attribute: names} for lines such as `x, x_dot = self.state` in the class and its bases."""
    found: dict[str, list[str]] = {}
    for base in kind.__mro__:
        tree = _tree(kind, base.__module__)
        for node in ast.walk(tree) if tree is not None and base.__module__ != "gymnasium.core" else ():
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple):
                value, names = node.value, node.targets[0].elts
                if not isinstance(value, ast.Attribute) or ast.unparse(value.value) != "self":
                    continue
                if all(isinstance(one, ast.Name) for one in names):
                    found.setdefault(value.attr, [ast.unparse(one) for one in names])
    return found


def _tree(kind: type[Any], module: str) -> ast.Module | None:
    base = next(one for one in kind.__mro__ if one.__module__ == module)
    try:
        found = inspect.getmodule(base)
        return ast.parse(textwrap.dedent(inspect.getsource(found))) if found else None
    except (OSError, TypeError, SyntaxError):
        return None


def _imported(tree: ast.Module) -> tuple[set[str], dict[str, str], set[str]]:
    """The global names of `math` and NumPy; the functions imported from them by their name here; NumPy's of these."""
    aliases: set[str] = set()
    from_numpy: set[str] = set()
    names: dict[str, str] = {}
    for node in tree.body:
        if isinstance(node, ast.Import):
            aliases |= {alias.asname or alias.name for alias in node.names if alias.name in _LIBRARIES}
        elif isinstance(node, ast.ImportFrom) and node.module in _LIBRARIES:
            names.update({alias.asname or alias.name: alias.name for alias in node.names})
            from_numpy |= {alias.asname or alias.name for alias in node.names if node.module == "numpy"}
    return aliases, names, from_numpy


def _reached(tree: ast.Module) -> Iterator[ast.AST]:
    """The nodes of the functions that reset and step come to, by name, and of methods that look at the state."""
    functions: dict[str, list[ast.FunctionDef]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            functions.setdefault(node.name, []).append(node)
    queue = [name for name in functions if name in ("reset", "step") or "_ob" in name.lower()]
    seen: set[str] = set()
    while queue:
        name = queue.pop()
        if name in seen or "render" in name:
            continue
        seen.add(name)
        for function in functions[name]:
            for node in ast.walk(function):
                yield node
                called = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
                queue += [called] if called in functions else []


def _whole(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int)
