"""What a few episodes of an environment show: its moments, its draws, and which of its attributes are state."""

from __future__ import annotations

import copy
import itertools
import re
import time
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from simulacrum.errors import PackageError
from simulacrum.scaffold.gym_recorder import Call, Recorder
from simulacrum.scaffold.gym_source import Source
from simulacrum.scaffold.gym_values import attributes, clone, print_of

SEEDS, STEPS, MOMENTS, SECONDS = 100, 80, 400, 3.0  # seconds of processor time
TRIALS, ACTIONS = 300, 2
# An attribute that takes longer to look through, and is the same in so many moments, is taken for constant.
SLOW, OFTEN = 2e-4, 25


@dataclass(frozen=True)
class Moment:
    """The environment after a reset (t = 0) or a step; `action` led here, `ended` says that no step follows."""

    t: int
    prints: dict[str, Any]
    seen: Any
    reward: float
    ended: bool
    truncated: bool
    action: Any
    calls: tuple[Call, ...]
    shown: Any = field(repr=False)  # the observation itself
    held: Any = field(repr=False)  # a clone of the environment at that moment


@dataclass(frozen=True)
class Runs:
    """All moments, and what was concluded: the attributes that change, those of them that matter, the clock."""

    moments: tuple[Moment, ...]
    changing: tuple[str, ...]
    alive: tuple[str, ...]
    clock: str | None
    infos: frozenset[str]
    unknown_draws: tuple[str, ...]
    trials: int
    in_place: frozenset[str]

    @property
    def unread(self) -> tuple[str, ...]:
        """Attributes that change, and in no trial made a difference to anything."""
        return tuple(name for name in self.changing if name not in self.alive and name != self.clock)


