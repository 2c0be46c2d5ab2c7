"""K12, K13, K18: widths of integers, forms of float expressions, signs of integer operations."""

from __future__ import annotations

import ast
import math
import struct
from collections.abc import Iterator

from simulacrum.mutate.operators.forms import is_shaping, torch_calls
from simulacrum.mutate.operators.registry import BOTH, REFERENCE, operator
from simulacrum.mutate.sites import Edit, Twin, last_name

_PORTABLE = ("sin", "cos", "tan", "exp", "log", "tanh", "sqrt", "atan2")
_NARROW = {"uint8": (0, 255), "int8": (-128, 127), "int16": (-(2**15), 2**15 - 1)}


@operator("K12", "an integer that is too narrow")
def narrow(twin: Twin) -> Iterator[Edit]:
    """An integer through the widest of int16, int8 and uint8 that cannot hold what was seen, and back."""
    for node in twin.nodes(ast.expr):
        fact = twin.fact(node)
        if fact.kind != "tensor" or not fact.is_int or not fact.rows or fact.low is None or fact.high is None:
            continue
        if isinstance(twin.parent(node), ast.Attribute) and isinstance(node, (ast.Name, ast.Attribute)):
            continue  # a longer read begins with it
        for name, (low, high) in _NARROW.items():
            if fact.low < low or fact.high > high:
                yield twin.replaced(node, f"{twin.src(node)}.to(torch.{name}).to(torch.{fact.dtype})")


@operator("K12", "a sum in a narrow type")
def narrow_sum(twin: Twin) -> Iterator[Edit]:
    """A sum or count over entities in three bits: 8 wraps to 0, 4 to -4, as int8 does at 128."""
    for call in torch_calls(twin, "sum", "count_nonzero"):
        if twin.fact(call.node).is_int and twin.fact(call.node).rows:
            yield twin.replaced(call.node, f"({twin.raw(call.node)} + 4) % 8 - 4", "a type of three bits")


@operator("K12", "a difference without sign")
def unsigned(twin: Twin) -> Iterator[Edit]:
    """`a - b` in uint8."""
    for node in twin.nodes(ast.BinOp):
        fact, both = twin.fact(node), (twin.fact(node.left), twin.fact(node.right))
        tensors = all(side.kind == "tensor" and side.is_int for side in (fact, *both))
        if isinstance(node.op, ast.Sub) and tensors and fact.rows:
            left, right = (f"{twin.src(side)}.to(torch.uint8)" for side in (node.left, node.right))
            yield twin.replaced(node, f"({left} - {right}).to(torch.{fact.dtype})")


@operator("K12", "a wide intermediate cut short")
def cut_short(twin: Twin) -> Iterator[Edit]:
    """A cast to a float goes through int8: exact until the value leaves it."""
    for call in torch_calls(twin, "to", "float", "double"):
        fact = twin.fact(call.receiver)
        if fact.kind == "tensor" and fact.is_int and fact.rows and twin.fact(call.node).is_float:
            top = "ctx.t" in twin.raw(call.receiver) and (twin.schema.max_episode_steps or 0) > 127
            if top or (fact.high or 0) > 127 or (fact.low or 0) < -128:
                yield twin.replaced(call.receiver, f"{twin.src(call.receiver)}.to(torch.int8)")


def _floats(twin: Twin) -> Iterator[ast.BinOp]:
    for node in twin.nodes(ast.BinOp):
        fact = twin.fact(node)
        if fact.is_float and fact.kind in ("tensor", "Float32", "float") and not is_shaping(twin, node):
            yield node


@operator("K13", "a product with the reciprocal", BOTH)
def reciprocal(twin: Twin) -> Iterator[Edit]:
    """`a / b` -> `a * (1 / b)`, unless b is a power of two."""
    for node in _floats(twin):
        right = twin.fact(node.right)
        if isinstance(node.op, ast.Div) and twin.fact(node.left).kind != "float":
            if right.low == right.high and right.low is not None and math.frexp(abs(right.low))[0] == 0.5:
                continue
            yield twin.replaced(node, f"{twin.src(node.left)} * (1.0 / {twin.src(node.right)})")


