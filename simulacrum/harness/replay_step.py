"""The one step of a failure record, run again: does it still go wrong, and where?

The smallest case that was found of it comes first. Then both twins are put at the recorded state, with the recorded
seed, episode and clock, and take the recorded action: alone, in the recorded form, and in a batch of the recorded size
with strangers in the other rows. Where the record's trajectory is still there, the whole way to that step is gone again
too, since some faults need a history. A step whose draws were put in, or of a small model, is run by `small.replay`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from gymnasium.vector import AutoresetMode

from simulacrum.contract.package import EnvPackage, load_package
from simulacrum.engine.forms import resolve_form
from simulacrum.engine.modes import check_autoreset_mode, check_device
from simulacrum.engine.vector import SimulacrumVectorEnv
from simulacrum.errors import DeviceError, SimulacrumError, TraceError, UsageError
from simulacrum.harness import drivers
from simulacrum.harness.bench import Bench, seeds_for
from simulacrum.harness.compare import differences
from simulacrum.harness.diverge import shown_difference
from simulacrum.harness.frames import BatchSide, Frame, ReferenceSide, frame_fields, rows_of, take
from simulacrum.harness.legal import Legal
from simulacrum.harness.rerun import in_reference, in_rows, put_action
from simulacrum.harness.shrink.again import SMALLEST, smallest
from simulacrum.harness.small.replay import given_stages, is_given
from simulacrum.rng.batched import episode_key, split_seed
from simulacrum.trace.compare import first_difference
from simulacrum.trace.divergence import Configuration, Difference, Divergence, Shown, read_divergence, shown
from simulacrum.trace.failures import trajectory_file
from simulacrum.trace.files import read_trajectories
from simulacrum.trace.trajectory import Trajectory
from simulacrum.trace.values import read_group
from simulacrum.twin.batched import load_states


@dataclass(frozen=True)
class Stage:
    """One way of running the step again. `found` is empty where everything agreed; `note` says why it was not run."""

    name: str
    form: str
    num_envs: int
    found: tuple[Difference, ...] = ()
    note: str | None = None


@dataclass(frozen=True)
class ReplayResult:
    """What became of a record. `found` is the record with today's difference, None where all stages agree."""

    record: Divergence
    stages: tuple[Stage, ...]
    found: Divergence | None

    @property
    def differs(self) -> bool:
        """Whether something still goes wrong."""
        return self.found is not None

    @property
    def same(self) -> bool:
        """Whether it goes wrong exactly as recorded: the same place, the same bits on both sides."""
        return self.found is not None and self.found.difference == self.record.difference

    @property
    def message(self) -> str:
        """The outcome in words, a stage a line."""
        lines: list[str] = []
        for stage in self.stages:
            agrees = "agrees now" if stage.name == SMALLEST else "agrees"
            said = ", ".join(one.path for one in stage.found[:4]) or agrees
            said = f"not run: {stage.note}" if stage.note else f"differs in {said}" if stage.found else said
            lines.append(f"{stage.name} ({stage.form}, N = {stage.num_envs}): {said}")
        if self.found is None:
            head = "agrees now: nothing differs any more"
        else:
            head = "differs as recorded" if self.same else f"differs, now in {self.found.difference.path}"
        return "\n".join([head, *lines])


def replay_divergence(path: str | Path, package: EnvPackage | None = None) -> ReplayResult:
    """Run the step of a failure file again.

    Args:
        path: a failure record (`failures/ID.json`).
        package: the environment; found by the record's id when it is not given.

    Raises:
        TraceError: no such file, or no failure record. UnknownEnvError: no environment of the record's id.
    """
    record = read_divergence(path)
    package = load_package(record.env_id) if package is None else package
    if package.env_id != record.env_id:
        raise UsageError(
            "the record is of another environment", expected=package.env_id, found=record.env_id, where=path
        )
    stages = [Stage(*given) for given in smallest(package, record)]
    if is_given(record):
        stages += [Stage(name, "eager", rows, found, note)
                   for name, rows, found, note in given_stages(package, record)]
    else:
        stages += _stages(_Again(package, record), Path(path))
    # What was recorded comes before its smallest case, which has other values.
    first = next((stage for stage in sorted(stages, key=lambda stage: stage.name == SMALLEST) if stage.found), None)
    return ReplayResult(record, tuple(stages), None if first is None else _today(record, first))


def _today(record: Divergence, stage: Stage) -> Divergence:
    """The record with what the stage found; the recorded difference first, where it is still among them."""
    configuration = replace(record.configuration, form=stage.form, num_envs=stage.num_envs)
    found = sorted(stage.found, key=lambda one: one != record.difference)
    hints = (f"run again {stage.name}",)
    return replace(
        record, difference=found[0], others=tuple(found[1:]), configuration=configuration, hints=hints
    )


def _stages(again: _Again, path: Path) -> Iterator[Stage]:
    where: Configuration = again.record.configuration
    yield again.stage("alone", "eager", 1, 0)
    if again.form != "eager":
        yield again.stage("alone", again.form, 1, 0)
    if where.num_envs > 1:
        yield again.stage("in its row among strangers", again.form, where.num_envs, again.record.row)
    yield from again.whole_way(path)


