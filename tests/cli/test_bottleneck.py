"""What holds a step up is found in the figures: the call or the rows, and which part of an eager step."""

from __future__ import annotations

import dataclasses
import json

import pytest

from simulacrum.cli import bottleneck
from simulacrum.cli.bottleneck import PARTS, Bottleneck
from simulacrum.cli.measure import Measured
from simulacrum.contract.package import load_package


def line(form, num_envs, seconds):
    """A line of a form whose call takes so many seconds."""
    rate = num_envs / seconds
    return Measured(form, num_envs, rate, rate, rate, 1.0, None)


@pytest.fixture
def known_shares(monkeypatch):
    parts = dict.fromkeys(PARTS, 0.1) | {"start_draws": 0.3}
    monkeypatch.setattr(bottleneck, "shares", lambda package, num_envs, device: parts)


def test_call_and_row_follow_from_the_fewest_and_the_most_rows(known_shares):
    lines = [line("reference", 1, 1e-5), line("eager", 1, 1e-3), line("eager", 1001, 1e-2)]
    lines += [line("native", 1, 1.1e-5), line("native", 64, 9e-5), line("native", 1001, 1.01e-4 * 10)]
    found = bottleneck.find(load_package("toywalk"), lines, "cpu")
    assert (found.form, found.num_envs) == ("native", 1001)
    assert found.row_seconds == pytest.approx(0.999e-6)
    assert found.call_seconds == pytest.approx(1.1e-5 - 0.999e-6)
    assert found.call_share == pytest.approx(found.call_seconds / 1.01e-3)


def test_one_size_tells_nothing(known_shares):
    assert bottleneck.find(load_package("toywalk"), [line("reference", 1, 1), line("eager", 8, 1)], "cpu") is None


def test_the_sentence_names_the_call_or_the_part():
    parts = dict.fromkeys(PARTS, 0.0) | {"observation": 1.0}
    rows = Bottleneck("native", 8192, 9e-6, 4e-9, 0.2, parts)
    assert rows.text == (
        "native: a call costs 9 us, and each row 4 ns more. At N = 8,192 the call is 20% of a step. "
        "Bottleneck: the rows. Of an eager step most goes into the observation (100%)."
    )
    call = dataclasses.replace(rows, call_share=0.8)
    assert call.text.endswith("the call is 80% of a step. Bottleneck: the call itself, so that more rows cost little.")
    assert rows.to_json()["text"] == rows.text


@pytest.mark.parametrize("name", ["toywalk", "forager"])
def test_shares_of_a_real_step_sum_to_one(name):
    found = bottleneck.shares(load_package(name), 64, "cpu")
    assert list(found) == list(PARTS)
    assert sum(found.values()) == pytest.approx(1.0)
    assert all(share >= 0.0 for share in found.values())
    assert found["start_draws"] > 0 < found["rules"]


def test_an_environment_that_draws_nothing_in_a_step_has_no_step_draws():
    assert bottleneck.shares(load_package("cartpole"), 8, "cpu")["step_draws"] == 0.0


def test_bench_says_it_below_the_lines_and_in_json(cli):
    arguments = ("bench", "toywalk", "--num-envs", "1,16", "--compile", "eager", "--seconds", 0.07)
    assert "Bottleneck: the " in " ".join(cli(*arguments).out.split())
    (environment,) = json.loads(cli(*arguments, "--json").out)["environments"]
    assert environment["bottleneck"]["form"] == "eager"
    assert set(environment["bottleneck"]["parts"]) == set(PARTS)
