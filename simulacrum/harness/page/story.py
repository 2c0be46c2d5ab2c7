"""What both twins did around a divergence: as recorded beside it, or its smallest case played again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from simulacrum.contract.package import EnvPackage
from simulacrum.harness.casework import Casework
from simulacrum.harness.explain.standing import Standing, standing_before, trajectory_of
from simulacrum.harness.frames import rows_of
from simulacrum.harness.recorder import LEFT_ALONE, RESEEDED, RESTARTED, trajectory
from simulacrum.trace.case import RESET, WAIT, Case, Line
from simulacrum.trace.divergence import Divergence
from simulacrum.trace.trajectory import Start, Step, Trajectory
from simulacrum.trace.values import read_group

Moment = Start | Step
Key = tuple[int, int]  # episode, and t of a step; -1 for the episode's start


@dataclass(frozen=True)
class Story:
    """Both sides' trajectories. here: the divergent moment. injected: the first start is a state that was put in.

    recorded: whether it is what the check met; else the smallest case, or the one step, was played again.
    sides: what each side ran as. note: what is missing, and why.
    """

    reference: Trajectory | None
    batched: Trajectory | None
    here: Key
    sides: tuple[str, str]
    recorded: bool = True
    injected: bool = False
    forced: Mapping[str, Any] = field(default_factory=dict[str, Any])
    note: str = ""

    def pairs(self) -> list[Pair]:
        """The moments of both sides by episode and time, in order."""
        sides = [{key_of(moment): (moment, at) for moment, at in self._moments(side)} for side in self._both()]
        found: list[Pair] = []
        for key in sorted(set(sides[0]) | set(sides[1])):
            (left, at), (right, other) = (side.get(key, (None, None)) for side in sides)
            found.append(Pair(left, right, at or other, key == self.here))
        return found

    def _both(self) -> tuple[Trajectory | None, Trajectory | None]:
        return self.reference, self.batched

    def _moments(self, given: Trajectory | None) -> Iterator[tuple[Moment, Standing | None]]:
        if given is None:
            return
        for number, (start, steps) in enumerate(given.episodes()):
            fresh = Standing(
                None, None, given.seed, start.episode, 0, given.params, given.max_episode_steps, self.forced
            )
            yield start, None if self.injected and number == 0 else fresh
            before: Moment = start
            for step in steps:
                yield step, standing_before(given, before, step, self.forced)
                before = step


@dataclass(frozen=True)
class Pair:
    """One moment on both sides, and where the row stood before it (None: it was put there). here: the divergence."""

    reference: Moment | None
    batched: Moment | None
    at: Standing | None
    here: bool

    @property
    def any(self) -> Moment:
        """The moment of the side that has it."""
        moment = self.reference or self.batched
        assert moment is not None
        return moment


def key_of(moment: Moment) -> Key:
    """Where a moment stands in time."""
    return (moment.episode, moment.t if isinstance(moment, Step) else -1)


def story_of(record: Divergence, package: EnvPackage, path: Path | None) -> Story | None:
    """The story of a divergence; None where there is no trajectory and nothing can be played again."""
    one, two = (trajectory_of(record, path, package, side) for side in ("reference", "batched"))
    if one is not None or two is not None:
        here = (record.episode, -1 if record.previous_state is None else record.t)
        missing = [name for name, given in (("reference", one), ("batched", two)) if given is None]
        note = f"There is no file of the {missing[0]} trajectory: only the other side is shown." if missing else ""
        return Story(one, two, here, (_spoken(one, "reference.py"), _spoken(two, "fast.py")), note=note)
    case = record.shrunk.case if record.shrunk is not None else _one_step(record)
    if case is None:
        return None
    try:
        return _played(package, case, -1 if record.shrunk is None else record.shrunk.step, record)
    except Exception:  # a twin under judgement may raise anything; the page then shows the record alone
        return None


def _spoken(given: Trajectory | None, file: str) -> str:
    """The twin that made a trajectory, with its form."""
    if given is None:
        return file
    return "reference.py" if given.form == "reference" else f"fast.py, {given.form}"


def _one_step(record: Divergence) -> Case | None:
    """The record's own step as a case of one eager row; None for the start of a later episode."""
    where = record.configuration
    if record.previous_state is None and record.episode:
        return None
    start, params = record.previous_state, dict(where.params)
    actions = () if start is None else (record.action,)
    line = Line(0, record.seed, start, record.episode, record.t, params=params, actions=actions)
    return Case("eager", "cpu", "disabled", where.max_episode_steps, 1, (line,), forced=record.forced)


def _played(package: EnvPackage, case: Case, step: int, record: Divergence) -> Story:
    """The case run on both sides, every frame kept."""
    row, schema, line = case.line.row, package.schema, case.line
    frames = [(own, rows_of(batch, [row])) for _, own, batch, _ in Casework(package).frames(case)]
    events = [_event(package, action, fresh=line.ended and not at) for at, action in enumerate(line.actions)]
    names = ("reference" if case.against == "reference" else case.against, case.form)
    sides = [
        trajectory(
            schema, [pair[number] for pair in frames], events, 0, form=form, seed=line.seed, params=dict(line.params),
            limit=case.max_episode_steps, mode="DISABLED" if case.autoreset_mode == "disabled" else "NEXT_STEP",
        )
        for number, form in enumerate(names)
    ]  # fmt: skip
    step = step if record.shrunk is not None else case.steps - 1
    moments = [key_of(moment) for start, steps in sides[1].episodes() for moment in (start, *steps)]
    here = moments[min(step + 1, len(moments) - 1)]
    other = "reference.py" if case.against == "reference" else f"fast.py, {case.against}"
    spoken = f"fast.py, {case.form}" + ("" if case.num_envs == 1 else f", row {row} of {case.num_envs}")
    what = "its smallest case" if record.shrunk is not None else "its one step"
    note = f"The failure was met at a state that was put in. Shown is {what}, played again."
    return Story(
        sides[0], sides[1], here, (other, spoken), recorded=False, injected=line.start is not None, forced=case.forced,
        note=note,
    )  # fmt: skip


def _event(package: EnvPackage, action: Any, *, fresh: bool) -> Any:
    """An action of a case as `trajectory` takes it."""
    if isinstance(action, str) and action == WAIT:
        return LEFT_ALONE
    if isinstance(action, dict) and RESET in action:
        return RESEEDED
    if fresh or (isinstance(action, str) and action == RESET):
        return RESTARTED
    return read_group(package.schema.action, action)
