"""K06: counters and the time limit one off."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from simulacrum.mutate.operators.forms import after, gap, outcomes, torch_calls, written_fields
from simulacrum.mutate.operators.order import fresh_names
from simulacrum.mutate.operators.registry import BOTH, operator
from simulacrum.mutate.sites import Edit, Twin

_ENDS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", ">="),
}


def clocks(twin: Twin) -> Iterator[ast.Attribute]:
    """The reads of `ctx.t`."""
    for node in twin.nodes(ast.Attribute):
        if node.attr == "t" and isinstance(node.value, ast.Name) and node.value.id == "ctx":
            yield node


def limits(twin: Twin) -> Iterator[ast.expr]:
    """The reads of a number that is the time limit, by name or as it stands."""
    for node in twin.nodes(ast.expr):
        fact = twin.fact(node)
        named = isinstance(node, (ast.Name, ast.Constant)) and fact.kind == "int"
        if named and fact.low == fact.high == twin.schema.max_episode_steps:
            yield node


@operator("K06", "clock one ahead", BOTH)
def ahead(twin: Twin) -> Iterator[Edit]:
    """`ctx.t` -> `ctx.t + 1`."""
    for node in clocks(twin):
        yield twin.replaced(node, f"{twin.raw(node)} + 1")


@operator("K06", "clock one behind", BOTH)
def behind(twin: Twin) -> Iterator[Edit]:
    """`ctx.t` -> `ctx.t - 1`."""
    for node in clocks(twin):
        yield twin.replaced(node, f"{twin.raw(node)} - 1")


@operator("K06", "clock that stands", BOTH)
def frozen(twin: Twin) -> Iterator[Edit]:
    """`ctx.t` -> 0."""
    for node in clocks(twin):
        yield twin.replaced(node, "torch.zeros_like(ctx.t)" if twin.file == "fast.py" else "0")


@operator("K06", "time limit one more", BOTH)
def longer(twin: Twin) -> Iterator[Edit]:
    """The time limit, where a rule reads it, plus one."""
    for node in limits(twin):
        yield twin.replaced(node, f"{twin.raw(node)} + 1")


@operator("K06", "time limit one less", BOTH)
def shorter(twin: Twin) -> Iterator[Edit]:
    """The time limit, where a rule reads it, less one."""
    for node in limits(twin):
        yield twin.replaced(node, f"{twin.raw(node)} - 1")


@operator("K06", "elapsed time without its limit")
def unlimited(twin: Twin) -> Iterator[Edit]:
    """`ctx.t.clamp(max=T)` -> `ctx.t`."""
    for call in torch_calls(twin, "clamp", "clamp_max", "minimum"):
        if any(node is call.receiver for node in clocks(twin)):
            yield twin.replaced(call.node, twin.raw(call.receiver))


@operator("K06", "cut one step early", BOTH)
def cut_early(twin: Twin) -> Iterator[Edit]:
    """The step itself truncates, one step before the engine does."""
    yield from _cut(twin, ">=", 2, "the episode is cut one step before its limit")


@operator("K06", "cut on one step alone", BOTH)
def cut_once(twin: Twin) -> Iterator[Edit]:
    """The step itself truncates when the clock stands at half the limit."""
    limit = twin.schema.max_episode_steps
    if limit is not None:
        yield from _cut(twin, "==", limit - limit // 2, "the episode is cut at half its limit")


def _cut(twin: Twin, sign: str, less: int, note: str) -> Iterator[Edit]:
    limit = twin.schema.max_episode_steps
    for outcome in outcomes(twin):
        if limit is None or limit <= less:
            continue
        cut = f"ctx.t {sign} {limit - less}"
        if outcome.truncated is None:
            yield Edit(outcome.node, (after(twin, outcome.terminated, f", truncated={cut}"),), note, lift=False)
        else:
            joined = f"{twin.src(outcome.truncated)} {'|' if twin.file == 'fast.py' else 'or'} ({cut})"
            yield twin.replaced(outcome.truncated, joined, note)


@operator("K06", "counter counts twice", BOTH)
def counted_twice(twin: Twin) -> Iterator[Edit]:
    """`state.n + 1` -> `state.n + 2`, for what is written back to n."""
    for node in _steps_of_counters(twin):
        yield twin.replaced(node.right, "2")


@operator("K06", "counter that stands", BOTH)
def not_counted(twin: Twin) -> Iterator[Edit]:
    """`state.n + 1` -> `state.n`."""
    for node in _steps_of_counters(twin):
        yield twin.replaced(node, twin.raw(node.left))


def _steps_of_counters(twin: Twin) -> Iterator[ast.BinOp]:
    for node in twin.nodes(ast.BinOp, "step"):
        by_one = isinstance(node.op, (ast.Add, ast.Sub)) and twin.raw(node.right) == "1"
        if by_one and isinstance(node.left, ast.Attribute) and node.left.attr in twin.schema.state.fields:
            yield node


@operator("K06", "end of a count", BOTH)
def count_end(twin: Twin) -> Iterator[Edit]:
    """`>=` <-> `>` and `==` -> `>=` where the clock or a counting field is compared."""
    counting = {node.left.attr for node in _steps_of_counters(twin) if isinstance(node.left, ast.Attribute)}
    names = {name for name, field in fresh_names(twin).items() if field in counting} if counting else set[str]()
    timed = set(clocks(twin))
    for node in twin.nodes(ast.Compare):
        inside = list(ast.walk(node))
        counts = any(each in timed for each in inside if isinstance(each, ast.Attribute))
        counts = counts or any(isinstance(each, ast.Name) and each.id in names for each in inside)
        if counts and len(node.ops) == 1 and type(node.ops[0]) in _ENDS:
            sign = gap(twin, node.left, node.comparators[0], *_ENDS[type(node.ops[0])])
            if sign is not None:
                yield Edit(node, (sign,))


@operator("K06", "counter not begun anew", BOTH)
def counter_start(twin: Twin) -> Iterator[Edit]:
    """A field that starts from zeros starts from one."""
    for written in written_fields(twin, "reset"):
        fact = twin.fact(written.node)
        if fact.is_int and fact.low == fact.high == 0:
            yield twin.replaced(written.node, f"{twin.src(written.node)} + 1")