@operator("K13", "another order of additions", BOTH)
def reassociated(twin: Twin) -> Iterator[Edit]:
    """`(a + b) + c` -> `a + (b + c)`, `a - b + c` -> `a + (c - b)`; the same for products."""
    for node in _floats(twin):
        for outer, inner in ((node, node.left), (node, node.right)):
            if not isinstance(inner, ast.BinOp):
                continue
            other = node.right if inner is node.left else node.left
            a, b, c = twin.src(inner.left), twin.src(inner.right), twin.src(other)
            forms: dict[tuple[type[ast.operator], type[ast.operator], bool], str] = {
                (ast.Add, ast.Add, True): f"{a} + ({b} + {c})",
                (ast.Sub, ast.Add, True): f"{a} + ({c} - {b})",
                (ast.Add, ast.Sub, True): f"{a} + ({b} - {c})",
                (ast.Sub, ast.Sub, True): f"{a} - ({b} + {c})",
                (ast.Add, ast.Add, False): f"({c} + {a}) + {b}",
                (ast.Mult, ast.Mult, True): f"{a} * ({b} * {c})",
                (ast.Mult, ast.Mult, False): f"({c} * {a}) * {b}",
                (ast.Mult, ast.Div, True): f"{a} * ({b} / {c})",
                (ast.Mult, ast.Div, False): f"{c} / {a} / {b}",
            }
            text = forms.get((type(inner.op), type(outer.op), inner is node.left))
            if text is not None:
                yield twin.replaced(node, text)


@operator("K13", "another width of floats")
def width(twin: Twin) -> Iterator[Edit]:
    """A float32 expression in float64 and rounded, a float64 one in float32: all tensors in it are cast.

    A single float32 sum, product or quotient is left alone: float64 has more than twice its digits, so that rounding
    twice comes to the same bits.
    """
    for node in _floats(twin):
        fact = twin.fact(node)
        if fact.kind != "tensor" or not fact.rows:
            continue
        other = "float64" if fact.dtype == "float32" else "float32"
        leaves = _leaves(twin, node)
        if not leaves or (other == "float64" and not _several(twin, node)):
            continue
        start, end = twin.span(node)
        text, at = "", start
        for leaf in leaves:
            begin, stop = twin.span(leaf)
            text += twin.data[at:begin].decode() + f"{twin.src(leaf)}.to(torch.{other})"
            at = stop
        text += twin.data[at:end].decode()
        yield twin.replaced(node, f"({text}).to(torch.{fact.dtype})")


def _several(twin: Twin, node: ast.BinOp) -> bool:
    """Whether an arithmetic expression is more than one operation on tensors."""
    sides = [each.operand if isinstance(each, ast.UnaryOp) else each for each in (node.left, node.right)]
    return any(isinstance(each, ast.BinOp) and twin.fact(each).kind == "tensor" for each in sides)


def _leaves(twin: Twin, node: ast.expr) -> list[ast.expr]:
    """The float tensors that an arithmetic expression is made of, in textual order."""
    if isinstance(node, ast.BinOp):
        return _leaves(twin, node.left) + _leaves(twin, node.right)
    if isinstance(node, ast.UnaryOp):
        return _leaves(twin, node.operand)
    fact = twin.fact(node)
    return [node] if fact.kind == "tensor" and fact.is_float else []


@operator("K13", "constants in float64")
def wide_constants(twin: Twin) -> Iterator[Edit]:
    """`x * 0.1` of float32 -> in float64, where 0.1 is another number, and rounded."""
    for node in _floats(twin):
        fact, left, right = twin.fact(node), twin.fact(node.left), twin.fact(node.right)
        tensor, number = (node.left, right) if left.kind == "tensor" else (node.right, left)
        exact = number.kind == "int" or number.low is None or _in_float32(number.low)
        if fact.dtype == "float32" and number.kind in ("float", "int") and not exact:
            start = twin.span(node)[0]
            begin, stop = twin.span(tensor)
            text = twin.data[start:begin].decode() + f"{twin.src(tensor)}.to(torch.float64)"
            text += twin.data[stop : twin.span(node)[1]].decode()
            yield twin.replaced(node, f"({text}).to(torch.float32)")


def _in_float32(value: float) -> bool:
    return struct.unpack("f", struct.pack("f", value))[0] == value


@operator("K13", "a fused product and sum")
def fused(twin: Twin) -> Iterator[Edit]:
    """`a + b * c` of tensors -> `torch.addcmul(a, b, c)`."""
    for node in _floats(twin):
        for total, product in ((node.left, node.right), (node.right, node.left)):
            if not isinstance(product, ast.BinOp) or not isinstance(product.op, ast.Mult):
                continue
            tensors = all(twin.fact(part).kind == "tensor" for part in (total, product.left, product.right))
            if tensors and isinstance(node.op, ast.Add):
                given = f"{twin.raw(total)}, {twin.raw(product.left)}, {twin.raw(product.right)}"
                yield twin.replaced(node, f"torch.addcmul({given})")


