"""K16, K17: values that leave their range, and the ends of intervals."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from simulacrum.mutate.operators.forms import TorchCall, gap, torch_calls
from simulacrum.mutate.operators.registry import BOTH, REFERENCE, operator
from simulacrum.mutate.sites import Edit, Twin, last_name

_ENDS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
}


def _clamps(twin: Twin) -> Iterator[tuple[TorchCall, ast.expr | None, ast.expr | None]]:
    """The clamps of tensors, with their lower and upper end."""
    for call in torch_calls(twin, "clamp", "clip"):
        yield call, call.argument(0, "min"), call.argument(1, "max")
    for call in torch_calls(twin, "clamp_min", "clamp_max"):
        end = call.args[0] if call.args else None
        yield (call, end, None) if call.name == "clamp_min" else (call, None, end)


@operator("K16", "no bounds")
def unbounded(twin: Twin) -> Iterator[Edit]:
    """`x.clamp(a, b)` -> `x`."""
    for call, _, _ in _clamps(twin):
        yield twin.replaced(call.node, twin.raw(call.receiver))


@operator("K16", "a wall that wraps")
def wraps(twin: Twin) -> Iterator[Edit]:
    """`x.clamp(a, b)` -> `(x - a) % (b - a + 1) + a`, for integers."""
    for call, low, high in _clamps(twin):
        if twin.fact(call.node).is_int and low is not None and high is not None:
            a, b, x = twin.src(low), twin.src(high), twin.src(call.receiver)
            text = f"{x} % ({b} + 1)" if a == "0" else f"({x} - {a}) % ({b} - {a} + 1) + {a}"
            yield twin.replaced(call.node, text)
        elif twin.fact(call.node).is_int and high is not None and low is None:
            yield twin.replaced(call.node, f"{twin.src(call.receiver)} % ({twin.src(high)} + 1)")


@operator("K16", "a range one too wide")
def too_wide(twin: Twin) -> Iterator[Edit]:
    """`x.clamp(a, b)` of integers -> one more on either side; `x % n` -> `x % (n + 1)`."""
    for call, low, high in _clamps(twin):
        if twin.fact(call.node).is_int:
            if low is not None:
                yield twin.replaced(low, f"{twin.src(low)} - 1")
            if high is not None:
                yield twin.replaced(high, f"{twin.src(high)} + 1")


@operator("K16", "another modulus", BOTH)
def modulus(twin: Twin) -> Iterator[Edit]:
    """`x % n` -> `x % (n + 1)`, `x`, and the last value instead of a wrap."""
    for node in twin.nodes(ast.BinOp):
        if isinstance(node.op, ast.Mod) and twin.fact(node).is_int:
            yield twin.replaced(node.right, f"{twin.src(node.right)} + 1")
            yield twin.replaced(node, twin.raw(node.left))
            tensor = twin.fact(node).kind == "tensor"
            x, top = twin.src(node.left), f"{twin.src(node.right)} - 1"
            yield twin.replaced(node, f"{x}.clamp(max={top})" if tensor else f"min({x}, {top})")


@operator("K16", "a range that is not held", REFERENCE)
def scalar_unbounded(twin: Twin) -> Iterator[Edit]:
    """`min(max(x, a), b)` -> one of the two; the result of a bounds test that is not taken."""
    for node in twin.nodes(ast.Call):
        if isinstance(node.func, ast.Name) and node.func.id in ("min", "max") and len(node.args) == 2:
            yield twin.replaced(node, twin.raw(node.args[0]))
            if twin.fact(node.args[1]).kind == "int":
                yield twin.replaced(node.args[1], f"{twin.src(node.args[1])} + 1")
                yield twin.replaced(node.args[1], f"{twin.src(node.args[1])} - 1")
    for node in twin.nodes(ast.If):
        only = len(node.body) == 1 and isinstance(node.body[0], ast.Return) and not node.orelse
        if only and any(isinstance(op, (ast.Lt, ast.Gt, ast.LtE, ast.GtE)) for op in _operators(node.test)):
            yield twin.replaced(node.test, "False", "the bounds are not tested")


def _operators(node: ast.expr) -> list[ast.cmpop]:
    return node.ops if isinstance(node, ast.Compare) else []


@operator("K16", "the index before")
def shifted_index(twin: Twin) -> Iterator[Edit]:
    """`x.gather(1, i)` and `x[rows, i]` -> i - 1, where -1 wraps to the last, or i + 1 wrapped to the first."""
    for call in torch_calls(twin, "gather", "index_select", "take_along_dim"):
        index, axis = call.argument(1, "index"), call.argument(0, "dim")
        shape = twin.fact(call.receiver).shape
        if index is not None and axis is not None and twin.raw(axis) in ("1", "-1") and shape:
            yield twin.replaced(index, f"({twin.src(index)} + 1) % {shape[-1]}")
            yield twin.replaced(index, f"({twin.src(index)} - 1) % {shape[-1]}")
    for node in twin.nodes(ast.Subscript):
        fact, value = twin.fact(node.slice), twin.fact(node.value)
        if isinstance(node.ctx, ast.Load) and fact.kind == "tensor" and fact.is_int and value.kind == "tensor":
            size = value.shape[0] if value.shape and not value.rows else 0
            if size:
                yield twin.replaced(node.slice, f"({twin.src(node.slice)} + 1) % {size}")
    for node in twin.nodes(ast.Tuple):
        parent = twin.parent(node)
        if not isinstance(parent, ast.Subscript) or parent.slice is not node or not isinstance(parent.ctx, ast.Load):
            continue
        shape = twin.fact(parent.value).shape
        for axis, index in enumerate(node.elts[1:]):
            number = isinstance(index, ast.Constant) and isinstance(index.value, int) and axis < len(shape)
            if number and shape[axis] > 1:
                yield twin.replaced(index, f"{twin.raw(index)} - 1", "0 wraps to the last")


@operator("K17", "bounds before the sum")
def bounds_first(twin: Twin) -> Iterator[Edit]:
    """`(x + d).clamp(a, b)` -> `x.clamp(a, b) + d`; each addend instead of the sum."""
    for call, _, _ in _clamps(twin):
        inner = call.receiver
        if not isinstance(inner, ast.BinOp) or not isinstance(inner.op, (ast.Add, ast.Sub)):
            continue
        sign = "+" if isinstance(inner.op, ast.Add) else "-"
        sides = [twin.src(inner.left), twin.src(inner.right)]
        clamped = [call.render(twin, side) if twin.fact(part).kind == "tensor" else side
                   for side, part in zip(sides, (inner.left, inner.right), strict=True)]  # fmt: skip
        yield twin.replaced(call.node, f"{clamped[0]} {sign} {sides[1]}", "the sum is not bounded")
        yield twin.replaced(call.node, f"{clamped[0]} {sign} {clamped[1]}", "each part is bounded, not the sum")


@operator("K17", "one end alone")
def one_end(twin: Twin) -> Iterator[Edit]:
    """`x.clamp(a, b)` -> `x.clamp(min=a)` or `x.clamp(max=b)`."""
    for call, low, high in _clamps(twin):
        if low is not None and high is not None:
            x = twin.src(call.receiver)
            yield twin.replaced(call.node, call.render(twin, x, arguments=f"min={twin.raw(low)}"))
            yield twin.replaced(call.node, call.render(twin, x, arguments=f"max={twin.raw(high)}"))


@operator("K17", "an end moved inwards")
def narrower(twin: Twin) -> Iterator[Edit]:
    """`x.clamp(a, b)` -> one less on either side for integers; a float's end moved by a thousandth."""
    for call, low, high in _clamps(twin):
        whole = twin.fact(call.node).is_int
        for end, sign in ((low, "+"), (high, "-")):
            if end is not None:
                yield twin.replaced(end, f"{twin.src(end)} {sign} {'1' if whole else '0.001'}")


