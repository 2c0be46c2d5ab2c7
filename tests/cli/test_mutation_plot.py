"""The picture of a run: its numbers, what it is made of, and what it refuses."""

from __future__ import annotations

import pytest

from simulacrum.cli import mutation_plot
from simulacrum.errors import UsageError
from simulacrum.mutate.matrix import check_by_kind
from simulacrum.mutate.mutant import Mutant
from simulacrum.mutate.verdict import Verdict


def pair(name, kind, status, killer="", *, also=()):
    mutant = Mutant(name, kind, "another", "fast.py", 3, "a", "b", "b", original="a")
    checks = dict.fromkeys((*([killer] if killer else []), *also), "failed") | {"determinism": "passed"}
    return mutant, Verdict(name, status, killer=killer, checks=checks)


PAIRS = [
    pair("a", "K01", "killed", "replay"),
    pair("b", "K06", "killed", "differential.rollouts", also=("replay",)),
    pair("c", "K06", "survived"),
    pair("d", "K07", "duplicate"),
]


def test_with_a_matrix_every_check_counts_and_else_the_first():
    assert check_by_kind(PAIRS, matrix=False) == {"replay": {"K01": 1}, "differential.rollouts": {"K06": 1}}
    both = check_by_kind(PAIRS, matrix=True)
    assert both == {"replay": {"K01": 1, "K06": 1}, "differential.rollouts": {"K06": 1}}


@pytest.mark.parametrize("matrix", [False, True])
def test_a_picture_says_what_was_found(tmp_path, matrix):
    pytest.importorskip("matplotlib")
    path = tmp_path / "made.svg"
    import matplotlib

    with matplotlib.rc_context({"svg.fonttype": "none"}):
        mutation_plot.draw(path, PAIRS, matrix=matrix, title="toywalk")
    text = path.read_text()
    assert "toywalk: 2 of 3 planted faults found" in text
    assert "counter or time limit off by one  K06" in text
    assert "K07" not in text  # a duplicate is no fault of its own
    assert ("and nothing else does" in text) == matrix


def test_what_cannot_be_drawn_is_refused_before_anything_runs(cli, tmp_path, monkeypatch):
    done = cli("mutate", "toywalk", "--plot", tmp_path / "made.txt")
    assert done.code == 2
    assert ".png or .svg or .pdf" in done.err
    with pytest.raises(UsageError, match="folder does not exist"):
        mutation_plot.check_plot(tmp_path / "nowhere" / "made.png")
    monkeypatch.setattr(mutation_plot.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match="needs matplotlib"):
        mutation_plot.check_plot(tmp_path / "made.png")


def test_a_run_that_found_nothing_makes_no_picture(tmp_path):
    pytest.importorskip("matplotlib")
    with pytest.raises(UsageError, match="nothing to draw"):
        mutation_plot.draw(tmp_path / "made.png", PAIRS[2:], matrix=False, title="toywalk")
    assert not (tmp_path / "made.png").exists()
