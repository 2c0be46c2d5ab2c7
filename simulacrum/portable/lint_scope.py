"""Imports, functions and names of a `fast.py`: what the walk in `lint_visitor` knows at each place."""

from __future__ import annotations

import ast
import copy
from collections.abc import Collection

from simulacrum.portable.lint import Operations
from simulacrum.portable.lint_values import Values

_STANDARD = {
    "__future__",
    "abc",
    "collections",
    "dataclasses",
    "enum",
    "functools",
    "itertools",
    "math",
    "operator",
    "types",
    "typing",
    "typing_extensions",
}

Found = tuple[ast.AST, str, str, str]


class Scope(ast.NodeVisitor):
    """Follows names from import and assignment to use; collects (node, operation, reason, instead) in `found`."""

    def __init__(self, table: Operations, linted: Collection[str] = ()) -> None:
        self.table, self.linted = table, frozenset(linted)
        self.found: list[Found] = []
        self.values = Values({})
        self.function = ""

    def _add(self, node: ast.AST, operation: str, rule: str) -> None:
        entry = self.table.named[rule]
        self.found.append((node, operation, entry.reason, entry.instead))

    def visit_Import(self, node: ast.Import) -> None:
        """Note what the names stand for, and report a module that a twin may not import."""
        for name in node.names:
            root = name.name.split(".")[0]
            self.values.aliases[name.asname or root] = name.name if name.asname else root
            self._judge_import(node, name.name)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        """As `visit_Import`; what comes from the package itself (`from . import x`) is passed over."""
        if node.level:
            return
        for name in node.names:
            self.values.aliases[name.asname or name.name] = f"{node.module}.{name.name}"
        self._judge_import(node, node.module or "")

    def _judge_import(self, node: ast.AST, module: str) -> None:
        if module not in self.linted and module.split(".")[0] not in _STANDARD | {"torch", "simulacrum"}:
            self._add(node, f"import {module}", "import")

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        """The body, knowing what is known around it and its own parameters; nothing of that stays known after it."""
        for decorator in node.decorator_list:
            self.visit(decorator)
        self._visit_defaults(node.args)
        outer, outer_function = self.values, self.function
        self.values, self.function = copy.deepcopy(outer), node.name
        self.values.enter(node.args)
        for statement in node.body:
            self.visit(statement)
        self.values, self.function = outer, outer_function

    def visit_Lambda(self, node: ast.Lambda) -> None:
        """As `visit_FunctionDef`."""
        self._visit_defaults(node.args)
        outer = self.values
        self.values = copy.deepcopy(outer)
        self.values.enter(node.args)
        self.visit(node.body)
        self.values = outer

    def _visit_defaults(self, arguments: ast.arguments) -> None:
        for default in [*arguments.defaults, *filter(None, arguments.kw_defaults)]:
            self.visit(default)

    def _store(self, target: ast.expr, value: ast.expr) -> None:
        """Note what a target holds from now on."""
        self.values.bind(target, value)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.visit(node.value)
        self._store(node.target, node.value)

    def visit_For(self, node: ast.For) -> None:
        """The target holds what is known of the iterable as a whole."""
        self.visit(node.iter)
        self._store(node.target, node.iter)
        for statement in [*node.body, *node.orelse]:
            self.visit(statement)

    def visit_With(self, node: ast.With) -> None:
        """The name after `as` holds what is known of the context's expression."""
        for item in node.items:
            self.visit(item.context_expr)
            if item.optional_vars is not None:
                self._store(item.optional_vars, item.context_expr)
        for statement in node.body:
            self.visit(statement)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        """One `for` and its conditions; the target holds what is known of the iterable as a whole."""
        self.visit(node.iter)
        self._store(node.target, node.iter)
        for test in node.ifs:
            self.visit(test)

    def _visit_comprehension_first(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> None:
        # Names are bound by the generators, so they are read before the element.
        for generator in node.generators:
            self.visit(generator)
        self.visit(node.elt)

    visit_ListComp = visit_SetComp = visit_GeneratorExp = _visit_comprehension_first

    def visit_DictComp(self, node: ast.DictComp) -> None:
        """The generators first, which bind the names that key and value use."""
        for generator in node.generators:
            self.visit(generator)
        self.visit(node.key)
        self.visit(node.value)
