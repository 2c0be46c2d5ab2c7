"""The walk over a `fast.py`: writes, branches, operators, indexing and calls, in the order of the text."""

from __future__ import annotations

import ast

from simulacrum.portable.lint_calls import judge
from simulacrum.portable.lint_scope import Scope

# Exact by IEEE 754 or by being about integers, so the same on every host.
_EXACT_MATH = {
    "floor",
    "ceil",
    "trunc",
    "sqrt",
    "fabs",
    "isnan",
    "isinf",
    "isfinite",
    "copysign",
    "gcd",
    "ldexp",
    "comb",
    "perm",
    "isqrt",
    "prod",
}
# Methods of dicts, lists, strings and state structs; no tensor has a method of these names.
_PYTHON_METHODS = {
    "replace",
    "_replace",
    "_asdict",
    "items",
    "keys",
    "values",
    "get",
    "append",
    "extend",
    "join",
    "format",
    "startswith",
    "endswith",
}
_TO_HOST = {"int", "float", "bool", "range", "print", "str", "complex"}
_BRANCHING = {"min", "max", "any", "all", "sorted"}
_OPERATORS: dict[type[ast.AST], str] = {ast.MatMult: "@", ast.Pow: "**", ast.Mod: "%", ast.FloorDiv: "//"}


