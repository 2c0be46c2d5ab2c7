"""`simulacrum list`: the gate of each environment, and why."""

from __future__ import annotations

import json

import pytest


def rows(cli, *paths):
    done = cli("list", *paths, "--json")
    assert done.code == 0
    document = json.loads(done.out)
    assert document["version"] == 1
    return {row["name"]: row for row in document["environments"]}


def test_lists_built_in_environments(cli):
    done = cli("list")
    assert done.code == 0
    assert "simulacrum/toywalk-v0" in done.out
    assert "simulacrum/forager-v0" in done.out


def test_keys_of_the_json(cli, counter):
    row = rows(cli, counter)["counter"]
    names = {"id", "name", "gate", "why", "validated", "folder", "origin", "next_command", "unbuilt", "mutants"}
    assert set(row) == names | {"transfer"}
    assert row["id"] == "simulacrum/counter-v0"
    assert row["gate"] == "missing"
    assert row["folder"] == str(counter)
    assert row["next_command"] == f"simulacrum validate {counter}"


@pytest.mark.parametrize(
    ("file", "content", "why"),
    [
        ("schema.json", "{", "schema.json"),
        ("spec.md", "# nothing\n", "missing heading"),
        ("spec.md", b"\xff\xfe", "UTF-8"),
    ],
)
def test_broken_package_is_listed_with_its_error(cli, counter, file, content, why):
    (counter / file).write_bytes(content if isinstance(content, bytes) else content.encode())
    row = rows(cli, counter)["counter"]
    assert row["gate"] == "broken"
    assert why in " ".join(row["why"])
    done = cli("list", counter)
    assert done.code == 0
    assert "broken" in done.out


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"format": "simulacrum validation rep', "not JSON"),
        ("[]", "not a JSON object"),
        ('{"format": "simulacrum validation report", "version": 99}', "another version"),
        ('{"format": "simulacrum validation report", "version": 1}', "does not fit its schema"),
    ],
)
def test_report_that_was_cut_or_edited_is_damaged(cli, counter, text, why):
    (counter / "validation_report.json").write_text(text)
    row = rows(cli, counter)["counter"]
    assert row["gate"] == "damaged"
    assert why in row["why"][0]


def test_unreadable_file_is_broken(cli, counter):
    (counter / "spec.md").unlink()
    (counter / "spec.md").symlink_to("spec.md")  # reading it is an error for anybody, also for root
    assert rows(cli, counter)["counter"]["gate"] == "broken"


def test_fits_80_columns_and_widens(cli, monkeypatch, counter):
    assert max(map(len, cli("list", counter).out.splitlines()[:-1])) <= 80
    monkeypatch.setenv("COLUMNS", "140")
    assert "folder" in cli("list", counter).out.splitlines()[0]


def test_no_color_and_no_terminal_mean_no_escapes(cli, monkeypatch):
    assert "\x1b" not in cli("list").out
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in cli("list").out
    monkeypatch.setenv("NO_COLOR", "1")
    coloured = [part for part in cli("list").out.split("\x1b[")[1:] if part.startswith(("3", "4", "9", "1;3"))]
    assert coloured == []
