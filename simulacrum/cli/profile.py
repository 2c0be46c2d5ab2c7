"""Where an eager step's time goes, by the rules that stand beside the lines of fast.py."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simulacrum.contract.package import EnvPackage

ROWS = 4096
STEPS = 30
ENGINE = "engine"  # what no line of fast.py asked for: clock, ends, merging, statistics
UNTAGGED = "no rule"


@dataclass(frozen=True)
class Share:
    """Seconds a step of one rule (or `ENGINE`, `UNTAGGED`), and how many operations of torch that was."""

    rule: str
    seconds: float
    operations: float


def by_rule(package: EnvPackage) -> list[Share]:
    """The shares of an eager step of `ROWS` rows, the dearest first. Imports torch."""
    import torch
    from torch.overrides import TorchFunctionMode

    from simulacrum.engine.capture import authors_lines
    from simulacrum.engine.vector import SimulacrumVectorEnv
    from simulacrum.lower.graph import rule_near

    spent: dict[str, list[float]] = {}

    class Clock(TorchFunctionMode):
        """Times each call of torch and books it on the rule of the line that made it."""

        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            began = time.perf_counter()
            result = func(*args, **(kwargs or {}))
            seconds = time.perf_counter() - began
            rule = ENGINE
            for line in authors_lines(sys._getframe(1)):  # pyright: ignore[reportPrivateUsage]  # CPython's, documented
                rule = rule_near(*line) or UNTAGGED
                if rule != UNTAGGED:  # a helper without tags: who called it has one
                    break
            booked = spent.setdefault(rule, [0.0, 0.0])
            booked[0] += seconds
            booked[1] += 1
            return result

    env = SimulacrumVectorEnv(package, ROWS)
    env.action_space.seed(0)
    env.reset(seed=0)
    actions = [env.action_space.sample() for _ in range(STEPS)]
    env.step(actions[0])  # what happens once only is no part of a step
    with torch.no_grad(), Clock():
        for action in actions:
            env.step(action)
    shares = [Share(rule, seconds / STEPS, count / STEPS) for rule, (seconds, count) in spent.items()]
    return sorted(shares, key=lambda share: -share.seconds)
