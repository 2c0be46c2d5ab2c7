"""What a check works with: the package, the forms to build, how much to do, and where progress is shown."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium.vector import AutoresetMode

from simulacrum.attest.record import CheckResult
from simulacrum.contract.package import EnvPackage
from simulacrum.contract.schema import Schema
from simulacrum.engine.boundary import core_of
from simulacrum.engine.vector import FROM_SCHEMA, SimulacrumVectorEnv
from simulacrum.harness.compare import Used
from simulacrum.trace.divergence import Divergence

if TYPE_CHECKING:
    from simulacrum.harness.coverage import Coverage
    from simulacrum.harness.small.answers import Answers

# Called as progress(check, what is being done, done, total). `total` 0 means: not known.
Progress = Callable[[str, str, int, int], None]


def no_progress(check: str, what: str, done: int, total: int) -> None:
    """Shows nothing."""


@dataclass(frozen=True)
class Outcome:
    """How a check or a sub-check ended. `status` is "passed", "failed", "inconclusive" or "skipped".

    `parts` are the sub-checks of a check, by name (`harness.parts`).
    """

    status: str
    message: str = ""
    evidence: Mapping[str, Any] = field(default_factory=dict[str, Any])
    divergence: Divergence | None = None
    parts: Mapping[str, CheckResult] = field(default_factory=dict[str, CheckResult])

    def result(self, seconds: float) -> CheckResult:
        """The outcome as the report keeps it."""
        return CheckResult(self.status, seconds, self.message, dict(self.evidence), dict(self.parts))


def passed(message: str = "", **evidence: Any) -> Outcome:
    """A pass, with what was counted on the way."""
    return Outcome("passed", message, evidence)


def failed(message: str, divergence: Divergence | None = None, **evidence: Any) -> Outcome:
    """A failure: what differed, with the first divergence where there is one."""
    return Outcome("failed", message, evidence, divergence)


def inconclusive(message: str, **evidence: Any) -> Outcome:
    """Nothing differed, and something that had to happen never did: not a pass."""
    return Outcome("inconclusive", message, evidence)


def skipped(message: str) -> Outcome:
    """The package brings nothing for this check to judge."""
    return Outcome("skipped", message)


@dataclass
class Bench:
    """Shared by the checks of one run.

    package: what is judged. forms: the forms to validate, "eager" first. device: where the batched twin runs.
    unbuilt: why the native form could not be built, where another takes its place; "" otherwise.
    quick: a fraction of the work, for a first look; never a full report. seed: of the drivers' choices.
    failures: the folder that failure files go to. used: tolerances used so far, over all checks.
    covered: what the runs have met so far ("terminated", "truncated", "both", "slot:NAME", ...), over all checks.
    arrival: waits for the native form where another process builds it; called once, and may change `forms`.
    build_seconds: what building the native form took.
    checksums: rollout name -> checksum, so that one check can hold another to what it saw.
    asked: "check.sub_check" names that the run is restricted to; empty for all of each check.
    coverage: notes which code of the package the runs of `differential` exercise (`watching`).
    policy: acts for one row, given (observation, state, t) as probes are; drives a sub-check of its own.
    moments: id of the last divergence -> the `Moment` in which it was met, for who makes it small.
    shrink: whether a failure is made small; a run that only counts failures has no use for it.
    keep_going: run a check's later sub-checks after one has failed too.
    answers: of the reference in single steps, from earlier runs beside it; what is answered so counts as not exercised.
    """

    package: EnvPackage
    forms: tuple[str, ...] = ("eager", "native")
    device: str = "cpu"
    quick: bool = False
    seed: int = 20_240
    failures: Path = Path("failures")
    progress: Progress = no_progress
    used: Used = field(default_factory=Used)
    covered: dict[str, int] = field(default_factory=dict[str, int])
    checksums: dict[str, str] = field(default_factory=dict[str, str])
    check: str = ""
    unbuilt: str = ""
    arrival: Callable[[], None] | None = None
    build_seconds: float | None = None
    asked: frozenset[str] = frozenset()
    coverage: Coverage | None = None
    policy: Callable[[Any, Any, int], Any] | None = None
    moments: dict[str, Any] = field(default_factory=dict[str, Any])
    shrink: bool = True
    keep_going: bool = False
    answers: Answers | None = None

    def watching(self, package: EnvPackage | None = None) -> AbstractContextManager[None]:
        """Count what runs meanwhile as exercised: of the package, or of one with other constants and the same code."""
        return contextlib.nullcontext() if self.coverage is None else self.coverage.watching(package)

    def wants(self, sub_check: str) -> bool:
        """Whether the run asked for this sub-check of the running check: it did unless it named others of it."""
        named = [one for one in self.asked if one.startswith(f"{self.check}.")]
        return not named or f"{self.check}.{sub_check}" in named

    @property
    def native(self) -> Any:
        """The native form under judgement (`engine.native.Binary`), built once; None where it is not judged.

        Raises:
            CompileError: it cannot be built.
        """
        if self.arrival is not None:
            arrival, self.arrival = self.arrival, None
            arrival()
        if "native" not in self.forms:
            return None
        core, began = core_of(self.package, self.package.schema.max_episode_steps), time.perf_counter()
        binary = core.native()
        if self.build_seconds is None:
            self.build_seconds = time.perf_counter() - began
        return binary

    @property
    def schema(self) -> Schema:
        """The package's schema."""
        return self.package.schema

    @property
    def told_env(self) -> Path | None:
        """The package's folder, where a command has to name it: its id alone leads to no or another package."""
        return self.package.folder if self.package.origin.startswith("path") else None

    def env(
        self,
        num_envs: int,
        *,
        mode: AutoresetMode = AutoresetMode.NEXT_STEP,
        form: str = "eager",
        limit: Any = FROM_SCHEMA,
        params: Mapping[str, Any] | None = None,
        device: str | None = None,
    ) -> SimulacrumVectorEnv:
        """The batched twin as `make_vec` would build it, without the gate: the gate is what this run is for."""
        return SimulacrumVectorEnv(
            self.package, num_envs, autoreset_mode=mode, compile=form, device=device or self.device,
            max_episode_steps=limit, params=params,
        )

    def say(self, what: str, done: int = 0, total: int = 0) -> None:
        """Show how far the running check has come."""
        self.progress(self.check, what, done, total)

    def meet(self, what: str, times: int = 1) -> None:
        """Note that something was met."""
        if times:
            self.covered[what] = self.covered.get(what, 0) + int(times)

    def param_ends(self) -> dict[str, tuple[Any, Any]]:
        """The lowest and highest value of each parameter that has both, or is a truth; the others stay as they are."""
        ends: dict[str, tuple[Any, Any]] = {}
        for name, param in self.schema.params.items():
            low, high = (False, True) if param.field.is_bool else (param.field.low, param.field.high)
            if not (low is None or high is None or isinstance(low, tuple) or isinstance(high, tuple)):
                ends[name] = low, high
        return ends

    def row_params(self, num_envs: int, seed: int) -> dict[str, np.ndarray]:
        """Parameters drawn per row between their ends, which are met too; {} when none has ends."""
        generator = np.random.default_rng(seed)
        chosen: dict[str, np.ndarray] = {}
        for number, (name, (low, high)) in enumerate(self.param_ends().items()):
            field = self.schema.params[name].field
            if field.is_float:
                values = (low + generator.random(num_envs) * (high - low)).astype(field.dtype)
            else:
                values = generator.integers(int(low), int(high), size=num_envs, endpoint=True).astype(field.dtype)
            # Each parameter has its ends in rows of its own, or no row would have only one of them at an end.
            values[number % 7 :: 7], values[(number + 3) % 7 :: 7] = low, high
            chosen[name] = values
        return chosen


def seeds_for(num_envs: int, seed: int) -> list[int]:
    """Row seeds that are neither consecutive nor small: 64-bit ones, neighbours, twins one bit apart, and 0."""
    generator = np.random.default_rng(seed)
    seeds = [int(s) for s in generator.integers(0, 2**63, size=num_envs)]
    special: Sequence[int] = (0, 1, 2**32, 2**32 + 1, 2**63, 2**64 - 1)
    for row, value in enumerate(special):
        if row + 1 < num_envs:
            seeds[row + 1] = value
    return seeds
