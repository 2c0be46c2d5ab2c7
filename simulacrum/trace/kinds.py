"""The kinds of fault that a second, batched twin can have: one table for diagnoses and for mutants."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Kind:
    """A kind of fault. number: "K01" to "K24". look: what to look for in fast.py, in one line."""

    number: str
    title: str
    look: str


KINDS: tuple[Kind, ...] = (
    Kind("K01", "batch and entity axes mixed up", "an operand [N] that meets [N, 1], a swapped size or transposition"),
    Kind("K02", "rows leak into each other", "a reduction without dim=, a roll or shift over dim 0, `if mask.any()`"),
    Kind("K03", "wrong quantifier over entities", "any() for all(), the wrong entity axis, a count tested against 1"),
    Kind("K04", "stale value for a fresh one", "a read of the state before the step where the new one is meant"),
    Kind("K05", "rules in the wrong order", "statements that share a name, a condition tested after its input changed"),
    Kind("K06", "counter or time limit off by one", ">= against >, a test before the increment, a counter not reset"),
    Kind("K07", "terminated and truncated confused", "the two flags swapped, joined, dropped, or their priority"),
    Kind("K08", "content of the auto-reset", "the last observation given as the next, an old start state, episode + 1"),
    Kind("K09", "state carried over a reset", "a field that reset does not write, or writes in the wrong rows"),
    Kind("K10", "a random draw used twice", "one slot read for another, a missing index, the step's draw in the reset"),
    Kind("K11", "seed or counter of the draws", "t + 1 for t, another episode or seed, torch's own generator"),
    Kind("K12", "integer too narrow", "a cast to int8, int16 or uint8, a sum or product in the narrow type"),
    Kind("K13", "another form of the float expression", "another width or order, a reciprocal, a power, fused x*y+z"),
    Kind("K14", "unsafe unused branch", "m*a + (1-m)*b for where(), a guard after the division, mask * inf"),
    Kind("K15", "masked write to the wrong place", "a scatter without mask, duplicate indices, a result thrown away"),
    Kind("K16", "index wraps or leaves the range", "no bounds test (-1 wraps), clamp for drop, padding off by one"),
    Kind("K17", "clamp or interval end", "clamp before the sum for after it, a half-open end for a closed one"),
    Kind("K18", "sign of an integer operation", "floor for trunc, % for fmod, >> of a negative, ~ of a 0/1 integer"),
    Kind("K19", "shared memory", "a live buffer returned, a write in place without clone(), a view kept as previous"),
    Kind("K20", "wrong condition, constant, sign or coordinate", "x for y, a row of a table, a rule left out"),
    Kind("K21", "actions or their mask", "two actions swapped, the mask of the old state, an illegal action's effect"),
    Kind("K22", "tie or order resolved otherwise", "argmax of the last, sort without stable, the agents' order"),
    Kind("K23", "only on one platform or form", "what asks for device, compiler, batch size or threads"),
    Kind("K24", "derived state or running sum", "an incremental update left out, done twice, or added before zeroing"),
)  # fmt: skip

BY_NUMBER: dict[str, Kind] = {kind.number: kind for kind in KINDS}


def kind(number: str) -> Kind:
    """The kind of a number ("K07"). Raises KeyError for an unknown one."""
    return BY_NUMBER[number]
