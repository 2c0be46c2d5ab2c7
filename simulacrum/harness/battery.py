"""The battery: the checks of the catalogue, in order, on one package; and the report of a full run."""

from __future__ import annotations

import contextlib
import datetime
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from simulacrum.attest.catalog import BY_NAME, CHECK_NAMES, LEVELS, SUB_CHECK_PATHS, of_level
from simulacrum.attest.record import CheckResult, Configuration, Report
from simulacrum.attest.report import write_report
from simulacrum.attest.subjects import cpu_capability
from simulacrum.contract.digest import Digest, compute_digest
from simulacrum.contract.package import EnvPackage
from simulacrum.engine.forms import resolve_form, standard_forms
from simulacrum.engine.modes import check_device
from simulacrum.errors import SimulacrumError, UsageError
from simulacrum.harness.bench import Bench, Outcome, Progress, no_progress, skipped
from simulacrum.harness.canaries import Aviary
from simulacrum.harness.frames import frame_fields
from simulacrum.harness.schedule import outcomes

# Called as each check ends: on_check(name, outcome, seconds).
OnCheck = Callable[[str, Outcome, float], None]


@dataclass
class BatteryResult:
    """What a run of the battery found. `report_path` is None where no report was written.

    `note` says why a run of all checks did not become a full report, where that is so.
    """

    package: EnvPackage
    outcomes: dict[str, Outcome] = field(default_factory=dict[str, Outcome])
    seconds: dict[str, float] = field(default_factory=dict[str, float])
    report: Report | None = None
    report_path: Path | None = None
    note: str | None = None

    @property
    def passed(self) -> bool:
        """True when nothing failed or stayed open that must not."""
        return all(_accepted(name, outcome) for name, outcome in self.outcomes.items())

    @property
    def stands(self) -> bool:
        """`passed` but for what is decided for each configuration: a form that fails closes itself alone."""
        return all(
            _accepted(name, outcome)
            for name, outcome in self.outcomes.items()
            if BY_NAME[name].required != "per configuration"
        )


def _accepted(name: str, outcome: Outcome) -> bool:
    accepted = {"yes": ("passed",), "if supplied": ("passed", "skipped")}
    return outcome.status in accepted.get(BY_NAME[name].required, ("passed", "skipped", "inconclusive"))


def run_battery(
    package: EnvPackage,
    *,
    checks: Sequence[str] | None = None,
    level: int | None = None,
    forms: Sequence[str] | None = None,
    device: str = "cpu",
    quick: bool = False,
    failures: Path | None = None,
    progress: Progress = no_progress,
    on_check: OnCheck | None = None,
    policy: Callable[[Any, Any, int], Any] | None = None,
    keep_going: bool = True,
) -> BatteryResult:
    """Run the checks; a run of all of them, not quick, writes the report that the gate reads.

    Args:
        package: what is judged.
        checks: names from the catalogue (`differential`, or one part of it: `differential.rollouts`), or None for all.
            A selection never grants or revokes anything.
        level: 1 rules, 2 their interactions as well, 3 rollouts as well: only what is of this level or a lower one.
            Such a run writes no report of any kind, and below 3 it is eager unless a form is named.
        forms: the forms to validate beside the eager one. None means the native form, or where that cannot be built
            the Inductor form in its place; a form that is named has to be built.
        device: where the batched twin runs.
        quick: a fraction of the work; never a full run.
        failures: folder for failure files; `failures/` beside the package's files or in the working directory.
        progress, on_check: called while it runs and as each check ends.
        policy: a policy of one row, as probes have it; the twins are compared on its episodes as well.
        keep_going: go on after a failed check.

    Raises:
        UsageError: an unknown check. ReportError: the report cannot be written.
    """
    full, keep = checks is None and level is None and not quick, level is None
    if level is not None:
        checks, forms = at_level(level, checks), (["eager"] if forms is None and level < 3 else forms)
    chosen = chosen_checks(checks)
    place = check_device(device)
    asked = standard_forms(place) if forms is None else [resolve_form(form, place) for form in forms]
    built = tuple(dict.fromkeys(["eager", *asked]))
    bench = Bench(package, forms=built, device=str(place), quick=quick, progress=progress, policy=policy,
                  failures=failures or Path("failures"), asked=frozenset(n for n in checks or () if "." in n))
    result = BatteryResult(package)
    started, digest = _now(), _digest(package)
    with contextlib.ExitStack() as running:
        aviary = running.enter_context(Aviary()) if full else None
        for name, outcome, seconds in outcomes(bench, chosen, running, full=full, named=forms is not None):
            if aviary is not None:
                outcome = aviary.judged(name, outcome, progress)
            result.outcomes[name], result.seconds[name] = outcome, seconds
            if on_check is not None:
                on_check(name, outcome, seconds)
            if outcome.status == "failed" and (not keep_going or name == "spec_contract"):
                break  # a package whose contract does not hold gives no other check anything to stand on
    if full and digest is not None and _digest(package) != digest:
        full = False  # nobody can say which of the two contents was judged
        result.note = "a file of the package changed while the battery ran: run it again for a full report"
    if digest is not None and keep:
        result.report = _report(bench, result, digest, started, full=full)
        result.report_path = write_report(package, result.report, _judged_binary(bench) if full else None)
    return result


