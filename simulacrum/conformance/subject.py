"""The environment under judgement: how it is made, in which modes, and the runs that several rules look at."""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Any

from gymnasium.vector import AutoresetMode

from simulacrum.conformance.actions import Actions
from simulacrum.conformance.rule import NotJudged
from simulacrum.conformance.tape import Tape, declared_mode, play

PATIENCE = 15.0  # seconds spent at most on looking for ends
SHORT = 5  # the time limit that is asked for where no episode ends by itself
ENOUGH = 3  # ends a row that are looked for
FAR = 120  # steps after which two ends are enough


@dataclass(frozen=True)
class Course:
    """A run in which episodes end: what the maker is given for it, how many steps, how many ends it had."""

    extra: Mapping[str, Any]
    steps: int
    ends: int


class Subject:
    """A stranger's vector environment.

    Args:
        make: `make(num_envs, **kwargs)` gives a new one.
        num_envs: how many rows the rules use, at least 2.
        kwargs: given to `make` each time.
        single: gives the single environment of the same rules, for comparison; None where there is none.
        env_id: the Gymnasium id, where it was made by one.
        steps: how many random steps are taken at most while looking for an episode's end.
        seed: of resets and actions.
    """

    def __init__(
        self,
        make: Callable[..., Any],
        *,
        num_envs: int = 4,
        kwargs: Mapping[str, Any] | None = None,
        single: Callable[..., Any] | None = None,
        env_id: str | None = None,
        steps: int = 500,
        seed: int = 20,
    ) -> None:
        self.maker, self.num_envs, self.kwargs = make, num_envs, dict(kwargs or {})
        self.single, self.env_id, self.steps, self.seed = single, env_id, steps, seed
        self._tapes: dict[Any, Tape] = {}
        self._measured: dict[str, Any] = {}
        self._offered: dict[AutoresetMode, Mapping[str, Any] | str] = {}

    def once(self, name: str, measure: Callable[[], Any]) -> Any:
        """What `measure()` gives, measured once."""
        if name not in self._measured:
            self._measured[name] = measure()
        return self._measured[name]

    def make(self, num_envs: int | None = None, **more: Any) -> Any:
        """A new environment; keywords in `more` go before those of the subject."""
        return self.maker(self.num_envs if num_envs is None else num_envs, **{**self.kwargs, **more})

    @contextlib.contextmanager
    def env(
        self, num_envs: int | None = None, *, mode: AutoresetMode | None = None, **more: Any
    ) -> Generator[Any, None, None]:
        """A new environment, closed afterwards. With a mode: `NotJudged` where that is not offered."""
        made = self.make(num_envs, **{**more, **({} if mode is None else self.offered(mode))})
        try:
            yield made
        finally:
            with contextlib.suppress(Exception):  # close has rules of its own
                made.close()

    @functools.cached_property
    def declared(self) -> AutoresetMode | None:
        """The autoreset mode in the metadata of the environment as it is made by default."""
        with self.env() as env:
            return declared_mode(env)

    @functools.cached_property
    def class_name(self) -> str:
        """The class that was made, below all wrappers."""
        with self.env() as env:
            return type(getattr(env, "unwrapped", env)).__name__

    @functools.cached_property
    def actions(self) -> Actions:
        """The table of actions that most runs follow."""
        with self.env() as env:
            return Actions(env.single_action_space, self.seed)

    def offered(self, mode: AutoresetMode) -> Mapping[str, Any]:
        """The keywords that make it in this mode; `NotJudged` where it does not offer the mode."""
        if mode not in self._offered:
            self._offered[mode] = {} if mode is self.declared else self._ask_for(mode)
        found = self._offered[mode]
        if isinstance(found, str):
            raise NotJudged(found)
        return found

    def _ask_for(self, mode: AutoresetMode) -> Mapping[str, Any] | str:
        """The keyword by which this mode can be had: its own, or that of Gymnasium's sync and async."""
        asked: tuple[dict[str, Any], ...] = ({"autoreset_mode": mode}, {"vector_kwargs": {"autoreset_mode": mode}})
        for more in asked:
            # Whatever refuses the keyword, the mode is not to be had by it.
            with contextlib.suppress(Exception), contextlib.closing(self.make(2, **more)) as env:
                if declared_mode(env) is mode:
                    return more
        return f"it does not offer {mode.name} (neither autoreset_mode= nor vector_kwargs= gives it)"

    @functools.cached_property
    def course(self) -> Course:
        """A run with ends of episodes: as it is made, else under a short time limit, else as far as was tried."""
        plain = self._look({}, self.steps)
        if plain.ends >= 2:
            return plain
        try:
            limited = self._look({"max_episode_steps": SHORT}, 4 * SHORT)
        except Exception:  # it takes no limit
            return plain
        return limited if limited.ends > plain.ends else plain

    def _look(self, extra: Mapping[str, Any], steps: int) -> Course:
        began = time.monotonic()

        def enough(tape: Tape) -> bool:
            ends = len(tape.ends())
            return (
                ends >= ENOUGH * self.num_envs
                or (ends >= 2 and len(tape.steps) >= FAR)
                or time.monotonic() - began > PATIENCE
            )

        with self.env(**extra) as env:
            tape = play(env, self.actions, steps, seed=self.seed, stop=enough)
        return Course(extra, len(tape.steps) + 3, len(tape.ends()))

    def tape(self, mode: AutoresetMode | None = None, *, seed: Any = None, num_envs: int | None = None) -> Tape:
        """A run along the course, kept: the same arguments give the same tape."""
        key = (mode, repr(seed), num_envs)
        if key not in self._tapes:
            with self.env(num_envs, mode=mode, **self.course.extra) as env:
                self._tapes[key] = play(
                    env, self.actions, self.course.steps, seed=self.seed if seed is None else seed
                )
        return self._tapes[key]

    def tape_with_ends(self, mode: AutoresetMode | None = None) -> Tape:
        """`tape`, or `NotJudged` where no episode ends in it."""
        tape = self.tape(mode)
        if not tape.ends():
            raise NotJudged(f"no episode ended in {len(tape.steps)} random steps of {tape.num_envs} rows")
        return tape

    @property
    def needs_mode(self) -> AutoresetMode:
        """The declared mode, or `NotJudged`."""
        if self.declared is None:
            raise NotJudged("the metadata name no autoreset mode")
        return self.declared