def look_at(source: Source) -> Runs:
    """Play `source` under several seeds and watch. Raises PackageError where it cannot be watched."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        changing, in_place = _changing(source)
        moments, infos, unknown = _played(source, changing)
        again, _, _ = _played(source, changing, seeds=3)
        for first, second in zip(moments, again, strict=False):
            if (first.seen, first.reward, first.ended) != (second.seen, second.reward, second.ended):
                raise _another_chance(source, first.t)
        clock = _clock(moments, changing)
        alive, trials = _alive(moments, tuple(name for name in changing if name != clock))
    draws = tuple(dict.fromkeys(unknown))
    return Runs(tuple(moments), changing, alive, clock, frozenset(infos), draws, trials, in_place)


def _changing(source: Source) -> tuple[tuple[str, ...], frozenset[str]]:
    """The attributes that are not the same at every moment from which a step is taken; those changed in place."""
    first: dict[str, Any] = {}
    changed: dict[str, None] = {}
    look = _Prints(None)
    moments, _, _ = _played(source, look=look)
    for moment in moments:
        if moment.ended:
            continue
        for name, content in moment.prints.items():
            if first.setdefault(name, content) != content:
                changed[name] = None
    return tuple(changed), frozenset(look.in_place)


def _played(
    source: Source, changing: tuple[str, ...] | None = None, seeds: int = SEEDS, look: _Prints | None = None
) -> tuple[list[Moment], set[str], list[str]]:
    """Episodes under the seeds 0, 1, ...; moments hold the attributes in `changing`, or else only their prints."""
    env, moments, infos, unknown = source.again(), list[Moment](), set[str](), list[str]()
    look = look or _Prints(changing)
    began = time.process_time()
    for seed in range(seeds):
        recorder = Recorder(seed)
        env.np_random = recorder
        env.action_space.seed(seed)
        seen, info = _called(source, "reset", env.reset)
        reward, ended, truncated, action = 0.0, False, False, None
        for t in itertools.count():
            infos |= set(info)
            prints = look.at(env)
            calls, recorder.calls = tuple(recorder.calls), []
            held = None if changing is None else clone(env, changing)
            what = (t, prints, print_of(seen), float(reward), ended, bool(truncated), action, calls)
            moments.append(Moment(*what, copy.deepcopy(seen), held))
            if ended or t >= STEPS:
                break
            action = env.action_space.sample()
            seen, reward, terminated, truncated, info = _called(source, "step", env.step, action)
            ended = bool(terminated) or bool(truncated)
        unknown += recorder.unknown
        if len(moments) > MOMENTS or (seed >= 3 and time.process_time() - began > SECONDS):
            break
    return moments, infos, unknown


class _Prints:
    """The prints of attributes, moment by moment; large ones that never change are soon left out."""

    def __init__(self, names: tuple[str, ...] | None) -> None:
        self.names, self.count = names, 0
        self.first: dict[str, Any] = {}
        self.spent: dict[str, float] = {}
        self.changed: set[str] = set()
        self.last: dict[str, tuple[int, Any]] = {}
        self.in_place: set[str] = set()

    def at(self, env: Any) -> dict[str, Any]:
        """The prints of the attributes now, by name, without those that are slow to print and have never changed."""
        self.count += 1
        prints: dict[str, Any] = {}
        for name, value in attributes(env).items():
            if self.names is not None and name not in self.names:
                continue
            slow = self.spent.get(name, 0.0) > SLOW * self.count
            if slow and self.count > OFTEN and name not in self.changed:
                continue
            began = time.perf_counter()
            prints[name] = print_of(value)
            before, self.last[name] = self.last.get(name), (id(value), prints[name])
            if before and before[0] == id(value) and before[1] != prints[name]:
                self.in_place.add(name)
            self.spent[name] = self.spent.get(name, 0.0) + time.perf_counter() - began
            if self.first.setdefault(name, prints[name]) != prints[name]:
                self.changed.add(name)
        return prints


def _called(source: Source, what: str, method: Any, *args: Any) -> Any:
    try:
        return method(*args)
    except Exception as error:
        raise PackageError(
            f"{what}() of {source.id} raised {type(error).__name__}",
            expected="an environment that plays",
            found=str(error).splitlines()[0] if str(error) else "no message",
            where=f"{source.kind.__module__}.{source.kind.__qualname__}.{what}",
            next_step="mend it there; gymnasium.utils.env_checker.check_env(env) tests it by itself",
        ) from error


def _another_chance(source: Source, t: int) -> PackageError:
    return PackageError(
        f"{source.id} is not the same twice under one seed",
        expected="all chance taken from self.np_random, which reset(seed=...) makes",
        found=f"another observation, reward or end after {t} step(s)",
        where=f"{source.kind.__module__}.{source.kind.__qualname__}",
        next_step="look there for random, np.random, time, or a generator of its own; draw from self.np_random instead",
    )


def _clock(moments: list[Moment], changing: tuple[str, ...]) -> str | None:
    """The attribute that counts the steps as the engine does, if one does."""
    if max(moment.t for moment in moments) < 3:
        return None
    for name in changing:
        counts = {moment.prints.get(name) == print_of(moment.t) for moment in moments}
        if counts == {True}:
            return name
    return None


def _alive(moments: list[Moment], changing: tuple[str, ...]) -> tuple[tuple[str, ...], int]:
    """The attributes that make a difference: taken over from another moment, the same step comes out otherwise.

    A difference is one in observation, reward or end, or in an attribute that makes one itself. Rare effects can be
    missed; what is left out is told, and the comparison with the untouched program has another chance to see it.
    """
    starts = [moment for moment in moments if not moment.ended]
    pick = np.random.default_rng(0)
    touches: dict[str, set[str]] = {name: set() for name in changing}
    trials, began = 0, time.process_time()
    for _ in range(TRIALS):
        if trials > 8 * ACTIONS and time.process_time() - began > SECONDS:
            break
        here, there = (starts[int(i)].held for i in pick.integers(0, len(starts), 2))
        for action in _actions(here, pick):
            plain = _outcome(clone(here, changing), action, changing, trials)
            trials += 1
            for name in changing:
                if touches[name] & {"step", "look"}:
                    continue
                if name not in vars(there) or print_of(getattr(there, name)) == print_of(getattr(here, name, None)):
                    continue
                mixed = clone(here, changing)
                setattr(mixed, name, copy.deepcopy(getattr(there, name)))
                other = _outcome(mixed, action, changing, trials - 1)
                touches[name] |= {part for part in plain if plain[part] != other.get(part)} - {name}
    alive = {name for name in changing if touches[name] & {"step", "look"}}
    while more := {name for name in changing if name not in alive and touches[name] & alive}:
        alive |= more
    return tuple(name for name in changing if name in alive), trials


def _actions(env: Any, pick: np.random.Generator) -> list[Any]:
    env.action_space.seed(int(pick.integers(2**31)))
    return [env.action_space.sample() for _ in range(ACTIONS)]


def _outcome(env: Any, action: Any, changing: tuple[str, ...], seed: int) -> dict[str, Any]:
    """What a step shows, and what it leaves in each attribute."""
    env.np_random = Recorder(seed)
    look = {name: print_of(_look(env, name)) for name in observers(env)}
    try:
        seen, reward, terminated, truncated, _ = env.step(copy.deepcopy(action))
    except Exception as error:
        return {"step": type(error).__name__, "look": look}
    shown = (print_of(seen), repr(float(reward)), bool(terminated), bool(truncated))
    return {"step": shown, "look": look, **{name: print_of(getattr(env, name, None)) for name in changing}}


def observers(env: Any) -> list[str]:
    """Methods without arguments that may give the observation of a state, by their names."""
    names = [name for kind in type(env).__mro__ for name, value in vars(kind).items() if callable(value)]
    likely = [name for name in dict.fromkeys(names) if re.search(r"obs|_ob$|_state", name.lower())]
    return [name for name in likely if not name.startswith("__") and _takes_nothing(getattr(type(env), name))]


def _takes_nothing(method: Any) -> bool:
    code = getattr(method, "__code__", None)
    if code is None:
        return False
    return code.co_argcount - len(method.__defaults__ or ()) == 1 and code.co_kwonlyargcount == 0


def _look(env: Any, name: str) -> Any:
    try:
        return getattr(env, name)()
    except Exception as error:
        return type(error).__name__
