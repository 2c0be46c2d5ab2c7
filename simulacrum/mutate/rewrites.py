"""Rewrites that change no bit: other names, other spellings, another order of what does not depend on each other.

Whoever mends or tunes a twin writes such changes all day. A check that minds one of them is wrong. Rows are not taken
apart and put together again: a graph that does so is refused by the native form, and rightly.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator

from simulacrum.mutate.operators.forms import results, torch_calls
from simulacrum.mutate.operators.registry import operator
from simulacrum.mutate.operators.selections import selections
from simulacrum.mutate.seen import Fact
from simulacrum.mutate.sites import Edit, Twin, names_in

_FLIPPED: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: ">",
    ast.LtE: ">=",
    ast.Gt: "<",
    ast.GtE: "<=",
}
_COMMUTES: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Mult: "*",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
}
def is_rows(fact: Fact) -> bool:
    """Whether an expression is a tensor with a row for each environment."""
    return fact.kind == "tensor" and fact.rows


@operator("same", "a local renamed")
def renamed(twin: Twin) -> Iterator[Edit]:
    """Every use of a local name in its function, with a new one."""
    for function in twin.functions.values():
        arguments = {argument.arg for argument in function.args.args}
        for name in sorted(names_in(function, ast.Store) - arguments):
            nodes = [n for n in ast.walk(function) if isinstance(n, ast.Name) and n.id == name]
            pieces = tuple(twin.put(node, f"{name}_here") for node in nodes)
            yield Edit(nodes[0], pieces, f"{name} is called {name}_here")


@operator("same", "operands exchanged")
def commuted(twin: Twin) -> Iterator[Edit]:
    """`a + b` -> `b + a`, and the same for *, &, | and ^."""
    for node in twin.nodes(ast.BinOp):
        sign = _COMMUTES.get(type(node.op))
        if sign is not None and is_rows(twin.fact(node)):
            yield twin.replaced(node, f"{twin.src(node.right)} {sign} {twin.src(node.left)}")


@operator("same", "a comparison from the other side")
def flipped(twin: Twin) -> Iterator[Edit]:
    """`a < b` -> `b > a`."""
    for node in twin.nodes(ast.Compare):
        if len(node.ops) == 1 and type(node.ops[0]) in _FLIPPED and is_rows(twin.fact(node)):
            right, left = twin.src(node.comparators[0]), twin.src(node.left)
            yield twin.replaced(node, f"{right} {_FLIPPED[type(node.ops[0])]} {left}")


@operator("same", "statements in another order")
def reordered(twin: Twin) -> Iterator[Edit]:
    """Two neighbouring assignments that share no name."""
    for function in twin.functions.values():
        for first, second in itertools.pairwise(function.body):
            if not isinstance(first, ast.Assign) or not isinstance(second, ast.Assign):
                continue
            writes, others = names_in(first, ast.Store), names_in(second, ast.Store)
            apart = not writes & (others | names_in(second)) and not others & names_in(first)
            if apart:
                yield Edit(first, (twin.put(first, twin.raw(second)), twin.put(second, twin.raw(first))))


@operator("same", "branches exchanged under the opposite mask")
def opposite(twin: Twin) -> Iterator[Edit]:
    """`where(m, a, b)` -> `where(~m, b, a)`."""
    for call, mask, yes, no in selections(twin):
        yield twin.replaced(call.node, f"torch.where(~{twin.src(mask)}, {twin.raw(no)}, {twin.raw(yes)})")


@operator("same", "arithmetic with a mask, on integers")
def masked(twin: Twin) -> Iterator[Edit]:
    """`where(m, a, b)` of integers -> `m * a + (1 - m) * b`."""
    for call, mask, yes, no in selections(twin):
        fact = twin.fact(call.node)
        if fact.is_int:
            m = f"{twin.src(mask)}.to(torch.{fact.dtype})"
            yield twin.replaced(call.node, f"{m} * {twin.src(yes)} + (1 - {m}) * {twin.src(no)}")


@operator("same", "a selection for a cast")
def selected(twin: Twin) -> Iterator[Edit]:
    """`m.to(torch.int32)` -> `where(m, 1, 0)`."""
    for call in torch_calls(twin, "to"):
        fact = twin.fact(call.node)
        if twin.fact(call.receiver).is_bool and is_rows(fact) and fact.is_int:
            text = f"torch.where({twin.raw(call.receiver)}, 1, 0).to(torch.{fact.dtype})"
            yield twin.replaced(call.node, text)


@operator("same", "a part computed beforehand")
def hoisted(twin: Twin) -> Iterator[Edit]:
    """`x = f(a + b)` -> `part = a + b; x = f(part)`."""
    scopes = (ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp, ast.Lambda, ast.IfExp)
    for node in twin.nodes(ast.expr):
        statement = twin.statement(node)
        function = twin.function(node)
        plain = isinstance(node, (ast.BinOp, ast.Call, ast.Compare)) and isinstance(statement, (ast.Assign, ast.Return))
        inside = plain and function is not None and statement in function.body and is_rows(twin.fact(node))
        if not inside or getattr(statement, "value", None) is node or "#" in twin.raw(node):
            continue
        if any(isinstance(each, scopes) for each in twin.above(node)) or "\n" in twin.raw(node):
            continue
        yield Edit(node, (twin.before(statement, f"part = {twin.raw(node)}"), twin.put(node, "part")))


@operator("same", "wider integers on the way")
def wider(twin: Twin) -> Iterator[Edit]:
    """An int32 -> int64 and back."""
    for node in results(twin):
        if twin.fact(node).dtype == "int32":
            yield twin.replaced(node, f"{twin.src(node)}.to(torch.int64).to(torch.int32)")


@operator("same", "a cast to what it is")
def same_cast(twin: Twin) -> Iterator[Edit]:
    """`x` -> `x.to(its own dtype)`, for names that are read."""
    for node in twin.reads():
        fact = twin.fact(node)
        if is_rows(fact) and not isinstance(twin.parent(node), (ast.Attribute, ast.Subscript)):
            yield twin.replaced(node, f"{twin.raw(node)}.to(torch.{fact.dtype})")


@operator("same", "a copy")
def copied(twin: Twin) -> Iterator[Edit]:
    """`x` -> `x.clone()`."""
    for node in results(twin):
        yield twin.replaced(node, f"{twin.src(node)}.clone()")


@operator("same", "two bounds one after the other")
def two_bounds(twin: Twin) -> Iterator[Edit]:
    """`x.clamp(a, b)` -> `x.clamp(max=b).clamp(min=a)`; of integers -> `minimum` and `maximum`."""
    for call in torch_calls(twin, "clamp"):
        low, high, x = call.argument(0, "min"), call.argument(1, "max"), twin.src(call.receiver)
        if low is not None and high is not None:
            text = f"{x}.clamp(max={twin.raw(high)}).clamp(min={twin.raw(low)})"
            yield twin.replaced(call.node, text)
        if twin.fact(call.node).is_int:
            text = x
            if low is not None:
                text = f"torch.maximum({text}, torch.full_like({x}, {twin.raw(low)}))"
            if high is not None:
                text = f"torch.minimum({text}, torch.full_like({x}, {twin.raw(high)}))"
            yield twin.replaced(call.node, text)


@operator("same", "negated twice")
def twice_negated(twin: Twin) -> Iterator[Edit]:
    """`m` -> `~~m`, `-(-x)` of an integer."""
    for node in results(twin):
        if twin.fact(node).is_bool:
            yield twin.replaced(node, f"~~{twin.src(node)}")
        elif twin.fact(node).is_int:
            yield twin.replaced(node, f"-(-{twin.src(node)})")


@operator("same", "De Morgan's law")
def de_morgan(twin: Twin) -> Iterator[Edit]:
    """`a & b` -> `~(~a | ~b)`, `a | b` -> `~(~a & ~b)`, `a ^ b` -> `a != b`."""
    for node in twin.nodes(ast.BinOp):
        if not twin.fact(node).is_bool or not is_rows(twin.fact(node)):
            continue
        a, b = twin.src(node.left), twin.src(node.right)
        if isinstance(node.op, ast.BitXor):
            yield twin.replaced(node, f"{a} != {b}")
        elif isinstance(node.op, (ast.BitAnd, ast.BitOr)):
            yield twin.replaced(node, f"~(~{a} {'|' if isinstance(node.op, ast.BitAnd) else '&'} ~{b})")
