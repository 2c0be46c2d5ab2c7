"""The pages a person reads: their code runs, and the runner that says so can fail."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RUNNER = ROOT / "tools" / "run_page.py"
# Pages that validate or train by themselves take most of a minute each; their turn is `make test-long`.
LONG = {"README.md"} | {
    f"docs/{name}.md"
    for name in (
        *("bringing-an-environment", "checks", "cookbook", "native", "quickstart"),
        *("viewer", "walkthrough", "webassembly-and-cuda", "writing-an-environment"),
    )
}
# Of these, what is on no way that a newcomer takes, and takes most of a minute or more.
NIGHTLY = {f"docs/{name}.md" for name in ("bringing-an-environment", "checks", "viewer", "webassembly-and-cuda")}
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def run_page(page, tmp_path):
    # A page must not read or leave anything in the reader's own folders.
    environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state"), "NO_COLOR": "1"}
    command = [sys.executable, str(RUNNER), str(page)]
    return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600)


def page_cases():
    """Every page as a parameter, by its path."""
    names = [page.relative_to(ROOT).as_posix() for page in PAGES]
    marks = dict.fromkeys(LONG, (pytest.mark.long,)) | dict.fromkeys(NIGHTLY, (pytest.mark.long, pytest.mark.nightly))
    return [pytest.param(page, id=name, marks=marks.get(name, ())) for page, name in zip(PAGES, names, strict=True)]


def test_the_long_pages_are_there():
    assert {page.relative_to(ROOT).as_posix() for page in PAGES} > LONG > NIGHTLY


@pytest.mark.parametrize("page", page_cases())
def test_blocks_of_page_run(page, tmp_path):
    done = run_page(page, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def written(tmp_path, *lines):
    page = tmp_path / "page.md"
    page.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return page


def test_blocks_share_a_namespace_and_a_folder(tmp_path):
    page = written(
        tmp_path,
        *("```python", "x = 20", "```", "text", "```bash", "echo 22 > number", "```"),
        *("    ```python", "    print(x + int(open('number').read()))", "    ```"),
    )
    done = run_page(page, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "42\n" in done.stdout
    assert "3 of 3 blocks ran" in done.stdout
    assert not (tmp_path / "number").exists()


@pytest.mark.parametrize(
    ("language", "code", "line"),
    [
        ("python", "raise SystemExit", 4),
        ("python", "1 / 0", 4),
        ("python", "def :", 4),
        ("bash", "false | cat", 4),
    ],
)
def test_failing_block_is_told_with_its_line(tmp_path, language, code, line):
    page = written(tmp_path, "# Title", "", f"```{language}", code, "```")
    done = run_page(page, tmp_path)
    assert done.returncode == 1
    assert f"page.md:{line}:" in done.stderr


def test_block_that_shows_a_failure_must_fail_so(tmp_path):
    assert run_page(written(tmp_path, "<!-- exits with 3 -->", "```bash", "exit 3", "```"), tmp_path).returncode == 0
    done = run_page(written(tmp_path, "<!-- exits with 3 -->", "```bash", "true", "```"), tmp_path)
    assert done.returncode == 1
    assert "page.md:3: this bash block exited with 0" in done.stderr


@pytest.mark.parametrize("block", [("```python", "print('x 41')", "```"), ("```bash", "echo x 41", "```")])
def test_what_a_page_says_was_printed_must_have_been(tmp_path, block):
    shown = written(tmp_path, *block, "so:", "<!-- printed -->", "```text", "...", "  x 41", "```")
    assert run_page(shown, tmp_path).returncode == 0
    done = run_page(written(tmp_path, *block, "<!-- printed -->", "```text", "x 42", "```"), tmp_path)
    assert done.returncode == 1
    assert "page.md:6: the block above did not print: 'x 42'" in done.stderr


def test_opt_out_needs_a_reason(tmp_path):
    page = written(tmp_path, "<!-- not executed: it takes a day -->", "```bash", "false", "```")
    done = run_page(page, tmp_path)
    assert done.returncode == 0
    assert "it takes a day" in done.stdout
    page = written(tmp_path, "<!-- not executed: -->", "```bash", "false", "```")
    assert run_page(page, tmp_path).returncode == 2


def test_block_that_never_closes_is_an_error(tmp_path):
    done = run_page(written(tmp_path, "```python", "x = 1"), tmp_path)
    assert done.returncode == 2
    assert "never closed" in done.stderr


def test_every_make_command_that_is_told_exists():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for page in [*PAGES, ROOT / ".ci" / "run", ROOT / "pyproject.toml"]:
        text = page.read_text(encoding="utf-8")
        told = set(re.findall(r"`make ([a-z-]+)|^\s*(?:stage \w+ )?make ([a-z-]+)", text, re.MULTILINE))
        assert {first or second for first, second in told} <= targets, page
