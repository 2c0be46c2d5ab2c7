"""What the article plants: one place of one of the repository's files, and nothing else."""

from __future__ import annotations

import difflib

import pytest
from builder.faults import ENV, FAULTS, GROUP, ROOT, copy_env
from builder.site import SUGGESTIONS
from mutants.table import FRAMEWORK, TWINS

BY_KEY = {fault.key: fault for fault in FAULTS}
IN_TABLE = {mutant.name: mutant for mutant in (*TWINS, *FRAMEWORK)}


def source(edit):
    inside = edit.file.startswith("simulacrum/")
    return (ROOT / edit.file if inside else ROOT / "envs" / ENV / edit.file).read_text("utf-8")


def changed_places(before: str, after: str) -> int:
    matcher = difflib.SequenceMatcher(None, before.splitlines(), after.splitlines(), autojunk=False)
    return sum(tag != "equal" for tag, *_ in matcher.get_opcodes())


@pytest.mark.parametrize("key", BY_KEY)
def test_fault_changes_one_place(key):
    (edit,) = BY_KEY[key].mutant.edits
    text = source(edit)
    assert text.count(edit.old) == 1
    assert changed_places(text, text.replace(edit.old, edit.new)) == 1


def test_changed_places_counts_them():
    assert changed_places("a\nb\nc\n", "a\nb\nc\n") == 0
    assert changed_places("a\nb\nc\n", "x\nb\ny\n") == 2


@pytest.mark.parametrize("key", [key for key, fault in BY_KEY.items() if not fault.mutant.in_framework])
def test_copy_with_a_fault_differs_in_that_file_alone(key, tmp_path):
    fault = BY_KEY[key]
    made = copy_env(ENV, tmp_path, fault.mutant.edits)
    differing = [
        path.name
        for path in (ROOT / "envs" / ENV).glob("*")
        if path.suffix in (".py", ".md", ".json") and path.name != "validation_report.json"
        if path.read_bytes() != (made / path.name).read_bytes()
    ]
    assert differing == [fault.mutant.edits[0].file]


def test_faults_that_name_checks_are_those_that_the_battery_is_held_to():
    named = [fault for fault in FAULTS if fault.mutant.caught_by]
    assert {fault.key for fault in named} == {"leak", "clamp", "late", "final"}
    assert all(fault.mutant is IN_TABLE[fault.mutant.name] for fault in named)


def test_only_the_leak_has_groups():
    assert {fault.key: fault.modules for fault in FAULTS if fault.sizes} == {"leak": (("leak1", 1), ("leak8", GROUP))}


@pytest.mark.parametrize(("title", "old", "new"), SUGGESTIONS)
def test_suggestion_changes_one_place_of_the_reference(title, old, new):
    text = (ROOT / "envs" / ENV / "reference.py").read_text("utf-8")
    assert text.count(old) == 1
    assert changed_places(text, text.replace(old, new)) == 1
