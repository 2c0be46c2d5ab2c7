"""The repository speaks of the project alone: no machine, no registry, no place outside it."""

from __future__ import annotations

import pytest

# Written in parts, so that this file does not name them either.
WORDS = [
    "/".join(("", "work", "")),
    "shared" + "/",
    "pypi" + ".org",
    "python" + "hosted.org",
    "npm" + "js.org",
    "debian" + ".org",
    "download.py" + "torch.org",
    "unpkg" + ".com",
    "/root" + "/",
]


def readable(path):
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:  # a picture or another binary file
        return ""


def sentences_with(word, root, names):
    return [
        f"{name}:{number}: {line.strip()}"
        for name in names
        for number, line in enumerate(readable(root / name).splitlines(), 1)
        if word in line
    ]


@pytest.mark.parametrize("word", WORDS)
def test_no_file_names(word, root, project_files):
    assert len(project_files) > 20
    assert sentences_with(word, root, project_files) == []


def test_the_search_finds(root, project_files):
    assert sentences_with("requires-python", root, project_files)


def test_no_file_is_left_half_written(root, project_files):
    marks = ["<<<<" + "<<<", ">>>>" + ">>>"]
    assert [hit for mark in marks for hit in sentences_with(mark, root, project_files)] == []
