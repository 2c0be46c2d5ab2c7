"""What a validation report says, as immutable values, and its one canonical form as JSON.

The seal is the SHA-256 of the canonical form without the seal. It shows that a report was cut short or
edited by accident; anybody can compute a new one, so it is no signature and does not stop forgery.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from simulacrum.attest.canonical import canonical, plain, seal_of
from simulacrum.attest.catalog import CHECKS, OPTIONAL

FORMAT = "simulacrum validation report"
VERSION = 1
STATUSES = ("passed", "failed", "inconclusive", "skipped", "not_run")


@dataclass(frozen=True)
class CheckResult:
    """How one check ended: `status` is one of STATUSES, `evidence` any JSON value's worth of facts.

    `parts` are its sub-checks by name, which have no parts of their own.
    """

    status: str
    seconds: float = 0.0
    message: str = ""
    evidence: Mapping[str, Any] = field(default_factory=dict[str, Any])
    parts: Mapping[str, CheckResult] = field(default_factory=dict[str, "CheckResult"])


@dataclass(frozen=True)
class Configuration:
    """A way of building the batched twin: device class, compiled form, and the range of every parameter.

    `params` maps a name to its lowest and highest value, both included. In a report these are the validated
    ranges; in a request, the values asked for. `outcome` and the rest only mean something in a report;
    `details` holds what else should be known (compiler, options), all of it JSON.
    """

    device_class: str = "cpu"
    compile: str = "eager"
    params: Mapping[str, tuple[float, float]] = field(default_factory=dict[str, tuple[float, float]])
    outcome: str = "passed"
    batch_sizes: tuple[int, ...] = ()
    cpu_capability: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def key(self) -> str:
        """Equal for two results of the same configuration, whatever their outcome."""
        ranges = {name: [float(low), float(high)] for name, (low, high) in self.params.items()}
        return canonical([self.device_class, self.compile, ranges]).decode()

    @property
    def title(self) -> str:
        """As messages name it: `inductor on cpu`."""
        return f"{self.compile} on {self.device_class}"

    def uncovered(self, wanted: Configuration) -> list[str]:
        """What of `wanted` was not validated here, in words; empty when all of it was."""
        gaps: list[str] = []
        if (self.device_class, self.compile) != (wanted.device_class, wanted.compile):
            gaps.append(f"validated {self.title}, asked for {wanted.title}")
        for name, (low, high) in wanted.params.items():
            limits = self.params.get(name)
            if limits is None:
                gaps.append(f"parameter {name} was not part of the validation")
            elif not _within(low, high, limits):
                gaps.append(
                    f"parameter {name}: validated {limits[0]} to {limits[1]}, asked for {low} to {high}"
                )
        return gaps


@dataclass(frozen=True)
class Report:
    """One validation report. Times are ISO 8601 in UTC; hashes are SHA-256 in hex.

    `subjects` maps the name of every file that was judged to its hash; `environment` says with what (Python,
    torch, platform); `whole` is the hash over both. `checks` holds the ten results of the run that wrote the
    report last and those that were added to it (`OPTIONAL`), `configurations` everything validated for these
    very subjects, over several runs.
    `throughput`, `tolerances` and `coverage` are JSON for people and programs; the gate does not read them.
    `revision` counts the full runs on one digest, so that of two reports the later one is known without
    asking a clock. `mutation_score` is what the battery was found to catch on these files, as `mutation.Score.brief`
    has it; None where nobody measured it. It may come after the run, so the seal does not cover it.
    """

    package: str
    env_id: str
    full: bool
    started: str
    finished: str
    subjects: Mapping[str, str]
    environment: Mapping[str, Any]
    whole: str
    checks: Mapping[str, CheckResult]
    configurations: tuple[Configuration, ...] = ()
    throughput: Mapping[str, Any] = field(default_factory=dict[str, Any])
    tolerances: Mapping[str, Any] = field(default_factory=dict[str, Any])
    coverage: Mapping[str, Any] = field(default_factory=dict[str, Any])
    revision: int = 1
    mutation_score: Mapping[str, Any] | None = None

    @property
    def seal(self) -> str:
        """SHA-256 of the canonical form: names it in logs and checkpoints, shows damage on reading."""
        return seal_of(body_of(self))

    @property
    def problems(self) -> list[str]:
        """Why this report does not speak for the environment as a whole; empty when it does.

        The check that is decided per configuration is left out: it closes its own configuration only.
        """
        accepted = {
            "yes": ("passed",),
            "if supplied": ("passed", "skipped"),
            "records": ("passed", "skipped", "inconclusive"),
            "if run": ("passed", "skipped", "inconclusive", "not_run"),
        }
        problems: list[str] = []
        for info in (*CHECKS, *OPTIONAL):
            if info.required == "per configuration":
                continue
            result = self.checks.get(info.name, CheckResult("not_run"))
            if result.status not in accepted[info.required]:
                text = f"{info.name}: {result.status.replace('_', ' ')}"
                problems.append(f"{text}: {result.message.splitlines()[0]}" if result.message else text)
        return problems

    @property
    def passed(self) -> bool:
        """True for a full run that passed what is required and validated at least one configuration."""
        return self.full and not self.problems and any(c.outcome == "passed" for c in self.configurations)


def body_of(report: Report) -> dict[str, Any]:
    """The report as a JSON object without its seal.

    Raises:
        ReportError: something in it has no JSON form; the message names the place.
    """
    checks = {
        name: {**_result(result), "parts": {part: _result(one) for part, one in result.parts.items()}}
        for name, result in report.checks.items()
    }
    configurations = [
        {
            "device_class": one.device_class,
            "compile": one.compile,
            "params": {name: list(limits) for name, limits in one.params.items()},
            "outcome": one.outcome,
            "batch_sizes": list(one.batch_sizes),
            "cpu_capability": one.cpu_capability,
            "details": one.details,
        }
        for one in report.configurations
    ]
    body = {
        "format": FORMAT,
        "version": VERSION,
        "package": report.package,
        "env_id": report.env_id,
        "full": report.full,
        "outcome": "passed" if report.passed else "failed",
        "started": report.started,
        "finished": report.finished,
        "digest": {"subjects": report.subjects, "environment": report.environment, "whole": report.whole},
        "checks": checks,
        "configurations": configurations,
        "throughput": report.throughput,
        "tolerances": report.tolerances,
        "coverage": report.coverage,
        "revision": report.revision,
        **({} if report.mutation_score is None else {"mutation_score": report.mutation_score}),
    }
    return cast("dict[str, Any]", plain(body, "report"))


def _result(result: CheckResult) -> dict[str, Any]:
    return {
        "status": result.status,
        "seconds": float(result.seconds),
        "message": result.message,
        "evidence": result.evidence,
    }


def from_body(body: Mapping[str, Any]) -> Report:
    """The report that a schema-checked JSON object describes."""
    digest = body["digest"]
    return Report(
        package=body["package"],
        env_id=body["env_id"],
        full=body["full"],
        started=body["started"],
        finished=body["finished"],
        subjects=digest["subjects"],
        environment=digest["environment"],
        whole=digest["whole"],
        checks={name: _check(result) for name, result in body["checks"].items()},
        configurations=tuple(_configuration(one) for one in body["configurations"]),
        throughput=body["throughput"],
        tolerances=body["tolerances"],
        coverage=body["coverage"],
        revision=body["revision"],
        mutation_score=body.get("mutation_score"),
    )


def _check(body: Mapping[str, Any]) -> CheckResult:
    parts = {name: CheckResult(**part) for name, part in body["parts"].items()}
    rest: dict[str, Any] = {**body, "parts": parts}
    return CheckResult(**rest)


def _configuration(body: Mapping[str, Any]) -> Configuration:
    ranges = {name: (limits[0], limits[1]) for name, limits in body["params"].items()}
    rest: dict[str, Any] = {**body, "params": ranges, "batch_sizes": tuple(body["batch_sizes"])}
    return Configuration(**rest)


def _within(low: float, high: float, limits: tuple[float, float]) -> bool:
    """Whether low to high lies in the limits; False for NaN, which lies in no range.

    A limit of 0.1 handed over as a float32 array is 0.10000000149, so a value also counts as the limit
    itself when both are the same float32.
    """
    return (low >= limits[0] or _single(low) == _single(limits[0])) and (
        high <= limits[1] or _single(high) == _single(limits[1])
    )


def _single(value: float) -> float:
    try:
        return struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return value
