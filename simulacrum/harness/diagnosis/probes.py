"""The case run again with one thing changed: another action, entities apart, a neighbouring state, one step more."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace

from simulacrum.harness.diagnosis.view import Clue, View, same
from simulacrum.trace.case import Case
from simulacrum.trace.values import read_value, spell

ACTIONS, NUMBERS, SEEDS = 12, 6, 6  # other actions, integers of the state, and seeds that are tried


def clues(view: View) -> Iterator[Clue]:
    """All of them."""
    if view.name in view.own:
        yield from _actions(view)
        yield from _draws(view)
        yield from _ties(view)
        yield from _neighbours(view)
        yield from _after_a_reset(view)
        yield from _same_start(view)
        yield from _one_action(view)


def _after_a_reset(view: View) -> Iterator[Clue]:
    """Whether what is shown after a reset would be right if the same state were put in."""
    shown = view.kind in ("observation", "info", "action_mask")
    if not view.resetting or not shown or view.case.num_envs > 1:
        return
    put_in = replace(view.line, start=view.standing, t=0, ended=False, actions=())
    if not view.still(replace(view.case, lines=(put_in,), forced={})):
        yield Clue("K08", 10, "the same state is shown rightly when it is put in, and wrongly after a reset")


def catches_up(view: View) -> bool:
    """Whether, with one plain step more, the field agrees again."""
    line = view.line
    if view.step != 0 or line.start is None or view.case.num_envs > 1 or not line.actions or view.resetting:
        return False
    longer = replace(view.case, lines=(replace(line, actions=(*line.actions, *line.actions)),))
    frames = {}
    try:
        frames = {step: (own, batched) for step, own, batched, _ in view.work.frames(longer)}
    except Exception:
        return False
    if 1 not in frames or bool(frames[0][0]["terminated"][0]) or bool(frames[0][1]["terminated"][0]):
        return False
    own, batched = frames[1]
    agrees = view.at(own) == view.at(batched)
    return agrees and view.kind == "state" and view.at(own) != view.right


def _actions(view: View) -> Iterator[Clue]:
    """Whether the reference does the same on another action."""
    changed = any(name.startswith("state.") for name in view.differing())
    if view.step < 0 or view.resetting or view.case.num_envs > 1 or not changed:
        return
    line = view.line
    for action in _discrete(view):
        taken = (*line.actions[: view.step], action)
        if action != line.actions[view.step] and view.explains(view.other(actions=taken)):
            yield Clue("K21", 9, f"it does with action {line.actions[view.step]} what action {action} should do")
            yield Clue("K20", 6, f"it does with action {line.actions[view.step]} what action {action} should do")
            return


def _one_action(view: View) -> Iterator[Clue]:
    """Whether an end of the episode, and nothing else, hangs on the action taken."""
    flags_only = set(view.differing()) <= {"terminated", "truncated", "reward"} and view.kind != "reward"
    actions = _discrete(view)
    if view.step < 0 or view.resetting or view.case.num_envs > 1 or not flags_only or len(actions) < 2:
        return
    taken = view.line.actions
    others = [(*taken[: view.step], action) for action in actions if action != taken[view.step]]
    if not any(view.still(replace(view.case, lines=(replace(view.line, actions=other),))) for other in others):
        yield Clue("K21", 6, f"the flag hangs on action {taken[view.step]}")


def _discrete(view: View) -> list[int]:
    """The actions of a Discrete space, the first few of them; none for another space."""
    group = view.package.schema.action
    if not group.single or group.leaf.is_float or group.leaf.shape or not isinstance(group.leaf.high, int):
        return []
    low = group.leaf.low if isinstance(group.leaf.low, int) else 0
    return list(range(low, min(group.leaf.high, low + ACTIONS) + 1))


def _neighbours(view: View) -> Iterator[Clue]:
    """Whether it is right for a state of which one integer is one more or less."""
    start, fields = view.line.start, view.package.schema.state.fields
    if start is None or view.step != 0 or view.case.num_envs > 1 or view.resetting:
        return
    numbers = [name for name, field in fields.items() if field.is_integer and not field.shape]
    for name, ahead in itertools.product(numbers[:NUMBERS], (1, -1)):
        moved = read_value(fields[name], start[name]) + ahead
        own = view.other(start={**start, name: moved})
        differing = [one for one in view.differing() if one != f"state.{name}"]
        if own is not None and differing and all(same(own, view.batched, one) for one in differing):
            why = f"at {name} = {moved - ahead} it does what is right at {name} = {moved}"
            yield Clue("K20", 9, f"{why}: an end taken in or left out, or a constant")
            yield Clue("K17", 6, why)
            return


def _same_start(view: View) -> Iterator[Clue]:
    """Whether every seed has the same start."""
    if view.line.start is not None or view.step >= 0 or view.case.num_envs > 1 or view.case.forced:
        return
    starts: list[tuple[bytes, bytes]] = []
    for seed in range(SEEDS):
        case = replace(view.case, lines=(replace(view.line, seed=seed),))
        shown = [(own, crowd) for _, own, crowd, _ in view.work.frames(case)]
        starts += [(own[view.name].tobytes(), crowd[view.name].tobytes()) for own, crowd in shown]
    if len({right for right, _ in starts}) > 1 and len({wrong for _, wrong in starts}) == 1:
        yield Clue("K08", 12, f"it is {view.wrong} at the start of every seed")
        yield Clue("K11", 8, f"it is {view.wrong} at the start of every seed")


def _draws(view: View) -> Iterator[Clue]:
    """Whether the reference does the same where a truth that is drawn is the other one."""
    if view.step < 0 or view.resetting or view.case.num_envs > 1 or view.case.form != "eager":
        return
    for draw in view.package.schema.draws:
        if draw.phase != "step" or draw.distribution != "bernoulli" or draw.count is not None:
            continue
        right = [value for value in (False, True)
                 if view.explains(view.other(forced={**view.case.forced, draw.name: value}))]
        if len(right) == 1:
            yield Clue("K10", 9, f"it does what is right if {draw.name} is {right[0]}, which it is not")
            yield Clue("K20", 6, f"it does what is right if {draw.name} is {right[0]}, which it is not")


def _ties(view: View) -> Iterator[Clue]:
    """Whether it needs two entities of which the same is true."""
    start = view.line.start
    if start is None or view.case.num_envs > 1 or view.resetting:
        return
    fields = {name: field for name, field in view.package.schema.state.fields.items() if len(field.shape) == 1}
    numbers = {name: read_value(field, start[name]) for name, field in fields.items() if field.is_integer}
    size = next((len(values) for values in numbers.values()), 0)
    if len(numbers) < 2 or size < 2:
        return
    columns = {name: values for name, values in numbers.items() if len(values) == size}
    apart = _apart(view, columns, size)
    if apart is not None and not view.still(apart):
        yield Clue("K22", 10, "only where two entities are in the same place")
        yield Clue("K15", 7, "only where two entities are in the same place: a write to both of them")


def _apart(view: View, columns: dict[str, list[int]], size: int) -> Case | None:
    """The case with every entity that stands on another moved to a place of its own; None where none does."""
    state = view.package.schema.state.fields
    ranges = [(state[name].low, state[name].high) for name in columns]
    if not all(isinstance(low, int) and isinstance(high, int) for low, high in ranges):
        return None
    places = [tuple(values[i] for values in columns.values()) for i in range(size)]
    # All are integers, as was looked up above.
    grid = itertools.product(*(range(low, high + 1) for low, high in ranges))  # type: ignore[arg-type, operator]
    free = (place for place in grid if place not in places)
    moved = [place if place not in places[:i] else next(free, place) for i, place in enumerate(places)]
    if moved == places:
        return None
    start = dict(view.line.start or {})
    for number, name in enumerate(columns):
        start[name] = spell(state[name], [place[number] for place in moved])
    return replace(view.case, lines=(replace(view.line, start=start),))