@operator("K17", "an end that belongs, or does not", BOTH)
def half_open(twin: Twin) -> Iterator[Edit]:
    """`<` <-> `<=`, `>` <-> `>=`."""
    for node in twin.nodes(ast.Compare):
        sides = [node.left, *node.comparators]
        for left, right, op in zip(sides, sides[1:], node.ops, strict=False):
            if type(op) in _ENDS:
                sign = gap(twin, left, right, *_ENDS[type(op)])
                if sign is not None:
                    yield Edit(node, (sign,))


@operator("K17", "a scale one off", BOTH)
def scale(twin: Twin) -> Iterator[Edit]:
    """`x / (n - 1)` -> `x / n`, `x / n` -> `x / (n - 1)`."""
    for node in twin.nodes(ast.BinOp):
        right = twin.fact(node.right)
        if isinstance(node.op, ast.Div) and right.kind == "int":
            if isinstance(node.right, ast.BinOp) and twin.raw(node.right.right) == "1":
                yield twin.replaced(node.right, twin.raw(node.right.left))
            elif right.low != 1:
                yield twin.replaced(node.right, f"{twin.src(node.right)} - 1")


@operator("K17", "one side of a range left out")
def one_side(twin: Twin) -> Iterator[Edit]:
    """`(x < a) | (x > b)` -> one of the two, where both are about one value."""
    for node in twin.nodes(ast.BinOp):
        sides = (node.left, node.right)
        if isinstance(node.op, (ast.BitOr, ast.BitAnd)) and all(isinstance(side, ast.Compare) for side in sides):
            one, other = (side for side in sides if isinstance(side, ast.Compare))
            if twin.raw(one.left) == twin.raw(other.left):
                yield twin.replaced(node, twin.raw(one))
                yield twin.replaced(node, twin.raw(other))


@operator("K17", "where() for a bound")
def strict_bound(twin: Twin) -> Iterator[Edit]:
    """`x.clamp(max=b)` -> b where x reaches it less one: the wall is felt one step before."""
    for call, low, high in _clamps(twin):
        if twin.fact(call.node).is_int and low is not None and high is not None and last_name(high):
            x, b = twin.src(call.receiver), twin.src(high)
            yield twin.replaced(call.node, f"torch.where({x} >= {b} - 1, {b}, {twin.raw(call.node)}).to({x}.dtype)")
