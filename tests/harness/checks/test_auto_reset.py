from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from kit import NAMES

from simulacrum.contract.package import EnvPackage, load_package
from simulacrum.harness.bench import Bench, Outcome
from simulacrum.harness.boundary_run import EPISODES, Table
from simulacrum.harness.checks.auto_reset import CASES, MODES

NEVER = (
    ("fast.py", "reward, at_goal)  # R7", "reward, torch.zeros_like(at_goal))"),
    ("reference.py", "reward, terminated)", "reward, False)"),
)


LONG = pytest.param("forager", marks=pytest.mark.long)
ENDLESS = ("canvas", "rivals", "pendulum")  # their specs say that nothing terminates


@pytest.mark.parametrize("name", [*(name for name in NAMES if name not in ENDLESS), "toywalk", LONG, "cartpole"])
def test_the_four_cases_occur_in_each_mode(check: Callable[..., Outcome], name: str) -> None:
    outcome = check("auto_reset", name)
    assert outcome.status == "passed", outcome.message
    for mode in MODES:
        met, ends = outcome.evidence["cases"][mode.name], outcome.evidence["ends"][mode.name]
        assert all(met[case] > 0 for case in CASES), (mode, met)
        assert all(ends[what] > 0 for what in ("all rows at once", "some rows, others not", "length one")), ends
    assert outcome.evidence["boundaries_compared_between_runs"] > 100


def test_a_table_keeps_the_actions_of_early_episodes() -> None:
    """cartpole's fallen poles start many episodes while a balanced one goes on; the first must stay repeatable."""
    table = Table(Bench(load_package("cartpole")), rows=2, steps=5, seed=0)
    frame = {"episode": np.array([0, EPISODES]), "t": np.array([1, 1])}
    before, other = table.get(frame), 1 - table.get(frame)
    table.put(frame, other)
    assert table.get(frame).tolist() == [other[0], before[1]]


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
