"""A case run: the batch is put where the case says, both sides take its actions, and the first difference is named."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from gymnasium.vector import AutoresetMode

from simulacrum.contract.package import EnvPackage
from simulacrum.contract.schema import Schema
from simulacrum.engine.boundary import EngineState
from simulacrum.engine.modes import check_autoreset_mode
from simulacrum.engine.vector import SimulacrumVectorEnv
from simulacrum.harness.bench import Bench
from simulacrum.harness.compare import differences
from simulacrum.harness.diverge import shown_difference
from simulacrum.harness.frames import BatchSide, Frame, ReferenceSide, frame_fields, rows_of
from simulacrum.harness.legal import Legal
from simulacrum.harness.rerun import put_action
from simulacrum.rng.batched import episode_key, split_seed
from simulacrum.trace.case import RESET, WAIT, Case, Line
from simulacrum.trace.difference import Difference, Shown, shown
from simulacrum.trace.values import read_group
from simulacrum.twin.batched import load_states


@dataclass(frozen=True)
class Found:
    """What differs in a case: after `step` actions less one (-1: at the start), and where, state first."""

    step: int
    differences: tuple[Difference, ...]


def run_case(package: EnvPackage, case: Case) -> Found | None:
    """The first step of the case in which its row differs, or None.

    Raises:
        SimulacrumError and whatever a twin raises: the case cannot be run to its end.
    """
    return next(Casework(package).each_step(case), None)


class Casework:
    """Runs cases of one package, many of them alike: what is built for one serves the next.

    stated: look at bounds and invariants too. shown: look at what an injected state shows before any step; without it
    a case begins with its first step.
    """

    def __init__(self, package: EnvPackage, *, stated: bool = True, shown: bool = True) -> None:
        self.package, self.stated, self.shown = package, stated, shown
        self.bench = Bench(package, check="case")
        self.envs: dict[Any, SimulacrumVectorEnv] = {}
        self.references: dict[Any, ReferenceSide] = {}

    def each_step(self, case: Case) -> Iterator[Found]:
        """Every step of the case in which its row differs, in order."""
        row, schema, env = case.line.row, self.package.schema, self.env(case, case.form, case.device)
        final = env.autoreset_mode == AutoresetMode.SAME_STEP
        fields, legal = frame_fields(schema, final=final), Legal(schema, final=final)
        if case.against != "reference":  # two batches of one twin: tolerances are between the twins
            fields = {name: replace(field, tolerance=None) for name, field in fields.items()}
        for step, own, batched, side in self.frames(case):
            one = rows_of(batched, [row])
            found = [shown_difference(d, 0, own, one, fields) for d in differences(own, one, fields)]
            if self.stated and isinstance(side, _Reference):
                untrue = _untrue(env, row, side, one, legal, stepped=step >= 0)
                # A state that was put in may break a rule of its own: then both sides do, and neither is to blame.
                found += untrue if side.lawful else [one for one in untrue if one.reference.decimal == "True"]
            if found:
                yield Found(step, tuple(found))

    def frames(self, case: Case) -> Iterator[tuple[int, Frame, Frame, _Reference | _Batch]]:
        """(step, the row's frame on the other side, the whole batch's frame, the other side) of the start and each
        step."""
        batch = BatchSide(self.env(case, case.form, case.device))
        core, forced, twin = batch.env.core, batch.env.core.override, batch.env.core.env
        core.env = self.package.fast()  # a twin that keeps something keeps nothing from one case to the next
        side = self.other(case, batch.env)
        # One row of values serves all rows of a batch.
        core.override = {s: [value] if isinstance(value, list) else value for s, value in case.forced.items()} or None
        try:
            for step in range(-1, case.steps):
                show = step >= 0 or self.shown or case.steps == 0 or any(line.start is None for line in case.lines)
                own, batched = side.go(step, show), go(batch, case, step, show)
                if own is not None and batched is not None:
                    yield step, own, batched, side
        finally:
            core.override, core.env = forced, twin

    def env(self, case: Case, form: str, device: str, side: str = "batched") -> SimulacrumVectorEnv:
        """A batch for the case, made once for each side."""
        lines, params = rows_in(case), {}
        for name, param in self.package.schema.params.items():
            values = [line.params.get(name, param.default) for line in lines]
            params[name] = np.array(values, dtype=param.field.dtype)
        mode, limit = case.autoreset_mode, case.max_episode_steps
        key = (side, form, device, mode, limit, case.num_envs, *(value.tobytes() for value in params.values()))
        if key not in self.envs:
            self.envs[key] = self.bench.env(
                case.num_envs, mode=check_autoreset_mode(mode), form=form, limit=limit, params=params, device=device
            )
        return self.envs[key]

    def other(self, case: Case, env: SimulacrumVectorEnv) -> _Reference | _Batch:
        """What stands on the reference's side."""
        if case.against == "eager":
            return _Batch(BatchSide(self.env(case, "eager", "cpu", "other")), case)
        if case.against == "alone":
            alone = replace(case, num_envs=1, lines=(replace(case.line, row=0),))
            return _Batch(BatchSide(self.env(alone, case.form, case.device, "other")), alone)
        key = (id(env), case.line.row)
        if key not in self.references:
            self.references[key] = ReferenceSide.beside(env, [case.line.row])
        return _Reference(case, env, self.references[key])


