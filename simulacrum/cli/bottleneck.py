"""What holds a step up: the call itself or the rows' arithmetic, and which part of that. Measured, then said."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import torch

from simulacrum.engine.actions import to_tensors
from simulacrum.engine.boundary import NO_DRAW
from simulacrum.engine.vector import SimulacrumVectorEnv
from simulacrum.harness.drivers import Random
from simulacrum.rng.batched import BatchedDraw, episode_key, threefry2x32
from simulacrum.twin.batched import Context

if TYPE_CHECKING:
    from simulacrum.cli.measure import Measured
    from simulacrum.contract.package import EnvPackage

_SECONDS = 0.05  # of each part
_MOST = 0.5  # a share from which a part holds the step up

# part of a step -> what it is called in a sentence
PARTS = {
    "keys": "the draw keys of a fresh episode for every row",
    "start_draws": "the draws of a fresh start state for every row",
    "start": "the rest of the start states",
    "step_draws": "the draws of the step",
    "rules": "the rules of the step",
    "observation": "the observation",
    "info": "the info",
    "engine": "the engine around them (clock, ends, merging, checks)",
}


@dataclass(frozen=True)
class Bottleneck:
    """What holds the quickest form up at one number of rows.

    A call takes about `call_seconds` + N * `row_seconds`, by its lines at the fewest and the most rows; `call_share` is
    the first part's share at `num_envs`. `parts` are shares of an eager step of as many rows, by the names of `PARTS`.
    """

    form: str
    num_envs: int
    call_seconds: float
    row_seconds: float
    call_share: float
    parts: Mapping[str, float]

    def to_json(self) -> dict[str, Any]:
        """The fields by name, and the sentence."""
        return {**asdict(self), "text": self.text}

    @property
    def text(self) -> str:
        """What holds it up, in sentences for a person."""
        said = (
            f"{self.form}: a call costs {_time(self.call_seconds)}, and each row {_time(self.row_seconds)} more. "
            f"At N = {self.num_envs:,} the call is {self.call_share:.0%} of a step. Bottleneck: "
        )
        if self.call_share >= _MOST:
            return f"{said}the call itself, so that more rows cost little."
        # Parts can be told apart in the eager form alone, where each is a call of its own.
        part, share = max(self.parts.items(), key=lambda item: item[1])
        return f"{said}the rows. Of an eager step most goes into {PARTS[part]} ({share:.0%})."


def find(package: EnvPackage, lines: Sequence[Measured], device: str) -> Bottleneck | None:
    """The bottleneck of the quickest form among the lines; None where it was measured at one number of rows only."""
    batched = [line for line in lines if line.form != "reference"]
    best = max(batched, key=lambda line: line.steps_per_second)
    own = sorted((line for line in batched if line.form == best.form), key=lambda line: line.num_envs)
    few, many = own[0], own[-1]
    if few is many:
        return None
    took = [line.num_envs / line.steps_per_second for line in (few, many)]
    row = max((took[1] - took[0]) / (many.num_envs - few.num_envs), 0.0)
    call = max(took[0] - few.num_envs * row, 0.0)
    return Bottleneck(best.form, many.num_envs, call, row, call / took[1], shares(package, many.num_envs, device))


def shares(package: EnvPackage, num_envs: int, device: str) -> dict[str, float]:
    """Share of each of `PARTS` in an eager step of `num_envs` rows; they sum to 1."""
    env = SimulacrumVectorEnv(package, num_envs, device=device)
    env.reset(seed=0)
    schema = package.schema
    actions = to_tensors(schema.action, Random(schema, num_envs, 0).actions({}, 0), num_envs, env.device)
    with torch.no_grad():
        seconds = _seconds(env, actions)
        whole = _least(lambda: env.step(actions), device)
    seconds["engine"] = max(whole - sum(seconds.values()), 0.0)
    total = sum(seconds.values())
    return {name: seconds[name] / total for name in PARTS}


def _seconds(env: SimulacrumVectorEnv, actions: Any) -> dict[str, float]:
    """Seconds of each part but the engine's own."""
    core, state, params = env.core, env.state, env.params
    twin, device = core.env, str(env.device)
    shown = Context(NO_DRAW, state.t, params)

    def words(phase: str) -> float:
        blocks = torch.arange(core.layout.blocks(phase), dtype=torch.int32, device=env.device)
        if not len(blocks):
            return 0.0
        k0, k1, t = state.key[:, :1], state.key[:, 1:], state.t[:, None]
        return _least(lambda: threefry2x32(k0, k1, t, blocks), device)

    def context(phase: str) -> Context:
        return Context(BatchedDraw(core.layout, phase, state.key, state.t), state.t, params)

    drawn = {phase: words(phase) for phase in ("reset", "step")}
    start = _least(lambda: twin.reset(context("reset")), device)
    rules = _least(lambda: twin.step(state.env, actions, context("step")), device)
    return {
        "keys": _least(lambda: episode_key(state.seed, state.episode), device),
        "start_draws": min(drawn["reset"], start),
        "start": max(start - drawn["reset"], 0.0),
        "step_draws": min(drawn["step"], rules),
        "rules": max(rules - drawn["step"], 0.0),
        "observation": _least(lambda: twin.observe(state.env, shown), device),
        "info": _least(lambda: twin.info(state.env, shown), device),
    }


def _least(call: Callable[[], object], device: str) -> float:
    """The least seconds of one call, over about `_SECONDS` of calls."""
    least, stop = float("inf"), time.perf_counter() + _SECONDS
    while True:
        began = time.perf_counter()
        call()
        if device.startswith("cuda"):
            torch.cuda.synchronize()
        now = time.perf_counter()
        least = min(least, now - began)
        if now >= stop:
            return least


def _time(seconds: float) -> str:
    """A duration in three digits: 12.3 us."""
    for size, unit in ((1e-3, "ms"), (1e-6, "us")):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"
