"""The doorkeeper: does a passing, full report speak for these files, this environment, this configuration?

It reads reports and hashes files. It imports neither the battery nor torch nor anything that trains, and it
asks no clock: a report is fresh when the content it names is the content that is there.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from simulacrum.attest.catalog import CHECKS
from simulacrum.attest.certificate import NATIVE, Certified, certified
from simulacrum.attest.record import Configuration, Report
from simulacrum.attest.report import partial_place, read_report, report_places
from simulacrum.attest.subjects import Present, cpu_capability
from simulacrum.errors import DeviceError, GateError, ReportError, UsageError

if TYPE_CHECKING:
    from simulacrum.contract.package import EnvPackage

Status = Literal["fresh", "missing", "damaged", "failing", "partial", "stale", "other_configuration"]

_SHOWN = 6


class GateWarning(UserWarning):
    """What `require_fresh_report(..., strict=False)` says in place of refusing."""


@dataclass(frozen=True)
class GateState:
    """What the gate found. `why` is empty exactly when `status` is "fresh"; `next_command` is what mends the
        rest.

    `report` is the report that decided, if one could be read, and `report_path` the file that was looked at.
    """

    status: Status
    why: list[str]
    next_command: str
    report_path: Path | None = None
    report: Report | None = None

    @property
    def fresh(self) -> bool:
        """Whether the gate is open."""
        return self.status == "fresh"


def wanted_configuration(
    *, device: Any = "cpu", compile: Any = False, params: Mapping[str, Any] | None = None
) -> Configuration:
    """The configuration that these constructor arguments ask for.

    A parameter given per row counts with its lowest and highest value. A CUDA device is named by its model,
    since that is what was validated; asking for its name is the one case in which torch is imported here.

    Raises:
        DeviceError: a CUDA device that this machine, or this build of torch, does not have.
        UsageError: `compile` is neither False nor the name of a form, or a parameter is not made of numbers.
    """
    if compile is not False and compile is not None and not isinstance(compile, str):
        raise UsageError(
            "compile names the form of the step",
            expected='False (eager) or a name such as "inductor"',
            found=compile,
        )
    ranges = {name: _range(name, value) for name, value in (params or {}).items()}
    return Configuration(device_class=_device_class(str(device)), compile=compile or "eager", params=ranges)


def gate_state(package: EnvPackage, configuration: Configuration | None = None) -> GateState:
    """What the gate says to building `package` in `configuration`; None asks whether any configuration is
        open.

    Of several reports those that fit the files on disk count, and of these the one with the most runs behind
    it.
    """
    present = Present(package)
    fitting: list[tuple[Path, Report]] = []
    unfit: list[tuple[Path, Report, list[str]]] = []
    damaged: list[tuple[Path, str]] = []
    for path in report_places(package):
        if not path.exists():
            continue
        try:
            report = read_report(path)
        except ReportError as error:
            damaged.append((path, error.message))
            continue
        differences = present.changes_since(report)
        if differences:
            unfit.append((path, report, differences))
        else:
            fitting.append((path, report))
    command = next_command(package, configuration)
    full = [one for one in fitting if one[1].full]
    if full:
        path, report = max(full, key=lambda one: one[1].revision)
        status, why = _judge(path, report, configuration)
        return GateState(status, why, command, path, report)
    if damaged:
        return GateState("damaged", [damaged[0][1]], command, damaged[0][0])
    if unfit:
        path, report, differences = unfit[0]
        return GateState("stale", differences, command, path, report)
    return _without_full_report(package, fitting, command)


def require_fresh_report(
    package: EnvPackage | str | Path, *, strict: bool = True, configuration: Configuration | None = None
) -> GateState:
    """Return the gate's state where it is open; the first line of a training script.

    `package` is a package, its name, its id or the path of its folder; `configuration` comes from
    `wanted_configuration` (None: any validated one will do). With `strict=False` a closed gate is a
    GateWarning and the state is returned all the same; `make_vec` stays closed either way.

    Raises:
        GateError: the report is missing, damaged, partial, failing, stale, or speaks of other
            configurations; the message says what changed and which command mends it.
        UnknownEnvError, ContractError: there is no such package, or it cannot be read.
    """
    from simulacrum.contract.package import load_package

    found = load_package(package) if isinstance(package, (str, Path)) else package
    state = gate_state(found, configuration)
    if state.fresh:
        return state
    refusal = _refusal(found, state)
    if strict:
        raise refusal
    warnings.warn(str(refusal), GateWarning, stacklevel=2)
    return state


def next_command(package: EnvPackage, configuration: Configuration | None = None) -> str:
    """The command that validates `package` in `configuration`."""
    known_by_name = not package.origin.startswith("path")
    words = ["python -m simulacrum.validate", package.name if known_by_name else _quoted(package.folder)]
    if configuration is not None and configuration.compile not in ("eager", NATIVE):
        words.append(f"--compile {configuration.compile}")
    if configuration is not None and configuration.device_class != "cpu":
        words.append(f"--device {configuration.device_class.partition(':')[0]}")
    return " ".join(words)


def certified_binary(state: GateState, configuration: Configuration) -> Certified | None:
    """The file of the native form that the report of an open gate names for `configuration`, or None."""
    if state.report is None or state.report_path is None or configuration.compile != NATIVE:
        return None
    for one in state.report.configurations:
        if one.outcome == "passed" and not one.uncovered(configuration):
            found = certified(state.report_path, one)
            if isinstance(found, Certified):
                return found
    return None


def _judge(path: Path, report: Report, wanted: Configuration | None) -> tuple[Status, list[str]]:
    """The verdict of the report at `path`, which fits the files."""
    if report.problems:
        return "failing", report.problems
    passed = [one for one in report.configurations if one.outcome == "passed"]
    open_ones = [one for one in passed if wanted is None or not one.uncovered(wanted)]
    reasons = [_capability_change(one) or _unusable(path, one) for one in open_ones]
    if None in reasons:
        return "fresh", []
    if open_ones:
        return "stale", sorted({reason for reason in reasons if reason})
    closed = [one for one in report.configurations if one.outcome != "passed"]
    if wanted is not None:
        closed = [one for one in closed if not one.uncovered(wanted)]
    if closed or wanted is None:
        return "failing", [_closed(one, report) for one in closed] or ["no configuration was validated"]
    return "other_configuration", _gaps(passed, wanted)


def _gaps(passed: list[Configuration], wanted: Configuration) -> list[str]:
    if not passed:
        return [f"{wanted.title} was not validated, nor was any other configuration"]
    nearest = min(passed, key=lambda one: (one.title != wanted.title, len(one.uncovered(wanted))))
    if nearest.title == wanted.title:
        return nearest.uncovered(wanted)
    known = ", ".join(sorted({one.title for one in passed}))
    return [f"asked for {wanted.title}, validated: {known}"]


def _closed(one: Configuration, report: Report) -> str:
    names = [info.name for info in CHECKS if info.required == "per configuration"]
    messages = [report.checks[name].message for name in names if name in report.checks]
    said = next((message.splitlines()[0] for message in messages if message), "")
    return f"{one.title}: {one.outcome}" + (f" ({said})" if said else "")


def _capability_change(one: Configuration) -> str | None:
    """Whether torch picks other CPU kernels than when `one` was validated; unknown until torch is loaded."""
    now = cpu_capability()
    if now is None or one.cpu_capability in (None, now):
        return None
    return f"CPU kernels of torch: validated with {one.cpu_capability}, this process uses {now}"


def _unusable(path: Path, one: Configuration) -> str | None:
    """Why the native form that was validated cannot be loaded here, or None."""
    found = certified(path, one) if one.compile == NATIVE else None
    return found if isinstance(found, str) else None


def _without_full_report(package: EnvPackage, fitting: list[tuple[Path, Report]], command: str) -> GateState:
    place = partial_place(package)
    if fitting:
        path, report = fitting[0]
        return GateState("partial", ["the report is of a partial run"], command, path, report)
    missing = package.folder / "validation_report.json"
    if not place.exists():
        return GateState("missing", ["no full validation has been run"], command, missing)
    why = "only a partial run is on record, and a partial run never opens the gate"
    return GateState("partial", [why], command, place)


def _refusal(package: EnvPackage, state: GateState) -> GateError:
    shown = state.why[:_SHOWN]
    if len(state.why) > _SHOWN:
        shown.append(f"and {len(state.why) - _SHOWN} more")
    return GateError(
        f"{package.env_id} is not validated as it stands ({state.status.replace('_', ' ')})",
        expected="a passing report of a full run, for these files, this environment and this configuration",
        found="; ".join(shown),
        where=state.report_path,
        next_step=state.next_command,
    )


def _range(name: str, value: Any) -> tuple[float, float]:
    try:
        if hasattr(value, "min") and hasattr(value, "max"):  # an array or a tensor, one value per row
            return float(value.min()), float(value.max())
        rows = cast("Sequence[Any]", value if isinstance(value, (list, tuple)) else [value])
        numbers = [float(one) for one in rows]
        unordered = [one for one in numbers if one != one]  # min and max may step over a NaN
        return (math.nan, math.nan) if unordered else (min(numbers), max(numbers))
    except (TypeError, ValueError, RuntimeError) as error:
        raise UsageError(
            f"parameter {name} is not made of numbers",
            expected="one number, or one for each row",
            found=cast("object", value),
        ) from error


def _device_class(device: str) -> str:
    kind = device.partition(":")[0]
    if kind != "cuda":
        return kind
    import torch

    try:
        return f"cuda:{torch.cuda.get_device_name(device)}"
    except (AssertionError, RuntimeError, ValueError) as error:
        raise DeviceError(
            f"the device {device!r} is not there",
            found=str(error).splitlines()[0] if str(error) else type(error).__name__,
            next_step='run "simulacrum doctor" to see the devices, or use device="cpu"',
        ) from error


def _quoted(path: Path) -> str:
    import shlex

    return shlex.quote(str(path))
