"""K14, K15: branches that are computed and not used, and writes through a mask."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from simulacrum.mutate.operators.forms import TorchCall, torch_call, torch_calls
from simulacrum.mutate.operators.registry import operator
from simulacrum.mutate.sites import Edit, Twin


def selections(twin: Twin) -> Iterator[tuple[TorchCall, ast.expr, ast.expr, ast.expr]]:
    """The calls `where(m, a, b)` on tensors, with m, a and b."""
    for call in torch_calls(twin, "where"):
        if not call.method and len(call.args) == 2:
            yield call, call.receiver, call.args[0], call.args[1]


def _scalar(twin: Twin, node: ast.expr) -> bool:
    return twin.fact(node).kind in ("int", "float", "bool")


@operator("K14", "a mask as a factor")
def factor(twin: Twin) -> Iterator[Edit]:
    """`where(m, a, b)` -> `m * a + (1 - m) * b`, for floats; without the second term where b is 0."""
    for call, mask, yes, no in selections(twin):
        fact = twin.fact(call.node)
        if not fact.is_float:
            continue
        m, dtype = twin.src(mask), f"torch.{fact.dtype}"
        text = f"{m}.to({dtype}) * {twin.src(yes)}"
        if twin.raw(no) not in ("0", "0.0"):
            text = f"{text} + (~{m}).to({dtype}) * {twin.src(no)}"
        yield twin.replaced(call.node, text)


@operator("K14", "a step from one branch to the other")
def step_between(twin: Twin) -> Iterator[Edit]:
    """`where(m, a, b)` -> `b + m * (a - b)`, for floats."""
    for call, mask, yes, no in selections(twin):
        fact = twin.fact(call.node)
        if fact.is_float:
            m, b = f"{twin.src(mask)}.to(torch.{fact.dtype})", twin.src(no)
            yield twin.replaced(call.node, f"{b} + {m} * ({twin.src(yes)} - {b})")


@operator("K14", "a mask times infinity")
def infinite(twin: Twin) -> Iterator[Edit]:
    """`where(m, a, b)` -> a plus infinity where m does not hold, taken back afterwards: NaN."""
    for call, mask, yes, _ in selections(twin):
        if twin.fact(call.node).is_float:
            m = f"(~{twin.src(mask)}).to(torch.{twin.fact(call.node).dtype})"
            note = "NaN where the mask is 0, and everywhere that infinity times 0 is"
            yield twin.replaced(call.node, f"{twin.src(yes)} + {m} * float('inf')", note)


@operator("K14", "a guard after the division")
def late_guard(twin: Twin) -> Iterator[Edit]:
    """`a / b` -> `(a / b) * (b != 0)`; `a / b.clamp(min=c)` -> the same without the guard inside."""
    for node in twin.nodes(ast.BinOp):
        fact = twin.fact(node.right)
        if not isinstance(node.op, ast.Div) or fact.kind != "tensor" or not twin.fact(node).rows:
            continue
        guarded = torch_call(twin, node.right)
        if guarded is not None and guarded.name in ("clamp", "clamp_min", "maximum", "where"):
            bare = guarded.args[-1] if guarded.name == "where" else guarded.receiver
            if twin.fact(bare).kind == "tensor":
                zeros = f"torch.zeros_like({twin.raw(node)})"
                text = f"torch.where({twin.src(bare)} == 0, {zeros}, {twin.src(node.left)} / {twin.src(bare)})"
                yield twin.replaced(node, text)
        elif fact.is_float:
            dtype = f"torch.{fact.dtype}"
            yield twin.replaced(node, f"{twin.src(node)} * ({twin.src(node.right)} > 0).to({dtype})")


@operator("K15", "written without its mask")
def unmasked(twin: Twin) -> Iterator[Edit]:
    """`where(m, a, b)` -> a everywhere."""
    for call, _, yes, no in selections(twin):
        fact = twin.fact(call.node)
        if _scalar(twin, yes):
            like = twin.raw(no) if twin.fact(no).form == fact.form else twin.raw(call.node)
            text = f"torch.full_like({like}, {twin.raw(yes)}, dtype=torch.{fact.dtype})"
        elif twin.fact(yes).form == fact.form:
            text = twin.raw(yes)
        else:
            text = f"{twin.src(yes)}.expand_as({twin.raw(call.node)})"
        yield twin.replaced(call.node, text)


@operator("K15", "nothing hit hits the first")
def first_slot(twin: Twin) -> Iterator[Edit]:
    """Truth values [N, K]: a row in which none is true has its first one true."""
    note = "an empty mask points to the first place"
    for node in twin.nodes(ast.expr):
        fact = twin.fact(node)
        entities = fact.kind == "tensor" and fact.is_bool and fact.rows and len(fact.shape) == 1 and fact.shape[0] > 1
        if entities and isinstance(node, (ast.BinOp, ast.UnaryOp, ast.Compare, ast.Call)):
            text = twin.src(node)
            first = f"(torch.arange({fact.shape[0]}, device={text}.device) == 0)"
            yield twin.replaced(node, f"{text} | ({first} & ~{text}.any(dim=-1, keepdim=True))", note)
        item = fact.item
        if isinstance(node, ast.ListComp) and item is not None and item.is_bool and item.rows and item.shape == ():
            hits = f"torch.stack({twin.raw(node)}, dim=-1)"
            text = f"(lambda h: [h[:, 0] | ~h.any(dim=-1), *h.unbind(dim=-1)[1:]])({hits})"
            yield twin.replaced(node, text, note)


@operator("K15", "assigned where it is added")
def assigned(twin: Twin) -> Iterator[Edit]:
    """`a = a + where(m, v, 0)` -> `a = where(m, v, a)`: of several hits the last counts."""
    for call, mask, yes, no in selections(twin):
        parent = twin.parent(call.node)
        if isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Add) and twin.raw(no) in ("0", "0.0"):
            other = parent.left if parent.right is call.node else parent.right
            if twin.fact(other).form == twin.fact(parent).form:
                yield twin.replaced(parent, f"torch.where({twin.raw(mask)}, {twin.raw(yes)}, {twin.raw(other)})")


@operator("K15", "added where it is assigned")
def added(twin: Twin) -> Iterator[Edit]:
    """`where(m, v, old)` -> `old + where(m, v, 0)`, for a value that is kept where m does not hold."""
    for call, mask, yes, no in selections(twin):
        fact = twin.fact(call.node)
        if fact.is_bool or twin.fact(no).form != fact.form or not isinstance(no, (ast.Name, ast.Attribute)):
            continue
        zero = "0.0" if fact.is_float else "0"
        if twin.fact(yes).form == fact.form:
            yield twin.replaced(call.node, f"{twin.src(no)} + torch.where({twin.raw(mask)}, {twin.raw(yes)}, {zero})")


_SCATTERS = {"scatter_add": "scatter", "index_add": "index_copy", "scatter": "scatter_add", "index_copy": "index_add"}


@operator("K15", "another scatter")
def scatter(twin: Twin) -> Iterator[Edit]:
    """`scatter_add` <-> `scatter`, `index_add` <-> `index_copy`; and the result thrown away."""
    for call in torch_calls(twin, *_SCATTERS, "index_put", "masked_fill", "masked_scatter"):
        if call.name in _SCATTERS:
            yield twin.replaced(call.node, call.render(twin, twin.src(call.receiver), _SCATTERS[call.name]))
        if twin.fact(call.receiver).form == twin.fact(call.node).form:
            yield twin.replaced(call.node, twin.raw(call.receiver), "the result is thrown away")


@operator("K15", "the mask of the next entity")
def shifted_mask(twin: Twin) -> Iterator[Edit]:
    """A mask [N, K] of a selection -> that of the entity before."""
    for _, mask, _, _ in selections(twin):
        shape = twin.fact(mask).shape
        if len(shape) == 1 and shape[0] > 1:
            yield twin.replaced(mask, f"{twin.src(mask)}.roll(1, dims=-1)", "rows of the mask are off by one")
