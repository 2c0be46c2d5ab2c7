"""What can be told about an expression without running it: does it hold data of the batch, booleans, floats?

A name holds data when it is a parameter of the twin's methods (or annotated as Tensor), or was assigned
from data or from a call of torch. Shapes, dtypes and devices are not data.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

DATA_PARAMETERS = {"state", "action", "ctx"}
# Attributes and calls whose answer does not depend on what a tensor holds.
_METADATA = {"shape", "dtype", "device", "ndim", "size", "dim", "numel", "is_floating_point", "schema"}
_BLIND_CALLS = {"len", "isinstance", "type", "hasattr", "id"}
_BOOLEAN_CALLS = {
    "any",
    "all",
    "isnan",
    "isinf",
    "isfinite",
    "lt",
    "le",
    "gt",
    "ge",
    "eq",
    "ne",
    "logical_and",
    "logical_or",
    "logical_not",
    "logical_xor",
    "bernoulli",
}
_FLOAT_TYPES = {"float32", "float64", "float", "double"}
_BITWISE = (ast.BitAnd, ast.BitOr, ast.BitXor)


@dataclass
class Values:
    """What is known of the names of one function."""

    aliases: dict[str, str]
    data: set[str] = field(default_factory=set[str])
    booleans: set[str] = field(default_factory=set[str])
    floats: set[str] = field(default_factory=set[str])

    def enter(self, arguments: ast.arguments) -> None:
        """Note the parameters of a function."""
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        every += [a for a in (arguments.vararg, arguments.kwarg) if a is not None]
        for argument in every:
            self.forget(argument.arg)
            hint = ast.unparse(argument.annotation) if argument.annotation is not None else ""
            if argument.arg in DATA_PARAMETERS or "Tensor" in hint:
                self.data.add(argument.arg)

    def forget(self, name: str) -> None:
        for known in (self.data, self.booleans, self.floats):
            known.discard(name)

    def bind(self, target: ast.expr, value: ast.expr) -> None:
        """Note an assignment; a tuple on the left takes what is known of the whole right side."""
        for node in ast.walk(target):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self.forget(node.id)
                if self.is_data(value):
                    self.data.add(node.id)
                if self.is_boolean(value):
                    self.booleans.add(node.id)
                if self.is_float(value):
                    self.floats.add(node.id)

    def dotted(self, node: ast.expr) -> str:
        """`torch.nn.functional.relu` for `F.relu`; "" where the root is not an imported name."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if isinstance(node, ast.Name) and node.id in self.aliases:
            return ".".join([self.aliases[node.id], *reversed(parts)])
        return ""

    def is_data(self, node: ast.AST) -> bool:
        """Whether the expression's value depends on what tensors hold, as far as can be seen."""
        if isinstance(node, ast.Name):
            return node.id in self.data
        if isinstance(node, ast.Attribute) and node.attr in _METADATA:
            return False
        if isinstance(node, ast.Compare) and all(isinstance(op, (ast.Is, ast.IsNot)) for op in node.ops):
            return False
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name) and node.func.id in _BLIND_CALLS:
                return False
            if isinstance(node.func, ast.Attribute) and node.func.attr in _METADATA:
                return False
            if self.dotted(node.func).startswith("torch.") and _makes_tensor(self.dotted(node.func)):
                return True
        if isinstance(node, ast.Lambda):
            return False
        return any(self.is_data(child) for child in ast.iter_child_nodes(node))

    def is_boolean(self, node: ast.expr) -> bool:
        """Whether the expression is visibly a tensor of booleans."""
        if not self.is_data(node):
            return False
        if isinstance(node, ast.Name):
            return node.id in self.booleans or "mask" in node.id
        if isinstance(node, ast.Attribute):
            return "mask" in node.attr
        if isinstance(node, ast.Compare):
            return True
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert):
            return self.is_boolean(node.operand)
        if isinstance(node, ast.BinOp) and isinstance(node.op, _BITWISE):
            return self.is_boolean(node.left) or self.is_boolean(node.right)
        return isinstance(node, ast.Call) and _last_name(node.func) in _BOOLEAN_CALLS

    def is_float(self, node: ast.expr) -> bool:
        """Whether the expression is visibly floating point."""
        if isinstance(node, ast.Constant):
            return isinstance(node.value, float)
        if isinstance(node, ast.Name):
            return node.id in self.floats
        if isinstance(node, ast.UnaryOp):
            return self.is_float(node.operand)
        if isinstance(node, ast.BinOp):
            division = isinstance(node.op, ast.Div)
            return division or self.is_float(node.left) or self.is_float(node.right)
        if isinstance(node, ast.Call):
            given = {_last_name(a) for a in [*node.args, *(k.value for k in node.keywords)]}
            return _last_name(node.func) in {"float", "double", "uniform"} or bool(given & _FLOAT_TYPES)
        return False


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _makes_tensor(dotted: str) -> bool:
    return dotted.rsplit(".", 1)[-1] not in {"device", "Size", "finfo", "iinfo", "promote_types"}
