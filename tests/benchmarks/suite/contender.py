"""What can be measured, and how: all contenders of a group in turns, window by window, in one run.

A window is a fixed number of calls, about `seconds` long. Contenders take one window each per round, and every round
begins with another of them, so that a busy machine slows all alike and none always follows the same one. A rate is
steps by CPU-second of the contender's own process (all its threads) or by the clock.
"""

from __future__ import annotations

import itertools
import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import gymnasium as gym
import torch

BATCHES = 64  # batches of actions, taken in turn
_STRIDE = 8  # elements from one batch to the next in the array that they share
_WARM_CALLS, _WARM_SECONDS = 100, 1.0  # episodes of the rows drift apart before anything is measured


class Unavailable(Exception):
    """This contender cannot be had here; the message says why. The run goes on and keeps the message."""


class Window(NamedTuple):
    """What one window took: `calls` calls, seconds by the clock, seconds of the processor."""

    calls: int
    wall: float
    cpu: float


@dataclass
class Contender:
    """Something that steps batches.

    name: as tables show it. kind: "form", "limit", "peer" or "machine". version: of the software behind it.
    settings: in words, what was chosen for it. steps_per_call: environment steps in one call.
    run: calls -> (seconds by the clock, CPU-seconds). close: lets go of what it holds.
    """

    name: str
    kind: str
    version: str
    settings: str
    steps_per_call: int
    run: Callable[[int], tuple[float, float]]
    close: Callable[[], None] = lambda: None
    windows: list[Window] = field(default_factory=list)
    first_call: float = 0.0  # seconds of the first call, compilation included

    def rates(self, by: str = "cpu") -> list[float]:
        """Steps a second of each window, by "cpu" or "wall"."""
        return [
            window.calls * self.steps_per_call / max(window.cpu if by == "cpu" else window.wall, 1e-9)
            for window in self.windows
        ]

    def to_json(self) -> dict[str, Any]:
        """The raw windows, and rates made of them in steps a second."""
        rates = {by: self.rates(by) for by in ("cpu", "wall")}
        return {
            "name": self.name,
            "kind": self.kind,
            "version": self.version,
            "settings": self.settings,
            "steps_per_call": self.steps_per_call,
            "first_call_seconds": round(self.first_call, 4),
            "windows": [[window.calls, round(window.wall, 6), round(window.cpu, 6)] for window in self.windows],
            "steps_per_second": {
                by: {"best": max(found), "median": statistics.median(found)} for by, found in rates.items() if found
            },
        }


def timed(step: Callable[[Any], Any], batches: Sequence[Any]) -> Callable[[int], tuple[float, float]]:
    """`run` of a contender in this process: `step(actions)`, with batches in turn."""
    turn = itertools.cycle(batches)

    def run(calls: int) -> tuple[float, float]:
        wall, cpu = time.perf_counter(), time.process_time()
        for actions in itertools.islice(turn, calls):
            step(actions)
        return time.perf_counter() - wall, time.process_time() - cpu

    return run


def action_batches(choices: int, num_envs: int, dtype: torch.dtype = torch.int64) -> list[torch.Tensor]:
    """`BATCHES` batches of uniform actions `[num_envs]` from 0 to `choices` - 1.

    They are views of one array, each begun a little later, so that they take the cache room of about one batch, as
    actions that a policy has just made would; all begin at a multiple of 64 bytes.
    """
    generator = torch.Generator().manual_seed(num_envs)
    whole = torch.randint(0, choices, (num_envs + BATCHES * _STRIDE,), generator=generator).to(dtype)
    return [whole[number * _STRIDE : number * _STRIDE + num_envs] for number in range(BATCHES)]


def batches_of(space: Any, num_envs: int) -> list[torch.Tensor]:
    """Batches of uniform actions `[num_envs, ...]` of a Discrete or a bounded Box. `Unavailable` for another space."""
    if isinstance(space, gym.spaces.Discrete):
        return [batch + int(space.start) if space.start else batch for batch in action_batches(int(space.n), num_envs)]
    if not isinstance(space, gym.spaces.Box) or not space.is_bounded():
        raise Unavailable(f"actions are drawn for Discrete and bounded Box, not for {space}")
    low, high = (torch.from_numpy(bound) for bound in (space.low, space.high))
    generator = torch.Generator().manual_seed(num_envs)
    part = torch.rand((num_envs + BATCHES, *space.shape), generator=generator, dtype=low.dtype)
    whole = low + (high - low) * part
    return [whole[number : number + num_envs] for number in range(BATCHES)]


def measure(
    contenders: Sequence[Contender],
    *,
    rounds: int,
    seconds: float,
    say: Callable[[str], None] = lambda text: None,
) -> None:
    """Warm all contenders up, then give each `rounds` windows of about `seconds`, in turns."""
    calls: list[int] = []
    for contender in contenders:
        say(f"warming {contender.name}")
        calls.append(_warm(contender, seconds))
    for number in range(rounds):
        say(f"round {number + 1} of {rounds}")
        for place in range(len(contenders)):
            which = (place + number) % len(contenders)
            wall, cpu = contenders[which].run(calls[which])
            contenders[which].windows.append(Window(calls[which], wall, cpu))


def _warm(contender: Contender, seconds: float) -> int:
    """Calls that take about `seconds` of the processor, found while warming up."""
    contender.first_call, _ = contender.run(1)
    done, spent, chunk, quickest = 0, 0.0, 1, math.inf
    while spent < seconds or (done < _WARM_CALLS and spent < _WARM_SECONDS):
        _, cpu = contender.run(chunk)
        done, spent, quickest = done + chunk, spent + cpu, min(quickest, max(cpu, 1e-9) / chunk)
        chunk = min(2 * chunk, max(1, int(seconds / quickest)))
    return max(1, round(seconds / quickest))


def ratio(one: Sequence[float], other: Sequence[float]) -> float:
    """Median of the ratios within each round."""
    return statistics.median(a / b for a, b in zip(one, other, strict=True))