class Visitor(Scope):
    """Judges what it meets by the list of operations."""

    # Writes

    def visit_Assign(self, node: ast.Assign) -> None:
        """Each target takes the value; `_write` says which of these are writes in place."""
        self.visit(node.value)
        for target in node.targets:
            self._store(target, node.value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """As `visit_Assign`; what only declares (`self.x: int`) writes nothing."""
        if node.value is not None:
            self.visit(node.value)
            self._store(node.target, node.value)

    def visit_Delete(self, node: ast.Delete) -> None:
        """An attribute that is taken away is a write as well."""
        for target in node.targets:
            for one in ast.walk(target):
                if isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Del) and self.function != "__init__":
                    self._add(one, f"deletion of .{one.attr}", "in-place")
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        """`+=` and its like: writes in place of attributes and wherever data takes part; the operator is judged too."""
        self.visit(node.value)
        if not isinstance(node.target, ast.Name):
            self._write(node.target)
        elif self.values.is_data(node.value) or node.target.id in self.values.data:
            self._add(node, "augmented assignment", "in-place")
        self._judge_operator(node, node.op, node.target, node.value)

    def _store(self, target: ast.expr, value: ast.expr) -> None:
        """As in `Scope`, of whatever statement; the write is judged."""
        self._write(target)
        super()._store(target, value)

    def _write(self, target: ast.expr) -> None:
        """A store into something that exists already: an attribute, an item of data, or of what the twin holds.

        `__init__` may fill the twin.
        """
        if isinstance(target, (ast.Tuple, ast.List)):
            for item in target.elts:
                self._write(item)
        elif isinstance(target, ast.Starred):
            self._write(target.value)
        elif isinstance(target, ast.Attribute):
            self.visit(target.value)
            if self.function != "__init__":
                self._add(target, f"assignment to .{target.attr}", "in-place")
        elif isinstance(target, ast.Subscript):
            self.visit(target)
            held = _is_held(target.value) and self.function != "__init__"
            if held or (self.values.is_data(target.value) and not _is_key(target.slice)):
                boolean = self.values.is_boolean(target.slice)
                self._add(target, "assignment to an index", "boolean index" if boolean else "in-place")

    # Branches

    def visit_If(self, node: ast.If) -> None:
        self._judge_test(node.test, "if")
        self.generic_visit(node)

    def visit_While(self, node: ast.While) -> None:
        self._judge_test(node.test, "while")
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._judge_test(node.test, "... if ... else")
        self.generic_visit(node)

    def visit_Assert(self, node: ast.Assert) -> None:
        self._judge_test(node.test, "assert")
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        """`and` and `or` branch on their operands."""
        if any(self.values.is_data(value) for value in node.values):
            self._add(node, "and" if isinstance(node.op, ast.And) else "or", "branch on data")
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        """`not` branches on its operand; `-` and `~` do not."""
        if isinstance(node.op, ast.Not) and self.values.is_data(node.operand):
            self._add(node, "not", "branch on data")
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        """A chain (`0 < x < 9`) and `in` branch on what they compare; one comparison of tensors is a tensor."""
        membership = any(isinstance(op, (ast.In, ast.NotIn)) for op in node.ops)
        if (len(node.ops) > 1 or membership) and self.values.is_data(node):
            self._add(node, "in" if membership else "chained comparison", "branch on data")
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        """As in a function's body; an `if` branches on its condition."""
        super().visit_comprehension(node)
        for test in node.ifs:
            self._judge_test(test, "if in a comprehension")

    def _judge_test(self, test: ast.expr, operation: str) -> None:
        # `and`, `or` and `not` inside a test are reported by themselves.
        if not isinstance(test, ast.BoolOp) and self.values.is_data(test):
            self._add(test, operation, "branch on data")

    # Operators, indexing, calls

    def visit_BinOp(self, node: ast.BinOp) -> None:
        self._judge_operator(node, node.op, node.left, node.right)
        self.generic_visit(node)

    def _judge_operator(self, node: ast.AST, op: ast.operator, left: ast.expr, right: ast.expr) -> None:
        by_number = isinstance(op, ast.Div) and not self.values.is_data(left) and not _is_one(left)
        if by_number and self.values.is_data(right):
            self._add(node, "number / tensor", "number / tensor")
        sign = _OPERATORS.get(type(op))
        if sign is None or not (self.values.is_data(left) or self.values.is_data(right)):
            return
        if sign in ("@", "**"):
            self._add(node, sign, self.table.refused[sign].name)
        elif self.values.is_float(left) or self.values.is_float(right):
            self._add(node, f"{sign} on floats", "remainder of floats")

    def visit_Subscript(self, node: ast.Subscript) -> None:
        """Reading by a mask gives a shape that depends on data; `_write` judges stores."""
        if isinstance(node.ctx, ast.Load) and self.values.is_data(node.value):
            parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            if any(self.values.is_boolean(part) for part in parts):
                self._add(node, "boolean index", "boolean index")
        self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """A refused function that is handed on instead of called, as in map(torch.sin, ...)."""
        dotted = self.values.dotted(node)
        if dotted.startswith("torch.") and node.attr in self.table.refused and node.attr not in self.table.allowed:
            entry = self.table.refused[node.attr]
            self.found.append((node, dotted, entry.reason, entry.instead))
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        """Functions of torch by the list, of math by `_EXACT_MATH`, others by name; then receiver and arguments."""
        dotted = self.values.dotted(node.func)
        name = dotted.rsplit(".", 1)[-1]
        if dotted.startswith("torch."):
            self._report(node, dotted, judge(self.table, name, node, method=False))
        elif dotted.startswith("math."):
            if name not in _EXACT_MATH:
                self._add(node, dotted, "math function")
        elif not dotted:
            self._judge_local_call(node)
        # The name of the called function has been judged; what it hangs on has not.
        if isinstance(node.func, ast.Attribute):
            self.visit(node.func.value)
        for argument in [*node.args, *(keyword.value for keyword in node.keywords)]:
            self.visit(argument)

    def _judge_local_call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Name):
            name = node.func.id
            data = any(self.values.is_data(argument) for argument in node.args)
            if data and name in _TO_HOST:
                self._add(node, f"{name}()", "host")
            elif data and name in _BRANCHING:
                self._add(node, f"{name}()", "branch on data")
            elif data and name == "pow":
                self._add(node, "pow()", "power")
        elif isinstance(node.func, ast.Attribute) and not _is_own(node.func.value):
            name = node.func.attr
            known = name in self.table.refused and name not in self.table.allowed
            if name not in _PYTHON_METHODS and (known or self.values.is_data(node.func.value)):
                self._report(node, f".{name}()", judge(self.table, name, node, method=True))

    def _report(self, node: ast.AST, operation: str, problem: tuple[str, str] | None) -> None:
        if problem is not None:
            self.found.append((node, operation, *problem))


def _is_own(receiver: ast.expr) -> bool:
    """Whether a method is called on the twin itself or on its draws, not on a tensor."""
    if isinstance(receiver, ast.Attribute):
        return receiver.attr == "draw"
    if isinstance(receiver, ast.Call):
        return isinstance(receiver.func, ast.Name) and receiver.func.id == "super"
    return isinstance(receiver, ast.Name) and receiver.id in {"self", "cls", "draw"}


def _is_held(value: ast.expr) -> bool:
    """Whether a value hangs on the twin itself, as `self.table[0]` does."""
    while isinstance(value, (ast.Attribute, ast.Subscript)):
        value = value.value
    return isinstance(value, ast.Name) and value.id in {"self", "cls"}


def _is_key(index: ast.expr) -> bool:
    """Whether an index is a text, and so that of a dict."""
    return isinstance(index, ast.Constant) and isinstance(index.value, str)


def _is_one(node: ast.expr) -> bool:
    """1 / x is the rounded reciprocal itself, so it is right."""
    return isinstance(node, ast.Constant) and node.value == 1
