"""An environment that hangs or kills its process costs one rule, and the rules after it are judged."""

from __future__ import annotations

import pytest

from simulacrum.conformance.rule import Result
from simulacrum.conformance.runner import judge
from simulacrum.conformance.supervise import Made, Request, run
from simulacrum.errors import UsageError

MAKER = """
import os, time
from kit.track import Track

class Bad(Track):
    def step(self, actions):
        {body}

def make(num_envs, **kwargs):
    print("a line that is no answer", flush=True)
    return Bad(num_envs, **kwargs)
"""
RULES = ("attributes.class", "step.returns", "close.closed")


def judged(tmp_path, body, kit_path, **more):
    file = tmp_path / "bad.py"
    file.write_text(MAKER.format(body=body), encoding="utf-8")
    environment = {"PYTHONPATH": str(kit_path)}
    made, *results = run(Request(f"{file}:make", rules=RULES, environment=environment, **more))
    assert isinstance(made, Made)
    assert made.name == "Bad"
    assert all(isinstance(one, Result) for one in results)
    assert [one.rule for one in results] == list(RULES)
    assert [one.status for one in results] == ["passed", "failed", "passed"]
    return results[1].message


@pytest.fixture
def kit_path(request):
    return request.config.rootpath / "tests"


def test_hang_in_python_is_ended_by_the_clock(tmp_path, kit_path):
    assert judged(tmp_path, "time.sleep(60)", kit_path, seconds=1.0) == "it did not end within 1 s"


def test_hang_outside_python_ends_the_process(tmp_path, kit_path, monkeypatch):
    monkeypatch.setattr("simulacrum.conformance.supervise.GRACE", 1.0)
    body = "import signal; signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM]); time.sleep(60)"
    assert "its process was ended" in judged(tmp_path, body, kit_path, seconds=1.0)


def test_death_is_told_with_its_status(tmp_path, kit_path):
    assert "its process died with status 7" in judged(tmp_path, "os._exit(7)", kit_path)


def test_what_cannot_be_made_is_wrong_usage():
    with pytest.raises(UsageError, match="NoSuchEnv"):
        list(run(Request("NoSuchEnv-v0")))


def test_unknown_rule_names_the_nearest():
    with pytest.raises(UsageError, match=r"did you mean 'close.twice'"):
        list(run(Request("CartPole-v1", rules=("close.twise",))))


def test_exception_is_told_with_its_place():
    from simulacrum.conformance.catalog import RULES as ALL
    from simulacrum.conformance.subject import Subject

    def make(num_envs, **kwargs):
        raise RuntimeError("no luck")

    result = judge(Subject(make), ALL["attributes.class"], 5)
    assert result.status == "failed"
    assert result.message.startswith("RuntimeError: no luck (tests/conformance/test_supervise.py:")
