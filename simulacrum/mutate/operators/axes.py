"""K01, K02: the batch axis met by another one, and rows that see other rows."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from simulacrum.mutate.operators.forms import is_shaping, outcomes, results, torch_calls, written_fields
from simulacrum.mutate.operators.registry import operator
from simulacrum.mutate.seen import Fact
from simulacrum.mutate.sites import Edit, Twin


def _rank_one(fact: Fact) -> bool:
    return fact.kind == "tensor" and fact.rows and fact.shape == ()


def _reduced(text: str, fact: Fact) -> str:
    """[N, N] -> [N] along the last axis, in the type it has."""
    return f"({text}).any(dim=-1)" if fact.is_bool else f"({text}).amax(dim=-1)"


@operator("K01", "an axis too many, reduced")
def broadcast(twin: Twin) -> Iterator[Edit]:
    """`a + b` of two [N] -> `(a[:, None] + b).amax(dim=-1)`: each row meets every row's b."""
    for node, left in _pairs(twin):
        text = twin.raw(node)
        start = twin.span(left)[0] - twin.span(node)[0]
        inner = text.encode()[:start].decode() + f"{twin.src(left)}[:, None]" + _tail(twin, node, left)
        yield twin.replaced(node, _reduced(inner, twin.fact(node)), "[N, 1] meets [N]")


@operator("K01", "an axis too many, the first row's column")
def first_column(twin: Twin) -> Iterator[Edit]:
    """`a + b` of two [N] -> `(a[:, None] + b)[:, 0]`: every row meets the first row's b."""
    for node, left in _pairs(twin):
        start = twin.span(left)[0] - twin.span(node)[0]
        head = twin.raw(node).encode()[:start].decode()
        inner = head + f"{twin.src(left)}[:, None]" + _tail(twin, node, left)
        yield twin.replaced(node, f"({inner})[:, 0]", "[N, 1] meets [N]")


def _tail(twin: Twin, node: ast.AST, left: ast.AST) -> str:
    return twin.data[twin.span(left)[1] : twin.span(node)[1]].decode()


