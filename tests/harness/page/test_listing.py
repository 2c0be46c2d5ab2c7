"""Source as the page shows it."""

from __future__ import annotations

from pathlib import Path

from simulacrum.contract.source import read_source
from simulacrum.harness.explain.line_watcher import RanLine
from simulacrum.harness.explain.written import SourceLine
from simulacrum.harness.page.listing import brief, coloured, listing

TEXT = '''"""A file."""


class Walk:
    def step(self):
        """Two
        lines."""
        x = f"{1}" + "a"  # R1
        return x

    def other(self):
        return 2
'''


def test_colours_keep_every_character() -> None:
    parts = coloured(TEXT)
    assert "\n".join("".join(text for _, text in parts[line]) for line in sorted(parts)) == TEXT
    assert ("c", "# R1") in parts[8]
    assert ("k", "return") in parts[9]
    assert parts[7] == (("s", "        lines.\"\"\""),)
    assert ("n", "2") in parts[12]


def test_only_functions_with_a_part_are_listed(tmp_path: Path) -> None:
    path = tmp_path / "fast.py"
    path.write_text(TEXT, encoding="utf-8")
    ran = (RanLine(8, "step", "", ("R1",), {"x": [1.5] * 40}),)
    made = listing(read_source(path), (SourceLine(8, "", 1, ("R1",)),), ran, 8)
    (function,) = made.functions
    assert [line.line for line in function] == [5, 6, 7, 8, 9]
    marked = function[3]
    assert (marked.marked, marked.ran, marked.first, marked.rules) == (True, True, True, ("R1",))
    ((name, value),) = marked.values
    assert name == "x"
    assert value == brief([1.5] * 40)
    assert value.endswith("...")
    assert function[0].ran  # no event is told of a `def`, and it is not idle for that
    assert not function[4].ran


def test_constants_stand_before_the_functions(tmp_path: Path) -> None:
    path = tmp_path / "fast.py"
    path.write_text("ONE = 1\n" + TEXT, encoding="utf-8")
    made = listing(read_source(path), (SourceLine(1, "ONE = 1", 2), SourceLine(9, "", 0)), (), None)
    assert [line.line for line in made.functions[0]] == [1]
    assert len(made.functions) == 2
