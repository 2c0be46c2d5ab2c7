"""K04, K05, K22: old values for new ones, rules in another order, ties and lists the other way round."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from simulacrum.mutate.operators.forms import gap, torch_calls, written_fields
from simulacrum.mutate.operators.registry import BOTH, operator
from simulacrum.mutate.sites import Edit, Twin, last_name, names_in

_TIES: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
}


def fresh_names(twin: Twin) -> dict[str, str]:
    """Names of `step` that hold a field's new value -> the field: `x` in `state.replace(x=x)` or `self.State(x, y)`."""
    found: dict[str, str] = {}
    for written in written_fields(twin, "step"):
        if isinstance(written.node, ast.Name):
            found[written.node.id] = written.field
    return found


def _state_name(twin: Twin) -> str:
    """What `step` calls the state that it is given."""
    function = twin.functions.get("step")
    return function.args.args[1].arg if function is not None and len(function.args.args) > 1 else "state"


def _assigned(twin: Twin, name: str) -> list[ast.stmt]:
    """The statements of `step` itself that give a name its value."""
    return [s for s in twin.functions["step"].body if name in names_in(s, ast.Store)]


@operator("K05", "a rule before its input", BOTH)
def rule_before_its_input(twin: Twin) -> Iterator[Edit]:
    """All new values that one statement reads -> the old ones, as if it stood before them."""
    fresh, state = fresh_names(twin), _state_name(twin)
    for statement in twin.functions["step"].body:
        if isinstance(statement, ast.Return):
            continue
        reads = [n for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)]
        stale = [n for n in reads if n.id in fresh and n.id not in names_in(statement, ast.Store)]
        if stale:
            pieces = tuple(twin.put(n, f"{state}.{fresh[n.id]}") for n in stale)
            yield Edit(statement, pieces, "the rule reads the state before the step")


@operator("K05", "two rules exchanged", BOTH)
def exchanged(twin: Twin) -> Iterator[Edit]:
    """Two neighbouring statements that share a written name, the other way round."""
    for function in twin.functions.values():
        known = {argument.arg for argument in function.args.args}
        for first, second in zip(function.body, function.body[1:], strict=False):
            shared = names_in(first, ast.Store) & (names_in(second, ast.Store) | names_in(second))
            shared |= names_in(second, ast.Store) & names_in(first)
            locals_read = names_in(second) & names_in(first, ast.Store)
            if shared and locals_read <= known and _plain(first) and _plain(second):
                pieces = (twin.put(first, twin.raw(second)), twin.put(second, twin.raw(first)))
                yield Edit(first, pieces, "two rules exchanged", lift=False)
            known |= names_in(first, ast.Store)


def _plain(statement: ast.stmt) -> bool:
    return isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign))


@operator("K05", "read after write", BOTH)
def read_after_write(twin: Twin) -> Iterator[Edit]:
    """A statement that reads `state.f`, put after the one that writes f, and reading the new value."""
    fresh, state = fresh_names(twin), _state_name(twin)
    body = twin.functions["step"].body
    for i, first in enumerate(body):
        if not _plain(first):
            continue
        for second in body[i + 1 : i + 4]:
            between = body[i + 1 : body.index(second) + 1]
            made = names_in(first, ast.Store)
            if not _plain(second) or any(made & (names_in(s) | names_in(s, ast.Store)) for s in between):
                break
            written = {fresh[name]: name for name in names_in(second, ast.Store) if name in fresh}
            text = _with_fresh(twin, first, written, state)
            if text is None:
                continue
            moved = [twin.raw(s) for s in between] + [text]
            pieces = tuple(twin.put(s, new) for s, new in zip([first, *between], moved, strict=True))
            yield Edit(first, pieces, "the rule reads what a later rule wrote", lift=False)


def _with_fresh(twin: Twin, statement: ast.stmt, written: dict[str, str], state: str) -> str | None:
    text = twin.raw(statement)
    for field, name in written.items():
        text = re.sub(rf"\b{state}\.{field}\b", name, text)
    return text if text != twin.raw(statement) else None


