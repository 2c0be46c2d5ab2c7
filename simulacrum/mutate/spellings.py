"""More rewrites that change no bit: the same operation by another name, form or order of arguments."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator

from simulacrum.mutate.operators.forms import is_shaping, outcomes, results, torch_calls
from simulacrum.mutate.operators.registry import operator
from simulacrum.mutate.rewrites import is_rows
from simulacrum.mutate.sites import Edit, Piece, Twin

_FUNCTIONS: dict[type[ast.AST], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.BitAnd: "logical_and",
    ast.BitOr: "logical_or",
    ast.BitXor: "logical_xor",
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
}


@operator("same", "a function for an operator")
def spelled_out(twin: Twin) -> Iterator[Edit]:
    """`a & b` -> `torch.logical_and(a, b)`, `a == b` -> `torch.eq(a, b)`, `a + b` -> `torch.add(a, b)`."""
    for node in twin.nodes(ast.expr):
        if isinstance(node, ast.BinOp):
            left, right, op = node.left, node.right, node.op
        elif isinstance(node, ast.Compare) and len(node.ops) == 1:
            left, right, op = node.left, node.comparators[0], node.ops[0]
        else:
            continue
        name, logical = _FUNCTIONS.get(type(op)), isinstance(op, (ast.BitAnd, ast.BitOr, ast.BitXor))
        tensors = is_rows(twin.fact(left)) and (twin.fact(right).kind == "tensor" or isinstance(node, ast.Compare))
        if name is not None and tensors and (not logical or twin.fact(left).is_bool):
            yield twin.replaced(node, f"torch.{name}({twin.raw(left)}, {twin.raw(right)})")


@operator("same", "a method for a function, or the reverse")
def other_form(twin: Twin) -> Iterator[Edit]:
    """`x.clamp(0, 7)` <-> `torch.clamp(x, 0, 7)`; `x.to(torch.float32)` -> `x.float()`."""
    for call in torch_calls(twin, "clamp", "any", "all", "sum", "abs", "reshape", "unbind"):
        given = [twin.raw(arg) for arg in call.args]
        given += [f"{key}={twin.raw(value)}" for key, value in call.keywords.items()]
        if call.method and call.name != "reshape":
            yield twin.replaced(call.node, f"torch.{call.name}({', '.join([twin.raw(call.receiver), *given])})")
        elif not call.method:
            yield twin.replaced(call.node, f"{twin.src(call.receiver)}.{call.name}({', '.join(given)})")
    short = {"torch.float32": "float", "torch.float64": "double", "torch.int32": "int", "torch.int64": "long"}
    for call in torch_calls(twin, "to"):
        name = short.get(twin.raw(call.args[0])) if len(call.args) == 1 else None
        if name is not None and call.method:
            yield twin.replaced(call.node, f"{twin.src(call.receiver)}.{name}()")


@operator("same", "columns put together by cat")
def by_cat(twin: Twin) -> Iterator[Edit]:
    """`torch.stack([a, b], dim=-1)` -> `torch.cat([a[:, None], b[:, None]], dim=-1)`."""
    for node in twin.nodes(ast.Call):
        items = node.args[0] if node.args and isinstance(node.args[0], ast.List) else None
        if items is None or twin.raw(node.func) != "torch.stack" or len(twin.fact(node).shape) != 1:
            continue
        if all(twin.fact(item).rows and twin.fact(item).shape == () for item in items.elts):
            pieces = [twin.put(item, f"{twin.src(item)}[:, None]") for item in items.elts]
            yield Edit(node, (twin.put(node.func, "torch.cat"), *pieces))


@operator("same", "a neutral element")
def neutral(twin: Twin) -> Iterator[Edit]:
    """`x` -> `x + 0`, `m | m`, and `1.0 * x` of floats."""
    for node in results(twin):
        fact, text = twin.fact(node), twin.src(node)
        if fact.is_bool:
            yield twin.replaced(node, f"{text} | {text}")
        else:
            yield twin.replaced(node, f"{text} + 0" if fact.is_int else f"{text} * 1.0")


@operator("same", "a difference as a sum")
def as_a_sum(twin: Twin) -> Iterator[Edit]:
    """`a - b` -> `a + (-b)`; `x * 2` -> `x + x`, of integers."""
    for node in twin.nodes(ast.BinOp):
        if not is_rows(twin.fact(node)) or is_shaping(twin, node):
            continue
        left, right = twin.src(node.left), twin.src(node.right)
        if isinstance(node.op, ast.Sub):
            yield twin.replaced(node, f"{left} + (-{right})")
        elif isinstance(node.op, ast.Mult) and right == "2" and twin.fact(node).is_int:
            yield twin.replaced(node, f"{left} + {left}")


@operator("same", "fields in another order")
def fields(twin: Twin) -> Iterator[Edit]:
    """Two neighbouring keywords of a call, the other way round."""
    for node in twin.nodes(ast.Call):
        for a, b in itertools.pairwise(node.keywords):
            if a.arg is not None and b.arg is not None:
                yield Edit(node, (Piece(*twin.span(a), twin.raw(b)), Piece(*twin.span(b), twin.raw(a))))


@operator("same", "truncation said in so many words")
def said(twin: Twin) -> Iterator[Edit]:
    """`Transition(s, r, done)` -> `Transition(s, r, done, torch.zeros_like(done))`."""
    for outcome in outcomes(twin):
        if outcome.truncated is None:
            _, end = twin.span(outcome.node)
            text = f", truncated=torch.zeros_like({twin.raw(outcome.terminated)})"
            yield Edit(outcome.node, (Piece(end - 1, end - 1, text),))
