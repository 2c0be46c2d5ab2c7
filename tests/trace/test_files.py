"""All three formats: identity for any schema and value, and an error with a place for anything else."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simulacrum.errors import TraceError, UsageError
from simulacrum.trace import (
    Start,
    Trajectory,
    TrajectoryWriter,
    checked,
    columns,
    digest,
    iterate_jsonl,
    read_json,
    read_jsonl,
    read_npz,
    read_trajectories,
    schema_digest,
    write_json,
    write_jsonl,
    write_npz,
    write_trajectory,
)
from simulacrum.trace.jsonio import canonical, sha256
from simulacrum.trace.records import to_document

SUFFIXES = (".json", ".jsonl", ".npz")


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_any_trajectory_survives_every_format(kit, tmp_path_factory, data):
    schema = data.draw(kit.schemas())
    trajectory = checked(data.draw(kit.trajectories(schema)), schema)
    folder = tmp_path_factory.mktemp("formats")
    for suffix in SUFFIXES:
        path = folder / f"row{suffix}"
        write_trajectory(path, trajectory, schema)
        (back,) = read_trajectories(path, schema)
        assert back == trajectory
        assert digest(back, schema) == digest(trajectory, schema)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_identity_would_notice_one_bit(suffix, schema, trajectory, tmp_path):
    step = trajectory.steps[1]
    one_ulp = float(np.nextafter(np.float32(step.state["energy"]), np.float32(9)))
    for change in (
        {"energy": one_ulp},
        {"big": step.state["big"] + 1},
        {"grid": [[0.2, 0.0], [np.inf, np.nan]]},
    ):
        other = replace(step, state={**step.state, **change})
        steps = (trajectory.steps[0], other, *trajectory.steps[2:])
        path = tmp_path / f"row{suffix}"
        write_trajectory(path, replace(trajectory, steps=steps), schema)
        assert read_trajectories(path, schema)[0] != trajectory


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_same_trajectory_gives_the_same_text(suffix, schema, trajectory, tmp_path):
    for name in ("one", "two"):
        write_trajectory(tmp_path / f"{name}{suffix}", trajectory, schema)
    assert (tmp_path / f"one{suffix}").read_bytes() == (tmp_path / f"two{suffix}").read_bytes()


def test_many_rows_in_one_npz(schema, trajectory, tmp_path):
    rows = [replace(trajectory, seed=seed) for seed in range(3)] + [replace(trajectory, starts=(), steps=())]
    write_npz(tmp_path / "rows.npz", rows, schema)
    assert read_npz(tmp_path / "rows.npz", schema) == rows
    write_npz(tmp_path / "none.npz", [], schema)
    assert read_npz(tmp_path / "none.npz", schema) == []


def test_json_is_made_for_people(schema, trajectory, tmp_path):
    write_json(tmp_path / "row.json", trajectory, schema)
    text = (tmp_path / "row.json").read_text()
    assert '"energy": 0.1,' in text
    assert '"berry_x": [1, -1, 7],' in text
    assert "[0.1, -0.0],\n" in text
    assert '["inf", "nan"]' in text


def spoil(path, schema, trajectory, change, *, rehash=True):
    """Write the trajectory as JSON with one change of its document, by default with a fitting hash."""
    document = to_document(trajectory, schema)
    change(document)
    body = {
        "format": "simulacrum-trajectory",
        "version": 1,
        "sha256": sha256(canonical(document)),
        **document,
    }
    if not rehash:
        body["sha256"] = sha256(canonical(to_document(trajectory, schema)))
    path.write_text(json.dumps(body, indent=1))


def at(document, *path):
    for key in path:
        document = document[key]
    return document


STEP = ("episodes", 0, "steps", 1)
FAULTS = {
    "another dtype": (
        lambda d: at(d, *STEP, "state").update(big=1.5),
        r"steps\[1\].state.big",
        "not an integer",
    ),
    "another shape": (
        lambda d: at(d, *STEP, "state").update(berry_x=[1]),
        r"steps\[1\].state.berry_x",
        "another length",
    ),
    "a missing field": (lambda d: at(d, *STEP, "state").pop("alive"), r"steps\[1\].state", "missing alive"),
    "an extra field": (lambda d: at(d, *STEP).update(mood=1), r"steps\[1\]", "unknown mood"),
    "a reward as text": (lambda d: at(d, *STEP).update(reward="much"), r"steps\[1\].reward", "not a number"),
    "a flag as number": (
        lambda d: at(d, *STEP).update(terminated=0),
        r"steps\[1\].terminated",
        "not a boolean",
    ),
    "a wrong slot": (lambda d: at(d, *STEP, "draws").update(spawn=[1]), r"steps\[1\].draws", "no such draw"),
    "a wide word": (lambda d: at(d, *STEP, "draws").update(gust=[2**32]), r"draws.gust\[0\]", "not a whole"),
    "a gap": (lambda d: at(d, *STEP).update(t=2), r"steps\[1\].t", "count up by one"),
    "life after the end": (lambda d: at(d, *STEP).update(truncated=True), r"steps\[2\]", "after the end"),
    "episodes backwards": (
        lambda d: at(d, "episodes", 1).update(episode=0),
        r"episodes\[1\].episode",
        "ascend",
    ),
    "steps of a number": (
        lambda d: at(d, "episodes", 0).update(steps=3),
        r"episodes\[0\].steps",
        "not a list",
    ),
    "a negative seed": (lambda d: d.update(seed=-1), "seed", "not a whole number"),
    "a seed too wide": (lambda d: d.update(seed=2**64), "seed", "not a whole number"),
    "a param missing": (lambda d: d.update(params={}), "params", "missing gust"),
    "another schema": (lambda d: d.update(schema_digest="0" * 64), "schema_digest", "another schema"),
    "no mask": (lambda d: at(d, *STEP).update(action_mask=None), r"steps\[1\].action_mask", "not a list"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_json_faults_name_file_line_and_field(name, schema, trajectory, tmp_path):
    change, place, message = FAULTS[name]
    path = tmp_path / "row.json"
    spoil(path, schema, trajectory, change)
    with pytest.raises(TraceError, match=message) as caught:
        read_json(path, schema)
    assert caught.match(rf"row\.json, line \d+, .*{place}")


def test_the_named_line_is_the_line_of_the_fault(schema, trajectory, tmp_path):
    path = tmp_path / "row.json"
    spoil(path, schema, trajectory, lambda d: at(d, *STEP).update(reward="much"))
    wanted = next(n for n, line in enumerate(path.read_text().split("\n"), 1) if '"much"' in line)
    with pytest.raises(TraceError, match=rf"line {wanted}, "):
        read_json(path, schema)


def test_json_edited_without_its_hash(schema, trajectory, tmp_path):
    path = tmp_path / "row.json"
    spoil(path, schema, trajectory, lambda d: at(d, *STEP).update(reward=0.75), rehash=False)
    with pytest.raises(TraceError, match=r"the file was changed"):
        read_json(path, schema)
    spoil(path, schema, trajectory, lambda d: None, rehash=False)
    assert read_json(path, schema) == trajectory


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ('"version": 1', '"version": 2', "another version"),
        ("simulacrum-trajectory", "simulacrum-other", "not a trajectory file"),
        ('"sha256"', '"md5"', "missing from the file"),
        ('"seed":', '"seed": 1, "seed":', "stands twice"),
        ('"reward": 1.5', '"reward": NaN', "is not JSON"),
    ],
)
def test_json_of_another_kind(before, after, message, schema, trajectory, tmp_path):
    path = tmp_path / "row.json"
    write_json(path, trajectory, schema)
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after, 1))
    with pytest.raises(TraceError, match=message):
        read_json(path, schema)


def test_json_cut_at_any_place(schema, trajectory, tmp_path):
    path = tmp_path / "row.json"
    write_json(path, trajectory, schema)
    data = path.read_bytes()
    for size in range(0, len(data) - 2, 97):
        path.write_bytes(data[:size])
        with pytest.raises(TraceError, match=r"too early|not JSON"):
            read_json(path, schema)


def test_jsonl_cut_at_any_place_counts_the_good_steps(schema, trajectory, tmp_path):
    path = tmp_path / "row.jsonl"
    write_jsonl(path, trajectory, schema)
    lines = path.read_bytes().splitlines(keepends=True)
    good = 0
    for number, line in enumerate(lines[:-1], 1):
        good += line.startswith(b'{"step"')
        path.write_bytes(b"".join(lines[:number]))
        with pytest.raises(TraceError, match=rf"cut off after {good} good steps") as caught:
            read_jsonl(path, schema)
        assert caught.match(f"line {number}")
        path.write_bytes(b"".join(lines[:number]) + lines[number][:20])
        with pytest.raises(TraceError, match=rf"(?s)cut off inside.*after {good} good steps"):
            read_jsonl(path, schema)


def test_jsonl_hands_out_good_steps_before_a_fault(schema, trajectory, tmp_path):
    path = tmp_path / "row.jsonl"
    write_jsonl(path, trajectory, schema)
    lines = path.read_bytes().splitlines(keepends=True)
    lines[4] = lines[4].replace(b'"reward":', b'"reward":"x","was":')
    path.write_bytes(b"".join(lines))
    header, parts = iterate_jsonl(path, schema)
    assert header == replace(trajectory, starts=(), steps=())
    kept = []
    with pytest.raises(TraceError, match=r"line 5, after 2 good steps, step"):
        kept.extend(parts)
    assert kept == [trajectory.starts[0], *trajectory.steps[:2]]


def change_line(number, before, after):
    def change(lines):
        assert before in lines[number]
        lines[number] = lines[number].replace(before, after, 1)

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (change_line(3, b'"reward":0.5', b'"reward":0.25'), "the file was changed"),
        (change_line(0, b'"version":1', b'"version":7'), "another version"),
        (change_line(0, b"trajectory-lines", b"trajectory"), "not a trajectory file"),
        (change_line(0, b'"seed"', b'"sed"'), "missing seed"),
        (change_line(2, b'{"step"', b'{"stop"'), "an unknown line"),
        (change_line(2, b'{"step"', b'{"step" "'), "not JSON"),
        (change_line(2, b"{", b"\xff"), "not UTF-8"),
        (lambda lines: lines.pop(3), "count up by one"),
        (lambda lines: lines.pop(-2), "steps are missing or too many"),
        (lambda lines: lines.append(b"{}\n"), "after the end line"),
        (lambda lines: lines.clear(), "the file is empty"),
        (lambda lines: lines.insert(1, lines[2]), "has not started"),
    ],
)
def test_jsonl_faults(change, message, schema, trajectory, tmp_path):
    path = tmp_path / "row.jsonl"
    write_jsonl(path, trajectory, schema)
    lines = path.read_bytes().splitlines(keepends=True)
    change(lines)
    path.write_bytes(b"".join(lines))
    with pytest.raises(TraceError, match=message) as caught:
        read_jsonl(path, schema)
    assert caught.match(r"row\.jsonl, line \d+")


def write_lines(path, header, schema, *items):
    with TrajectoryWriter(path, header, schema) as writer:
        for item in items:
            (writer.start if isinstance(item, Start) else writer.step)(item)


def test_the_line_writer_refuses_what_does_not_fit_and_leaves_nothing(schema, trajectory, tmp_path):
    path = tmp_path / "row.jsonl"
    start, step = trajectory.starts[0], trajectory.steps[0]
    with pytest.raises(TraceError, match="not a number"):
        write_lines(path, trajectory, schema, start, replace(step, reward="much"))
    with pytest.raises(TraceError, match="has not started"):
        write_lines(path, trajectory, schema, step)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(UsageError, match="not open"):
        TrajectoryWriter(path, trajectory, schema).start(start)


def test_npz_flipped_anywhere_is_noticed(schema, trajectory, tmp_path):
    path = tmp_path / "row.npz"
    write_npz(path, [trajectory], schema)
    data = bytearray(path.read_bytes())
    noticed = 0
    for place in range(0, len(data), 211):
        spoiled = data.copy()
        spoiled[place] ^= 0x10
        path.write_bytes(spoiled)
        try:
            # Bytes that carry nothing (time stamps in the zip's directory, say) may change without harm.
            assert read_npz(path, schema) == [trajectory]
        except TraceError:
            noticed += 1
    assert noticed > 10


@pytest.mark.parametrize("garbage", [b"", b"PK\x03\x04 no zip", b"\x80\x04N.", b"x" * 500])
def test_npz_garbage(garbage, schema, tmp_path):
    path = tmp_path / "row.npz"
    path.write_bytes(garbage)
    with pytest.raises(TraceError, match=r"not an \.npz archive"):
        read_npz(path, schema)
    with pytest.raises(TraceError, match="cannot be read"):
        read_npz(tmp_path / "missing.npz", schema)


def test_npz_never_unpickles(schema, tmp_path):
    path = tmp_path / "row.npz"
    np.savez(path, header=np.array([{"a": 1}], dtype=object))
    with pytest.raises(TraceError, match=r"not an \.npz archive"):
        read_npz(path, schema)
    np.save(tmp_path / "plain.npy", np.zeros(3))
    with pytest.raises(TraceError, match=r"not an \.npz archive"):
        read_npz((tmp_path / "plain.npy").rename(path), schema)


def test_npz_cut(schema, trajectory, tmp_path):
    path = tmp_path / "row.npz"
    write_npz(path, [trajectory], schema)
    data = path.read_bytes()
    for size in (10, len(data) // 2, len(data) - 5):
        path.write_bytes(data[:size])
        with pytest.raises(TraceError, match="cut off"):
            read_npz(path, schema)


def test_npz_columns_of_another_kind(schema, trajectory, tmp_path):
    path = tmp_path / "row.npz"
    write_npz(path, [trajectory], schema)
    with np.load(path) as archive:
        good = {name: archive[name] for name in archive.files if name != "sha256"}

    def rewritten(**changes):
        spoiled = {**good, **{name.replace("__", "/"): value for name, value in changes.items()}}
        spoiled = {name: value for name, value in spoiled.items() if value is not None}
        np.savez(path, **spoiled, sha256=np.frombuffer(columns._hash(spoiled), np.uint8))
        return path

    assert read_npz(rewritten(), schema) == [trajectory]
    with pytest.raises(TraceError, match="another dtype or shape"):
        read_npz(rewritten(step__reward=good["step/reward"].astype(np.float64)), schema)
    with pytest.raises(TraceError, match="another dtype or shape"):
        read_npz(rewritten(step__t=good["step/t"][:-1]), schema)
    with pytest.raises(TraceError, match="a column is missing"):
        read_npz(rewritten(step__terminated=None), schema)
    with pytest.raises(TraceError, match="no readable header"):
        read_npz(rewritten(header=np.zeros(4, np.uint8)), schema)
    np.savez(path, **{**good, "sha256": np.zeros(32, np.uint8)})
    with pytest.raises(TraceError, match="the file was changed"):
        read_npz(path, schema)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_bounds_are_checked_when_asked(suffix, kit, tmp_path):
    limited = kit.leaf("float32", (2,), **{"x-space": "Box"})
    limited["items"] |= {"minimum": -1, "maximum": 1}
    schema = kit.build({"x": {**kit.leaf("int32"), "maximum": 3}}, limited, reset_slots=(), step_slots=())
    start = Start(0, {"x": 4}, [0.0, 1.0])
    row = Trajectory(schema.id, schema_digest(schema), "eager", 1, {}, None, (start,), ())
    path = tmp_path / f"row{suffix}"
    write_trajectory(path, row, schema)
    assert read_trajectories(path, schema) == [checked(row, schema)]
    with pytest.raises(TraceError, match="high bound") as caught:
        read_trajectories(path, schema, bounds=True)
    assert caught.match("state.x")


def test_names_of_other_kinds(schema, trajectory, tmp_path):
    with pytest.raises(UsageError, match="unknown kind"):
        write_trajectory(tmp_path / "row.pickle", trajectory, schema)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_nothing_is_written_where_a_value_does_not_fit(suffix, schema, trajectory, tmp_path):
    step = replace(trajectory.steps[0], observation=[1.0])
    bad = replace(trajectory, steps=(step, *trajectory.steps[1:]))
    with pytest.raises(TraceError, match="another length"):
        write_trajectory(tmp_path / f"row{suffix}", bad, schema)
    assert list(tmp_path.iterdir()) == []
