"""How torch code is written: methods and functions alike, and the calls that build states and transitions."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from simulacrum.mutate.sites import Piece, Twin, last_name

# Numbers in these calls are axes, sizes and types, not values.
SHAPING = {
    "reshape", "view", "expand", "unbind", "stack", "cat", "sum", "any", "all", "amax", "amin", "flip", "roll", "range",
    "permute", "transpose", "unsqueeze", "squeeze", "to", "split", "chunk", "select", "narrow", "repeat",
    "index_select",
}  # fmt: skip


@dataclass(frozen=True)
class TorchCall:
    """`x.clamp(0, 7)` and `torch.clamp(x, 0, 7)` alike: name "clamp", receiver x, args (0, 7)."""

    node: ast.Call
    name: str
    receiver: ast.expr
    args: tuple[ast.expr, ...]
    keywords: dict[str, ast.expr]
    method: bool

    def argument(self, position: int, keyword: str) -> ast.expr | None:
        """An argument given by position or by name, or None."""
        return self.args[position] if len(self.args) > position else self.keywords.get(keyword)

    def render(self, twin: Twin, receiver: str, name: str = "", arguments: str | None = None) -> str:
        """The call on another receiver, by another name, or with other arguments."""
        if arguments is None:
            given = [twin.raw(arg) for arg in self.args]
            given += [f"{key}={twin.raw(value)}" for key, value in self.keywords.items()]
            arguments = ", ".join(given)
        name = name or self.name
        if self.method:
            return f"{receiver}.{name}({arguments})"
        return f"torch.{name}({receiver}, {arguments})" if arguments else f"torch.{name}({receiver})"


def torch_calls(twin: Twin, *names: str, functions: tuple[str, ...] = ()) -> Iterator[TorchCall]:
    """The calls of torch operations of these names, on tensors."""
    for node in twin.nodes(ast.Call, *functions):
        call = torch_call(twin, node)
        if call is not None and call.name in names:
            yield call


def torch_call(twin: Twin, node: ast.AST) -> TorchCall | None:
    """The call as one of a torch operation, or None."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    if any(keyword.arg is None for keyword in node.keywords) or any(isinstance(a, ast.Starred) for a in node.args):
        return None
    keywords = {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg is not None}
    if isinstance(node.func.value, ast.Name) and node.func.value.id == "torch":
        if not node.args:
            return None
        return TorchCall(node, node.func.attr, node.args[0], tuple(node.args[1:]), keywords, method=False)
    if twin.fact(node.func.value).kind != "tensor":
        return None
    return TorchCall(node, node.func.attr, node.func.value, tuple(node.args), keywords, method=True)


@dataclass(frozen=True)
class Written:
    """One field of a state that is made: `self.State(x=...)`, `state.replace(x=...)`, `self.State(a, b)`.

    node: its value. keyword: the keyword that holds it, None where it is given by position. whole: the call.
    """

    field: str
    node: ast.expr
    keyword: ast.keyword | None
    whole: ast.Call
    replaced: bool


def written_fields(twin: Twin, *functions: str) -> Iterator[Written]:
    """The fields that a function writes into states, in textual order."""
    names = tuple(twin.schema.state.fields)
    for call in twin.nodes(ast.Call, *functions):
        name = last_name(call.func)
        if name not in ("State", "replace", "_replace"):
            continue
        if name == "State":
            for field, node in zip(names, call.args, strict=False):
                if isinstance(node, ast.Starred):
                    break
                yield Written(field, node, None, call, replaced=False)
        for keyword in call.keywords:
            if keyword.arg in names:
                yield Written(keyword.arg, keyword.value, keyword, call, replaced=name != "State")


@dataclass(frozen=True)
class Outcome:
    """A `Transition(state, reward, terminated, truncated)` as it is written; truncated may be absent."""

    node: ast.Call
    state: ast.expr
    reward: ast.expr
    terminated: ast.expr
    truncated: ast.expr | None


def outcomes(twin: Twin) -> Iterator[Outcome]:
    """The transitions that `step` returns."""
    for call in twin.nodes(ast.Call, "step"):
        if last_name(call.func) != "Transition" or any(isinstance(arg, ast.Starred) for arg in call.args):
            continue
        given = dict(zip(("state", "reward", "terminated", "truncated"), call.args, strict=False))
        given |= {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
        if {"state", "reward", "terminated"} <= given.keys():
            yield Outcome(call, given["state"], given["reward"], given["terminated"], given.get("truncated"))


def gap(twin: Twin, left: ast.AST, right: ast.AST, old: str, new: str) -> Piece | None:
    """The sign `old` between two neighbours, as a piece that makes it `new`; None where it is not there."""
    start, end = twin.span(left)[1], twin.span(right)[0]
    text = twin.data[start:end].decode()
    code = "".join(part if i % 2 == 0 else " " * len(part) for i, part in enumerate(_split_comments(text)))
    at = code.find(old)
    if at < 0 or not text.isascii():
        return None
    return Piece(start + at, start + at + len(old), new)


def _split_comments(text: str) -> list[str]:
    """Code and comments by turns, beginning with code."""
    parts: list[str] = []
    for line in text.splitlines(keepends=True):
        code, mark, rest = line.partition("#")
        if len(parts) % 2:
            parts[-1] += code
        else:
            parts.append(code)
        if mark:
            parts.append(mark + rest)
    return parts


def is_shaping(twin: Twin, node: ast.AST) -> bool:
    """Whether a number names an axis, a size or a place: in an index, or among the arguments of a shaping call."""
    child: ast.AST = node
    for each in twin.above(node):
        if isinstance(each, ast.Subscript) and each.slice is child:
            return True
        if isinstance(each, ast.keyword):
            if each.arg in ("dim", "dims", "dtype", "index", "device", "keepdim", "num_classes", "correction"):
                return True
        elif isinstance(each, ast.Call):
            return last_name(each.func) in SHAPING and each.func is not child
        elif isinstance(each, ast.stmt):
            return False
        child = each
    return False


def numbers(fact_low: float | None, fact_high: float | None) -> float | None:
    """The one value that an expression always had, or None."""
    return fact_low if fact_low is not None and fact_low == fact_high else None


def results(twin: Twin, *functions: str) -> Iterator[ast.expr]:
    """What rules come to: tensors with a row for each environment that are assigned, returned, or put into a state."""
    for node in twin.nodes(ast.expr, *functions):
        parent = twin.parent(node)
        place = isinstance(parent, (ast.Assign, ast.AnnAssign, ast.Return, ast.keyword, ast.List, ast.Tuple, ast.Dict))
        place = place or (isinstance(parent, ast.ListComp) and parent.elt is node)
        fact = twin.fact(node)
        computed = not isinstance(node, (ast.Name, ast.Attribute)) and not is_shaping(twin, node)
        if place and computed and fact.kind == "tensor" and fact.rows:
            yield node


def after(twin: Twin, node: ast.AST, text: str) -> Piece:
    """`text` behind an argument of a call, and behind the brackets around the argument."""
    _, end = twin.span(node)
    while twin.data[end : end + 1] == b")" and _closes(twin, node, end):
        end += 1
    return Piece(end, end, text)


def _closes(twin: Twin, node: ast.AST, end: int) -> bool:
    """Whether the bracket at `end` closes one around the node itself and not the call that holds it."""
    call = twin.parent(node)
    if isinstance(call, ast.keyword):
        call = twin.parent(call)
    assert call is not None
    return end + 1 < twin.span(call)[1]