def _judged_binary(bench: Bench) -> Any:
    """The native form if it was built: what training is to load."""
    return None if bench.build_seconds is None else bench.native


def at_level(level: int, checks: Sequence[str] | None) -> list[str]:
    """Names of what runs at a level. Raises UsageError for an unknown name, or where nothing chosen is so low."""
    chosen_checks(checks)
    found = of_level(level, checks)
    if not found:
        raise UsageError(f"nothing of {', '.join(checks or ())} is of level {level} or a lower one",
                         next_step=f"--level {level + 1}" if level < max(LEVELS) else None)
    return found


def chosen_checks(checks: Sequence[str] | None) -> list[str]:
    """Names of checks in the catalogue's order, all of them for None. Raises UsageError for an unknown one.

    The path of a sub-check chooses the check that it is part of.
    """
    import difflib

    for name in checks or ():
        if name not in BY_NAME and name not in SUB_CHECK_PATHS:
            near = difflib.get_close_matches(name, [*CHECK_NAMES, *SUB_CHECK_PATHS], n=1)
            raise UsageError(f"unknown check {name!r}", expected=", ".join(CHECK_NAMES), found=name,
                             next_step=f"did you mean {near[0]!r}?" if near else None)
    whole = {name.partition(".")[0] for name in checks or ()}
    return list(CHECK_NAMES) if checks is None else [name for name in CHECK_NAMES if name in whole]


def _digest(package: EnvPackage) -> Digest | None:
    """The digest of what is about to be judged; None where the package is too broken to have one."""
    try:
        return compute_digest(package)
    except SimulacrumError:
        return None


def _now() -> str:
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")


def _report(bench: Bench, result: BatteryResult, digest: Digest, started: str, *, full: bool) -> Report:
    checks = {name: CheckResult("not_run") for name in CHECK_NAMES}
    for name, outcome in result.outcomes.items():
        checks[name] = outcome.result(result.seconds[name])
    throughput = checks["throughput"].evidence
    return Report(
        package=bench.package.name,
        env_id=bench.package.env_id,
        full=full,
        started=started,
        finished=_now(),
        subjects=digest.subjects,
        environment=digest.environment,
        whole=digest.whole,
        checks=checks,
        configurations=() if _broken(bench) else _configurations(bench, result),
        throughput=throughput,
        tolerances={} if _broken(bench) else _tolerances(bench),
        coverage=dict(bench.covered),
    )


def _broken(bench: Bench) -> bool:
    """Whether there is not even a schema to speak of."""
    try:
        _ = bench.schema
    except SimulacrumError:
        return True
    return False


def _tolerances(bench: Bench) -> dict[str, Any]:
    """Every declared tolerance with its reason, how much of it was needed, and those nobody needed."""
    fields = frame_fields(bench.schema)
    return {
        "reasons": {name: field.tolerance.reason for name, field in fields.items() if field.tolerance is not None},
        "share_used": dict(bench.used.share),
        "ulp_used": dict(bench.used.ulp),
        "never_needed": bench.used.idle(fields),
    }


def _configurations(bench: Bench, result: BatteryResult) -> tuple[Configuration, ...]:
    """One per form: eager on the CPU stands on the required checks, any other form or device on its parity as well."""
    parity = result.outcomes.get("benchmark_factory_parity", skipped("not run"))
    by_form: dict[str, Any] = dict(parity.evidence.get("forms", {}))
    found: list[Configuration] = []
    for form in bench.forms:
        outcome = "passed" if result.stands else "failed"
        if form != "eager" or device_class(bench.device) != "cpu":
            outcome = "passed" if by_form.get(form, {}).get("outcome") == "passed" and result.stands else "failed"
        found.append(
            Configuration(
                device_class=device_class(bench.device),
                compile=form,
                params=validated_params(bench),
                outcome=outcome,
                batch_sizes=tuple(by_form.get(form, {}).get("batch_sizes", ())),
                cpu_capability=cpu_capability(),
            )
        )
    if bench.unbuilt:
        found.append(Configuration(compile="native", outcome="failed", details={"reason": bench.unbuilt}))
    return tuple(found)


def validated_params(bench: Bench) -> dict[str, tuple[float, float]]:
    """The lowest and highest value of each parameter that the runs drew; its default, twice, where none was drawn."""
    ends = bench.param_ends()
    given = {name: ends.get(name, (param.default, param.default)) for name, param in bench.schema.params.items()}
    return {name: (float(low), float(high)) for name, (low, high) in given.items()}


def device_class(device: str) -> str:
    """The device as reports name it: "cpu", or "cuda:" and the device's model."""
    place = torch.device(device)
    return "cpu" if place.type == "cpu" else f"{place.type}:{torch.cuda.get_device_name(place)}"