class _Again:
    """A record and its package, with what is needed to run the step in several ways."""

    def __init__(self, package: EnvPackage, record: Divergence) -> None:
        self.package, self.record, self.schema = package, record, package.schema
        self.bench = Bench(package, device=_device(record.configuration.device), check=record.check)
        self.form = _form(record.configuration.form, self.bench.device)
        self.at_reset = record.previous_state is None
        mode = check_autoreset_mode(record.configuration.autoreset_mode)
        # A reset is run as the step in which NEXT_STEP resets a row: so it can be of any episode.
        self.mode = AutoresetMode.NEXT_STEP if self.at_reset else mode

    def stage(self, name: str, form: str, size: int, row: int) -> Stage:
        """The step in one batch, held against the reference and against what the schema allows."""
        try:
            return Stage(name, form, size, tuple(self._step(form, size, row)))
        except SimulacrumError as error:
            return Stage(name, form, size, note=error.message)

    def _step(self, form: str, size: int, row: int) -> Iterator[Difference]:
        where = self.record.configuration
        params = self.bench.row_params(size, self.bench.seed)
        for name, param in self.schema.params.items():
            column = params.setdefault(name, np.full(size, param.default, dtype=param.field.dtype))
            column[row] = where.params.get(name, param.default)
        env = self.bench.env(size, mode=self.mode, form=form, limit=where.max_episode_steps, params=params)
        self._place(env, row)
        reference = ReferenceSide.beside(env, [row])
        self._stand(reference)
        actions = drivers.Random(self.schema, size, self.bench.seed).actions({}, 0)
        if self.record.action is not None:
            put_action(self.schema, actions, row, read_group(self.schema.action, self.record.action))
        batched = rows_of(BatchSide(env).step(actions), [row])
        yield from self._broken(env, row, reference, batched, take(actions, [row]))

    def _broken(
        self, env: SimulacrumVectorEnv, row: int, reference: ReferenceSide, batched: Frame, action: Any
    ) -> Iterator[Difference]:
        own = reference.step(action)
        fields = frame_fields(self.schema, final=env.autoreset_mode == AutoresetMode.SAME_STEP)
        for difference in differences(own, batched, fields):
            yield shown_difference(difference, 0, own, batched, fields)
        legal = Legal(self.schema)
        for breach in legal.breaches(batched, np.array([not self.at_reset])):
            kind, _, field = breach.name.partition(".")
            value = batched[breach.name][0]
            dtype = legal.fields[breach.name].dtype
            seen = shown(value[breach.index] if breach.index else value, dtype)
            yield Difference(kind, field, breach.index, Shown(breach.expected, None, dtype), seen)
        broken = {found.method for found in reference.runners[0].broken_invariants()}
        for name, holds in env.core.invariants(env.state, env.params).items():
            if not bool(holds[row]):
                yield Difference("invariant", name, (), shown(name not in broken, "bool"), shown(False, "bool"))

    def _place(self, env: SimulacrumVectorEnv, row: int) -> None:
        """Put one row of a batch of strangers where the record stands."""
        record = self.record
        seeds = seeds_for(env.num_envs, self.bench.seed)
        seeds[row] = record.seed
        env.reset(seed=seeds)
        data = env.state_dict()
        episode = record.episode - int(self.at_reset)
        words = split_seed([record.seed])
        number = torch.tensor([episode], dtype=torch.int32)
        clock = {
            "episode": number, "key": episode_key(words, number), "t": torch.tensor([record.t], dtype=torch.int32),
            "ended": torch.tensor([self.at_reset]),
        }
        for name, value in clock.items():
            data["clock"][name][row] = value[0].to(env.device)
        if not self.at_reset:
            state = load_states(self.schema, [self._state()], env.device)
            for name, value in zip(state._fields, state, strict=True):
                data["env"][name][row] = value[0]
        env.load_state_dict(data)

    def _state(self) -> dict[str, Any]:
        return read_group(self.schema.state, self.record.previous_state)

    def _stand(self, side: ReferenceSide) -> None:
        """Put the reference at the same place."""
        runner, record = side.runners[0], self.record
        if self.at_reset:
            runner.seed, runner.episode, runner.ended = record.seed, record.episode - 1, True
        else:
            runner.load(self._state(), t=record.t, seed=record.seed, episode=record.episode)

    def whole_way(self, path: Path) -> Iterator[Stage]:
        """From the beginning of the recorded trajectory, in a batch of the recorded size; nothing without a file."""
        where = self.record.configuration
        name = "the whole way to it"
        for side in ("batched", "reference"):
            file = trajectory_file(path, self.record, side)
            if file is None:
                continue
            mode = self.mode if self.mode != AutoresetMode.SAME_STEP else AutoresetMode.DISABLED
            try:
                (given,) = read_trajectories(file, self.schema)
                yield Stage(name, self.form, where.num_envs, self._way(given, mode))
            except (SimulacrumError, ValueError) as error:
                yield Stage(name, self.form, where.num_envs, note=str(error).splitlines()[0])
            return

    def _way(self, given: Trajectory, mode: AutoresetMode) -> tuple[Difference, ...]:
        where = self.record.configuration
        if not given.starts or given.starts[0].episode != 0 or not given.steps:
            raise TraceError("the file does not begin with the row's first episode")
        rows: Sequence[int] = [self.record.row]
        _, _, (made,) = in_rows(self.bench, [given], rows, where.num_envs, mode=mode, form=self.form)
        found = first_difference(in_reference(self.package, given), made, self.schema)
        return () if found is None else (found.difference, *found.others)


def _device(name: str) -> str:
    """The record's device where it is one of this machine, else the CPU."""
    try:
        return str(check_device(name))
    except (DeviceError, RuntimeError):
        return "cpu"


def _form(name: str, device: str) -> str:
    """The record's form where it can be built here, else eager."""
    try:
        return resolve_form(name, torch.device(device), warn=False)
    except UsageError:
        return "eager"


__all__ = ["ReplayResult", "Stage", "replay_divergence"]
