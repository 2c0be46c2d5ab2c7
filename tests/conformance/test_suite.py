"""The rules as a class for pytest: used as a stranger would, and made to fail."""

from __future__ import annotations

import subprocess
import sys

import pytest
from gymnasium.wrappers import TimeLimit
from kit.track import LIMIT, Track, TrackSingle

from conformance.faults import FAULTS
from simulacrum.conformance import RULES, VectorEnvConformance, check, subject_of


class TestTrack(VectorEnvConformance):
    """As in the documentation."""

    rules = ("final", "aliasing", "close")

    def make(self, num_envs, **kwargs):
        return Track(num_envs, **kwargs)

    def make_single(self, **kwargs):
        return TimeLimit(TrackSingle(), kwargs.get("max_episode_steps", LIMIT))


class TestById(VectorEnvConformance):
    env_id = "CartPole-v1"
    rules = ("attributes", "next_step")


class Faulty(VectorEnvConformance):
    rule = "aliasing.observations"

    def make(self, num_envs, **kwargs):
        return FAULTS[self.rule](num_envs, **kwargs)


def test_error_fails_with_rule_and_source():
    with pytest.raises(pytest.fail.Exception, match=r"(?s)changed later .*rule: an observation that .*source: Vector"):
        Faulty().test_rule("aliasing.observations")


def test_warning_is_an_expected_failure_and_fails_where_strict():
    class Lax(Faulty):
        rule = "close.step_after"

    class Strict(Lax):
        strict = True

    with pytest.raises(pytest.xfail.Exception, match="a closed environment stepped"):
        Lax().test_rule("close.step_after")
    with pytest.raises(pytest.fail.Exception, match="a closed environment stepped"):
        Strict().test_rule("close.step_after")


def test_nothing_to_judge_and_accepted_are_skipped_with_reasons():
    class Accepting(Faulty):
        accepted = {"aliasing.observations": "it is a buffer, and says so"}  # noqa: RUF012 -- the base says ClassVar

    with pytest.raises(pytest.skip.Exception, match="accepted: it is a buffer"):
        Accepting().test_rule("aliasing.observations")
    with pytest.raises(pytest.skip.Exception, match="not made by an id"):
        Faulty().test_rule("spec.set")


def test_check_from_python():
    results = list(check(subject_of("kit.track:Track"), ["close", "reset.returns"]))
    assert [one.rule for one in results] == [name for name in RULES if name.startswith(("close.", "reset.returns"))]
    assert {one.status for one in results} == {"passed"}


def test_it_needs_no_torch_and_no_engine():
    ask = (
        "import sys, simulacrum.conformance.catalog, simulacrum.conformance.suite, kit.track\n"
        "from simulacrum.conformance import check, subject_of\n"
        "assert all(one.status == 'passed' for one in check(subject_of('kit.track:Track'), ['aliasing']))\n"
        "print([name for name in sys.modules if name == 'torch' or name.startswith('simulacrum.engine')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", ask], capture_output=True, text=True, timeout=60,
        env={"PYTHONPATH": __file__.rpartition("/conformance/")[0], "PATH": ""},
    )  # fmt: skip
    assert done.stdout.strip() == "[]", done.stderr
