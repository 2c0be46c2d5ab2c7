"""The battery as tests of pytest: what passes, what fails and what it shows, in sessions of pytest's own."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import torch  # noqa: F401 -- or the inner session would load it, and pytest throw it out again at its end

from simulacrum.attest.catalog import CHECK_NAMES
from simulacrum.errors import UsageError
from simulacrum.harness.bench import Outcome
from simulacrum.harness.pytest_suite import battery_tests, refused

pytest_plugins = ["pytester"]

KIT = Path(__file__).resolve().parents[1] / "kit"
SUITE = """
from pathlib import Path
from simulacrum.harness.pytest_suite import battery_tests

test_battery = battery_tests(Path(__file__).parent / "counter", checks={checks}, forms=["eager"], quick=True)
"""


@pytest.fixture
def session(pytester, monkeypatch):
    """A folder with a copy of the kit's smallest package and a test of it; returns a function that runs pytest."""
    monkeypatch.setenv("SIMULACRUM_STATE_DIR", str(pytester.path / "state"))
    shutil.copytree(KIT / "counter", pytester.path / "counter", ignore=shutil.ignore_patterns("__pycache__"))

    def run(*words, checks=("differential",)):
        pytester.makepyfile(test_counter=SUITE.format(checks=list(checks)))
        return pytester.runpytest_inprocess("-p", "no:cacheprovider", *words)

    return run


def edit(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_each_check_is_one_test(session):
    done = session("--collect-only", "-q", checks=CHECK_NAMES)
    done.stdout.fnmatch_lines([f"*::test_battery[[]{name}[]]" for name in CHECK_NAMES])


def test_sound_package_passes(session, pytester):
    done = session()
    done.assert_outcomes(passed=1)
    assert not (pytester.path / "counter" / "validation_report.json").exists()


def test_planted_fault_fails_and_shows_the_divergence(session, pytester):
    edit(pytester.path / "counter" / "fast.py", "count = state.count + 1", "count = state.count + 2")
    done = session()
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(
        [
            "differential: failed: the twins part in the small model: state.count",
            "DIVERGENCE in differential: simulacrum/counter-v0",
            "*run it again:*",
        ]
    )
    done.stdout.no_fnmatch_line("*pytest_suite.py*Error*")


def test_mistake_in_a_twin_fails_with_its_line(session, pytester):
    edit(pytester.path / "counter" / "reference.py", "state.count + 1", "state.count // 0")
    done = session()
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["*ZeroDivisionError*", "*where: *reference.py:*"])


def test_package_that_is_not_there_fails_each_test_with_the_error(session, pytester):
    shutil.rmtree(pytester.path / "counter")
    done = session()
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["*an environment package is a folder*"])


def test_nothing_is_loaded_before_a_test_runs():
    battery_tests("no-such-package")


def test_unknown_check_is_refused_at_once():
    with pytest.raises(UsageError, match="did you mean 'differential'"):
        battery_tests("toywalk", checks=["diferential"])


@pytest.mark.parametrize(
    ("check", "status", "fails"),
    [
        ("differential", "failed", True),
        ("differential", "inconclusive", True),
        ("differential", "passed", False),
        ("throughput", "failed", True),
        ("throughput", "inconclusive", False),
        ("benchmark_factory_parity", "inconclusive", True),
    ],
)
def test_fails_where_a_report_would_be_held_back(check, status, fails):
    assert refused(check, Outcome(status)) is fails


def test_nothing_else_is_judged_without_a_contract(session, pytester):
    edit(pytester.path / "counter" / "spec.md", "## Reward", "## Reword")
    done = session("-rs", checks=("spec_contract", "differential"))
    done.assert_outcomes(failed=1, skipped=1)
    done.stdout.fnmatch_lines(["*SKIPPED*spec_contract failed, so there is nothing to judge*"])


def test_check_without_anything_to_judge_is_skipped(session):
    session(checks=("scripted_policies",)).assert_outcomes(skipped=1)
