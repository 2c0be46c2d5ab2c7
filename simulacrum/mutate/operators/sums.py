"""K24: sums, counts and metrics: an update left out, made twice, or one that misses an item."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from simulacrum.mutate.operators.forms import is_shaping, torch_calls, written_fields
from simulacrum.mutate.operators.registry import BOTH, FAST, REFERENCE, operator
from simulacrum.mutate.sites import Edit, Twin, last_name, names_in


def _updates(twin: Twin) -> Iterator[tuple[ast.Assign, ast.BinOp, ast.expr]]:
    """`x = x + e` and `x = e + x`, with the sum and e."""
    for node in twin.nodes(ast.Assign):
        value = node.value
        if not isinstance(value, ast.BinOp) or not isinstance(value.op, (ast.Add, ast.Sub)):
            continue
        name = last_name(node.targets[0])
        for own, other in ((value.left, value.right), (value.right, value.left)):
            if name and last_name(own) == name:
                yield node, value, other


@operator("K24", "an update left out", BOTH)
def skipped(twin: Twin) -> Iterator[Edit]:
    """`total = total + e` -> `total = total`."""
    for node, value, _ in _updates(twin):
        own = value.left if last_name(value.left) == last_name(node.targets[0]) else value.right
        yield twin.replaced(value, twin.raw(own))


@operator("K24", "an update made twice", BOTH)
def twice(twin: Twin) -> Iterator[Edit]:
    """`total = total + e` -> `total = total + e + e`."""
    for _, value, other in _updates(twin):
        sign = "+" if isinstance(value.op, ast.Add) else "-"
        yield twin.replaced(value, f"{twin.raw(value)} {sign} {twin.src(other)}")


@operator("K24", "only the last update", BOTH)
def overwritten(twin: Twin) -> Iterator[Edit]:
    """`total = total + e` -> `total = e`."""
    for _, value, other in _updates(twin):
        if twin.fact(other).kind == twin.fact(value).kind:
            yield twin.replaced(value, twin.raw(other))


@operator("K24", "a loop without its last item", BOTH)
def short_loop(twin: Twin) -> Iterator[Edit]:
    """`for k in range(n)` -> `range(n - 1)` and `range(1, n)`, in loops that do not make a list."""
    for node in twin.nodes(ast.For):
        over = node.iter
        if isinstance(over, ast.Call) and last_name(over.func) == "range" and len(over.args) == 1:
            yield twin.replaced(over, f"range({twin.src(over.args[0])} - 1)", "the last one is missed")
            yield twin.replaced(over, f"range(1, {twin.raw(over.args[0])})", "the first one is missed")


@operator("K24", "a sum without its last item")
def short_sum(twin: Twin) -> Iterator[Edit]:
    """`x.sum(dim=-1)` -> `x[:, :-1].sum(dim=-1)`; the same for any, all, amax and amin."""
    for call in torch_calls(twin, "sum", "any", "all", "amax", "amin", "count_nonzero"):
        shape = twin.fact(call.receiver).shape
        if len(shape) == 1 and shape[0] > 1 and twin.fact(call.receiver).rows:
            text = call.render(twin, f"{twin.src(call.receiver)}[:, :-1]")
            yield twin.replaced(call.node, text, "the last one is missed")


@operator("K24", "a sum without its last item", REFERENCE)
def scalar_short_sum(twin: Twin) -> Iterator[Edit]:
    """`sum(xs)` -> `sum(xs[1:])`."""
    for node in twin.nodes(ast.Call):
        reduces = isinstance(node.func, ast.Name) and node.func.id in ("sum", "any", "all") and len(node.args) == 1
        if reduces and not isinstance(node.args[0], ast.GeneratorExp):
            yield twin.replaced(node.args[0], f"{twin.src(node.args[0])}[1:]", "the first one is missed")


@operator("K24", "begun from something else", BOTH)
def not_zeroed(twin: Twin) -> Iterator[Edit]:
    """`total = zeros` before a loop -> ones."""
    for function in twin.functions.values():
        for first, second in zip(function.body, function.body[1:], strict=False):
            if not isinstance(first, ast.Assign) or not isinstance(second, ast.For):
                continue
            fact = twin.fact(first.value)
            if fact.low == fact.high == 0 and names_in(first, ast.Store) & names_in(second, ast.Store):
                yield twin.replaced(first.value, f"{twin.src(first.value)} + 1")


@operator("K24", "a metric that stops counting", FAST)
def saturated(twin: Twin) -> Iterator[Edit]:
    """A value of `info` -> at most 1; half of it; zero."""
    for node in _metrics(twin):
        fact, text = twin.fact(node), twin.src(node)
        if fact.is_bool:
            yield twin.replaced(node, f"torch.zeros_like({twin.raw(node)})", "never counted")
            continue
        yield twin.replaced(node, f"{text}.clamp(max=1)", "counted once at most")
        yield twin.replaced(node, f"{text} + {text}", "counted twice")
        yield twin.replaced(node, f"torch.zeros_like({twin.raw(node)})", "never counted")


@operator("K24", "a metric that stops counting", REFERENCE)
def scalar_saturated(twin: Twin) -> Iterator[Edit]:
    """An integer of `info` -> at most 1; twice of it."""
    for node in _metrics(twin):
        if twin.fact(node).kind == "int":
            yield twin.replaced(node, f"min({twin.raw(node)}, 1)", "counted once at most")
            yield twin.replaced(node, f"{twin.src(node)} * 2", "counted twice")


def _metrics(twin: Twin) -> Iterator[ast.expr]:
    for node in twin.nodes(ast.Dict, "info"):
        for value in node.values:
            if twin.fact(value).kind in ("tensor", "int") and not is_shaping(twin, node):
                yield value


@operator("K24", "an incremental update of a field", FAST)
def half_updated(twin: Twin) -> Iterator[Edit]:
    """A number of the state that changes by the step's own sum: the change is made twice."""
    for written in written_fields(twin, "step"):
        fact = twin.fact(written.node)
        if fact.kind == "tensor" and not fact.is_bool:
            new, old = twin.src(written.node), f"{twin.argument('step', 0)}.{written.field}"
            yield twin.replaced(written.node, f"{new} + ({new} - {old})", "the change is made twice")
