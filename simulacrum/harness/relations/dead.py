"""M13: what no rule looks at may hold anything. Declared dead values, and memory that nobody has written yet."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Generator, Iterator
from typing import Any

import torch
from torch import Tensor

from simulacrum.contract.fields import INTEGER_RANGES, Field
from simulacrum.errors import TwinError
from simulacrum.harness.bench import Bench, Outcome, failed, passed
from simulacrum.harness.extremes import bounds
from simulacrum.harness.frames import Array
from simulacrum.harness.recording import explain, parting
from simulacrum.harness.relations.declared import Found
from simulacrum.harness.relations.moments import Moments, Shown, tried
from simulacrum.harness.relations.told import apart
from simulacrum.harness.world import World
from simulacrum.twin.batched import torch_dtype
from simulacrum.twin.relations import Dead

ROWS, STEPS, LIMIT = 33, 30, 13


def dead(bench: Bench, at: Moments, one: Dead) -> Found:
    """Every poison in the dead elements of the state before a step: what lives is as it was."""
    state, mask = at.state.env, one.where(at.state.env)
    if not bool(mask.any()):
        return None, 0, "nothing was dead in any visited state"
    after, shown = at.step(at.draw("step"))
    before = at.seen(state, at.state.t)
    compared = 0
    for name in one.fields:
        for said, poison in poisons(bench.schema.state.fields[name], at):
            wide = mask.reshape(*mask.shape, *([1] * (getattr(state, name).dim() - mask.dim())))
            poisoned = state._replace(**{name: torch.where(wide, poison, getattr(state, name))})
            notes = (f"{said} put into the dead elements of {name}" + (f" ({one.why})" if one.why else ""),)
            other = at.instead(state=poisoned)
            result, refused = tried(lambda other=other: _both(other))
            if refused and said.startswith("beyond"):
                continue  # no state of the schema holds such a value, and an operation may refuse it
            if refused:
                raise TwinError(
                    f"{said} in the dead elements of {name} stops the step", expected="nothing looks at them",
                    found=refused, where=name, next_step="make the index or divisor safe before it is used",
                )
            live = _live(one, after), _live(one, state)
            for (expected, got), alive in zip(((shown, result[0]), (before, result[1])), live, strict=True):
                found = apart(bench, other, expected, got, side="the step without it", notes=notes, live=alive,
                              kinds=("K14", "K15", "K04"))
                if found is not None:
                    return found, compared, ""
            compared += len(at)
    return None, compared, ""


def _both(at: Moments) -> tuple[Shown, Shown]:
    """What a step shows, and what the state shows before it."""
    return at.step(at.draw("step"))[1], at.seen(at.state.env, at.state.t)


def _live(one: Dead, state: Any) -> dict[str, Array]:
    """Of the dead fields, the elements that count: those that are not dead in the state without poison."""
    alive: Array = ~one.where(state).cpu().numpy()
    return {f"state.{name}": alive for name in one.fields}


def poisons(field: Field, at: Moments) -> Iterator[tuple[str, Tensor]]:
    """(what it is, the value): the ends that the schema allows, then what lies beyond them."""
    device, dtype = at.env.device, torch_dtype(field.dtype)
    if field.is_bool:
        yield from ((str(value), torch.tensor(value, device=device)) for value in (False, True))
        return
    for said, end in zip(("the lowest value", "the highest value"), bounds(field), strict=True):
        yield said, torch.tensor(end, device=device)
    if field.is_float:
        beyond: tuple[float | int, ...] = (float("nan"), float("inf"), -1.0)
    else:
        beyond = (*INTEGER_RANGES[field.dtype], -1)
    for value in beyond:
        if not (field.dtype == "uint8" and value < 0):
            yield f"beyond all bounds, {value},", torch.tensor(value, dtype=dtype, device=device)


def fresh_memory(bench: Bench) -> Outcome:
    """Memory that torch hands out unwritten is filled with NaN or the largest number: nobody may have read it."""
    rows = range(ROWS)
    world = World(bench, ROWS, STEPS, LIMIT, bench.seed + 37)
    plain = world.run(rows)
    with filled_memory():
        poisoned = world.run(rows)
    parted = parting(bench, plain, poisoned, rows, rows)
    if parted is None:
        return passed(f"{plain.transitions:,} transitions on poisoned memory", compared_transitions=plain.transitions)
    notes = ("it changes when fresh memory is filled with NaN: a tensor is read that was never written",)
    found = explain(bench, parted, plain, poisoned, rows, rows, side="the run without it", notes=notes)
    return failed(f"{found.difference.path} of row {found.row}; {notes[0]}", found)


@contextlib.contextmanager
def filled_memory() -> Generator[None]:
    """While it lasts, torch fills memory that it hands out unwritten: floats with NaN, integers with the largest."""
    switch: Any = torch.utils.deterministic  # its stub does not know the switch
    # Not by torch.use_deterministic_algorithms: that loads the Inductor, which takes seconds, and sets its options too.
    set_strict: Any = torch._C._set_deterministic_algorithms  # pyright: ignore[reportPrivateUsage]
    strict = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    before = switch.fill_uninitialized_memory
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of operations that have no deterministic form
        try:
            set_strict(True, warn_only=True)
            switch.fill_uninitialized_memory = True
            yield
        finally:
            set_strict(strict[0], warn_only=strict[1])
            switch.fill_uninitialized_memory = before
