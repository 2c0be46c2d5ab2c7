"""What a changed line is about, by its tags and the names in it."""

from __future__ import annotations

import pytest
from mutate.kit import canary, planted_by_hand

from simulacrum.mutate.place import spoken_of


@pytest.mark.parametrize(("old", "rules", "fields"), [
    ("/ 4  # R5", {"R5"}, {"place", "reward"}),
    ("return state.place <= TOP", {"R9"}, {"place"}),
    ("below = state.place < TOP", {"R8"}, {"place"}),
    ("place.to(torch.float32) / 8", {"R7"}, {"place"}),
])  # fmt: skip
def test_rules_come_from_the_line_or_its_function(old, rules, fields):
    package = canary()
    assert spoken_of(planted_by_hand(package, old, f"({old}"), package) == (rules, fields)