def line_of(case: Case, row: int) -> Line:
    """What a row of the case does: its own line, or the looked-at row's."""
    return next((line for line in case.lines if line.row == row), case.line)


def rows_in(case: Case) -> list[Line]:
    """What each row of the batch does."""
    own = {line.row: line for line in case.lines}
    return [own.get(row, case.line) for row in range(case.num_envs)]


def go(side: BatchSide, case: Case, step: int, show: bool = True) -> Frame | None:
    """The batch's frame after its start (-1) or a step; None where it need not be shown."""
    lines, env = rows_in(case), side.env
    if step < 0:
        if any(line.start is None for line in lines):
            frame = side.reset(seed=[line.seed for line in lines])
            if all(line.start is None for line in lines):
                return frame
        put_rows(env, lines)
        side.state = env.state
        # What rows show as they stand: the env has no public word for it, since its own users step.
        return side.shown(env._rows.observe(), side.state) if show else None  # pyright: ignore[reportPrivateUsage]
    mask, seeds = restarted(lines, step)
    if mask is not None:
        return side.reset(seed=seeds, options={"reset_mask": mask})
    return side.step(batch_actions(env.schema, lines, step))


def restarted(lines: Sequence[Line], step: int) -> tuple[Any, list[int | None] | None]:
    """The rows that a step resets by hand, bool `[N]`, and their new seeds if any has one; None where it does not."""
    taken = [line.actions[step] for line in lines]
    by_hand = [
        (isinstance(item, str) and item == RESET) or (isinstance(item, dict) and RESET in item) for item in taken
    ]
    if not any(by_hand):
        return None, None
    seeds = [item[RESET] if isinstance(item, dict) and RESET in item else None for item in taken]
    return np.array(by_hand), (seeds if any(seed is not None for seed in seeds) else None)


def batch_actions(schema: Schema, lines: Sequence[Line], step: int) -> Any:
    """The actions of a step as a batch."""
    size = len(lines)
    fields = schema.action.fields
    columns = {name: np.zeros((size, *field.shape), dtype=field.dtype) for name, field in fields.items()}
    batch: Any = columns[""] if schema.action.single else columns
    for row, line in enumerate(lines):
        if not isinstance(line.actions[step], str) or line.actions[step] != WAIT:
            put_action(schema, batch, row, read_group(schema.action, line.actions[step]))
    return batch


