"""K08, K09: how an episode begins: a start that is not drawn anew, and what survives from the episode before.

The engine owns resets, so a twin can get them wrong in two ways only: by what its `reset` and its first observation
say, and by keeping something between two calls.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from simulacrum.mutate.operators.forms import is_shaping, outcomes, written_fields
from simulacrum.mutate.operators.registry import BOTH, FAST, REFERENCE, operator
from simulacrum.mutate.sites import Edit, Twin, last_name

_DRAWN = ("integers", "uniform", "normal", "choice", "bernoulli", "permutation")


def draw_calls(twin: Twin, *functions: str) -> Iterator[ast.Call]:
    """The calls of a distribution on something named `draw`."""
    for node in twin.nodes(ast.Call, *functions):
        if isinstance(node.func, ast.Attribute) and node.func.attr in _DRAWN and last_name(node.func.value) == "draw":
            yield node


@operator("K08", "a start that is not drawn")
def not_drawn(twin: Twin) -> Iterator[Edit]:
    """A draw of `reset` -> zeros; a field that reset writes -> zeros."""
    for node in draw_calls(twin, "reset"):
        yield twin.replaced(node, f"torch.zeros_like({twin.raw(node)})", "the start is the same for every seed")
    for written in written_fields(twin, "reset"):
        yield twin.replaced(written.node, f"torch.zeros_like({twin.raw(written.node)})", "the field begins at zero")


@operator("K08", "a start that is not drawn", REFERENCE)
def scalar_not_drawn(twin: Twin) -> Iterator[Edit]:
    """A draw of `reset` times zero."""
    for node in draw_calls(twin, "reset"):
        if twin.fact(node).kind in ("int", "Float32", "float"):
            yield twin.replaced(node, f"{twin.raw(node)} * 0", "the start is the same for every seed")


def kept_rows(what: str, name: str) -> str:
    """The text of a dict that the twin keeps: number of rows -> tensor, so that no batch gets another one's rows."""
    return f'vars(self).setdefault("{what}_{name}", {{}})'


@operator("K08", "the first start for good")
def first_start(twin: Twin) -> Iterator[Edit]:
    """A field begins every episode as it began the first one: kept in the twin, for each number of rows."""
    for written in written_fields(twin, "reset"):
        value = twin.src(written.node)
        kept = kept_rows("first", written.field) + f".setdefault(len({value}), {twin.raw(written.node)})"
        yield twin.replaced(written.node, kept, "kept in the twin between two calls", lift=False)


@operator("K08", "the first start for good", REFERENCE)
def scalar_first_start(twin: Twin) -> Iterator[Edit]:
    """A field begins every episode as it began the first one."""
    for written in written_fields(twin, "reset"):
        kept = f'vars(self).setdefault("first_{written.field}", {twin.raw(written.node)})'
        yield twin.replaced(written.node, kept, "kept in the twin between two calls", lift=False)


@operator("K08", "first observation before its values are there")
def early_observation(twin: Twin) -> Iterator[Edit]:
    """At the start of an episode, one part of the observation is zero."""
    clock = f"{twin.argument('observe', 1)}.t"
    for node in _shown(twin):
        fact, text = twin.fact(node), twin.raw(node)
        if len(fact.shape) > 3:
            continue
        gate = f"({clock} == 0)" + "[:, None]" * len(fact.shape)
        yield twin.replaced(node, f"torch.where({gate}, torch.zeros_like({text}), {text})", "only at t = 0", lift=False)


def _shown(twin: Twin) -> Iterator[ast.expr]:
    """The parts of what `observe` returns, and of what `info` does."""
    for node in twin.nodes(ast.expr, "observe", "info"):
        parent, fact = twin.parent(node), twin.fact(node)
        place = isinstance(parent, (ast.Return, ast.Dict, ast.List)) or (
            isinstance(parent, ast.Assign) and isinstance(node, (ast.BinOp, ast.Call))
        )
        shaping = parent is not None and is_shaping(twin, parent)
        if place and fact.kind == "tensor" and fact.rows and -1 not in fact.shape and not shaping:
            yield node


@operator("K08", "an episode that begins a step late", BOTH)
def late_start(twin: Twin) -> Iterator[Edit]:
    """The first step of an episode leaves one field as it was drawn."""
    clock, state = f"{twin.argument('step', 2)}.t", twin.argument("step", 0)
    for written in written_fields(twin, "step"):
        old, new = f"{state}.{written.field}", twin.src(written.node)
        if twin.file == "reference.py":
            yield twin.replaced(written.node, f"{old} if {clock} == 0 else {new}", "only at t = 0", lift=False)
            continue
        rank = len(twin.schema.state.fields[written.field].shape)
        gate = f"({clock} == 0)" + "[:, None]" * rank
        yield twin.replaced(written.node, f"torch.where({gate}, {old}, {new})", "only at t = 0", lift=False)


@operator("K09", "a field carried over", FAST)
def carried_over(twin: Twin) -> Iterator[Edit]:
    """`reset` gives a field the value that the last step left: kept in the twin, for each number of rows."""
    began = {written.field: written.node for written in written_fields(twin, "reset")}
    for outcome in outcomes(twin):
        for field, node in began.items():
            state = twin.src(outcome.state)
            memory, value = kept_rows("kept", field), twin.src(node)
            keep = f"{memory}.update({{len({state}.{field}): {state}.{field}}})"
            read = f"{memory}.get(len({value}), {twin.raw(node)})"
            pieces = (twin.put(outcome.state, f"({keep}, {state})[1]"), twin.put(node, read))
            yield Edit(node, pieces, f"{field} of the last step, kept in the twin", lift=False)


@operator("K09", "a field carried over", REFERENCE)
def scalar_carried_over(twin: Twin) -> Iterator[Edit]:
    """`reset` gives a field the value that the last step left."""
    began = {written.field: written.node for written in written_fields(twin, "reset")}
    for outcome in outcomes(twin):
        for field, node in began.items():
            state = twin.src(outcome.state)
            keep = f"vars(self).update(kept_{field}={state}.{field})"
            read = f'vars(self).get("kept_{field}", {twin.raw(node)})'
            pieces = (twin.put(outcome.state, f"({keep}, {state})[1]"), twin.put(node, read))
            yield Edit(node, pieces, f"{field} of the last step, kept in the twin", lift=False)


@operator("K09", "all rows begin as the first")
def one_start(twin: Twin) -> Iterator[Edit]:
    """A field of a start state is that of the first row, or of the row before."""
    for written in written_fields(twin, "reset"):
        value = twin.src(written.node)
        yield twin.replaced(written.node, f"{value}[:1].expand_as({value})", "the first row's start for all rows")
        yield twin.replaced(written.node, f"{value}.roll(1, dims=0)", "the start of the row before")


@operator("K09", "values that pile up")
def scratch(twin: Twin) -> Iterator[Edit]:
    """A helper's result is kept in the twin and given again in the next call of the same size."""
    for outcome in outcomes(twin):
        value = twin.src(outcome.reward)
        memory = kept_rows("kept", "reward")
        kept, store = f"{memory}.get(len({value}), {value})", f"{memory}.update({{len({value}): {value}}})"
        yield twin.replaced(outcome.reward, f"({kept}, {store})[0]", "the reward of the call before", lift=False)
