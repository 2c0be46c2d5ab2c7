"""Files that others' programs read: the citation and the forms for issues, held to the schemas of those programs."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

pytest.importorskip("check_jsonschema")
yaml = pytest.importorskip("yaml")
if sys.version_info >= (3, 11):
    import tomllib

FORMS = ("bug", "feature", "twins")


def check(schema, *paths):
    """What check-jsonschema says of files, by a schema that comes with it."""
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", *map(str, paths)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def form(root, name):
    return yaml.safe_load((root / ".github" / "ISSUE_TEMPLATE" / f"{name}.yml").read_text(encoding="utf-8"))


def test_citation_is_valid(root):
    done = check("citation-file-format", root / "CITATION.cff")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(sys.version_info < (3, 11), reason="tomllib came with Python 3.11")
def test_citation_says_what_the_package_says(root):
    cited = yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf-8"))
    package = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert cited["title"] == package["name"]
    assert (cited["version"], cited["license"]) == (package["version"], package["license"])
    assert set(cited["keywords"]) <= set(package["keywords"])
    assert cited["authors"][0]["name"] in (root / "LICENSE").read_text(encoding="utf-8")


def test_forms_are_valid(root):
    folder = root / ".github" / "ISSUE_TEMPLATE"
    assert sorted(path.stem for path in folder.iterdir()) == sorted([*FORMS, "config"])
    done = check("github-issue-forms", *(folder / f"{name}.yml" for name in FORMS))
    assert done.returncode == 0, done.stdout + done.stderr
    done = check("github-issue-config", folder / "config.yml")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("schema", "file", "old", "new"),
    [
        ("citation-file-format", "CITATION.cff", "authors:", "writers:"),
        ("citation-file-format", "CITATION.cff", "license: MIT", "license: MIT-0.1"),
        ("github-issue-forms", ".github/ISSUE_TEMPLATE/bug.yml", "type: textarea", "type: text"),
        ("github-issue-forms", ".github/ISSUE_TEMPLATE/twins.yml", "label:", "title:"),
    ],
)
def test_a_broken_file_is_refused(root, tmp_path, schema, file, old, new):
    text = (root / file).read_text(encoding="utf-8")
    assert old in text
    broken = tmp_path / file.rpartition("/")[2]
    broken.write_text(text.replace(old, new, 1), encoding="utf-8")
    assert check(schema, broken).returncode == 1


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("bug", ("simulacrum --version", "simulacrum doctor", "simulacrum validate")),
        ("twins", ("simulacrum --version", "failures/ID.json", "simulacrum explain", "simulacrum validate")),
    ],
)
def test_forms_ask_for_what_is_needed_to_see_it_again(root, name, words):
    asked = yaml.safe_dump([item["attributes"] for item in form(root, name)["body"]])
    for word in words:
        assert word in asked


@pytest.mark.parametrize("name", FORMS)
def test_commands_that_forms_name_exist(root, name, run_python):
    named = set(re.findall(r"`simulacrum ([a-z-]+)", yaml.safe_dump(form(root, name), width=10_000)))
    shown = run_python("from simulacrum.cli import main; main(['--help'])").stdout
    assert {word for word in named if not re.search(rf"(?<![\w-]){word}(?![\w-])", shown)} == set()
