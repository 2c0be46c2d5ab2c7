"""Coverage by rule: full bars, broken ones, and what is told beside them."""

from __future__ import annotations

from simulacrum.plots import Rule, coverage_by_rule

RULES = [
    Rule("R2", "`position` begins at `START`.", 1, 1, batched=True),
    Rule("R3", "A very long rule that says so much of what happens to a row that it has no room beside a bar.", 4, 3),
    Rule("R4", "Another.", 2, 2, never=1, batched=False),
]


def test_what_never_ran_is_seen_and_told(tmp_path, look):
    path = tmp_path / "rules.png"
    coverage_by_rule(path, RULES, title="toywalk")
    figure = look(path)
    (axes,) = figure.axes
    ran, rest = axes.patches[:3], axes.patches[3:]
    assert [bar.get_width() for bar in ran] == [1, 3, 2]
    assert [bar.get_width() for bar in rest] == [0, 1, 0]
    assert [text.get_text() for text in axes.texts] == [
        "1 of 1",
        "3 of 4",
        "2 of 2, 1 outcome never came up, never in the batched twin",
    ]
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names[0] == "position begins at START.  R2"
    assert names[1].endswith("…  R3")
    assert len(figure.legends) == 1


def test_a_full_coverage_needs_no_legend(tmp_path, look):
    path = tmp_path / "rules.png"
    coverage_by_rule(path, RULES[:1], title="toywalk")
    assert look(path).legends == []
