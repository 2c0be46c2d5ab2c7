"""The faults that are planted for the checks: edits of the canary package, and what is bent where no edit reaches."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch

from simulacrum.engine import boundary
from simulacrum.harness.recording import Recording

Patch = Callable[[], contextlib.AbstractContextManager[None]]
Edit = tuple[str, str, str]  # file, what stands there exactly once, what stands there instead


@dataclass(frozen=True)
class Canary:
    """One planted fault.

    name: the fault in words. check, part: whose code has to notice it; no part stands for the whole check. edits: of
    the package's files. patch: what is bent in the engine or in what the check reads, where no edit of a twin could do
    it. told: what the failure must speak of: paths of all fields that are wrong, or words of the message.
    """

    name: str
    check: str
    part: str = ""
    edits: tuple[Edit, ...] = ()
    patch: Patch | None = None
    told: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """The check or sub-check, as it is chosen and shown."""
        return f"{self.check}.{self.part}" if self.part else self.check


def _fast(old: str, new: str) -> tuple[Edit, ...]:
    return (("fast.py", old, new),)


_LATE = "((ctx.t == 2) & (torch.arange(len(ctx.t)) == 1))"  # one step of one row that is not the first
_WAS = _LATE.replace("== 2", "== 3")  # the same moment, as it is shown after the step
_RETURN = "Transition(state.replace(place=place), reward, end)"


def _nudged(name: str) -> str:
    return f"torch.where({_LATE}, torch.nextafter({name}, {name} + 1), {name})"


@contextlib.contextmanager
def _bent(place: Any, name: str, make: Callable[[Any], Any]) -> Generator[None]:
    """What `make` makes of an attribute, in its place meanwhile."""
    before = getattr(place, name)
    setattr(place, name, make(before))
    try:
        yield
    finally:
        setattr(place, name, before)


def _later_start() -> contextlib.AbstractContextManager[None]:
    """Every episode but the first starts one place further."""

    def make(fresh: Any) -> Any:
        def started(self: Any, seed: Any, episode: Any, params: Any) -> Any:
            made = fresh(self, seed, episode, params)
            return made._replace(env=made.env.replace(place=made.env.place + (episode >= 1).to(torch.int32)))

        return started

    return _bent(boundary.Core, "fresh", make)


def _skipped_reset() -> contextlib.AbstractContextManager[None]:
    """The last row of a batch is never reset."""

    def make(merge: Any) -> Any:
        def merged(mask: Any, yes: Any, no: Any) -> Any:
            return merge(mask & (torch.arange(len(mask)) < max(len(mask) - 1, 1)), yes, no)

        return merged

    return _bent(boundary, "merge", make)


def _taken_for_legal() -> contextlib.AbstractContextManager[None]:
    """An action outside the space moves its row."""

    def make(sanitize: Any) -> Any:
        def clean(group: Any, action: Any) -> Any:
            legal, outside = sanitize(group, action)
            return legal, torch.zeros_like(outside)

        return clean

    return _bent(boundary, "sanitize", make)


def _other_process() -> contextlib.AbstractContextManager[None]:
    """The other process comes back with another checksum."""
    from simulacrum.harness.checks import determinism
    from simulacrum.harness.fresh import checksums

    def make(launch: Any) -> Any:
        return lambda package, rollouts, **given: _Parrot(checksums(package, rollouts))

    return _bent(determinism, "launch", make)


class _Parrot:
    """Stands for another process that has ended: it says what it was told, spoilt."""

    def __init__(self, sums: Mapping[str, str]) -> None:
        self.sums, self.process = sums, self

    def poll(self) -> int:
        return 0

    def result(self) -> dict[str, Any]:
        return {**{name: "0" * len(value) for name, value in self.sums.items()}, "settings": {}}


def _bent_file() -> contextlib.AbstractContextManager[None]:
    """A trajectory comes back from its file with one other reward."""
    from simulacrum.harness.checks import replay

    def make(read: Any) -> Any:
        def spoilt(*given: Any) -> Any:
            first, *rest = read(*given)
            steps = list(first.steps)
            steps[-1] = replace(steps[-1], reward=steps[-1].reward + 0.25)
            return (replace(first, steps=tuple(steps)), *rest)

        return spoilt

    return _bent(replay, "read_trajectories", make)


def _other_form() -> contextlib.AbstractContextManager[None]:
    """A compiled form gives one reward of one row another bit."""
    from simulacrum.harness.checks import benchmark_factory_parity as parity

    class Bent(parity.World):
        def run(self, rows: Any, *, form: str = "eager", **given: Any) -> Recording:
            made = super().run(rows, **given)
            if form != "eager":
                made.frames[2]["reward"][-1] += 0.25
            return made

    return _bent(parity, "World", lambda world: Bent)


_KEPT = '        self.calls = getattr(self, "calls", 0) + 1\n        end = (place >= GOAL) ^ (self.calls == 30)'

_EVERY_FIELD = (
    *_fast("        end = place", f"        place = place ^ {_LATE}.to(torch.int32)\n        end = place"),
    *_fast(_RETURN, f"Transition(state.replace(place=place), {_nudged('reward')}, end ^ {_LATE}, {_LATE})"),
    *_fast("return torch.stack(seen, dim=-1)",
           f"one = torch.stack(seen, dim=-1)\n        at = {_WAS}[:, None]\n"
           "        return torch.where(at, torch.nextafter(one, one + 1), one)"),
    *_fast('"left": TOP - state.place', f'"left": TOP - state.place - {_WAS}.to(torch.int32) * 4'),
    *_fast("torch.ones_like(below)", f"~{_WAS}"),
)
CANARIES: tuple[Canary, ...] = (
    Canary("a constant of the spec is not that of the code", "spec_contract",
           edits=(("spec.md", "| TOP | 9 |", "| TOP | 8 |"),), told=("TOP",)),
    Canary("the batched twin reads a value", "spec_contract",
           edits=_fast("        end = place >= GOAL", "        end = place >= max(GOAL, place.max().item())"),
           told=("item",)),
    Canary("one bit of every field, in one row at one step", "differential", "rollouts", edits=_EVERY_FIELD, told=(
        "state.place", "observation[0]", "reward", "terminated", "truncated", "info.left", "action_mask[0]")),
    Canary("a NaN of other bits", "differential", "rollouts", told=("info.song",), edits=_fast(
        'float("nan")', 'torch.tensor(float("nan")).copysign(torch.tensor(-1.0))')),
    Canary("later episodes start elsewhere", "differential", "rollouts", told=("state.place",), patch=_later_start),
    Canary("one wrong transition of the small model", "differential", "small_model", told=("reward",), edits=_fast(
        _RETURN, "Transition(state.replace(place=place), reward.masked_fill((place == 4) & (ctx.t == 1), 0.0), end)")),
    Canary("a neighbour leaks in", "batch_independence", "rows_alone", told=("state.place",), edits=_fast(
        "+ pushed.to(torch.int32)", "+ (pushed | (state.place.roll(1) == 3)).to(torch.int32)")),
    Canary("the place in the batch plays a part", "batch_independence", "batch_sizes", told=("reward",), edits=_fast(
        _RETURN, "Transition(state.replace(place=place), reward + (torch.arange(len(end)) == 15) * 0.25, end)")),
    Canary("an invariant that does not hold", "invariant_sweep", told=("not_above",), edits=_fast(
        "return state.place <= TOP", f"return (state.place <= TOP) & ~{_WAS}")),
    Canary("a value out of its bounds", "invariant_sweep", told=("reward",), edits=_fast(
        _RETURN, f"Transition(state.replace(place=place), reward + {_LATE} * 8, end)")),
    Canary("an illegal action that moves its row", "invariant_sweep", "illegal_actions", told=("illegal",),
           patch=_taken_for_legal),
    Canary("a reset that is skipped", "auto_reset", "episode_boundary", told=("state.place",), patch=_skipped_reset),
    Canary("something is kept between two runs", "determinism", "run_again", told=(), edits=_fast(
        "        end = place >= GOAL", _KEPT)),
    Canary("another checksum in another process", "determinism", "fresh_process", told=("fresh process",),
           patch=_other_process),
    Canary("a file that gives back another reward", "replay", told=("reward",), patch=_bent_file),
    Canary("a trajectory that goes on otherwise alone", "replay", told=("not reproduced",), edits=_fast(
        "        end = place >= GOAL", "        end = (place >= GOAL) ^ (len(place) == 1)")),
    Canary("rewards twice as high in both twins", "scripted_policies", told=("mean return",), edits=(
        ("fast.py", "place.to(torch.float32) / 4", "place.to(torch.float32) / 2"),
        ("reference.py", "Float32(place) / 4", "Float32(place) / 2"))),
    Canary("another bit in a compiled form", "benchmark_factory_parity", told=("reward",), patch=_other_form),
)  # fmt: skip
