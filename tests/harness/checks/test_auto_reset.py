from __future__ import annotations

from collections.abc import Callable

import pytest
from kit import NAMES

from simulacrum.contract.package import EnvPackage
from simulacrum.harness.bench import Outcome
from simulacrum.harness.checks.auto_reset import CASES, MODES

NEVER = (
    ("fast.py", "reward, at_goal)  # R7", "reward, torch.zeros_like(at_goal))"),
    ("reference.py", "reward, terminated)", "reward, False)"),
)


ENDLESS = ("canvas", "rivals")  # their specs say that nothing terminates


@pytest.mark.parametrize("name", [*(name for name in NAMES if name not in ENDLESS), "toywalk", "forager"])
def test_the_four_cases_occur_in_each_mode(check: Callable[..., Outcome], name: str) -> None:
    outcome = check("auto_reset", name)
    assert outcome.status == "passed", outcome.message
    for mode in MODES:
        met, ends = outcome.evidence["cases"][mode.name], outcome.evidence["ends"][mode.name]
        assert all(met[case] > 0 for case in CASES), (mode, met)
        assert all(ends[what] > 0 for what in ("all rows at once", "some rows, others not", "length one")), ends
    assert outcome.evidence["boundaries_compared_between_runs"] > 100


@pytest.mark.parametrize("name", ENDLESS)
def test_where_nothing_terminates_by_the_spec_only_truncation_is_asked_for(
    check: Callable[..., Outcome], name: str
) -> None:
    outcome = check("auto_reset", name)
    assert outcome.status == "passed", outcome.message
    assert all(met["truncated"] > 0 for met in outcome.evidence["cases"].values())


def test_a_package_in_which_nothing_terminates_stays_open(
    check: Callable[..., Outcome], changed: Callable[..., EnvPackage]
) -> None:
    outcome = check("auto_reset", changed("toywalk", *NEVER))
    assert outcome.status == "inconclusive"
    assert "terminated (next_step)" in outcome.message
    assert "both (disabled)" in outcome.message


def test_a_package_that_says_it_never_terminates_is_held_to_its_word(
    check: Callable[..., Outcome], changed: Callable[..., EnvPackage]
) -> None:
    said = ("spec.md", "- **R7** The episode is terminated exactly", "- **R7** The rules never terminate, or exactly")
    assert check("auto_reset", changed("toywalk", *NEVER, said)).status == "passed"


def test_a_package_that_breaks_that_word_fails(
    check: Callable[..., Outcome], changed: Callable[..., EnvPackage]
) -> None:
    said = ("spec.md", "- **R7** The episode is terminated exactly", "- **R7** The rules never terminate, or exactly")
    outcome = check("auto_reset", changed("toywalk", said))
    assert outcome.status == "failed"
    assert "R7 says that no episode is terminated" in outcome.message
