"""What the two values tell: stale, swapped, wrapped, a sign, an end of a range, one ulp, another action's, a tie."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from simulacrum.harness.diagnosis.probes import catches_up
from simulacrum.harness.diagnosis.view import Clue, View, negative

SCALES = 65  # numbers that a value may be divided by


def clues(view: View) -> Iterator[Clue]:
    """All of them."""
    if view.name not in view.own:
        yield from _stated(view)
        return
    if view.right == view.wrong and not _zero(view):
        return
    yield from _floats(view)
    yield from _integers(view)
    yield from _ends(view)
    yield from _stale(view)
    yield from _places(view)
    yield from _flags(view)
    yield from _derived(view)


def _zero(view: View) -> bool:
    return isinstance(view.right, float) and view.right == 0.0


def _stated(view: View) -> Iterator[Clue]:
    why = f"the {view.kind} {view.name.partition('.')[2]} does not hold"
    for kind, weight in (("K24", 5), ("K17", 4), ("K09", 3)):
        yield Clue(kind, weight, why)


def _floats(view: View) -> Iterator[Clue]:
    right, wrong = view.right, view.wrong
    if not isinstance(right, float) or not isinstance(wrong, float):
        return
    if right == wrong:
        yield Clue("K14", 11, f"{right} against {wrong}: a zero with the other sign")
        yield Clue("K13", 6, f"{right} against {wrong}: a zero with the other sign")
    elif not math.isfinite(wrong) and math.isfinite(right):
        yield Clue("K14", 12, f"{wrong} where there is a number")
    elif abs(wrong - right) <= 1e-5 * max(abs(right), abs(wrong)):
        difference = view.record.shrunk.difference if view.record.shrunk is not None else view.record.difference
        ulp = difference.ulp
        yield Clue("K13", 12, f"{ulp} ulp apart" if ulp is not None else "almost equal")
        yield Clue("K22", 3, "a sum in another order gives that too")
    elif right and wrong and any(abs(wrong * n - right * (n + k)) < 1e-5 * abs(wrong * n)
                                 for n in range(2, SCALES) for k in (1, -1)):
        yield Clue("K17", 8, f"{right} and {wrong} are as n to n + 1: divided by another number")
        yield Clue("K20", 6, f"{right} and {wrong} are as n to n + 1: another constant")
    elif wrong == -right:
        yield Clue("K20", 9, f"{wrong} is {right} with the other sign")
        yield Clue("K18", 4, f"{wrong} is {right} with the other sign")


def _integers(view: View) -> Iterator[Clue]:
    right, wrong = view.right, view.wrong
    if isinstance(right, bool) or not isinstance(right, (int, float)) or not math.isfinite(float(wrong) - float(right)):
        return
    gap = abs(wrong - right)
    for width in (8, 16, 32):
        for scale in range(1, 65 if isinstance(right, float) else 2):
            if gap and abs(gap * scale - 2**width) < 1e-3 * scale:
                part = f" / {scale}" if scale > 1 else ""
                yield Clue("K12", 12, f"the values are 2**{width}{part} apart: it wrapped")
    if isinstance(right, int):
        if wrong == -right:
            yield Clue("K20", 8, f"{wrong} is {right} with the other sign")
        below = [name for name, value in (view.line.start or view.standing).items() if negative(value)]
        if below or right < 0 or negative(view.previous):
            yield Clue("K18", 5, f"a negative integer takes part ({', '.join(below) or view.name})")
        if gap == 1:
            yield Clue("K20", 3, "off by one")
            yield Clue("K17", 3, "off by one")
            yield Clue("K06", 3, "off by one")


def _ends(view: View) -> Iterator[Clue]:
    field = view.field
    if field is None or isinstance(view.right, bool) or view.kind == "reward":
        return
    low, high = (_bound(bound, view.index) for bound in (field.low, field.high))
    right, wrong = view.right, view.wrong
    if low is None or high is None or low == high:
        return
    ends = (low, high)
    if wrong < low or wrong > high or view.record.difference.reference.bits is None:
        far = max(low - wrong, wrong - high) > high - low
        for kind, weight in (("K17", 7), ("K16", 6), ("K05", 6), ("K12", 10 if far else 5)):
            yield Clue(kind, weight, f"{wrong} is outside {low}..{high}")
    elif right in ends and wrong in ends:
        yield Clue("K16", 11, f"{right} and {wrong} are the two ends of the range: it went around")
        yield Clue("K17", 6, f"{right} and {wrong} are the two ends of the range")
    elif (right in ends or wrong in ends) and not isinstance(right, float):
        end = right if right in ends else wrong
        yield Clue("K17", 9, f"{end} is an end of the range {low}..{high}")
        yield Clue("K16", 5, f"{end} is an end of the range {low}..{high}")
        yield Clue("K05", 5, f"{end} is an end of the range {low}..{high}")


def _bound(bound: Any, index: tuple[int, ...]) -> Any:
    for place in index:
        if isinstance(bound, tuple):
            bound = bound[place]
    return bound if isinstance(bound, (int, float)) else None


def _stale(view: View) -> Iterator[Clue]:
    previous, right, wrong = view.previous, view.right, view.wrong
    if view.resetting or previous is None or view.kind in ("reward", "terminated", "truncated"):
        later = catches_up(view)
    elif wrong == previous != right:
        yield Clue("K04", 8, f"{wrong} is the value before the step")
        yield Clue("K09", 7, f"{wrong} is the value before the step: the new one is not written")
        yield Clue("K20", 6, f"{wrong} is the value before the step: it has no effect")
        yield Clue("K24", 5, f"{wrong} is the value before the step")
        later = catches_up(view)
    else:
        if right == previous != wrong:
            weight = 6 if view.index else 3
            yield Clue("K15", weight, f"{right} should have stayed as it was before the step")
            yield Clue("K20", 4, f"{right} should have stayed as it was before the step")
        later = catches_up(view)
    if later:
        yield Clue("K04", 6, "one step later both agree again: the effect comes a step late")
        yield Clue("K06", 4, "one step later both agree again")


def _places(view: View) -> Iterator[Clue]:
    """The wrong value at another index, or in another field of the same row."""
    wrong, own = view.wrong, view.own
    telling = not isinstance(wrong, bool) and wrong not in (0, 1)
    field = view.field
    if view.index:
        mine = own[view.name][0]
        theirs = view.batched[view.name][0]
        if mine.shape == theirs.shape and sorted(mine.reshape(-1).tolist()) == sorted(theirs.reshape(-1).tolist()):
            yield Clue("K22", 8, "the same values in another order")
            yield Clue("K20", 6, "the same values in another order: two of them are exchanged")
            yield Clue("K15", 5, "the same values in another order")
        elif telling and (mine == wrong).any():
            yield Clue("K20", 5, f"{wrong} is the value at another index")
            yield Clue("K15", 4, f"{wrong} is the value at another index")
    for name, other in view.fields.items():
        if not telling or field is None or name == view.name or name not in own:
            continue
        alike = (other.dtype, other.shape) == (field.dtype, field.shape)
        if alike and own[name].tobytes() == view.batched[view.name].tobytes():
            yield Clue("K10" if view.resetting else "K20", 7, f"{wrong} is the value of {name}")
            return


def _flags(view: View) -> Iterator[Clue]:
    if view.kind not in ("terminated", "truncated"):
        return
    own, batched = view.own, view.batched
    pair = [(bool(side["terminated"][0]), bool(side["truncated"][0])) for side in (own, batched)]
    right, wrong = pair
    if right != wrong and right == (wrong[1], wrong[0]):
        yield Clue("K07", 12, "terminated and truncated are exchanged")
    elif any(right) and any(wrong):
        yield Clue("K07", 10, f"(terminated, truncated) is {wrong} for {right}")
    only = set(view.differing()) <= {"terminated", "truncated"}
    yield Clue("K07", 8 if only else 3, "a flag differs" + (" and nothing else" if only else ""))
    yield Clue("K06", 4, "a flag differs")
    many = [name for name, field in view.package.schema.state.fields.items() if field.is_bool and field.shape]
    if many:
        yield Clue("K03", 8, f"a flag that is of all of {', '.join(many)}: any for all, or the reverse")


def _derived(view: View) -> Iterator[Clue]:
    state_agrees = not any(name.startswith("state.") for name in view.differing())
    if view.kind == "action_mask":
        yield Clue("K21", 11, "the mask of legal actions differs")
        yield Clue("K04", 4, "the mask may be of the old state")
    if view.kind == "reward":
        for kind, weight in (("K20", 5), ("K04", 4), ("K05", 4), ("K03", 3)):
            yield Clue(kind, weight, "the reward differs" + (", the state agrees" if state_agrees else ""))
    if view.kind in ("info", "observation") and state_agrees:
        why = f"the state agrees, what is shown of it as {view.name} does not"
        if view.kind == "info":
            yield Clue("K24", 7, why)
        yield Clue("K20", 4, why)
        shaped = any(field.shape for field in view.package.schema.state.fields.values())
        if shaped:
            yield Clue("K03", 3, why)
    if view.kind == "state":
        yield Clue("K20", 3, "one state and one action show it: a condition, a constant or a sign of a rule")
        yield Clue("K05", 2, "one state and one action show it")
    many = {name.partition("[")[0] for name in view.differing() if name.startswith("state.")}
    if len(many) > 1:
        yield Clue("K05", 4, f"{len(many)} state fields differ at once")
        yield Clue("K04", 5, f"{len(many)} state fields differ at once: what both follow from may be of the old state")
