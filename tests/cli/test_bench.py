"""`simulacrum bench`: lines for both twins, measured in turns."""

from __future__ import annotations

import json

import pytest

from simulacrum.cli.bench import short_number
from simulacrum.cli.measure import ROUNDS, measure
from simulacrum.contract.package import load_package


def test_table_fits_80_columns(cli):
    done = cli("bench", "toywalk", "--num-envs", "1,16", "--compile", "eager", "--seconds", 0.07)
    assert done.code == 0
    assert max(map(len, done.out.splitlines())) <= 80
    assert [line.split()[0] for line in done.out.splitlines()[2:5]] == ["reference", "eager", "eager"]


def test_json_document(cli):
    done = cli("bench", "toywalk", "--num-envs", "8", "--compile", "eager", "--seconds", 0.07, "--json")
    document = json.loads(done.out)
    assert document["version"] == 1
    (environment,) = document["environments"]
    reference, eager = environment["lines"]
    assert (reference["form"], reference["per_reference"]) == ("reference", 1.0)
    assert (eager["form"], eager["num_envs"], eager["per_eager"]) == ("eager", 8, None)
    assert 0 < eager["lowest"] <= eager["steps_per_second"] <= eager["highest"]


def test_each_line_is_measured_once_a_round():
    said = []
    lines = measure(load_package("toywalk"), [2], ["eager"], 0.05, say=said.append)
    assert len(lines) == 2
    assert sum("round" in text for text in said) == ROUNDS


@pytest.mark.parametrize(("value", "text"), [(812.4, "812"), (74_321, "74.3 k"), (1.25e6, "1.25 M"), (3e9, "3 G")])
def test_short_numbers(value, text):
    assert short_number(value) == text