@operator("K04", "the old value", BOTH)
def stale_read(twin: Twin) -> Iterator[Edit]:
    """One read of a field's new value -> the value before the step."""
    fresh, state = fresh_names(twin), _state_name(twin)
    for node in twin.nodes(ast.Name, "step"):
        if not isinstance(node.ctx, ast.Load) or node.id not in fresh:
            continue
        first = _assigned(twin, node.id)
        if first and twin.span(twin.statement(node)) > twin.span(first[0]):
            yield twin.replaced(node, f"{state}.{fresh[node.id]}", "the value before the step")


@operator("K04", "the new value", BOTH)
def fresh_read(twin: Twin) -> Iterator[Edit]:
    """One read of `state.f` after f's new value is known -> the new value."""
    fresh, state = fresh_names(twin), _state_name(twin)
    by_field = {field: name for name, field in fresh.items()}
    for node in twin.nodes(ast.Attribute, "step"):
        if not (isinstance(node.value, ast.Name) and node.value.id == state and node.attr in by_field):
            continue
        name = by_field[node.attr]
        first = _assigned(twin, name)
        if first and twin.statement(node) not in first and twin.span(node) > twin.span(first[0]):
            yield twin.replaced(node, name, "the value after the step")


@operator("K04", "the whole old state", BOTH)
def stale_state(twin: Twin) -> Iterator[Edit]:
    """The new state passed to a helper of `observe` or `info` is right; in `step` the value of one field is not new."""
    state = _state_name(twin)
    for written in written_fields(twin, "step"):
        if not isinstance(written.node, ast.Name):
            yield twin.replaced(written.node, f"{state}.{written.field}", f"{written.field} is not updated")


@operator("K04", "an earlier value of a name", BOTH)
def earlier_value(twin: Twin) -> Iterator[Edit]:
    """For a name assigned twice: a read after the second assignment -> what it was before."""
    for function in twin.functions.values():
        body = function.body
        for i, second in enumerate(body):
            for name in sorted(names_in(second, ast.Store) if _plain(second) else ()):
                arguments = {argument.arg for argument in function.args.args}
                if name not in arguments and not any(name in names_in(s, ast.Store) for s in body[:i]):
                    continue
                for later in body[i + 1 :]:
                    reads = [n for n in ast.walk(later) if isinstance(n, ast.Name) and n.id == name]
                    for node in (n for n in reads if isinstance(n.ctx, ast.Load)):
                        kept = twin.before(second, f"{name}_before = {name}")
                        yield Edit(node, (kept, twin.put(node, f"{name}_before")), "an earlier value", lift=False)


@operator("K22", "a loop from the end", BOTH)
def reversed_loop(twin: Twin) -> Iterator[Edit]:
    """`range(n)` -> `reversed(range(n))` in loops and comprehensions."""
    for node in twin.nodes(ast.Call):
        parent = twin.parent(node)
        loops = isinstance(parent, (ast.For, ast.comprehension)) and parent.iter is node
        if loops and last_name(node.func) in ("range", "enumerate", "zip"):
            around = f"reversed({twin.raw(node)})" if last_name(node.func) == "range" else f"[*{twin.raw(node)}][::-1]"
            yield twin.replaced(node, around, "from the last to the first")


@operator("K22", "the last of equals")
def last_of_equals(twin: Twin) -> Iterator[Edit]:
    """`x.argmax(dim=-1)` -> the last place of the maximum."""
    for call in torch_calls(twin, "argmax", "argmin"):
        axis, shape = call.argument(0, "dim"), twin.fact(call.receiver).shape
        if axis is not None and twin.raw(axis) in ("-1", str(len(shape))) and shape:
            flipped = f"{twin.src(call.receiver)}.flip(dims=[-1])"
            yield twin.replaced(call.node, f"{shape[-1] - 1} - {call.render(twin, flipped)}")


@operator("K22", "sorting that is not stable")
def unstable(twin: Twin) -> Iterator[Edit]:
    """`x.argsort(dim=-1, stable=True)` -> the order of equals reversed."""
    for call in torch_calls(twin, "argsort"):
        shape = twin.fact(call.receiver).shape
        if shape and "stable" in call.keywords:
            flipped = call.render(twin, f"{twin.src(call.receiver)}.flip(dims=[-1])")
            yield twin.replaced(call.node, f"{shape[-1] - 1} - {flipped}")


