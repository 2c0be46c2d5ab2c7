"""How a fault is entered, and the kinds of change that several faults are made of.

`FAULTS[rule]` makes the faulty environment of a rule. Each class changes one method of `kit.track.Track`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gymnasium.vector import AutoresetMode
from kit.track import Track

NEXT, SAME, DISABLED = AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP, AutoresetMode.DISABLED
FAULTS: dict[str, Callable[..., Any]] = {}


def fault(rule: str, **fixed: Any) -> Callable[[Any], Any]:
    """Enter a class or function as the fault of a rule; `fixed` are keywords that it is made with by default."""

    def enter(make: Any) -> Any:
        assert rule not in FAULTS
        FAULTS[rule] = lambda num_envs, **more: make(num_envs, **{**fixed, **more})
        return make

    return enter


def changed(rule: str, change: Callable[[Any], None], **fixed: Any) -> None:
    """A fault that is a change to the finished object."""

    def make(num_envs: int, **kwargs: Any) -> Any:
        env = Track(num_envs, **kwargs)
        change(env)
        return env

    fault(rule, **fixed)(make)


class Returned(Track):
    """One of the five results changed on its way out."""

    def step(self, actions: Any) -> Any:
        return self.out(*super().step(actions))

    def out(self, *results: Any) -> Any:
        return results


class Infos(Track):
    def infos(self, mask: Any) -> Any:
        return self.other(super().infos(mask))
