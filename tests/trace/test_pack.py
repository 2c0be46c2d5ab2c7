"""Packs: complete, checkable, readable without this package, and never half-written."""

from __future__ import annotations

import csv
import hashlib
import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from simulacrum.errors import TraceError, UsageError
from simulacrum.trace import export_pack, read_pack, verify_pack, write_npz, write_trajectory
from simulacrum.trace.jsonio import canonical, sha256


@pytest.fixture
def schema_path(schema, tmp_path):
    path = tmp_path / "schema.json"
    path.write_text(json.dumps(schema.raw, indent=2))
    return path


@pytest.fixture
def pack(schema_path, trajectory, tmp_path):
    return export_pack(schema_path, [trajectory, replace(trajectory, seed=5)], tmp_path / "pack")


def test_a_pack_gives_back_what_went_in(pack, schema, trajectory, schema_path):
    found, own_schema, rows = read_pack(pack.folder)
    assert rows == [trajectory, replace(trajectory, seed=5)]
    assert own_schema.raw == schema.raw
    assert found.counts == {"trajectories": 2, "episodes": 4, "steps": 10}
    assert found.env_id == "simulacrum/sample-v0"
    assert (pack.folder / "schema.json").read_bytes() == schema_path.read_bytes()
    assert found.manifest["trajectories"][0]["returns"] == [1.5, 2.0]


def test_files_of_every_format_go_in(schema_path, schema, trajectory, tmp_path):
    rows = [replace(trajectory, seed=seed) for seed in range(4)]
    for row, suffix in zip(rows, (".json", ".jsonl"), strict=False):
        write_trajectory(tmp_path / f"row{suffix}", row, schema)
    write_npz(tmp_path / "rows.npz", rows[2:], schema)
    export_pack(
        schema_path, [tmp_path / name for name in ("row.json", "row.jsonl", "rows.npz")], tmp_path / "p"
    )
    assert read_pack(tmp_path / "p")[2] == rows


def test_hashes_can_be_checked_without_this_package(pack):
    manifest = json.loads((pack.folder / "manifest.json").read_text())
    for entry in manifest["files"]:
        assert hashlib.sha256((pack.folder / entry["path"]).read_bytes()).hexdigest() == entry["sha256"]
    stated = manifest.pop("sha256")
    text = json.dumps(manifest, sort_keys=True, separators=(",", ":"))
    assert hashlib.sha256(text.encode()).hexdigest() == stated


def test_flat_columns_hold_the_values(pack, trajectory):
    with min((pack.folder / "columns").iterdir()).open(newline="") as file:
        rows = list(csv.DictReader(file))
    described = json.loads((pack.folder / "columns.json").read_text())["columns"]
    assert list(rows[0]) == [column["name"] for column in described]
    assert [row["kind"] for row in rows] == ["start", *["step"] * 3, "start", *["step"] * 2]
    assert (rows[0]["reward"], rows[0]["action"], rows[0]["terminated"]) == ("", "", "")
    step = rows[2]
    assert (step["state.energy"], step["state.berry_x.1"], step["state.grid.0.1"]) == ("0.2", "-2", "-0.0")
    assert (step["state.grid.1.0"], step["state.grid.1.1"], step["state.alive"]) == ("inf", "nan", "1")
    assert (step["state.big"], step["action_mask.1"], step["info.distance"]) == (str(2**62 + 2), "0", "2")
    assert (step["observation.1"], step["reward"], rows[3]["terminated"]) == ("-1.0", "0.5", "1")


def change_byte(folder):
    path = min((folder / "trajectories").iterdir())
    path.write_bytes(path.read_bytes().replace(b'"reward": 1.5', b'"reward": 2.5'))


