"""`simulacrum check-vec`: what is printed, for people and for programs, and the exit codes."""

from __future__ import annotations

import json

import pytest

FEW = ("-k", "attributes.class", "-k", "close")


@pytest.fixture(autouse=True)
def kit_on_the_path(request, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(request.config.rootpath / "tests"))


def test_text_with_the_rule_that_does_not_hold(cli):
    done = cli("check-vec", "CartPole-v1", *FEW)
    assert done.code == 0, done.err
    assert "CartPole-v1  CartPoleVectorEnv, 4 rows, NEXT_STEP, gymnasium " in done.out
    assert "passed   attributes.class" in done.out
    assert "warning  close.closed  " in done.out
    assert "still open (field closed, found False, expected True)" in done.out
    assert "close() sets the attribute `closed` (VectorEnv.close)" in done.out
    assert "result  conforms: 2 passed, 0 failed, 2 warnings, 0 skipped in " in done.out


def test_strict_lets_a_warning_fail(cli):
    done = cli("check-vec", "CartPole-v1", "--strict", "-k", "close.closed")
    assert done.code == 1
    assert "DOES NOT CONFORM" in done.out


def test_json_lines_and_an_error(cli, tmp_path):
    maker = "from conformance.faults import FAULTS\n\nmake = FAULTS['aliasing.observations']\n"
    (tmp_path / "faulty.py").write_text(maker, encoding="utf-8")
    words = ("--num-envs", 3, "--json", "-k", "aliasing.observations", "-k", "spec.set")
    done = cli("check-vec", f"{tmp_path / 'faulty.py'}:make", *words)
    assert done.code == 1, done.err
    started, first, second, finished = map(json.loads, done.out.splitlines())
    assert (started["event"], started["version"], started["class"]) == ("started", 1, "OwnObservation")
    assert (started["num_envs"], started["autoreset_mode"]) == (3, "NEXT_STEP")
    assert (first["event"], first["rule"], first["status"]) == ("rule", "aliasing.observations", "failed")
    assert first["severity"] == "error"
    assert first["row"] == 0
    assert first["field"].startswith("observation")
    assert first["claim"] == "an observation that was handed out never changes"
    assert (second["rule"], second["status"], second["message"]) == ("spec.set", "skipped", "it was not made by an id")
    assert (finished["passed"], finished["errors"], finished["skipped"]) == (
        False, ["aliasing.observations"], ["spec.set"]
    )  # fmt: skip


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["NoSuchEnv-v0"], "it cannot be made: NameNotFound"),
        (["CartPole-v1", "--kwargs", "{"], "--kwargs is no JSON"),
        (["CartPole-v1", "--kwargs", "[]"], "--kwargs is no JSON object"),
        (["CartPole-v1", "-k", "close.twise"], "did you mean 'close.twice'?"),
    ],
)
def test_wrong_usage(cli, words, told):
    done = cli("check-vec", *words)
    assert done.code == 2
    assert told in done.err


def test_keywords_reach_the_environment(cli):
    words = ("--vectorization-mode", "sync", "--kwargs", '{"vector_kwargs": {"copy": false}}')
    done = cli("check-vec", "CartPole-v1", *words, "-k", "aliasing.observations")
    assert done.code == 1
    assert "FAILED   aliasing.observations" in done.out
    assert "changed later" in done.out
