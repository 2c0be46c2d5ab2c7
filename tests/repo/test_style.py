"""tools/style.py sees what it says it sees, and leaves alone what is as it should be."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
import style

PAGE = Path(__file__).parents[2] / "docs" / "style.md"
GOOD = '"""A module."""\n\n\ndef public(x):\n    """What comes back."""\n    a = x\n    b = a\n    return b\n'
SAYS = '    """What comes back."""\n'
TWIN = "class Game:\n    def reward(self, x) -> Tensor:\n        return x{}\n"


def broken(root: Path, file: str, text: str) -> set[str]:
    """The rules that a tree of one file breaks."""
    path = root / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return {name for name, places in style.violations(list(style.RULES), root).items() if places}


@pytest.mark.parametrize(
    ("rule", "file", "text"),
    [
        ("files", "training/x.py", "x = 1\n" * 251),
        ("long_functions", "tools/x.py", "def f():\n" + "    x = 1\n" * 40),
        ("docstrings", "simulacrum/x.py", GOOD.replace(SAYS, "    c = 1\n")),
        ("docstrings", "simulacrum/x.py", GOOD.replace('"""A module."""\n', "")),
        ("ignores", "simulacrum/x.py", GOOD + "x: int = None  # type: ignore\n"),
        ("ignores", "tests/x.py", "import os  # noqa: F401\n"),
        ("ignores", "tests/x.py", "import sys\nimport os  # noqa: F401\n"),
        ("ignores", "tests/x.py", "# the test needs it\nimport os  # noqa\n"),
        ("docstrings", "simulacrum/x.py", GOOD.replace("def p", '@rule("a.name")\ndef p').replace(SAYS, "    c = 1\n")),
        ("open_ends", "tests/x.py", "x = 1  # TODO more of it\n"),
        ("shapes", "envs/game/fast.py", TWIN.format("")),
    ],
)
def test_each_rule_finds_a_planted_violation(tmp_path, rule, file, text):
    assert broken(tmp_path, file, text) == {rule}


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("simulacrum/x.py", GOOD),
        ("simulacrum/x.py", GOOD + "x: int = None  # type: ignore[assignment]  # the test fills it\n"),
        ("tests/x.py", 'x = "# TODO is only a text"\n'),
        ("tests/x.py", "# the test needs it\nimport os  # noqa: F401\n"),
        ("simulacrum/x.py", GOOD.replace("def p", '@rule("it is a rule")\ndef p').replace(SAYS, "    c = 1\n")),
        ("envs/game/fast.py", TWIN.format("  # float32 [N]")),
        ("tools/x.py", "def f():\n" + "    x = 1\n" * 39),
    ],
)
def test_what_is_as_it_should_be_is_left_alone(tmp_path, file, text):
    assert broken(tmp_path, file, text) == set()


def test_the_command_tells_and_does_not_fail(root):
    command = [sys.executable, str(root / "tools" / "style.py"), "open_ends"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("open_ends: Nothing is left to be done in a comment.")


def test_the_page_has_every_rule_of_the_command():
    page = PAGE.read_text(encoding="utf-8")
    for name in style.RULES:
        assert f"| `{name}` |" in page, name


def test_pages_say_how_long_a_line_may_be_as_the_formatter_does(root):
    settings = (root / "pyproject.toml").read_text(encoding="utf-8")
    (length,) = re.findall(r"^line-length = (\d+)$", settings, re.MULTILINE)
    for page, words in (("CONTRIBUTING.md", "Lines up to {}"), ("docs/style.md", "Lines of at most {}")):
        assert words.format(f"{length} characters") in (root / page).read_text(encoding="utf-8"), page
