"""K20: conditions, signs, coordinates, and rules left out."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from simulacrum.mutate.operators.forms import gap, is_shaping, outcomes, torch_calls
from simulacrum.mutate.operators.registry import BOTH, FAST, REFERENCE, operator
from simulacrum.mutate.sites import Edit, Twin, last_name, names_in

_RELATIONS: dict[type[ast.cmpop], tuple[str, tuple[str, ...]]] = {
    ast.Eq: ("==", ("!=", ">=", "<=")),
    ast.NotEq: ("!=", ("==",)),
    ast.Lt: ("<", (">", ">=")),
    ast.LtE: ("<=", (">", ">=")),
    ast.Gt: (">", ("<", "<=")),
    ast.GtE: (">=", ("<", "<=")),
}
_SIGNS: dict[type[ast.operator], tuple[str, tuple[str, ...]]] = {
    ast.Add: ("+", ("-",)),
    ast.Sub: ("-", ("+",)),
    ast.BitAnd: ("&", ("|",)),
    ast.BitOr: ("|", ("&",)),
    ast.BitXor: ("^", ("|", "&")),
}


@operator("K20", "another relation", BOTH)
def relation(twin: Twin) -> Iterator[Edit]:
    """`a == b` -> `a != b`, `a < b` -> `a > b`, ..."""
    for node in twin.nodes(ast.Compare):
        sides = [node.left, *node.comparators]
        for left, right, op in zip(sides, sides[1:], node.ops, strict=False):
            old, others = _RELATIONS.get(type(op), ("", ()))
            for new in others:
                sign = gap(twin, left, right, old, new)
                if sign is not None:
                    yield Edit(node, (sign,))


@operator("K20", "another sign", BOTH)
def sign(twin: Twin) -> Iterator[Edit]:
    """`a + b` -> `a - b`, `a & b` -> `a | b`, ..."""
    for node in twin.nodes(ast.BinOp):
        old, others = _SIGNS.get(type(node.op), ("", ()))
        for new in others:
            piece = None if is_shaping(twin, node) else gap(twin, node.left, node.right, old, new)
            if piece is not None:
                yield Edit(node, (piece,))


@operator("K20", "difference the other way", BOTH)
def reversed_difference(twin: Twin) -> Iterator[Edit]:
    """`a - b` -> `b - a`."""
    for node in twin.nodes(ast.BinOp):
        if isinstance(node.op, ast.Sub) and not is_shaping(twin, node):
            yield twin.replaced(node, f"{twin.src(node.right)} - {twin.src(node.left)}")


@operator("K20", "one operand left out", BOTH)
def dropped_operand(twin: Twin) -> Iterator[Edit]:
    """`a & b` -> `a` or `b`; `a + b` -> `a`."""
    for node in twin.nodes(ast.BinOp):
        if is_shaping(twin, node) or isinstance(node.op, (ast.Mod, ast.FloorDiv)):
            continue
        for kept in (node.left, node.right):
            fact, whole = twin.fact(kept), twin.fact(node)
            if fact.form == whole.form and whole.kind in ("tensor", "int", "float", "Float32"):
                yield twin.replaced(node, twin.raw(kept))


@operator("K20", "one condition left out", REFERENCE)
def dropped_condition(twin: Twin) -> Iterator[Edit]:
    """`a and b and c` without one of them; `and` <-> `or`."""
    for node in twin.nodes(ast.BoolOp):
        word = " and " if isinstance(node.op, ast.And) else " or "
        for left_out in node.values:
            yield twin.replaced(node, word.join(twin.src(v) for v in node.values if v is not left_out))
        other = " or " if word == " and " else " and "
        yield twin.replaced(node, other.join(twin.src(v) for v in node.values))


@operator("K20", "sign or negation left out", BOTH)
def dropped_unary(twin: Twin) -> Iterator[Edit]:
    """`~x` -> `x`, `-x` -> `x`, `not x` -> `x`, `x.abs()` -> `x`."""
    for node in twin.nodes(ast.UnaryOp):
        if not is_shaping(twin, node):
            yield twin.replaced(node, twin.raw(node.operand))
    for call in torch_calls(twin, "abs", "logical_not", "neg"):
        yield twin.replaced(call.node, twin.raw(call.receiver))


@operator("K20", "negated", BOTH)
def negated(twin: Twin) -> Iterator[Edit]:
    """A truth value that is read -> its opposite."""
    mark = "~" if twin.file == "fast.py" else "not "
    for node in twin.reads():
        if twin.fact(node).is_bool and not isinstance(twin.parent(node), (ast.UnaryOp, ast.Attribute)):
            yield twin.replaced(node, f"{mark}{twin.raw(node)}")


@operator("K20", "another value of the same form", BOTH)
def other_name(twin: Twin) -> Iterator[Edit]:
    """x for y: a name or a field of the state -> the next of the same type and shape that is at hand."""
    for function in twin.functions:
        reads = [node for node in twin.reads(function) if twin.fact(node).kind not in ("other", "unseen", "mixed")]
        reads = [node for node in reads if not last_name(node).isupper()]
        for node in reads:
            others = _alike(twin, node, reads)
            if others:
                yield twin.replaced(node, others[0])


def _alike(twin: Twin, node: ast.expr, reads: list[ast.expr]) -> list[str]:
    """Texts of other reads of one function that may stand for a read, those nearest in the text first."""
    statement, text = twin.statement(node), twin.raw(node)
    inside = {last_name(each) for each in ast.walk(statement) if isinstance(each, ast.Name)}
    here = twin.span(node)[0]
    found: dict[str, int] = {}
    for other in reads:
        known = isinstance(other, ast.Attribute) or twin.span(other)[0] < twin.span(statement)[0]
        known = known or (isinstance(other, ast.Name) and other.id in inside - names_in(statement, ast.Store))
        same = twin.fact(other).form == twin.fact(node).form and twin.raw(other) != text
        if same and known and type(other) is type(node) and _scope(twin, other) is _scope(twin, node):
            found.setdefault(twin.raw(other), abs(twin.span(other)[0] - here))
    return sorted(found, key=lambda each: (found[each], each))


def _scope(twin: Twin, node: ast.AST) -> ast.AST | None:
    """The comprehension or lambda that gives a name its value; None outside."""
    return next((a for a in twin.above(node) if isinstance(a, (ast.ListComp, ast.GeneratorExp, ast.Lambda))), None)


@operator("K20", "branches exchanged or dropped", FAST)
def branches(twin: Twin) -> Iterator[Edit]:
    """`where(m, a, b)` -> `where(m, b, a)`, `a`, `b`."""
    for call in torch_calls(twin, "where"):
        if call.method or len(call.args) != 2:
            continue
        mask, (yes, no) = call.receiver, call.args
        if twin.fact(yes).kind == "tensor" or twin.fact(no).kind == "tensor":
            yield twin.replaced(call.node, f"torch.where({twin.raw(mask)}, {twin.raw(no)}, {twin.raw(yes)})")
        for kept in (yes, no):
            if twin.fact(kept).form == twin.fact(call.node).form:
                yield twin.replaced(call.node, twin.raw(kept))


@operator("K20", "branches exchanged", REFERENCE)
def scalar_branches(twin: Twin) -> Iterator[Edit]:
    """`a if m else b` -> `b if m else a`; `if m:` -> `if not m:`."""
    for node in twin.nodes(ast.IfExp):
        yield Edit(node, (twin.put(node.body, twin.raw(node.orelse)), twin.put(node.orelse, twin.raw(node.body))))
    for node in twin.nodes(ast.If):
        yield twin.replaced(node.test, f"not {twin.src(node.test)}")


@operator("K20", "neighbours exchanged", BOTH)
def neighbours(twin: Twin) -> Iterator[Edit]:
    """Two neighbours of a list or tuple that are of the same form, the other way round."""
    for node in twin.nodes(ast.expr):
        if not isinstance(node, (ast.List, ast.Tuple)) or isinstance(node.ctx, ast.Store):
            continue
        joined = last_name(getattr(twin.parent(node), "func", node)) in ("stack", "cat")
        if is_shaping(twin, node) and not joined:
            continue
        for a, b in zip(node.elts, node.elts[1:], strict=False):
            alike = twin.fact(a).form == twin.fact(b).form and twin.fact(a).kind not in ("other", "unseen")
            if alike and twin.raw(a) != twin.raw(b) and not isinstance(twin.parent(node), ast.Subscript):
                yield Edit(node, (twin.put(a, twin.raw(b)), twin.put(b, twin.raw(a))))


@operator("K20", "rule left out", BOTH)
def rule_left_out(twin: Twin) -> Iterator[Edit]:
    """`x = ...` -> nothing where x has a value already; `x, y = ...` -> the state's x, y; flags -> never."""
    for name, function in twin.functions.items():
        known = {argument.arg for argument in function.args.args}
        for statement in _statements(function.body):
            targets = names_in(statement, ast.Store)
            if isinstance(statement, ast.Assign) and targets:
                yield from _without(twin, name, statement, known, targets)
            known |= targets


