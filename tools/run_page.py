"""Run the ```python and ```bash blocks of a Markdown page, in order, in a fresh process and an empty folder.

    python tools/run_page.py docs/quickstart.md

Python blocks of a page share one namespace; bash blocks run under `bash -euo pipefail`; all share one working
folder. A block is left out only by a comment on the line above it, with a reason:

    <!-- not executed: it installs packages -->

A bash block that shows a failure says so in the same place, and must then exit with just that code:

    <!-- exits with 1 -->

A ```text block that shows what the block before it printed says so too, and then each of its lines must have been
printed (a line of dots stands for what is left out):

    <!-- printed -->

Pages are read in a clone of the repository, so training/ and docs/examples/ stand in the working folder too.

Exit codes: 0 all blocks ran, 1 a block failed, 2 the page cannot be read as meant.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
import textwrap
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FENCE = re.compile(r"^(?P<indent> *)(?P<ticks>`{3,})(?P<language>[\w+-]*)")
OPT_OUT = re.compile(r"^\s*<!--\s*not executed\b:?(?P<reason>.*?)-->\s*$")
EXIT_CODE = re.compile(r"^\s*<!--\s*exits with (?P<code>\d+)\s*-->\s*$")
PRINTED = re.compile(r"^\s*<!--\s*printed\s*-->\s*$")
LANGUAGES = ("python", "bash")
ROOT = Path(__file__).resolve().parent.parent


class PageError(Exception):
    """The page's own marks are wrong: a fence that never closes, an opt-out without a reason."""


@dataclass(frozen=True)
class Block:
    """One fenced block. `line` is where its code starts in the page, `reason` why it is left out, `exit_code` what a
    bash block has to exit with."""

    language: str
    line: int
    code: str
    reason: str | None
    exit_code: int = 0


def parse(page: Path) -> list[Block]:
    """Return the page's Python and bash blocks, and the text they are said to print, in order. Raises PageError."""
    lines = page.read_text(encoding="utf-8").splitlines()
    blocks: list[Block] = []
    at = 0
    while at < len(lines):
        fence = FENCE.match(lines[at])
        if fence is None:
            at += 1
            continue
        closing = fence["ticks"]
        end = next((n for n in range(at + 1, len(lines)) if lines[n].strip() == closing), None)
        if end is None:
            raise PageError(f"{page}:{at + 1}: this block is never closed")
        if fence["language"] in LANGUAGES:
            code = textwrap.dedent("\n".join(lines[at + 1 : end]))
            expected = EXIT_CODE.match(lines[at - 1]) if at else None
            exit_code = int(expected["code"]) if expected else 0
            blocks.append(Block(fence["language"], at + 2, code, opt_out(page, lines, at), exit_code))
        if fence["language"] == "text" and at and PRINTED.match(lines[at - 1]):
            blocks.append(Block("text", at + 2, "\n".join(lines[at + 1 : end]), None))
        at = end + 1
    return blocks


def opt_out(page: Path, lines: list[str], at: int) -> str | None:
    """Return the reason given on the line above line index `at`, or None. Raises PageError if it is empty."""
    found = OPT_OUT.match(lines[at - 1]) if at else None
    if found is None:
        return None
    reason = found["reason"].strip()
    if not reason:
        raise PageError(f"{page}:{at}: say why: <!-- not executed: reason -->")
    return reason


def run_python(page: Path, block: Block, namespace: dict[str, Any]) -> str:
    # Empty lines in front make a traceback name the page and the page's own line.
    source = "\n" * (block.line - 1) + block.code
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(source, str(page), "exec"), namespace)
    finally:
        print(printed.getvalue(), end="", flush=True)
    return printed.getvalue()


def run_bash(block: Block) -> str:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    environment = {**os.environ, "PATH": path}
    command = ["bash", "-euo", "pipefail", "-c", block.code]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True)
    print(done.stdout, end="", flush=True)
    if done.returncode != block.exit_code:
        raise subprocess.CalledProcessError(done.returncode, "bash")
    return done.stdout


def unprinted(block: Block, output: str) -> list[str]:
    """The lines of a ```text block that are not among the lines of the output."""
    given = {line.strip() for line in output.splitlines()}
    return [line for line in block.code.splitlines() if line.strip(" .") and line.strip() not in given]


def run(page: Path, block: Block, namespace: dict[str, Any]) -> str | None:
    """Run one block and return what it printed; None where it failed, which is printed with the page's line."""
    try:
        return run_python(page, block, namespace) if block.language == "python" else run_bash(block)
    except subprocess.CalledProcessError as error:
        print(f"{page}:{block.line}: this bash block exited with {error.returncode}", file=sys.stderr)
    except BaseException:
        traceback.print_exc()
        print(f"{page}:{block.line}: this Python block raised", file=sys.stderr)
    return None


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print("usage: python tools/run_page.py PAGE.md", file=sys.stderr)
        return 2
    page = Path(arguments[0]).resolve()
    try:
        blocks = parse(page)
    except (OSError, PageError) as error:
        print(error, file=sys.stderr)
        return 2
    namespace: dict[str, Any] = {"__name__": "__main__"}
    ran, output = 0, ""
    with tempfile.TemporaryDirectory(prefix="page-") as folder:
        os.chdir(folder)
        os.mkdir("docs")
        for name in ("training", "docs/examples"):
            os.symlink(ROOT / name, name, target_is_directory=True)
        for block in blocks:
            if block.reason is not None:
                print(f"{page.name}:{block.line}: not executed: {block.reason}", flush=True)
                continue
            if block.language == "text":
                missing = unprinted(block, output)
                if missing:
                    print(f"{page}:{block.line}: the block above did not print: {missing[0]!r}", file=sys.stderr)
                    return 1
                continue
            printed = run(page, block, namespace)
            if printed is None:
                return 1
            ran, output = ran + 1, printed
        os.chdir(page.parent)
    print(f"{page.name}: {ran} of {sum(block.language in LANGUAGES for block in blocks)} blocks ran")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
