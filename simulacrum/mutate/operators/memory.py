"""K19, K23: memory that is shared or written in place, and effects that only one platform or form shows."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from simulacrum.mutate.operators.forms import results
from simulacrum.mutate.operators.registry import FAST, Find, operator
from simulacrum.mutate.operators.restart import kept_rows
from simulacrum.mutate.seen import Fact
from simulacrum.mutate.sites import Edit, Twin

_IN_PLACE: dict[type[ast.operator], str] = {
    ast.Add: "add_",
    ast.Sub: "sub_",
    ast.Mult: "mul_",
    ast.BitAnd: "bitwise_and_",
    ast.BitOr: "bitwise_or_",
    ast.BitXor: "bitwise_xor_",
}


@operator("K19", "computed in place")
def in_place(twin: Twin) -> Iterator[Edit]:
    """`a + b` -> `a.add_(b)`, where a is a tensor that a method was given."""
    for node in twin.nodes(ast.BinOp):
        left, method = twin.fact(node.left), _IN_PLACE.get(type(node.op))
        same = left.form == twin.fact(node).form and left.rows
        if method is not None and same and isinstance(node.left, (ast.Name, ast.Attribute)):
            yield twin.replaced(node, f"{twin.raw(node.left)}.{method}({twin.raw(node.right)})", lift=False)


@operator("K19", "the caller's action written over")
def action_written(twin: Twin) -> Iterator[Edit]:
    """Before `step` returns, the action that it was given is changed."""
    if twin.schema.action.single:
        name = twin.argument("step", 1)
        change = f"{name}.logical_not_()" if twin.schema.action.leaf.is_bool else f"{name}.add_(1)"
        yield from _before_return(twin, change, "the caller's action is changed")


@operator("K19", "the old state written over")
def state_written(twin: Twin) -> Iterator[Edit]:
    """Before `step` returns, a field of the state that it was given is changed."""
    for name, field in twin.schema.state.fields.items():
        text = f"{twin.argument('step', 0)}.{name}"
        change = f"{text}.logical_not_()" if field.is_bool else f"{text}.add_(1)"
        yield from _before_return(twin, change, "a tensor that was returned before is changed")


@operator("K19", "written over without a method's name")
def written_quietly(twin: Twin) -> Iterator[Edit]:
    """The same through `getattr`, which a reader of the source may miss."""
    for name in twin.schema.state.fields:
        text = f"{twin.argument('step', 0)}.{name}"
        yield from _before_return(twin, f'getattr({text}, "copy_")({text} == 0)', "hidden from a lint")


def _before_return(twin: Twin, change: str, note: str) -> Iterator[Edit]:
    for node in twin.nodes(ast.Return, "step"):
        yield Edit(node, (twin.before(node, change),), note, lift=False)


@operator("K19", "one buffer for all calls")
def buffer(twin: Twin) -> Iterator[Edit]:
    """The observation is written into a tensor that the twin keeps, and that tensor is given."""
    for node in twin.nodes(ast.Return, "observe"):
        fact = twin.fact(node.value)
        if node.value is not None and fact.kind == "tensor":
            value = twin.raw(node.value)
            memory = kept_rows("buffer", "observation")
            kept = f"{memory}.setdefault(len({twin.src(node.value)}), {value}).copy_({value})"
            yield twin.replaced(node.value, kept, "every call writes the same memory", lift=False)


@operator("K19", "a view kept as the state before")
def kept_view(twin: Twin) -> Iterator[Edit]:
    """A start state's field is one tensor of the twin's, given out again and again."""
    for node in twin.nodes(ast.keyword, "reset"):
        fact = twin.fact(node.value)
        if node.arg in twin.schema.state.fields and fact.kind == "tensor" and fact.rows:
            value = twin.raw(node.value)
            memory = kept_rows("start", str(node.arg))
            kept = f"{memory}.setdefault(len({twin.src(node.value)}), {value}).copy_({value})"
            yield twin.replaced(node.value, kept, "all starts of one size share memory", lift=False)


def _other(text: str, fact: Fact) -> str:
    """Another value of the same form."""
    if fact.is_bool:
        return f"~{text}"
    return f"{text} + 1" if fact.is_int else f"{text} * 1.0000002"


# A device other than the CPU is left out: where it is not there, nothing could tell such a fault from none.
_SWITCHES = (
    ("only while compiling", "torch.compiler.is_compiling()"),
    ("only in whole vectors", "len({x}) % 16 == 0"),
    ("only in large batches", "len({x}) >= 1024"),
    ("only with one row", "len({x}) == 1"),
    ("only with several threads", "torch.get_num_threads() > 1"),
)


def _switched(number: int, test: str) -> Find:
    """An operator that changes a rule's result where `test` holds, at two of five sites, by turns."""

    def find(twin: Twin) -> Iterator[Edit]:
        for at, node in enumerate(results(twin)):
            if (at - number) % len(_SWITCHES) in (0, 2):
                text = twin.src(node)
                switched = f"{_other(text, twin.fact(node))} if {test.format(x=text)} else {twin.raw(node)}"
                yield twin.replaced(node, f"({switched})", lift=False)

    return find


for _number, (_name, _test) in enumerate(_SWITCHES):
    operator("K23", _name, FAST)(_switched(_number, _test))
