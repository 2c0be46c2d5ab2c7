"""`throughput`: steps per second of both twins, resets and observations counted, and differential's checksum.

Every timed window is the same rollout, cut or repeated to the batch size: the one of which `differential` has compared
every bit. Its actions are tensors before the clock starts. What it ends with and the outputs of one step drawn by lot
are compared once the clock has stopped, and windows of which everything is kept and hashed come before and after: so a
step that does nothing, or less, is no fast step but a failed check.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import torch

from simulacrum.engine.boundary import EngineState
from simulacrum.engine.runner import ReferenceRunner
from simulacrum.engine.vector import SimulacrumVectorEnv
from simulacrum.harness.bench import Bench, Outcome, failed, passed
from simulacrum.harness.checks.differential import CHECKED_ROWS, checked_inputs
from simulacrum.harness.compare import checksum
from simulacrum.harness.frames import BatchSide, Frame, row_action, rows_of, take

SIZES = (1, 64, CHECKED_ROWS, 4096)
WINDOWS, MOST_WINDOWS, ENOUGH_SECONDS = 3, 9, 0.3  # at least, at most, and in between until they take so long
REFERENCE_SECONDS = 0.3  # of each window of the reference, at least


@dataclass(frozen=True)
class Rollout:
    """Seeds and actions of one batch size, and the frames that its first rows must give, with their checksum."""

    seeds: list[int]
    actions: list[Any]
    rows: int  # how many rows are compared
    frames: list[Frame]
    checksum: str


def run(bench: Bench) -> Outcome:
    """The reference, then each form at each size; all must have done the work."""
    seeds, actions = checked_inputs(bench)
    kept = bench.checksums.get("differential")
    frames = _frames(bench, seeds, actions)
    whole = checksum(frames)
    evidence: dict[str, Any] = {"checksum": whole, "checksum_of": "differential" if kept else "this check alone"}
    if kept is not None and kept != whole:
        return failed(f"the rollout has the checksum {whole}, differential compared {kept}", **evidence)
    _ = bench.native  # from here on it is known which forms there are
    bench.say("reference", 0, 1 + len(bench.forms))
    evidence["reference"] = _reference(bench, seeds, actions)
    batched: dict[str, dict[str, float]] = {}
    warm: dict[str, float] = {}
    for number, form in enumerate(bench.forms, start=1):
        bench.say(form, number, 1 + len(bench.forms))
        sizes = (CHECKED_ROWS,) if bench.quick else SIZES if form == "eager" else SIZES[-2:]
        batched[form] = {}
        for size in sizes:
            rollout = _rollout(seeds, actions, frames, size)
            rate, first, same = _measured(bench, form, rollout)
            if not same:
                problem = f"{form} at N = {size} is timed without doing the work: its outputs are not the compared ones"
                return failed(problem, batched=batched, **evidence)
            batched[form][str(size)] = rate
            warm[form] = max(warm.get(form, 0.0), first)
    fastest = max(rate for rates in batched.values() for rate in rates.values())
    evidence.update(
        batched=batched, warm_up_seconds=warm, times_the_reference=fastest / evidence["reference"],
        steps_per_window=len(actions), threads=torch.get_num_threads(), device=bench.device,
    )
    return passed(_message(evidence), **evidence)


def _frames(bench: Bench, seeds: Sequence[int], actions: Sequence[Any]) -> list[Frame]:
    side = BatchSide(bench.env(len(seeds)))
    return [side.reset(seed=list(seeds)), *(side.step(action) for action in actions)]


def _rollout(seeds: list[int], actions: list[Any], frames: list[Frame], size: int) -> Rollout:
    """The rollout for `size` rows: cut to the first ones, or repeated row after row."""
    rows = min(size, len(seeds))
    index = [row % len(seeds) for row in range(size)]
    own = [take(action, index) for action in actions]
    wanted = [rows_of(frame, range(rows)) for frame in frames]
    return Rollout([seeds[row] for row in index], own, rows, wanted, checksum(wanted))


def _reference(bench: Bench, seeds: Sequence[int], actions: Sequence[Any]) -> float:
    """Steps per second of one reference, resets, observations and infos included: the median of several windows."""
    schema = bench.schema
    runner = ReferenceRunner(bench.package, max_episode_steps=schema.max_episode_steps)
    rates: list[float] = []
    own = [row_action(schema, batch, row) for row in range(8) for batch in actions]
    runner.reset(seeds[0])
    for _ in range(WINDOWS):
        began, steps = time.perf_counter(), 0
        while time.perf_counter() - began < REFERENCE_SECONDS:
            for action in own:
                if runner.ended:
                    runner.reset()
                runner.step(action)
            steps += len(own)
        rates.append(steps / (time.perf_counter() - began))
    return statistics.median(rates)


# What one call of reset or step gave, as it was given: nothing is copied or looked at while the clock runs.
Given = tuple[Any, ...]


def _measured(bench: Bench, form: str, rollout: Rollout) -> tuple[float, float, bool]:
    """(steps per second, seconds of the first window beyond the median one, whether every window did the work)."""
    env = bench.env(len(rollout.seeds), form=form)
    actions = [_on_device(action, env.device) for action in rollout.actions]
    first, same = _whole(env, rollout, actions)
    seconds: list[float] = []
    while len(seconds) < WINDOWS or (len(seconds) < MOST_WINDOWS and sum(seconds) < ENOUGH_SECONDS):
        elapsed, done = _window(env, rollout, actions)
        seconds.append(elapsed)
        same = same and done
    same = same and _whole(env, rollout, actions)[1]
    typical = statistics.median(seconds)
    return len(rollout.seeds) * len(actions) / typical, max(first - typical, 0.0), same


def _whole(env: SimulacrumVectorEnv, rollout: Rollout, actions: Sequence[Any]) -> tuple[float, bool]:
    """The seconds of a window of which everything is kept and hashed, and whether it is the compared rollout."""
    began = time.perf_counter()
    given = [(env.reset(seed=rollout.seeds), env.state), *((env.step(action), env.state) for action in actions)]
    _wait(env.device)
    elapsed = time.perf_counter() - began
    return elapsed, checksum(rows_of(_shown(env, *one), range(rollout.rows)) for one in given) == rollout.checksum


def _window(env: SimulacrumVectorEnv, rollout: Rollout, actions: Sequence[Any]) -> tuple[float, bool]:
    """The seconds of the steps of one timed rollout, and whether its outputs are the compared ones.

    Of a timed window two outputs are kept, since keeping all of them is paid in fresh memory and not in steps: that of
    a step drawn by lot after the env was made, and that of the last step with the state, returns and lengths in which
    it ends, which hang on every step before it.
    """
    chance = random.SystemRandom().randrange(len(actions))
    env.reset(seed=rollout.seeds)  # apart: it makes the seeds
    given: Given = ()
    drawn: Given = ()
    _wait(env.device)
    began = time.perf_counter()
    for number, action in enumerate(actions):
        given = env.step(action)
        if number == chance:
            drawn = given
    _wait(env.device)
    elapsed = time.perf_counter() - began
    rows = range(rollout.rows)
    last, some = (rows_of(_shown(env, one, env.state), rows) for one in (given, drawn))
    return elapsed, _agree(last, rollout.frames[-1]) and _agree(_outputs(some), _outputs(rollout.frames[chance + 1]))


def _outputs(frame: Frame) -> Frame:
    """What the step itself gave, without the engine's state, of which only the last is known."""
    given = ("observation", "reward", "terminated", "truncated", "info", "action_mask")
    return {name: value for name, value in frame.items() if name.partition(".")[0] in given}


def _agree(one: Frame, other: Frame) -> bool:
    return checksum([one]) == checksum([other])


def _on_device(action: Any, device: torch.device) -> Any:
    """Actions as a policy on that device would give them."""
    if isinstance(action, Mapping):
        named = cast("Mapping[str, Any]", action)
        return {name: torch.from_numpy(value).to(device) for name, value in named.items()}
    return torch.from_numpy(action).to(device)


def _wait(device: torch.device) -> None:
    """Let an accelerator finish: it is told to work, and the clock would stop before it has."""
    if device.type != "cpu":
        torch.accelerator.synchronize(device)


def _shown(env: SimulacrumVectorEnv, given: Given, state: EngineState) -> Frame:
    return BatchSide(env).shown(given, state)


def _message(evidence: dict[str, Any]) -> str:
    parts = [f"reference {evidence['reference']:,.0f} steps/s"]
    for form, rates in evidence["batched"].items():
        size, rate = max(rates.items(), key=lambda item: item[1])
        parts.append(f"{form} {rate:,.0f} steps/s at N = {size}")
    said = "; ".join(parts)
    if evidence["checksum_of"] != "differential":
        said += "; differential was not run here, the checksum is this check's own"
    return said
