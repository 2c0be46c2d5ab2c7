"""K03: quantifiers over entities, the axis they run along, and which of them is meant."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from simulacrum.mutate.operators.forms import gap, torch_calls
from simulacrum.mutate.operators.registry import BOTH, FAST, REFERENCE, operator
from simulacrum.mutate.sites import Edit, Twin, last_name

_OTHER = {"any": "all", "all": "any"}


@operator("K03", "any for all")
def quantifier(twin: Twin) -> Iterator[Edit]:
    """`x.any(dim=-1)` <-> `x.all(dim=-1)`."""
    for call in torch_calls(twin, "any", "all"):
        yield twin.replaced(call.node, call.render(twin, twin.src(call.receiver), _OTHER[call.name]))


@operator("K03", "any for all", REFERENCE)
def scalar_quantifier(twin: Twin) -> Iterator[Edit]:
    """`any(xs)` <-> `all(xs)`."""
    for call in twin.nodes(ast.Call):
        if isinstance(call.func, ast.Name) and call.func.id in _OTHER:
            yield twin.replaced(call.func, _OTHER[call.func.id])


@operator("K03", "exactly one for any")
def exactly_one(twin: Twin) -> Iterator[Edit]:
    """`x.any(dim=-1)` -> `x.sum(dim=-1) == 1`."""
    for call in torch_calls(twin, "any"):
        if (call.args or call.keywords) and twin.fact(call.node).rows:
            counted = f"{twin.src(call.receiver)}.to(torch.int32)"
            text = call.render(twin, counted, "sum")
            yield twin.replaced(call.node, f"{text} == 1")


@operator("K03", "whether for how many")
def presence(twin: Twin) -> Iterator[Edit]:
    """A count over entities -> 1 where there is any."""
    for call in torch_calls(twin, "sum", "count_nonzero"):
        fact = twin.fact(call.node)
        if fact.is_int and fact.rows:
            yield twin.replaced(call.node, f"{twin.raw(call.node)}.clamp(max=1)")


@operator("K03", "whether for how many", REFERENCE)
def scalar_presence(twin: Twin) -> Iterator[Edit]:
    """`sum(xs)` -> `min(sum(xs), 1)`."""
    for call in twin.nodes(ast.Call):
        if isinstance(call.func, ast.Name) and call.func.id == "sum" and twin.fact(call).kind == "int":
            yield twin.replaced(call, f"min({twin.raw(call)}, 1)")


@operator("K03", "one entity for each", BOTH)
def one_entity(twin: Twin) -> Iterator[Edit]:
    """`x[:, k]` -> `x[:, 0]`, `xs[k]` -> `xs[0]`, with k the variable of a loop."""
    for node in twin.nodes(ast.Subscript):
        index = _entity_index(twin, node)
        if index is not None:
            yield twin.replaced(index, "0", "every entity is taken for the first one")


@operator("K03", "the entity before", BOTH)
def previous_entity(twin: Twin) -> Iterator[Edit]:
    """`x[:, k]` -> `x[:, k - 1]`; the first wraps to the last."""
    for node in twin.nodes(ast.Subscript):
        index = _entity_index(twin, node)
        if index is not None:
            yield twin.replaced(index, f"{twin.raw(index)} - 1", "each entity is taken for the one before it")


@operator("K03", "count against one")
def count_against_one(twin: Twin) -> Iterator[Edit]:
    """`count > 0` -> `count == 1`."""
    for node in twin.nodes(ast.Compare):
        zero = len(node.ops) == 1 and isinstance(node.ops[0], ast.Gt) and twin.raw(node.comparators[0]) == "0"
        if zero and twin.fact(node.left).is_int:
            sign = gap(twin, node.left, node.comparators[0], ">", "==")
            if sign is not None:
                number = twin.put(node.comparators[0], "1")
                yield Edit(node, (sign, number))


@operator("K03", "reduced along another axis", FAST)
def other_axis(twin: Twin) -> Iterator[Edit]:
    """`x.any(dim=-1)` -> `x.any(dim=-2)` where both axes have one length."""
    for call in torch_calls(twin, "any", "all", "sum", "amax", "amin", "argmax", "argmin"):
        shape, axis = twin.fact(call.receiver).shape, call.argument(0, "dim")
        if len(shape) >= 2 and shape[-1] == shape[-2] and axis is not None and twin.raw(axis) in ("-1", "-2"):
            yield twin.replaced(axis, "-2" if twin.raw(axis) == "-1" else "-1")


def _entity_index(twin: Twin, node: ast.Subscript) -> ast.Name | None:
    """The loop's variable in `x[:, k]` or `xs[k]`, where it runs over a range."""
    index = node.slice
    if isinstance(index, ast.Tuple) and len(index.elts) == 2 and isinstance(index.elts[0], ast.Slice):
        index = index.elts[1]
    if not isinstance(index, ast.Name) or twin.fact(index).kind != "int":
        return None
    for each in twin.above(node):
        if isinstance(each, (ast.ListComp, ast.GeneratorExp, ast.SetComp)):
            loops = [(inner.target, inner.iter) for inner in each.generators]
        elif isinstance(each, ast.For):
            loops = [(each.target, each.iter)]
        else:
            continue
        for target, over in loops:
            if last_name(target) == index.id and isinstance(over, ast.Call) and last_name(over.func) == "range":
                return index
    return None