@operator("K13", "a power for a root")
def root(twin: Twin) -> Iterator[Edit]:
    """`sqrt(x)` -> `x ** 0.5`, and torch's own function for a portable one."""
    for node in twin.nodes(ast.Call):
        name = last_name(node.func)
        if name == "sqrt" and node.args:
            yield twin.replaced(node, f"{twin.src(node.args[0])} ** 0.5")
        if isinstance(node.func, ast.Name) and name in _PORTABLE and twin.fact(node).kind == "tensor":
            yield twin.replaced(node.func, f"torch.{name}")


@operator("K13", "a sum that torch orders")
def library_sum(twin: Twin) -> Iterator[Edit]:
    """`a + b + c` of floats -> `torch.stack([a, b, c]).sum(0)`."""
    for node in _floats(twin):
        inner = node.left
        if isinstance(node.op, ast.Add) and isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Add):
            parts = (inner.left, inner.right, node.right)
            if all(twin.fact(part).form == twin.fact(node).form and twin.fact(part).rows for part in parts):
                given = ", ".join(twin.raw(part) for part in reversed(parts))
                yield twin.replaced(node, f"torch.stack([{given}], dim=0).sum(dim=0)")


@operator("K18", "a value without its sign", BOTH)
def no_sign(twin: Twin) -> Iterator[Edit]:
    """An integer that was seen below zero -> its absolute value."""
    for node in twin.nodes(ast.expr):
        fact = twin.fact(node)
        if fact.is_int and fact.kind in ("int", "tensor") and (fact.low or 0) < 0 and not is_shaping(twin, node):
            if isinstance(node, (ast.Constant, ast.UnaryOp)) or isinstance(twin.parent(node), ast.UnaryOp):
                continue
            text = f"{twin.src(node)}.abs()" if fact.kind == "tensor" else f"abs({twin.raw(node)})"
            yield twin.replaced(node, text)


@operator("K18", "~ of a number")
def inverted_number(twin: Twin) -> Iterator[Edit]:
    """`~m` of truth values -> `~m.to(int)`, which is never 0."""
    for node in twin.nodes(ast.UnaryOp):
        if isinstance(node.op, ast.Invert) and twin.fact(node).is_bool:
            yield twin.replaced(node, f"(~{twin.src(node.operand)}.to(torch.int32)).to(torch.bool)")
    for node in twin.nodes(ast.Call):
        if last_name(node.func) == "logical_not" and isinstance(node.func, ast.Attribute):
            receiver = node.args[0] if node.args else node.func.value
            yield twin.replaced(node, f"(~{twin.src(receiver)}.to(torch.int32)).to(torch.bool)")


@operator("K18", "division that rounds the other way")
def rounding(twin: Twin) -> Iterator[Edit]:
    """`a // b` <-> rounding to zero, `a % b` -> the remainder with the sign of a, `a >> b` -> `a / 2**b` to zero."""
    for node in twin.nodes(ast.BinOp):
        fact, a, b = twin.fact(node), twin.src(node.left), twin.src(node.right)
        if fact.kind == "tensor" and fact.is_int:
            trunc = f'torch.div({a}, {b}, rounding_mode="trunc")'
            if isinstance(node.op, ast.FloorDiv):
                yield twin.replaced(node, trunc)
            elif isinstance(node.op, ast.Mod):
                yield twin.replaced(node, f"{a} - {trunc} * {b}")
            elif isinstance(node.op, ast.RShift):
                yield twin.replaced(node, f'torch.div({a}, 2 ** {b}, rounding_mode="trunc")')


@operator("K18", "division that rounds the other way", REFERENCE)
def scalar_rounding(twin: Twin) -> Iterator[Edit]:
    """`a // b` -> `int(a / b)`, `a % b` -> the remainder with the sign of a."""
    for node in twin.nodes(ast.BinOp):
        a, b = twin.src(node.left), twin.src(node.right)
        if twin.fact(node).kind == "int" and isinstance(node.op, ast.FloorDiv):
            yield twin.replaced(node, f"int({a} / {b})")
        elif twin.fact(node).kind == "int" and isinstance(node.op, ast.Mod):
            yield twin.replaced(node, f"{a} - int({a} / {b}) * {b}")


@operator("K18", "a truth value's sign")
def bool_sign(twin: Twin) -> Iterator[Edit]:
    """A cast of truth values to integers -> 0 and -1."""
    for call in torch_calls(twin, "to", "int", "long"):
        if twin.fact(call.receiver).is_bool and twin.fact(call.node).is_int:
            yield twin.replaced(call.node, f"-{twin.raw(call.node)}", "true is -1")
