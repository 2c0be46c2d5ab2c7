"""Graphs tell a rewrite from a fault, and claim nothing about what they do not show."""

from __future__ import annotations

import pytest
import torch
from mutate.kit import GOAL, canary, planted_by_hand

from simulacrum.mutate.equivalence import Trace, capture_of, captured, trace_of, traced
from simulacrum.mutate.judge import Settings
from simulacrum.mutate.recorded import LooksAtValuesError, recorded

SAME = {
    "another name": (GOAL, "        ends = place >= GOAL\n        end = ends"),
    "dead code": (GOAL, "        _ = place * 7\n        end = place >= GOAL"),
    "the same twice": (GOAL, "        end = (place >= GOAL) & (place >= GOAL)\n        end = place >= GOAL"),
    "only the form counts": ("torch.zeros_like(state.place, dtype", "torch.zeros_like(state.place + 3, dtype"),
}
OTHER = {
    "another comparison": (GOAL, "        end = place > GOAL"),
    "a constant": ("place.to(torch.float32) / 4 ", "place.to(torch.float32) / 5 "),
    "an invariant": ("return state.place <= TOP", "return state.place < TOP"),
    "a draw": ('"start", 3)', '"start", 4)'),
    "an end flag that is a Python bool": ("reward, end)  # R6", "reward, False)  # R6"),
}


@pytest.fixture(scope="module")
def settings(tmp_path_factory):
    return Settings(canary(), tmp_path_factory.mktemp("traces"))


@pytest.fixture(scope="module")
def original():
    return trace_of(canary())


@pytest.mark.parametrize("edit", SAME.values(), ids=SAME)
def test_a_rewrite_has_the_same_operations(settings, original, edit):
    assert traced(settings, planted_by_hand(settings.package, *edit)) == original


@pytest.mark.parametrize("edit", OTHER.values(), ids=OTHER)
def test_a_fault_has_others(settings, original, edit):
    found = traced(settings, planted_by_hand(settings.package, *edit))
    assert found.graph
    assert found != original


def test_a_package_has_the_same_graph_each_time(original):
    assert trace_of(canary()) == original
    assert original.graph


def test_captures_agree_on_a_rewrite_and_not_on_a_branch_on_the_number_of_rows(settings):
    """What hides at a number of rows that was not recorded does not hide from the capture."""
    whole = capture_of(settings.package)
    assert captured(settings, planted_by_hand(settings.package, *SAME["dead code"])) == whole
    branch = planted_by_hand(settings.package, GOAL, "        end = place >= (GOAL if len(place) < 4096 else TOP)")
    assert traced(settings, branch) == trace_of(settings.package)
    assert captured(settings, branch) != whole


@pytest.mark.parametrize("source", [
    "        self.last = place\n        end = place >= GOAL",  # kept between calls
    "        end = place >= GOAL if bool((place >= 0).all()) else place < 0",  # a value decides
    "        end = place >= (GOAL if place.device.type == 'cpu' else TOP)",  # does not show on this machine
])  # fmt: skip
def test_nothing_is_claimed_of_what_a_graph_does_not_show(settings, source):
    assert traced(settings, planted_by_hand(settings.package, GOAL, source)) == Trace()


def test_what_does_not_run_is_said_to_be_unfit(settings):
    found = traced(settings, planted_by_hand(settings.package, GOAL, "        end = place >= NOWHERE"))
    assert "NOWHERE" in found.unfit


def test_a_reading_of_a_value_is_refused():
    with pytest.raises(LooksAtValuesError):
        recorded(lambda x: x * x.sum().item(), (torch.ones(3),))


def test_writing_in_place_is_not_the_same_as_computing():
    one = torch.arange(4)
    assert recorded(lambda x: (x + 1, x), (one,)) != recorded(lambda x: (x.add_(1), x), (one.clone(),))


def test_constants_count_by_their_content():
    one = torch.arange(4)
    graphs = {recorded(lambda x, c=c: x + torch.tensor(c), (one,)) for c in ([1, 2, 3, 4], [1, 2, 3, 5])}
    assert len(graphs) == 2