SPOILERS = {
    "a byte changed": (change_byte, "changed: trajectories/00000"),
    "a file gone": (lambda f: (f / "README.md").unlink(), "missing: README.md"),
    "a file too many": (
        lambda f: (f / "columns" / "x.csv").write_text(""),
        "not in the manifest: columns/x.csv",
    ),
    "the schema": (lambda f: (f / "schema.json").write_text("{}"), "changed: schema.json"),
    "the manifest": (
        lambda f: (f / "manifest.json").write_text((f / "manifest.json").read_text().replace(": 10", ": 11")),
        "manifest was changed",
    ),
    "the manifest cut": (
        lambda f: (f / "manifest.json").write_text((f / "manifest.json").read_text()[:200]),
        "too early",
    ),
    "the manifest gone": (lambda f: (f / "manifest.json").unlink(), "cannot be read"),
    "another version": (
        lambda f: (f / "manifest.json").write_text('{"format": "simulacrum-pack", "version": 2}'),
        "another version",
    ),
    "another kind": (lambda f: (f / "manifest.json").write_text("[1]"), "not a pack's manifest"),
}


@pytest.mark.parametrize("name", SPOILERS)
def test_verification_names_what_is_wrong(name, pack):
    assert verify_pack(pack.folder) == pack
    spoil, message = SPOILERS[name]
    spoil(pack.folder)
    with pytest.raises(TraceError, match=message):
        verify_pack(pack.folder)


def test_a_manifest_cannot_point_out_of_the_pack(pack):
    path = pack.folder / "manifest.json"
    for bad in ("../secret", "/etc/passwd"):
        manifest = {name: value for name, value in pack.manifest.items() if name != "sha256"}
        manifest["files"] = [{"path": bad, "bytes": 0, "sha256": ""}]
        path.write_text(json.dumps({**manifest, "sha256": sha256(canonical(manifest))}))
        with pytest.raises(TraceError, match="leads out of the pack"):
            verify_pack(pack.folder)


def test_what_stands_in_the_way_is_not_touched(schema_path, trajectory, tmp_path, pack):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "thesis.txt").write_text("years of work")
    for overwrite in (False, True):
        with pytest.raises(TraceError, match="something else stands"):
            export_pack(schema_path, [trajectory], folder, overwrite=overwrite)
    assert (folder / "thesis.txt").read_text() == "years of work"
    with pytest.raises(TraceError, match="a pack already"):
        export_pack(schema_path, [trajectory], pack.folder)
    assert verify_pack(pack.folder) == pack
    newer = export_pack(schema_path, [trajectory], pack.folder, overwrite=True)
    assert verify_pack(pack.folder) == newer
    assert newer.counts["trajectories"] == 1
    (tmp_path / "empty").mkdir()
    export_pack(schema_path, [trajectory], tmp_path / "empty")
    assert verify_pack(tmp_path / "empty").counts["trajectories"] == 1


def test_a_disk_that_fills_up_leaves_the_old_pack(pack, schema_path, trajectory, tmp_path, monkeypatch):
    before = sorted(os.listdir(tmp_path))
    real = Path.write_bytes

    def full(self, data):
        if self.name == "README.md":
            raise OSError(28, "No space left on device")
        return real(self, data)

    monkeypatch.setattr(Path, "write_bytes", full)
    for out in (pack.folder, tmp_path / "new"):
        with pytest.raises(TraceError, match="cannot be written"):
            export_pack(schema_path, [trajectory], out, overwrite=True)
    assert sorted(os.listdir(tmp_path)) == before
    assert verify_pack(pack.folder) == pack


def test_a_rename_that_fails_brings_the_old_pack_back(pack, schema_path, trajectory, tmp_path, monkeypatch):
    before = sorted(os.listdir(tmp_path))
    real = Path.rename

    def refuse(self, target):
        if self.name.endswith(".partial"):
            raise OSError(5, "Input/output error")
        return real(self, target)

    monkeypatch.setattr(Path, "rename", refuse)
    with pytest.raises(TraceError, match="Input/output error"):
        export_pack(schema_path, [trajectory], pack.folder, overwrite=True)
    assert sorted(os.listdir(tmp_path)) == before
    assert verify_pack(pack.folder) == pack


def test_nothing_to_pack_and_unreadable_input(schema_path, tmp_path):
    with pytest.raises(UsageError, match="nothing to pack"):
        export_pack(schema_path, [], tmp_path / "out")
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(TraceError, match="too early"):
        export_pack(schema_path, [tmp_path / "bad.json"], tmp_path / "out")
    assert not (tmp_path / "out").exists()
