"""spec.md: rules, tables and constants as parsed, and each slip named with its line."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulacrum.contract.discovery import built_in_folder
from simulacrum.contract.spec import HEADINGS, load_spec, parse_spec
from simulacrum.errors import SpecError


def line_of(text: str, fragment: str) -> int:
    return text[: text.index(fragment)].count("\n") + 1


def test_reads_rules_with_headings_and_lines(spec_text: str) -> None:
    spec = parse_spec(spec_text, "spec.md")
    assert list(spec.rules) == [f"R{number}" for number in range(1, 8)]
    rule = spec.rules["R3"]
    assert rule.text == "The draw `flicker` shakes the lamp, on both sides."
    assert rule.heading == "Step"
    assert rule.line == line_of(spec_text, "- **R3**")
    assert [rule.id for rule in spec.rules_under("Invariants")] == ["R7"]


def test_reads_tables_and_constants(spec_text: str) -> None:
    spec = parse_spec(spec_text, "spec.md")
    assert spec.title == "lamp"
    assert tuple(spec.headings) == HEADINGS
    assert spec.constants == {"LEVELS": 4, "GLOW": 0.1, "MAX_EPISODE_STEPS": 20}
    row = spec.table("State").rows[1]
    assert (row["field"], row["shape"], row["high"]) == ("warmth", "[2]", "0.3")
    assert row.line == line_of(spec_text, "| warmth")


def test_none_is_an_empty_table(spec_text: str) -> None:
    start, end = spec_text.index("| slot"), spec_text.index("## Actions")
    spec = parse_spec(spec_text[:start] + "None.\n\n" + spec_text[end:], "spec.md")
    assert spec.table("Draws").rows == ()


def test_code_and_bold_marks_are_no_part_of_a_cell(spec_text: str) -> None:
    spec = parse_spec(spec_text.replace("| LEVELS | 4 |", "| `LEVELS` | **4** |"), "spec.md")
    assert spec.constants["LEVELS"] == 4


def test_values_may_be_tuples_and_text(spec_text: str) -> None:
    spec = parse_spec(spec_text.replace("| 4 | brightness", "| ((0, 1), 'up') | brightness"), "spec.md")
    assert spec.constants["LEVELS"] == ((0, 1), "up")


# What is replaced by what; the words and (by a fragment of the bent text) the line that the message
# must have.
BENT: dict[str, tuple[str, str, str, str]] = {
    "no title": ("# lamp", "lamp", "no title", ""),
    "second title": ("A lamp that", "# two\n\nA lamp that", "second title", "# two"),
    "heading missing": ("## Reward\n", "", "missing heading: Reward", ""),
    "heading misspelt": ("## Reward\n", "## Rewards\n", "did you mean 'Rewards'", ""),
    "heading twice": ("## Reward\n", "## Step\n", "'Step' occurs twice", "## Step\n\n- **R5**"),
    "TODO": ("switched on", "TODO switched on", "unfinished: TODO in line", "TODO"),
    "FIXME in a comment": ("switched", "<!-- FIXME -->", "FIXME in line", "FIXME"),
    "TBD in a table": ("| brightness levels", "| TBD", "TBD in line", "| TBD"),
    "XXX": ("dims", "XXX", "XXX in line", "XXX"),
    "gap": ("**R7**", "**R8**", "a gap: R7", "- **R8**"),
    "first missing": ("**R1**", "**R9**", "a gap: R1, R8", "- **R2**"),
    "rule twice": ("**R4**", "**R3**", "R3 is stated twice", "- **R3** The observation"),
    "rule without text": ("- **R4** The observation is `level`.", "- **R4**", "R4 has no text", "- **R4**"),
    "rule not bold": ("- **R4** The", "- R4 The", "looks like a rule", "- R4"),
    "rule with a long mark": ("**R4** The", "**R4: The** ", "looks like a rule", "- **R4:"),
    "rule outside a list": ("- **R4** The", "**R4** The", "a rule is a list item", "**R4** The"),
    "no table": ("| slot | phase", "slot phase", "Draws has no table", "## Draws"),
    "other columns": (
        "| name | value | meaning |",
        "| name | value | unit |",
        "other columns",
        "| name | value | unit",
    ),
    "constant's name": ("| LEVELS |", "| levels |", "no name of a constant", "| levels"),
    "constant twice": ("| GLOW |", "| LEVELS |", "LEVELS is listed twice", "| LEVELS | 0.1"),
    "constant's value": ("| 4 |", "| four |", "not a literal", "| four"),
    "constant's value missing": ("| 4 |", "| |", "not a literal", "| LEVELS"),
    "None and a table": ("## Draws\n", "## Draws\n\nNone.\n", "says None. and has a table", "## Draws"),
}


@pytest.mark.parametrize("name", BENT)
def test_names_what_is_wrong(name: str, spec_text: str) -> None:
    old, new, words, place = BENT[name]
    assert old in spec_text
    text = spec_text.replace(old, new, 1)
    with pytest.raises(SpecError) as caught:
        parse_spec(text, "lamp/spec.md")
    assert words in str(caught.value)
    assert caught.value.next_step
    if place:
        assert f"lamp/spec.md, line {line_of(text, place)}" == str(caught.value.where)


def test_rules_inside_code_are_no_rules(spec_text: str) -> None:
    spec = parse_spec(spec_text.replace("A lamp", "```\n- **R1** not a rule\n```\n\nA lamp", 1), "spec.md")
    assert len(spec.rules) == 7


def test_files(tmp_path: Path, spec_text: str) -> None:
    path = tmp_path / "spec.md"
    with pytest.raises(SpecError, match=r"spec\.md is missing"):
        load_spec(path)
    path.write_bytes(spec_text.replace("\n", "\r\n").encode("utf-8-sig"))
    assert load_spec(path).rules == parse_spec(spec_text, "other").rules
    path.write_bytes(b"# lamp\n\xe9")
    with pytest.raises(SpecError, match="not UTF-8") as caught:
        load_spec(path)
    assert "line 2" in str(caught.value)
    path.write_bytes(b"")
    with pytest.raises(SpecError, match="no title"):
        load_spec(path)


FORAGER = (built_in_folder() / "forager" / "spec.md").read_text("utf-8").split("\n")
LINES = st.sampled_from(
    [*FORAGER, "", "|", "- **R1**", "- ", "```", "## ", "# ", "> - **R3** x", "| a |\n|---|"]
)


@settings(max_examples=150, deadline=None)
@given(start=st.integers(0, len(FORAGER)), length=st.integers(0, 12), lines=st.lists(LINES, max_size=4))
def test_whatever_the_file_holds_is_read_or_refused(start: int, length: int, lines: list[str]) -> None:
    """No other error than SpecError, whatever lines are lost and put in."""
    text = "\n".join([*FORAGER[:start], *lines, *FORAGER[start + length :]])
    with contextlib.suppress(SpecError):
        parse_spec(text, "spec.md")