def _without(
    twin: Twin, function: str, statement: ast.Assign, known: set[str], targets: set[str]
) -> Iterator[Edit]:
    value, fields = statement.value, twin.schema.state.fields
    named = [each.id for each in ast.walk(statement.targets[0]) if isinstance(each, ast.Name)]
    if targets <= known:
        yield twin.replaced(value, ", ".join(named), "the rule is left out")
    elif function == "step" and targets <= set(fields):
        yield twin.replaced(value, ", ".join(f"state.{each}" for each in named), "the rule is left out")
    elif twin.fact(value).kind == "tensor" and twin.fact(value).low is not None:
        yield twin.replaced(value, f"torch.zeros_like({twin.raw(value)})", "the rule never fires")
    elif twin.fact(value).kind == "bool":
        yield twin.replaced(value, "False", "the rule never fires")


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        yield statement
        for inner in ("body", "orelse"):
            yield from _statements(getattr(statement, inner, []))


@operator("K20", "reward with the other sign", BOTH)
def reward_sign(twin: Twin) -> Iterator[Edit]:
    """`Transition(s, reward, ...)` -> `Transition(s, -reward, ...)`."""
    for outcome in outcomes(twin):
        yield twin.replaced(outcome.reward, f"-{twin.src(outcome.reward)}")
