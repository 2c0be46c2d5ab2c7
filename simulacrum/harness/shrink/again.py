"""The smallest case of a record, run again."""

from __future__ import annotations

from dataclasses import replace

import torch

from simulacrum.contract.package import EnvPackage
from simulacrum.engine.forms import resolve_form
from simulacrum.engine.modes import check_device
from simulacrum.errors import DeviceError, SimulacrumError
from simulacrum.harness.casework import run_case
from simulacrum.harness.small.config import small_package
from simulacrum.trace.case import Case
from simulacrum.trace.difference import Difference
from simulacrum.trace.divergence import Divergence
from simulacrum.trace.jsonio import BadValue

SMALLEST = "the smallest case"


def smallest(
    package: EnvPackage, record: Divergence
) -> list[tuple[str, str, int, tuple[Difference, ...], str | None]]:
    """(name, form, rows, what differs now, why it was not run) of the record's shrunken case; none without one."""
    if record.shrunk is None:
        return []
    case = _here(record.shrunk.case)
    small = None if case.small is None else dict(case.small)
    try:
        with small_package(package, small) as made:
            found = run_case(made, case)
    except (SimulacrumError, BadValue, LookupError, TypeError, ValueError) as error:
        return [(SMALLEST, case.form, case.num_envs, (), (str(error).splitlines() or [type(error).__name__])[0])]
    return [(SMALLEST, case.form, case.num_envs, () if found is None else found.differences, None)]


def _here(case: Case) -> Case:
    """The case with a device and a form that this machine has."""
    try:
        device = str(check_device(case.device))
    except (DeviceError, RuntimeError):
        device = "cpu"
    try:
        return replace(case, device=device, form=resolve_form(case.form, torch.device(device), warn=False))
    except SimulacrumError:
        return replace(case, device=device, form="eager")
