"""K07: terminated and truncated confused."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from simulacrum.mutate.operators.forms import after, outcomes
from simulacrum.mutate.operators.registry import BOTH, FAST, REFERENCE, operator
from simulacrum.mutate.sites import Edit, Piece, Twin


def _never(twin: Twin, like: ast.expr) -> str:
    return f"torch.zeros_like({twin.raw(like)})" if twin.file == "fast.py" else "False"


def _inverse(twin: Twin, flag: ast.expr) -> str:
    return f"~{twin.src(flag)}" if twin.file == "fast.py" else f"not {twin.src(flag)}"


def _flags(twin: Twin, terminated: str | None, truncated: str | None, note: str) -> Iterator[Edit]:
    """Each transition with its two flags written anew; {a}, {b} are the old texts, None leaves a flag as it is."""
    for outcome in outcomes(twin):
        a, b = twin.src(outcome.terminated), outcome.truncated
        other = _never(twin, outcome.terminated) if b is None else twin.src(b)
        pieces: list[Piece] = []
        if terminated is not None:
            pieces.append(twin.put(outcome.terminated, terminated.format(a=a, b=other)))
        if truncated is not None:
            text = truncated.format(a=a, b=other)
            if b is None:
                end = after(twin, outcome.terminated, f", truncated={text}")
                if pieces:  # both stand at one place: one piece
                    end = Piece(pieces[0].start, end.end, pieces.pop().text + end.text)
                pieces.append(end)
            else:
                pieces.append(twin.put(b, text))
        yield Edit(outcome.node, tuple(pieces), note, lift=False)


@operator("K07", "flags exchanged", BOTH)
def exchanged_flags(twin: Twin) -> Iterator[Edit]:
    """terminated given as truncated and the reverse."""
    yield from _flags(twin, "{b}", "{a}", "terminated and truncated exchanged")


@operator("K07", "terminated given twice", BOTH)
def both_flags(twin: Twin) -> Iterator[Edit]:
    """terminated given as truncated too."""
    yield from _flags(twin, None, "{a}", "what terminates truncates as well")


@operator("K07", "flags joined", BOTH)
def joined_flags(twin: Twin) -> Iterator[Edit]:
    """Both flags are the OR of the two, where the rules give both."""
    if any(outcome.truncated is not None for outcome in outcomes(twin)):
        sign = "|" if twin.file == "fast.py" else "or"
        yield from _flags(twin, f"{{a}} {sign} {{b}}", f"{{a}} {sign} {{b}}", "one flag for both")
        yield from _flags(twin, f"{{a}} {sign} {{b}}", None, "what truncates terminates as well")


@operator("K07", "terminated dropped", BOTH)
def dropped(twin: Twin) -> Iterator[Edit]:
    """terminated is never true."""
    for outcome in outcomes(twin):
        yield twin.replaced(outcome.terminated, _never(twin, outcome.terminated), "nothing terminates")
        if outcome.truncated is not None:
            yield twin.replaced(outcome.truncated, _never(twin, outcome.truncated), "nothing truncates")


@operator("K07", "terminated inverted", BOTH)
def inverted(twin: Twin) -> Iterator[Edit]:
    """terminated is true where it should be false."""
    for outcome in outcomes(twin):
        yield twin.replaced(outcome.terminated, _inverse(twin, outcome.terminated))


@operator("K07", "time limit before the end", BOTH)
def priority(twin: Twin) -> Iterator[Edit]:
    """A row that terminates on its last step counts as truncated alone."""
    limit = twin.schema.max_episode_steps
    if limit is not None:
        sign = "&" if twin.file == "fast.py" else "and"
        yield from _flags(twin, f"{{a}} {sign} (ctx.t != {limit - 1})", None, "on the last step only the limit counts")


@operator("K07", "terminated never at once", FAST)
def not_at_once(twin: Twin) -> Iterator[Edit]:
    """The first step of an episode does not terminate it."""
    yield from _flags(twin, "{a} & (ctx.t > 0)", None, "the first step does not terminate")


@operator("K07", "terminated never at once", REFERENCE)
def scalar_not_at_once(twin: Twin) -> Iterator[Edit]:
    """The first step of an episode does not terminate it."""
    yield from _flags(twin, "{a} and ctx.t > 0", None, "the first step does not terminate")
