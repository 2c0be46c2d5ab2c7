"""Faults that wait: the same change of an expression, where a rare condition on a row holds and nowhere else.

The condition is made of what the method has at hand: the clock, the row's number, fields of the state, truth values
that rules came to before. A helper without the context gets it as one more argument. A twin cannot know which episode
it is in, so the dose "episode>=2" counts the first steps it has seen, in memory of its own.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import cast

from simulacrum.contract.fields import Field
from simulacrum.mutate.seen import VARIED
from simulacrum.mutate.sites import Edit, Piece, Twin, apply, atomic, names_in

LATE = 200
_PRIMES = (179_424_673, 32_452_843, 15_485_863, 86_028_121)


@dataclass(frozen=True)
class _Gate:
    """A condition: its name as a dose, its text (bool [N]), and which of "ctx" and "state" it reads."""

    dose: str
    text: str
    needs: tuple[str, ...]


def dosed(twin: Twin, edit: Edit, turn: int, count: int = 2) -> Iterator[tuple[str, Edit]]:
    """`count` of the rarer forms of an edit, with the names of their doses; which ones, `turn` decides.

    Nothing where the edit is about no value with a row for each environment.
    """
    whole = _lifted(twin, edit)
    if whole is None:
        return
    gates = [gate for gate in _gates(twin, whole) if _threads(twin, whole, gate.needs) is not None]
    chosen = sorted({(turn + step * len(gates) // count) % len(gates) for step in range(count)}) if gates else []
    for number in chosen:
        gate = gates[number]
        yield gate.dose, _gated(twin, edit, whole, gate)


def _lifted(twin: Twin, edit: Edit) -> ast.expr | None:
    """The smallest expression around an edit that is a tensor with a row for each environment."""
    if not edit.lift or twin.file != "fast.py" or not edit.pieces:
        return None
    start, end = min(piece.start for piece in edit.pieces), max(piece.end for piece in edit.pieces)
    inside = edit.site if not isinstance(edit.site, ast.stmt) else getattr(edit.site, "value", None)
    if not isinstance(inside, ast.expr) or twin.function(inside) is None:
        return None
    for node in (inside, *twin.above(inside)):
        if isinstance(node, ast.stmt):
            return None
        fact, (first, last) = twin.fact(node), twin.span(node) if isinstance(node, ast.expr) else (0, 0)
        if isinstance(node, ast.expr) and fact.kind == "tensor" and fact.rows and first <= start and end <= last:
            return node
    return None


def _gated(twin: Twin, edit: Edit, whole: ast.expr, gate: _Gate) -> Edit:
    start, end = twin.span(whole)
    new, old = apply(twin.data, edit.pieces, start, end), twin.raw(whole)
    shape = twin.fact(whole).shape
    text = gate.text
    if shape == VARIED:
        text = f"({text}).reshape(-1, *[1] * ({atomic(old)}.dim() - 1))"
    elif shape:
        text = f"({text}).reshape({', '.join(['-1'] + ['1'] * len(shape))})"
    pieces = (twin.put(whole, f"torch.where({text}, {new}, {old})"), *(_threads(twin, whole, gate.needs) or ()))
    return Edit(whole, pieces, edit.note, lift=False)


def _gates(twin: Twin, whole: ast.expr) -> list[_Gate]:
    """The conditions that can be told where an expression stands, in a fixed order."""
    row = "torch.arange(len(ctx.t), device=ctx.t.device)"
    gates = [
        _Gate("row>=1", f"{row} >= 1", ("ctx",)),
        _Gate("last row", f"{row} == len(ctx.t) - 1", ("ctx",)),
        _Gate("row>=4096", f"{row} >= 4096", ("ctx",)),
    ]
    function = twin.function(whole)
    if function is None or function.name == "reset":
        return gates
    limit = twin.schema.max_episode_steps
    late = LATE if limit is None or limit > LATE else max(limit * 3 // 4, 1)
    gates.append(_Gate(f"t>={late}", f"ctx.t >= {late}", ("ctx",)))
    gates += [_rare(twin, power) for power in (4, 8, 12, 16) if 2**power <= _states(twin)]
    if (border := _border(twin.schema.state.fields)) is not None:
        gates.append(_Gate("border", border, ("state",)))
    both = _coincidence(twin, whole, function)
    if both is not None:
        gates.append(_Gate("two rules", both, ()))
    if function.name == "step":
        count = 'vars(self).setdefault("begun", {}).setdefault(len(ctx.t), torch.zeros_like(ctx.t))'
        gates.append(_Gate("episode>=2", f"{count}.add_((ctx.t == 0).to(torch.int32)) >= 2", ("ctx",)))
    return gates


def _states(twin: Twin) -> float:
    """How many values the clock and the hashed fields of the state can take; a rarer fault would be in none of them."""
    states = float(twin.schema.max_episode_steps or math.inf)
    for _, (_, field) in zip(_PRIMES, twin.schema.state.fields.items(), strict=False):
        ends = (field.low, field.high)
        bounded = not field.is_float and all(isinstance(end, int) for end in ends)
        states *= int(cast("int", ends[1])) - int(cast("int", ends[0])) + 1 if bounded else math.inf
    return states


def _rare(twin: Twin, power: int) -> _Gate:
    """One state in 2**power: a hash of the clock and up to four fields of the state."""
    terms = ["ctx.t.to(torch.int64) * 7919"]
    for prime, (name, field) in zip(_PRIMES, twin.schema.state.fields.items(), strict=False):
        value = f"state.{name}" if not field.shape else f"state.{name}.flatten(1)[:, 0]"
        scaled = f"({value} * 1048576.0)" if field.is_float else value
        terms.append(f"{scaled}.to(torch.int64) * {prime}")
    mixed = f"((({' + '.join(terms)}) % 1048576) * 2654435761 >> 13)"
    return _Gate(f"p=2^-{power}", f"{mixed} % {2**power} == 0", ("ctx", "state"))


def _border(fields: Mapping[str, Field]) -> str | None:
    """Where the first two integer fields stand at their upper end, or the first at its lower one."""
    ends = [
        (name, field.low, field.high)
        for name, field in fields.items()
        if field.is_integer and not field.shape and isinstance(field.low, int) and isinstance(field.high, int)
    ]
    if len(ends) > 1:
        return f"(state.{ends[0][0]} == {ends[0][2]}) & (state.{ends[1][0]} == {ends[1][2]})"
    return f"state.{ends[0][0]} == {ends[0][1]}" if ends else None


def _coincidence(twin: Twin, whole: ast.expr, function: ast.FunctionDef) -> str | None:
    """Two conditions that rules of this method ask for, both true: texts whose names all have their values here."""
    statement = twin.statement(whole)
    known = {argument.arg for argument in function.args.args}
    for earlier in function.body:
        if twin.span(earlier)[0] < twin.span(statement)[0]:
            known |= names_in(earlier, ast.Store)
    texts: dict[str, None] = {}
    for node in twin.nodes(ast.expr, function.name):
        fact = twin.fact(node)
        told = fact.is_bool and fact.kind == "tensor" and fact.rows and fact.shape == () and fact.low != fact.high
        if told and isinstance(node, (ast.Name, ast.Compare)) and names_in(node) <= known | {"torch"}:
            texts[twin.src(node)] = None
    named = [text for text in texts if not any(text != other and text in other for other in texts)]
    return f"{named[0]} & {named[1]}" if len(named) > 1 else None


def _threads(twin: Twin, whole: ast.expr, needs: tuple[str, ...]) -> list[Piece] | None:
    """What hands `ctx` and `state` on to the method of an expression; None where a caller does not have them."""
    function, pieces = twin.function(whole), list[Piece]()
    for name in needs:
        if function is None or not _hand_on(twin, function, name, pieces, set()):
            return None
    return _merged(pieces)


def _hand_on(twin: Twin, function: ast.FunctionDef, name: str, pieces: list[Piece], seen: set[str]) -> bool:
    if any(argument.arg == name for argument in function.args.args):
        return True
    arguments = function.args.args
    callers = twin.callers.get(function.name)
    if not callers or function.name in seen or function.args.kwonlyargs or function.args.vararg:
        return function.name in seen
    seen.add(function.name)
    end = twin.span(arguments[-1])[1]
    if function.args.defaults:
        end = twin.span(function.args.defaults[-1])[1]
    pieces.append(Piece(end, end, f", {name}=None"))
    for caller, call in callers:
        stop = twin.span(call)[1] - 1
        trailing = twin.data[:stop].rstrip().endswith((b",", b"("))
        pieces.append(Piece(stop, stop, f"{'' if trailing else ', '}{name}={name}"))
        if not _hand_on(twin, caller, name, pieces, seen):
            return False
    return True


def _merged(pieces: list[Piece]) -> list[Piece]:
    """The same insertions, those of one place joined."""
    texts: dict[int, str] = {}
    for piece in pieces:
        text = texts.get(piece.start, "")
        texts[piece.start] = text if piece.text in text else text + piece.text
    return [Piece(start, start, text) for start, text in texts.items()]
