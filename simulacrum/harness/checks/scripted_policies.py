"""`scripted_policies`: policies with a known outcome earn what the author says, so rewards mean what was meant.

Each probe plays all of its episodes in the batched twin. Some of the same episodes are played again: in the reference,
in the batched twin one by one, and among strangers. Their returns must be the same to the bit, and the mean over all
episodes must lie in the author's interval.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from simulacrum.engine.runner import ReferenceRunner
from simulacrum.errors import ActionError
from simulacrum.harness import drivers
from simulacrum.harness.bench import Bench, Outcome, failed, inconclusive, passed, seeds_for, skipped
from simulacrum.harness.frames import Array, BatchSide
from simulacrum.harness.reading import readings
from simulacrum.twin.probe import Probe

IN_REFERENCE = 48  # episodes of each probe that the reference plays too
AMONG_STRANGERS = 24
ALONE, ALONE_STEPS = 3, 2_000  # episodes of a batch of one, and the steps after which no further one is begun
MOST = 5000  # steps of an episode that the time limit does not end
CERTAIN = 1e-9  # two means of the same returns may differ by the rounding of their sums


def run(bench: Bench) -> Outcome:
    """All probes of the package, one after the other."""
    module = bench.package.probes()
    if module is None:
        return skipped("the package brings no probes.py")
    probes: list[Probe] = list(getattr(module, "PROBES", ()))
    if not probes:
        return skipped("probes.py has no PROBES")
    evidence: dict[str, Any] = {}
    wrong: list[str] = []
    for number, probe in enumerate(probes):
        bench.say(probe.name, number, len(probes))
        problem = _probe(bench, probe, evidence)
        if problem is not None:
            wrong.append(f"probe {probe.name}: {problem}")
    if wrong:
        return failed("\n".join(wrong), **evidence)
    endless = [name for name, facts in evidence.items() if facts["unended"]]
    if endless:
        return inconclusive(f"episodes did not end within {MOST} steps: {', '.join(endless)}", **evidence)
    said = "; ".join(f"{name} {facts['mean']:.3f} ± {facts['standard_error']:.3f}" for name, facts in evidence.items())
    return passed(said, **evidence)


def _probe(bench: Bench, probe: Probe, evidence: dict[str, Any]) -> str | None:
    if not (probe.low <= probe.high and probe.episodes >= 2):
        return f"no interval or fewer than two episodes: low {probe.low}, high {probe.high}, {probe.episodes} episodes"
    episodes = min(probe.episodes, 60) if bench.quick else probe.episodes
    seeds = [probe.seed + row for row in range(episodes)]
    try:
        returns, lengths, unended = _in_batch(bench, probe, seeds, list(range(episodes)))
        problem = _again(bench, probe, seeds, returns)
    except ActionError as error:
        return f"it acts outside the action space: {error}"
    error = float(returns.std(ddof=1)) / math.sqrt(episodes)
    mean = math.fsum(returns.tolist()) / episodes
    evidence[probe.name] = {
        "episodes": episodes, "mean": mean, "standard_error": error, "low": probe.low, "high": probe.high,
        "least": float(returns.min()), "most": float(returns.max()), "mean_length": float(lengths.mean()),
        "also_in_reference": min(IN_REFERENCE, episodes), "unended": unended, "why": probe.why,
    }
    if problem is not None:
        return problem
    # An interval stands for its own number of episodes; fewer of them spread further.
    slack = CERTAIN if episodes == probe.episodes else 5 * error
    if not probe.low - slack <= mean <= probe.high + slack:
        off = (probe.low - mean) if mean < probe.low else (mean - probe.high)
        return (
            f"mean return {mean:.6g} over {episodes} episodes (standard error {error:.3g}) is {off:.3g} outside "
            f"[{probe.low}, {probe.high}]; the interval: {probe.why}"
        )
    return None


def _again(bench: Bench, probe: Probe, seeds: Sequence[int], returns: Array) -> str | None:
    """The same episodes elsewhere; what differs, in words."""
    for row, seed in enumerate(seeds[:IN_REFERENCE]):
        value = _in_reference(bench, probe, seed)
        if _bits(value) != _bits(returns[row]):
            return _differs(f"seed {seed}", "the reference", value, returns[row])
    few = list(seeds[:AMONG_STRANGERS])
    company = seeds_for(2 * len(few) + 1, bench.seed)
    company[1::2] = few
    mixed, _, _ = _in_batch(bench, probe, company, list(range(1, 2 * len(few) + 1, 2)))
    for row, seed in enumerate(few):
        if _bits(mixed[row]) != _bits(returns[row]):
            return _differs(f"seed {seed}", "the batched twin among strangers", mixed[row], returns[row])
    steps = 0
    for row, seed in enumerate(seeds[:ALONE]):
        if steps >= ALONE_STEPS:
            break
        alone, lengths, _ = _in_batch(bench, probe, [seed], [0])
        steps += int(lengths[0])
        if _bits(alone[0]) != _bits(returns[row]):
            return _differs(f"seed {seed}", "the batched twin alone", alone[0], returns[row])
    return None


def _differs(which: str, where: str, value: float, returned: float) -> str:
    return f"{which} earns {float(value)!r} in {where} and {float(returned)!r} in the batched twin among its own kind"


def _bits(value: Any) -> bytes:
    return np.float64(value).tobytes()


def _in_batch(bench: Bench, probe: Probe, seeds: Sequence[int], played: Sequence[int]) -> tuple[Array, Array, int]:
    """Episode 0 of the rows `played` of a batch, the others at random: (returns, lengths, episodes without an end)."""
    schema = bench.schema
    side = BatchSide(bench.env(len(seeds)))
    driver = drivers.Random(schema, len(seeds), bench.seed)
    returns: Array = np.zeros(len(seeds))
    lengths: Array = np.zeros(len(seeds), dtype=np.int64)
    frame = side.reset(seed=list(seeds))
    going = list(played)
    step = 0
    while going and step < MOST:
        actions = driver.actions(frame, step)
        for row, reading in zip(going, readings(schema, frame, going), strict=True):
            _put(actions, row, probe.act(*reading))
        frame = side.step(actions)
        ended: Array = np.logical_or(frame["terminated"], frame["truncated"])
        done = [row for row in going if ended[row]]
        returns[done], lengths[done] = frame["episode_return"][done], frame["episode_length"][done]
        going = [row for row in going if not ended[row]]
        step += 1
    returns[going], lengths[going] = frame["episode_return"][going], frame["episode_length"][going]
    index = list(played)
    return returns[index], lengths[index], len(going)


def _put(actions: Any, row: int, action: Any) -> None:
    if isinstance(action, dict):
        for name in actions:
            actions[name][row] = action[name]
    else:
        actions[row] = action


def _in_reference(bench: Bench, probe: Probe, seed: int) -> float:
    schema = bench.schema
    runner = ReferenceRunner(bench.package, max_episode_steps=schema.max_episode_steps)
    runner.reset(seed)
    while not runner.ended and runner.t < MOST:
        runner.step(probe.act(runner.observe(), runner.state, runner.t))
    return runner.returns
