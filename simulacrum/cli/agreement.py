"""A reference that drives somebody's program, held against that program untouched: one step from each of many states.

The program plays by itself with NumPy's generator. Before each step its state is put into the reference, which takes
the same step, its draws answered by the values that the program's generator gave. Nothing of the battery is needed
for it, and no batched twin.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from simulacrum.contract.package import EnvPackage
from simulacrum.errors import PackageError, SimulacrumError
from simulacrum.harness.compare import ulps
from simulacrum.scaffold.gym_recorder import Call, Recorder
from simulacrum.scaffold.gym_source import Source, open_source
from simulacrum.scaffold.gym_spaces import read_space
from simulacrum.twin.reference import Context
from simulacrum.twin.state import canonical_group, canonical_state, params_type, params_values

STEPS, LONGEST, SECONDS = 1000, 200, 20.0
COMMENT = "simulacrum new --from gym:"
_OTHER_SEEDS = 10_000  # not those that the package was guessed from


@dataclass
class Part:
    """How one field of a step compares: how often it differed, and how far at most, in ulp and as a number."""

    compared: int = 0
    different: int = 0
    ulp: int = 0
    distance: float = 0.0


@dataclass
class Agreement:
    """What came out: how many steps and resets were compared, each part by its name, and what ended it early."""

    origin: str
    steps: int = 0
    resets: int = 0
    parts: dict[str, Part] = field(default_factory=dict)
    failed: str | None = None

    @property
    def exact(self) -> bool:
        return self.failed is None and not any(part.different for part in self.parts.values())

    @property
    def different(self) -> dict[str, Part]:
        return {name: part for name, part in self.parts.items() if part.different}


class Answers:
    """A draw handle that gives back what the program's generator gave, in its order, to whatever slot asks."""

    def __init__(self, schema: Any, calls: list[Call]) -> None:
        self._schema = schema
        self._queue = [(call.distribution, value) for call in calls for value in call.values]

    @property
    def left(self) -> int:
        return len(self._queue)

    def _one(self, slot: str, distribution: str, index: int | None) -> Any:
        declared = self._schema.draw(slot)
        if declared is None or declared.distribution != distribution:
            raise _Differs(f"the slot {slot} is not declared as {distribution}")
        if distribution != "permutation" and index is None and declared.count is not None:
            return tuple(self._one(slot, distribution, each) for each in range(declared.count))
        if index is not None and not 0 <= index < (declared.count or 0):
            raise _Differs(f"the slot {slot} has no index {index}")
        if not self._queue:
            raise _Differs(f"the reference draws {slot} where the program draws nothing more")
        kind, value = self._queue.pop(0)
        if kind != distribution:
            raise _Differs(f"the reference draws {slot} ({distribution}) where the program draws {kind}")
        return value

    def uniform(self, slot: str, low: Any = 0.0, high: Any = 1.0, *, index: int | None = None) -> Any:
        return self._within(slot, self._one(slot, "uniform", index), low, high)

    def integers(self, slot: str, high: Any, *, low: Any = 0, index: int | None = None) -> Any:
        return self._within(slot, self._one(slot, "integers", index), low, high)

    def normal(self, slot: str, mean: Any = 0.0, std: Any = 1.0, *, index: int | None = None) -> Any:
        return self._one(slot, "normal", index)

    def choice(self, slot: str, weights: Any, *, index: int | None = None) -> Any:
        return self._one(slot, "choice", index)

    def bernoulli(self, slot: str, p: Any, *, index: int | None = None) -> Any:
        return self._one(slot, "bernoulli", index)

    def permutation(self, slot: str) -> Any:
        return self._one(slot, "permutation", None)

    def _within(self, slot: str, value: Any, low: Any, high: Any) -> Any:
        for one in value if isinstance(value, tuple) else (value,):
            if not (low <= one < high or low == one == high):
                raise _Differs(f"the reference asks {slot} from {low} to {high}, the program drew {one}")
        return value


class _Differs(Exception):
    """The reference asks for other draws than the program."""


def origin_of(package: EnvPackage) -> str | None:
    """The Gymnasium id that the package says it was written from."""
    comment = str(package.schema.raw.get("$comment", ""))
    return comment.removeprefix(COMMENT) if comment.startswith(COMMENT) else None


