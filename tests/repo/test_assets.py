"""Every figure of the docs comes from a command: docs/assets/sources.json says which, and is held to it here."""

from __future__ import annotations

import fnmatch
import json
import re
from pathlib import Path

import pytest

ASSETS = Path(__file__).parents[2] / "docs" / "assets"
ROOT = ASSETS.parents[1]
SOURCES = "sources.json"
HAND_WRITTEN = {".css", ".js", ".json"}  # what a person writes; a picture or a measurement is none of it


def problems(names: list[str], sources: dict[str, str]) -> list[str]:
    """What is wrong between the files of the folder and the list of where they come from."""
    found = []
    for name in names:
        entries = [pattern for pattern in sources if fnmatch.fnmatchcase(name, pattern)]
        if len(entries) != 1:
            found.append(f"{name}: {len(entries)} entries in {SOURCES}, not one")
    for pattern, command in sources.items():
        if not fnmatch.filter(names, pattern):
            found.append(f"{pattern}: no such file")
        if command == "by hand" and Path(pattern).suffix not in HAND_WRITTEN:
            found.append(f"{pattern}: a picture by hand")
    return found


@pytest.fixture(scope="module")
def sources() -> dict[str, str]:
    return json.loads((ASSETS / SOURCES).read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def names(project_files) -> list[str]:
    prefix = ASSETS.relative_to(ROOT).as_posix() + "/"
    return [name.removeprefix(prefix) for name in project_files if name.startswith(prefix)]


def test_every_asset_has_one_source_and_every_source_an_asset(names, sources):
    assert problems(names, sources) == []


def test_a_stray_file_and_an_entry_without_one_are_found():
    sources = {"a.png": "make bench-docs", "b*.json": "make bench", "c.png": "by hand"}
    assert problems(["a.png", "b1.json", "c.png", "d.png"], sources) == [
        "d.png: 0 entries in sources.json, not one",
        "c.png: a picture by hand",
    ]
    assert problems(["a.png"], {"a.png": "make bench", "b*.json": "make bench"}) == ["b*.json: no such file"]


def test_every_command_is_there(sources):
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for name, command in sources.items():
        words = command.split()
        if words[0] == "make":
            assert words[1] in targets, name
        elif words[0] == "python":
            assert (ROOT / words[1]).is_file(), name
        else:
            assert words[0] in ("simulacrum", "npm") or command == "by hand", name


def test_every_picture_is_shown_somewhere(names):
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    for name in names:
        # Those of environments are put into pages that are made when the site is built.
        if Path(name).suffix in (".png", ".gif", ".webp", ".svg") and not name.startswith("environments/"):
            assert f"assets/{name}" in text, name
