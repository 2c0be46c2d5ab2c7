"""The kill matrix: its numbers, its sums, and the order of its checks."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simulacrum.plots import Kills, kill_matrix

KILLS = Kills(
    kinds={"K01": "wrong operator", "K06": "counter or time limit off by one"},
    planted={"K01": 4, "K06": 2},
    found={"replay": {"K01": 1}, "differential.rollouts": {"K01": 3, "K06": 2}},
    alone={"replay": 0, "differential.rollouts": 4},
)


def test_cells_sums_and_those_that_nothing_else_finds(tmp_path, look):
    path = tmp_path / "kills.png"
    kill_matrix(path, KILLS, title="toywalk")
    cells, bars = look(path).axes
    assert [label.get_text() for label in cells.get_yticklabels()] == ["differential.rollouts", "replay"]
    assert [label.get_text() for label in cells.get_xticklabels()] == [
        "wrong operator  K01",
        "counter or time limit off by one  K06",
    ]
    assert {text.get_position(): text.get_text() for text in cells.texts} == {(0, 0): "3", (1, 0): "2", (0, 1): "1"}
    assert cells.get_images()[0].get_array().tolist() == [[0.75, 1.0], [0.25, 0.0]]
    assert [text.get_text() for text in bars.texts] == ["5  (4)", "1"]
    assert [one.get_text() for one in bars.get_legend().get_texts()] == ["all", "and nothing else does"]


@pytest.mark.parametrize("alone", [None, {"replay": 0, "differential.rollouts": 0}])
def test_without_a_matrix_nobody_is_alone(tmp_path, look, alone):
    path = tmp_path / "kills.png"
    kill_matrix(path, replace(KILLS, alone=alone), title="toywalk")
    _, bars = look(path).axes
    assert [text.get_text() for text in bars.texts] == ["5", "1"]
    assert bars.get_legend() is None
