"""K21: actions exchanged, clipped or ignored, and masks of actions that are too wide, too narrow or old."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator

from simulacrum.contract.fields import Field
from simulacrum.mutate.operators.forms import is_shaping, outcomes
from simulacrum.mutate.operators.registry import BOTH, FAST, REFERENCE, operator
from simulacrum.mutate.sites import Edit, Twin


def _action(twin: Twin) -> Field | None:
    """The action's field where it is one tensor."""
    return twin.schema.action.leaf if twin.schema.action.single else None


def _reads(twin: Twin) -> Iterator[ast.Name]:
    """The reads of `action`, in `step` and where it is handed on by its name, but not the handing on itself."""
    name = twin.argument("step", 1)
    for node in twin.nodes(ast.Name):
        if node.id == name and isinstance(node.ctx, ast.Load) and twin.fact(node).kind in ("tensor", "int"):
            yield node


def _ends(field: Field) -> tuple[int, int] | None:
    if isinstance(field.low, int) and isinstance(field.high, int) and not field.shape:
        return field.low, field.high
    return None


@operator("K21", "actions in another order", BOTH)
def permuted(twin: Twin) -> Iterator[Edit]:
    """a -> last - a, a -> a + 1 wrapped; two components exchanged; a float's sign."""
    field = _action(twin)
    if field is None:
        return
    for node in _reads(twin):
        text, ends = twin.raw(node), _ends(field)
        if field.is_float:
            yield twin.replaced(node, f"-{text}", "the other sign")
        elif ends is not None:
            yield twin.replaced(node, f"{sum(ends)} - {text}", "from the last to the first")
            if ends[1] - ends[0] > 1:
                size = ends[1] - ends[0] + 1
                yield twin.replaced(node, f"({text} + 1) % {size}", "each for the next")
        if field.shape and field.shape[0] > 1 and twin.file == "fast.py":
            yield twin.replaced(node, f"{text}.flip(dims=[-1])", "the components in reverse")


@operator("K21", "two actions exchanged")
def two_exchanged(twin: Twin) -> Iterator[Edit]:
    """The first two actions, and the last two."""
    field = _action(twin)
    ends = None if field is None else _ends(field)
    if ends is None or ends[1] - ends[0] < 2:
        return
    for node in _reads(twin):
        for one in (ends[0], ends[1] - 1):
            a = twin.raw(node)
            text = f"torch.where({a} == {one}, {one + 1}, torch.where({a} == {one + 1}, {one}, {a})).to({a}.dtype)"
            yield twin.replaced(node, text, f"actions {one} and {one + 1} exchanged")


@operator("K21", "an action that does nothing of its own", FAST)
def clipped(twin: Twin) -> Iterator[Edit]:
    """The last action taken for the one before it; the first for the next."""
    yield from _clipped(twin, "{}.clamp(max={})", "{}.clamp(min={})")


@operator("K21", "an action that does nothing of its own", REFERENCE)
def scalar_clipped(twin: Twin) -> Iterator[Edit]:
    """The last action taken for the one before it; the first for the next."""
    yield from _clipped(twin, "min({}, {})", "max({}, {})")


def _clipped(twin: Twin, highest: str, lowest: str) -> Iterator[Edit]:
    """Each read of the action held by these calls, to which the action and the bound are given."""
    field = _action(twin)
    ends = None if field is None else _ends(field)
    if ends is None or ends[1] == ends[0]:
        return
    for node in _reads(twin):
        yield twin.replaced(node, highest.format(twin.raw(node), ends[1] - 1), "the last action is clipped")
        yield twin.replaced(node, lowest.format(twin.raw(node), ends[0] + 1), "the first action is clipped")


@operator("K21", "the action of a component for another's", BOTH)
def components(twin: Twin) -> Iterator[Edit]:
    """`action[:, 0]` -> `action[:, 1]`, where both have one range."""
    field = _action(twin)
    if field is None or not field.shape or len(set(field.nvec or ())) > 1:
        return
    name = twin.argument("step", 1)
    for node in twin.nodes(ast.Subscript):
        index = node.slice.elts[-1] if isinstance(node.slice, ast.Tuple) else node.slice
        if twin.raw(node.value) == name and isinstance(index, ast.Constant) and isinstance(index.value, int):
            yield twin.replaced(index, str((index.value + 1) % field.shape[0]))


@operator("K21", "numbers of actions exchanged", BOTH)
def table(twin: Twin) -> Iterator[Edit]:
    """`NORTH, EAST = 0, 1` -> `1, 0`, for neighbours in a module's table of integers."""
    for statement in twin.tree.body:
        if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Tuple):
            continue
        items = statement.value.elts
        if all(isinstance(item, ast.Constant) and isinstance(item.value, int) for item in items):
            for a, b in itertools.pairwise(items):
                pieces = (twin.put(a, twin.raw(b)), twin.put(b, twin.raw(a)))
                yield Edit(statement, pieces, "two rows of the table exchanged", lift=False)


@operator("K21", "another mask")
def mask(twin: Twin) -> Iterator[Edit]:
    """What `action_mask` returns: all allowed, only the first, the opposite, that of the next action, an old one."""
    for node in twin.nodes(ast.Return, "action_mask"):
        if node.value is None or twin.fact(node.value).kind != "tensor":
            continue
        text = twin.raw(node.value)
        yield twin.replaced(node.value, f"torch.ones_like({text})", "too wide")
        yield twin.replaced(node.value, f"{twin.src(node.value)} & {twin.src(node.value)}[:, :1]", "too narrow")
        yield twin.replaced(node.value, f"~{twin.src(node.value)}", "inverted")
        yield twin.replaced(node.value, f"{twin.src(node.value)}.roll(1, dims=-1)", "that of the action before")


@operator("K21", "another mask", REFERENCE)
def scalar_mask(twin: Twin) -> Iterator[Edit]:
    """What `action_mask` returns: all allowed, the opposite."""
    for node in twin.nodes(ast.Return, "action_mask"):
        if node.value is not None and not is_shaping(twin, node.value):
            text = twin.raw(node.value)
            yield twin.replaced(node.value, f"tuple(True for _ in {text})", "too wide")
            yield twin.replaced(node.value, f"tuple(not one for one in {text})", "inverted")


@operator("K21", "an action that ends the episode")
def ends_episode(twin: Twin) -> Iterator[Edit]:
    """The last action terminates, as if it were illegal and illegal ones did."""
    field = _action(twin)
    ends = None if field is None else _ends(field)
    if ends is None:
        return
    for outcome in outcomes(twin):
        test = f"({twin.argument('step', 1)} == {ends[1]})"
        yield twin.replaced(outcome.terminated, f"{twin.src(outcome.terminated)} | {test}", "the last action ends it")
