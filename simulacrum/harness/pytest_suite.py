"""The battery as tests of pytest, one a check, in two lines:

    from simulacrum.harness.pytest_suite import battery_tests

    test_battery = battery_tests("path/to/package")

Nothing is loaded before the first test runs, and no report is written: the gate asks for `simulacrum validate`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from simulacrum.attest.catalog import BY_NAME, CHECK_NAMES
from simulacrum.errors import SimulacrumError

if TYPE_CHECKING:
    from simulacrum.harness.bench import Bench, Outcome


def battery_tests(
    package: str | Path,
    *,
    checks: Sequence[str] | None = None,
    forms: Sequence[str] | None = None,
    device: str = "cpu",
    quick: bool = False,
    failures: str | Path = "failures",
) -> Callable[[str], None]:
    """A test function for pytest, parametrised over the checks; its name is the one it is given.

    A failed check fails its test with what differed first; a check that had nothing to judge skips it; one that is
    inconclusive fails it where the check is required. The tests of one call share what they find out about the
    package, so throughput is held to the checksum that differential saw.

    Args:
        package: name, id or folder of the package; `Path(__file__).parent` for the folder of the test.
        checks: names from the catalogue; all by default.
        forms: forms to validate beside eager; by default "native" on the CPU.
        device: where the batched twin runs.
        quick: a fraction of the work.
        failures: the folder that failure files go to.

    Raises:
        UsageError: an unknown check.
    """
    import pytest  # here, so that the room can be imported where pytest is not installed

    names = CHECK_NAMES if checks is None else _known(checks)
    session = _Session(package, forms, device, quick, Path(failures))

    @pytest.mark.parametrize("check", names)
    def test_battery(check: str) -> None:
        __tracebackhide__ = True
        outcome = session.outcome(check)
        if outcome.status == "skipped":
            pytest.skip(outcome.message)
        if refused(check, outcome):
            pytest.fail(told(check, outcome), pytrace=False)

    return test_battery


def told(check: str, outcome: Outcome) -> str:
    """The outcome of a check as the text of a failed test: its message, and the first divergence if there is one."""
    from simulacrum.trace.show import render_plain

    text = f"{check}: {outcome.status}: {outcome.message}"
    return text if outcome.divergence is None else f"{text}\n\n{render_plain(outcome.divergence)}"


def refused(check: str, outcome: Outcome) -> bool:
    """Whether a report would be held back by this outcome."""
    return outcome.status == "failed" or (outcome.status == "inconclusive" and BY_NAME[check].required != "records")


def _known(checks: Sequence[str]) -> Sequence[str]:
    from simulacrum.harness.battery import chosen_checks

    return chosen_checks(checks)


@dataclass
class _Session:
    """The bench that the tests of one call share, made when the first of them runs."""

    package: str | Path
    forms: Sequence[str] | None
    device: str
    quick: bool
    failures: Path
    bench: Bench | None = None
    outcomes: dict[str, Outcome] = field(default_factory=dict[str, "Outcome"])

    def outcome(self, check: str) -> Outcome:
        """How the check ends. Without a sound contract no other check has anything to stand on: they are skipped."""
        from simulacrum.harness.bench import failed, skipped
        from simulacrum.harness.running import run_check

        contract = self.outcomes.get("spec_contract")
        if contract is not None and contract.status == "failed" and check != "spec_contract":
            return skipped("spec_contract failed, so there is nothing to judge")
        if check not in self.outcomes:
            try:
                self.bench = self.bench or self._open()
            except SimulacrumError as error:
                return failed(str(error))
            self.outcomes[check] = run_check(self.bench, check)[0]
        return self.outcomes[check]

    def _open(self) -> Bench:
        from simulacrum.contract.package import load_package
        from simulacrum.engine.forms import resolve_form, standard_forms
        from simulacrum.engine.modes import check_device
        from simulacrum.harness.bench import Bench

        place = check_device(self.device)
        asked = standard_forms(place) if self.forms is None else self.forms
        forms = tuple(dict.fromkeys(["eager", *(resolve_form(form, place) for form in asked)]))
        return Bench(
            load_package(self.package), forms=forms, device=str(place), quick=self.quick, failures=self.failures
        )