def _pairs(twin: Twin) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Binary operations and comparisons of two [N], with their left side."""
    for node in twin.nodes(ast.expr):
        if isinstance(node, ast.BinOp):
            sides = (node.left, node.right)
        elif isinstance(node, ast.Compare) and len(node.ops) == 1:
            sides = (node.left, node.comparators[0])
        else:
            continue
        if all(_rank_one(twin.fact(side)) for side in (*sides, node)):
            yield node, sides[0]


@operator("K01", "a mask with an axis too many")
def broadcast_mask(twin: Twin) -> Iterator[Edit]:
    """`where(m, a, b)` of [N] -> `where(m[:, None], a, b)` reduced; `x[:, None]` -> `x[:1, None]`."""
    for call in torch_calls(twin, "where"):
        if call.method or len(call.args) != 2 or not _rank_one(twin.fact(call.receiver)):
            continue
        if any(_rank_one(twin.fact(arg)) for arg in call.args) and _rank_one(twin.fact(call.node)):
            values = ", ".join(twin.raw(arg) for arg in call.args)
            text = f"torch.where({twin.src(call.receiver)}[:, None], {values})"
            yield twin.replaced(call.node, f"{text}.amin(dim=-1)", "a mask [N, 1] meets [N]")
    for node in twin.nodes(ast.Subscript):
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else []
        fact = twin.fact(node)
        if len(parts) == 2 and twin.raw(parts[0]) == ":" and twin.raw(parts[1]) == "None" and fact.shape == (1,):
            parent = twin.fact(twin.parent(node))
            if parent.rows and parent.shape != (1,):
                yield twin.replaced(node, f"{twin.src(node.value)}[:1, None]", "the first row stands for all")


@operator("K01", "a square the other way")
def transposed(twin: Twin) -> Iterator[Edit]:
    """A value [N, K, K] transposed; `reshape(-1, A, B)` -> `reshape(-1, B, A)` and back."""
    for node in results(twin):
        shape = twin.fact(node).shape
        if len(shape) >= 2 and shape[0] == shape[1]:
            yield twin.replaced(node, f"{twin.src(node)}.transpose(1, 2)")
    for call in torch_calls(twin, "reshape", "view", "unflatten"):
        if len(call.args) == 3 and twin.fact(call.node).rows:
            first, second = (twin.raw(arg) for arg in call.args[1:])
            if first != second:
                given = f"{twin.raw(call.args[0])}, {second}, {first}"
                text = call.render(twin, twin.src(call.receiver), arguments=given)
                yield twin.replaced(call.node, f"{text}.transpose(1, 2)")


@operator("K02", "the row before")
def neighbour(twin: Twin) -> Iterator[Edit]:
    """One read of a tensor -> that of the row before it."""
    for node in twin.reads():
        fact = twin.fact(node)
        if fact.kind == "tensor" and fact.rows and not isinstance(twin.parent(node), ast.Attribute):
            yield twin.replaced(node, f"{twin.raw(node)}.roll(1, dims=0)")


@operator("K02", "the first row for all")
def first_row(twin: Twin) -> Iterator[Edit]:
    """One read of a tensor -> that of the first row."""
    for node in twin.reads("step", "observe"):
        fact = twin.fact(node)
        if fact.kind == "tensor" and fact.rows and not isinstance(twin.parent(node), ast.Attribute):
            yield twin.replaced(node, f"{twin.raw(node)}[:1].expand_as({twin.raw(node)})")


@operator("K02", "reduced over the batch")
def over_the_batch(twin: Twin) -> Iterator[Edit]:
    """`x.any(dim=-1)` -> `x.any()` for all rows; the same for all, sum, amax and amin."""
    for call in torch_calls(twin, "any", "all", "sum", "amax", "amin", "max", "min"):
        if (call.args or call.keywords) and twin.fact(call.node).rows:
            kept = "dtype=" + twin.raw(call.keywords["dtype"]) if "dtype" in call.keywords else ""
            whole = call.render(twin, twin.src(call.receiver), arguments=kept)
            yield twin.replaced(call.node, f"{whole}.expand_as({twin.raw(call.node)})")


@operator("K02", "all rows where any is")
def any_row(twin: Twin) -> Iterator[Edit]:
    """`where(m, a, b)` -> `where(m.any(), a, b)`; a flag of any row given to all."""
    for call in torch_calls(twin, "where"):
        fact = twin.fact(call.node)
        if not call.method and len(call.args) == 2 and any(twin.fact(arg).form == fact.form for arg in call.args):
            yield twin.replaced(call.receiver, f"{twin.src(call.receiver)}.any()")
    for outcome in outcomes(twin):
        flag = twin.src(outcome.terminated)
        yield twin.replaced(outcome.terminated, f"{flag}.any().expand_as({flag})")


@operator("K02", "the mean of the batch")
def mean(twin: Twin) -> Iterator[Edit]:
    """A divisor or a subtrahend of the rows -> their mean or greatest."""
    for node in twin.nodes(ast.BinOp):
        fact, whole = twin.fact(node.right), twin.fact(node)
        if isinstance(node.op, (ast.Div, ast.Sub)) and _rank_one(fact) and _rank_one(whole):
            reduce = "mean()" if fact.is_float else "amax()"
            right = twin.src(node.right)
            yield twin.replaced(node.right, f"{right}.{reduce}.expand_as({right})")


@operator("K02", "written to the first rows only")
def fixed_slice(twin: Twin) -> Iterator[Edit]:
    """A field's new value reaches four rows; the others keep the old one."""
    for written in written_fields(twin, "step"):
        old, new = f"state.{written.field}", twin.src(written.node)
        yield twin.replaced(written.node, f"torch.cat([{new}[:4], {old}[4:]])", "rows after the fourth keep the old")


@operator("K02", "rows paired off by one")
def shifted(twin: Twin) -> Iterator[Edit]:
    """One side of a comparison or a sum is that of the next row."""
    for node, left in _pairs(twin):
        if not is_shaping(twin, node) and not isinstance(left, (ast.Name, ast.Attribute)):
            yield twin.replaced(left, f"{twin.src(left)}.roll(-1, dims=0)")
