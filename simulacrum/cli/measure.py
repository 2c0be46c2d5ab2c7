"""Steps per second of the reference and of forms of the batched twin, in turns in one process."""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import torch

from simulacrum.engine.actions import to_tensors
from simulacrum.engine.runner import ReferenceRunner
from simulacrum.engine.vector import SimulacrumVectorEnv
from simulacrum.harness.drivers import Random
from simulacrum.harness.frames import row_action

if TYPE_CHECKING:
    from simulacrum.contract.package import EnvPackage

ROUNDS = 7
_POOL = 32  # batches of random actions made beforehand, so that making them is not measured
REFERENCE = "reference"


@dataclass(frozen=True)
class Measured:
    """Steps per second of one line: the median of the rounds, and the slowest and fastest round.

    `per_reference` is the ratio to the reference, `per_eager` that to eager at the same batch size (None for eager
    itself and where it was not measured); both are medians of the ratios within each round.
    """

    form: str
    num_envs: int
    steps_per_second: float
    lowest: float
    highest: float
    per_reference: float
    per_eager: float | None

    def to_json(self) -> dict[str, Any]:
        """The fields by name."""
        return asdict(self)


def measure(
    package: EnvPackage,
    sizes: Sequence[int],
    forms: Sequence[str],
    seconds: float,
    *,
    device: str = "cpu",
    say: Callable[[str], None] = lambda text: None,
) -> list[Measured]:
    """One line for the reference and one for each form and size, each measured for `seconds` in all.

    A step of N rows counts N. In NEXT_STEP the step that resets a row counts like every other.
    """
    runs: dict[tuple[str, int], Iterator[int]] = {(REFERENCE, 1): _reference(package)}
    for form, size in itertools.product(forms, sizes):
        say(f"building {package.env_id}: {form}, {size} rows")
        runs[form, size] = _batched(package, form, size, device)
        next(runs[form, size])  # compiles
    rates: dict[tuple[str, int], list[float]] = {key: [] for key in runs}
    for number in range(ROUNDS):
        say(f"measuring {package.env_id}: round {number + 1} of {ROUNDS}")
        for key, run in runs.items():
            rates[key].append(_rate(run, seconds / ROUNDS, device))
    return [_line(key, rates) for key in runs]


def _line(key: tuple[str, int], rates: dict[tuple[str, int], list[float]]) -> Measured:
    own, eager = rates[key], rates.get(("eager", key[1]))
    compared = key[0] not in (REFERENCE, "eager") and eager is not None
    return Measured(
        form=key[0],
        num_envs=key[1],
        steps_per_second=statistics.median(own),
        lowest=min(own),
        highest=max(own),
        per_reference=_ratio(own, rates[REFERENCE, 1]),
        per_eager=_ratio(own, eager) if compared and eager is not None else None,
    )


def _ratio(own: list[float], other: list[float]) -> float:
    return statistics.median(one / two for one, two in zip(own, other, strict=True))


def _rate(run: Iterator[int], seconds: float, device: str) -> float:
    """Steps per second over at least `seconds`."""
    steps, wait = 0, device.startswith("cuda")
    began = time.perf_counter()
    while True:
        steps += next(run)
        if time.perf_counter() - began >= seconds:
            if wait:
                torch.cuda.synchronize()
            return steps / (time.perf_counter() - began)


def _reference(package: EnvPackage) -> Iterator[int]:
    """Yields the number of steps taken since the last time: single steps of one reference, reset at each end."""
    schema = package.schema
    runner = ReferenceRunner(package, max_episode_steps=schema.max_episode_steps)
    driver = Random(schema, 1, 0)
    actions = itertools.cycle([row_action(schema, driver.actions({}, step), 0) for step in range(_POOL)])
    runner.reset(0)
    while True:
        for _ in range(16):  # the clock is asked after every 16 of them
            runner.step(next(actions))
            if runner.ended:
                runner.reset()
        yield 16


def _batched(package: EnvPackage, form: str, num_envs: int, device: str) -> Iterator[int]:
    """The same for a batch, through the vector env that training uses."""
    env = SimulacrumVectorEnv(package, num_envs, compile=form, device=device)
    driver = Random(package.schema, num_envs, 0)
    made = [to_tensors(package.schema.action, driver.actions({}, step), num_envs, env.device) for step in range(_POOL)]
    actions = itertools.cycle(made)
    env.reset(seed=0)
    while True:
        env.step(next(actions))
        yield num_envs