def put_rows(env: SimulacrumVectorEnv, lines: Sequence[Line]) -> None:
    """Put the rows that have a state to start from into it, with their clocks; the others stay as they are."""
    # Whether there are rows yet: the env has no public word for it, since its own users reset first.
    if not env._rows.started:  # pyright: ignore[reportPrivateUsage]
        env.reset(seed=[line.seed for line in lines])
    given = [row for row, line in enumerate(lines) if line.start is not None]
    kept, chosen, schema = env.state, [lines[row] for row in given], env.schema
    episode = torch.tensor([line.episode for line in chosen], dtype=torch.int32)
    seed = split_seed([line.seed for line in chosen])
    inner = load_states(schema, [read_group(schema.state, line.start) for line in chosen])
    state = EngineState(
        inner, seed, episode, episode_key(seed, episode),
        t=torch.tensor([line.t for line in chosen], dtype=torch.int32),
        returns=torch.zeros(len(chosen), dtype=torch.float64), ended=torch.tensor([line.ended for line in chosen]),
    )  # fmt: skip
    rows = torch.tensor(given, device=env.device)

    def put(value: torch.Tensor, new: torch.Tensor) -> torch.Tensor:
        return value.index_put((rows,), new.to(env.device))

    merged = {name: put(getattr(kept, name), getattr(state, name)) for name in kept._fields if name != "env"}
    values = type(kept.env)(*(put(one, two) for one, two in zip(kept.env, inner, strict=True)))
    with torch.inference_mode(False), torch.no_grad():
        env._rows.load(EngineState(env=values, **merged))  # pyright: ignore[reportPrivateUsage]  # some rows alone


# --- the other side ---------------------------------------------------------------------------------------------------


class _Reference:
    """The reference twin in the place of the row."""

    def __init__(self, case: Case, env: SimulacrumVectorEnv, side: ReferenceSide) -> None:
        self.case, self.env, self.side, self.lawful = case, env, side, True
        self.side.runners[0].override = dict(case.forced) or None

    def go(self, step: int, show: bool) -> Frame | None:
        """The row's frame after its start (-1) or a step; None where it need not be shown.

        A start from a state notes in `lawful` whether the state breaks no invariant.
        """
        line, runner = self.case.line, self.side.runners[0]
        if step < 0 and line.start is None:
            return self.side.reset([line.seed])
        if step < 0:
            state = read_group(self.env.schema.state, line.start)
            runner.load(state, t=line.t, seed=line.seed, episode=line.episode)
            runner.ended = line.ended
            self.lawful = not runner.broken_invariants()
            return self.side.restart([False], [None]) if show else None
        lines = rows_in(self.case)
        mask, seeds = restarted(lines, step)
        if mask is not None:
            return self.side.restart([bool(mask[line.row])], [seeds[line.row] if seeds else None])
        return self.side.step(batch_actions(self.env.schema, [line], step))


class _Batch:
    """Another batch: the eager form of the same rows, or the row alone."""

    def __init__(self, batch: BatchSide, case: Case) -> None:
        self.batch, self.case = batch, case

    def go(self, step: int, show: bool) -> Frame | None:
        frame = go(self.batch, self.case, step, show)
        return None if frame is None else rows_of(frame, [self.case.line.row])


def _untrue(
    env: SimulacrumVectorEnv, row: int, side: _Reference, batched: Frame, legal: Legal, *, stepped: bool
) -> list[Difference]:
    """What the schema or an invariant does not allow in the row as the batch has it."""
    found: list[Difference] = []
    for breach in legal.breaches(batched, np.array([stepped])):
        kind, _, field = breach.name.partition(".")
        if kind in ("info", "final_info"):
            kind, field = breach.name, ""
        value, dtype = batched[breach.name][0], legal.fields[breach.name].dtype
        seen = shown(value[breach.index] if breach.index else value, dtype)
        found.append(Difference(kind, field, breach.index, Shown(breach.expected, None, dtype), seen))
    broken = {one.method for one in side.side.runners[0].broken_invariants()}
    for name, holds in env.core.invariants(env.state, env.params).items():
        if not bool(holds[row]):
            found.append(Difference("invariant", name, (), shown(name not in broken, "bool"), shown(False, "bool")))
    return found