def compare_with_origin(package: EnvPackage, gym_id: str, steps: int = STEPS) -> Agreement:
    """One step of the reference from each of `steps` states of the untouched program.

    Raises:
        PackageError: the reference has no `put` and `taken`, or cannot be made.
        UnknownEnvError: there is no such program.
    """
    reference: Any = package.reference()
    missing = [name for name in ("put", "taken") if not hasattr(reference, name)]
    if missing:
        raise PackageError(
            f"the reference has no {' and no '.join(missing)}",
            expected="put(state, t), an environment that stands there, and taken(env, seen), the state of one",
            where=package.folder / "reference.py",
            next_step="write them as a reference of `simulacrum new NAME --from gym:ID` has them",
        )
    found = Agreement(f"gym:{gym_id}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        source = open_source(gym_id)
        try:
            _Play(package, reference, source, found).run(steps)
        except Exception as error:
            lines = str(error).splitlines() or ["no message"]
            told = [line.strip() for line in lines[1:] if line.strip().startswith(("expected", "found", "where"))]
            kind = "" if isinstance(error, (_Differs, SimulacrumError)) else f"{type(error).__name__}: "
            found.failed = f"after {found.steps} step(s): {kind}{'; '.join([lines[0], *told])}"
    return found


class _Play:
    def __init__(self, package: EnvPackage, reference: Any, source: Source, found: Agreement) -> None:
        self.schema, self.reference, self.found = package.schema, reference, found
        self.env = source.again()
        self.action = read_space(self.env.action_space, "action", source.id)
        self.observation = read_space(self.env.observation_space, "observation", source.id)
        self.params = params_type(self.schema)(**params_values(self.schema, None))

    def run(self, steps: int) -> None:
        """Play so many steps, or until the time is up, and note where the two part."""
        began, seed = time.process_time(), _OTHER_SEEDS
        while self.found.steps < steps and time.process_time() - began < SECONDS:
            seed += 1
            recorder = Recorder(seed)
            self.env.np_random = recorder
            self.env.action_space.seed(seed)
            seen, _ = self.env.reset()
            self._reset(recorder, seen)
            for t in range(LONGEST):
                ended, seen = self._step(recorder, seen, t)
                if ended or self.found.steps >= steps:
                    break

    def _reset(self, recorder: Recorder, seen: Any) -> None:
        answers, recorder.calls = Answers(self.schema, recorder.calls), []
        state = canonical_state(self.schema, self.reference.reset(Context(answers, 0, self.params)))
        if answers.left:
            raise _Differs(f"the program's reset draws {answers.left} value(s) more than the reference's")
        self._state(state, seen)
        self._observation(state, seen, 0)
        self.found.resets += 1

    def _step(self, recorder: Recorder, seen: Any, t: int) -> tuple[bool, Any]:
        before = canonical_state(self.schema, self.reference.taken(self.env, seen))
        action = self.env.action_space.sample()
        given = canonical_group(self.schema.action, self.action.plain(action))
        seen, reward, terminated, truncated, _ = self.env.step(action)
        answers, recorder.calls = Answers(self.schema, recorder.calls), []
        made = self.reference.step(before, given, Context(answers, t, self.params))
        if answers.left:
            raise _Differs(f"the program's step draws {answers.left} value(s) more than the reference's")
        after = canonical_state(self.schema, made.state)
        self._state(after, seen)
        self._part("reward", float(made.reward), float(reward), self.schema.reward.dtype)
        self._part("terminated", bool(made.terminated), bool(terminated), "bool")
        self._part("truncated", bool(made.truncated), bool(truncated), "bool")
        self._observation(after, seen, t + 1)
        self.found.steps += 1
        return bool(terminated) or bool(truncated), seen

    def _state(self, state: Any, seen: Any) -> None:
        theirs = canonical_state(self.schema, self.reference.taken(self.env, seen))
        for (name, one), value, other in zip(self.schema.state, state, theirs, strict=True):
            self._part(f"state.{name}", value, other, one.dtype)

    def _observation(self, state: Any, seen: Any, t: int) -> None:
        given = self.reference.observe(state, Context(None, t, self.params))
        ours = canonical_group(self.schema.observation, given)
        theirs = self.observation.plain(seen)
        for key, one in self.schema.observation:
            left, right = (ours, theirs) if self.schema.observation.single else (ours[key], theirs[key])
            self._part(f"observation.{key}" if key else "observation", left, right, one.dtype)

    def _part(self, name: str, ours: Any, theirs: Any, dtype: str) -> None:
        part = self.found.parts.setdefault(name, Part())
        part.compared += 1
        left, right = np.asarray(ours, dtype), np.asarray(theirs, dtype)
        if left.shape != right.shape:
            raise _Differs(f"{name} has the shape {left.shape}, the program's {right.shape}")
        if np.array_equal(left, right, equal_nan=left.dtype.kind == "f"):
            return
        part.different += 1
        if left.dtype.kind == "f":
            part.ulp = max(part.ulp, int(ulps(np.atleast_1d(left), np.atleast_1d(right)).max()))
            part.distance = max(part.distance, float(np.abs(left - right).max()))
        else:
            part.distance = max(part.distance, float(np.abs(left.astype(float) - right.astype(float)).max()))
