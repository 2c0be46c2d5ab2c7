"""The API pages are complete: whatever a page of the docs imports, and whatever is exported, is described on one."""

from __future__ import annotations

import ast
import importlib
import re

import pytest

SHOWN = re.compile(r"^::: (simulacrum[\w.]*)", re.MULTILINE)
BLOCK = re.compile(r"^ *```python\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
# Shown by what they hand on, or data that a page of its own explains.
HELPERS = {"checks", "ended"}  # what several adapters share
ELSEWHERE = {"simulacrum.lower.rules": "the native form lists all rules", "simulacrum.rng": "hands names on"}


@pytest.fixture(scope="module")
def described(root) -> set[str]:
    pages = sorted((root / "docs").glob("api*.md"))
    return {name for page in pages for name in SHOWN.findall(page.read_text(encoding="utf-8"))}


def imported(text: str) -> set[str]:
    """The modules of simulacrum that a page's Python blocks import, with the home of a name that a room hands on."""
    found = set()
    for block in BLOCK.findall(text):
        lines = [line.strip() for line in block.splitlines() if re.match(r"\s*from simulacrum", line)]
        for node in ast.parse("\n".join(line for line in lines if not line.endswith("("))).body:
            assert isinstance(node, ast.ImportFrom)
            for alias in node.names:
                home = getattr(getattr(importlib.import_module(node.module), alias.name), "__module__", node.module)
                found.add(home if home.startswith(f"{node.module}.") else node.module)
    return found


def test_what_pages_import_is_described(root, described):
    for page in [root / "README.md", *sorted((root / "docs").glob("*.md"))]:
        if "adapters" in page.read_text(encoding="utf-8") and page.name == "libraries.md":
            continue  # its libraries may be absent; the adapters have a test of their own
        missing = imported(page.read_text(encoding="utf-8")) - described - set(ELSEWHERE)
        assert missing == set(), page.name


def test_every_adapter_is_described(root, described):
    names = {path.stem for path in (root / "simulacrum" / "adapters").glob("*.py") if not path.stem.startswith("_")}
    names -= HELPERS
    assert {f"simulacrum.adapters.{name}" for name in names} - described == set()


def test_everything_that_is_exported_is_described(described):
    import simulacrum

    for name in set(simulacrum.__all__) - {"errors", "__version__"}:
        home = getattr(simulacrum, name).__module__
        assert home in described or home.rpartition(".")[0] in described, (name, home)


def test_a_module_that_no_page_describes_is_found():
    text = "```python\nfrom simulacrum.harness.compare import compare_field\n```\n"
    assert imported(text) == {"simulacrum.harness.compare"}