@operator("K22", "priority of two rules")
def priority(twin: Twin) -> Iterator[Edit]:
    """`where(a, p, where(b, q, r))` -> `where(b, q, where(a, p, r))`, nested or in two statements."""
    for outer in twin.nodes(ast.Call):
        if last_name(outer.func) != "where" or len(outer.args) != 3:
            continue
        mask, value, rest = outer.args
        inner = rest if isinstance(rest, ast.Call) else _value_of(twin, rest)
        if inner is None or last_name(inner.func) != "where" or len(inner.args) != 3:
            continue
        pairs = ((mask, inner.args[0]), (value, inner.args[1]))
        pieces = tuple(p for a, b in pairs for p in (twin.put(a, twin.raw(b)), twin.put(b, twin.raw(a))))
        yield Edit(outer, pieces, "the other rule goes first", lift=False)


def _value_of(twin: Twin, node: ast.expr) -> ast.Call | None:
    """The call that a name was last given before the statement that reads it, in the same function."""
    if not isinstance(node, ast.Name):
        return None
    for statement in _before(twin, node):
        if isinstance(statement, ast.Assign) and node.id in names_in(statement, ast.Store):
            return statement.value if isinstance(statement.value, ast.Call) else None
    return None


def _before(twin: Twin, node: ast.AST) -> Iterator[ast.stmt]:
    """The statements before a node's own, backwards: those of its block, then of the block around it, up to `def`."""
    for above in twin.above(node):
        if isinstance(node, ast.stmt):
            block = next(part for _, part in ast.iter_fields(above) if isinstance(part, list) and node in part)
            yield from reversed(block[: block.index(node)])
        if isinstance(above, ast.FunctionDef):
            return
        node = above


@operator("K22", "only the first of several hits")
def first_hit(twin: Twin) -> Iterator[Edit]:
    """Where several entities are hit, only the first counts."""
    note = "of several hits only the first"
    for node in twin.nodes(ast.expr):
        fact = twin.fact(node)
        entities = fact.kind == "tensor" and fact.is_bool and fact.rows and len(fact.shape) == 1 and fact.shape[0] > 1
        if entities and isinstance(node, (ast.BinOp, ast.UnaryOp, ast.Compare, ast.Call)):
            text = twin.src(node)
            yield twin.replaced(node, f"{text} & ({text}.cumsum(dim=-1, dtype=torch.int32) == 1)", note)
        item = fact.item
        if isinstance(node, ast.ListComp) and item is not None and item.is_bool and item.rows and item.shape == ():
            hits = f"torch.stack({twin.raw(node)}, dim=-1)"
            first = f"{hits} & ({hits}.cumsum(dim=-1, dtype=torch.int32) == 1)"
            yield twin.replaced(node, f"list(({first}).unbind(dim=-1))", note)


@operator("K22", "branches of a choice exchanged", ("reference.py",))
def elif_order(twin: Twin) -> Iterator[Edit]:
    """Two neighbouring tests of an if-elif chain, with their bodies, the other way round."""
    for node in twin.nodes(ast.If):
        if len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If) and len(node.body) == 1:
            other = node.orelse[0]
            if len(other.body) != 1:
                continue
            pairs = ((node.test, other.test), (node.body[0], other.body[0]))
            pieces = tuple(p for a, b in pairs for p in (twin.put(a, twin.raw(b)), twin.put(b, twin.raw(a))))
            yield Edit(node, pieces, "the other branch is tried first", lift=False)


@operator("K22", "a tie for the other side")
def tie(twin: Twin) -> Iterator[Edit]:
    """`a < b` <-> `a <= b` between two values that are no constants."""
    for node in twin.nodes(ast.Compare):
        both = twin.fact(node.left).rows and twin.fact(node.comparators[0]).rows
        if len(node.ops) == 1 and both and type(node.ops[0]) in _TIES:
            piece = gap(twin, node.left, node.comparators[0], *_TIES[type(node.ops[0])])
            if piece is not None:
                yield Edit(node, (piece,))
