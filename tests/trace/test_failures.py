"""A failure on the disk: a record and two trajectories, found again, whole or not there."""

from __future__ import annotations

import shutil
from dataclasses import replace

import pytest

from simulacrum.errors import TraceError
from simulacrum.trace import (
    first_difference,
    jsonio,
    read_divergence,
    read_json,
    trajectory_file,
    write_failure,
)


@pytest.fixture
def pair(schema, trajectory):
    steps = (replace(trajectory.steps[0], reward=9.0), *trajectory.steps[1:])
    other = replace(trajectory, form="eager", steps=steps)
    return trajectory, other, first_difference(trajectory, other, schema)


def test_everything_can_be_read_back(schema, pair, tmp_path):
    reference, batched, found = pair
    files = write_failure(found, reference, batched, tmp_path / "failures", schema=schema)
    assert files.record.name == f"{found.id}.json"
    assert files.divergence.command == f"simulacrum replay {files.record}"
    assert read_divergence(files.record).to_json() == files.divergence.to_json()
    assert read_json(files.reference, schema) == reference
    assert read_json(files.batched, schema) == batched
    assert len(list(files.record.parent.iterdir())) == 3
    again = write_failure(found, reference, batched, tmp_path / "failures", schema=schema)
    assert again == files
    assert len(list(files.record.parent.iterdir())) == 3


def test_a_moved_folder_still_has_its_trajectories(schema, pair, tmp_path):
    reference, batched, found = pair
    files = write_failure(found, reference, batched, tmp_path / "one folder", schema=schema)
    assert f"'{files.record}'" in files.divergence.command
    shutil.move(tmp_path / "one folder", tmp_path / "two")
    record = read_divergence(tmp_path / "two" / files.record.name)
    path = trajectory_file(tmp_path / "two" / files.record.name, record, "batched")
    assert read_json(path, schema) == batched
    path.unlink()
    assert trajectory_file(tmp_path / "two" / files.record.name, record, "batched") is None
    assert trajectory_file(files.record, record, "nothing") is None


def test_a_trajectory_that_fits_no_file_is_said_to_be_missing(schema, pair, tmp_path):
    reference, batched, found = pair
    bad = replace(batched, steps=(replace(batched.steps[0], observation=[1.0]), *batched.steps[1:]))
    files = write_failure(found, reference, bad, tmp_path, schema=schema)
    assert files.batched is None
    assert "another length" in files.divergence.hints[-1]
    assert read_divergence(files.record).files.keys() == {"record", "reference"}


def test_a_full_disk_leaves_nothing_half_written(schema, pair, tmp_path, monkeypatch):
    reference, batched, found = pair

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(jsonio.os, "fsync", full)
    with pytest.raises(TraceError, match="cannot be written"):
        write_failure(found, reference, batched, tmp_path / "failures", schema=schema)
    assert list((tmp_path / "failures").iterdir()) == []


def test_command_names_the_environment_where_its_id_does_not_lead_to_it(schema, pair, tmp_path):
    reference, batched, found = pair
    files = write_failure(found, reference, batched, tmp_path, schema=schema, env=tmp_path / "my envs" / "walk")
    assert files.divergence.command == f"simulacrum replay {files.record} --env '{tmp_path}/my envs/walk'"
    assert files.divergence.id == found.id
