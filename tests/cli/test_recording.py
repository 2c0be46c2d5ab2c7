"""`record`, `replay`, `render` and `export-pack`, from one to the next."""

from __future__ import annotations

import json

import pytest

from simulacrum.contract.package import load_package
from simulacrum.trace import read_pack, read_trajectories


@pytest.fixture
def schema():
    return load_package("toywalk").schema


@pytest.mark.parametrize("form", ["reference", "eager"])
@pytest.mark.parametrize("suffix", [".json", ".jsonl", ".npz"])
def test_recorded_episodes_replay_in_both_twins(cli, schema, form, suffix):
    file = f"walk{suffix}"
    done = cli("record", "toywalk", "-o", file, "--episodes", 3, "--seed", 2**64 - 1, "--form", form)
    assert done.code == 0, done.err
    (row,) = read_trajectories(file, schema)
    assert (row.form, row.seed, len(row.starts)) == (form, 2**64 - 1, 3)
    assert all(steps[-1].ended for _, steps in row.episodes())
    assert row.starts[0].draws["start"] != [None]
    done = cli("replay", file)
    assert done.code == 0, done.err
    assert done.out.count("equal") == 2


def test_both_twins_record_the_same(cli, schema):
    for form in ("reference", "eager"):
        assert cli("record", "toywalk", "-o", f"{form}.json", "--form", form, "--policy", "dither").code == 0
    one, two = (read_trajectories(f"{form}.json", schema)[0] for form in ("reference", "eager"))
    assert one.steps == two.steps
    assert one.starts == two.starts


def test_every_kind_of_space_and_mask(cli):
    from pathlib import Path

    kit = Path(__file__).resolve().parents[1] / "kit"
    for name in ("glider", "dials", "canvas", "rivals"):
        assert cli("record", kit / name, "-o", f"{name}.npz", "--episodes", 2).code == 0
        done = cli("replay", f"{name}.npz", "--env", kit / name)
        assert done.code == 0, done.err


def test_parameter_is_recorded_and_bounded(cli, schema):
    assert cli("record", "toywalk", "-o", "a.json", "--param", "slip=0", "--policy", "always_right").code == 0
    (row,) = read_trajectories("a.json", schema)
    assert row.params == {"slip": 0.0}
    assert len(row.steps) <= 7
    for wrong in ("slip=2", "slip", "slop=0.1"):
        done = cli("record", "toywalk", "-o", "b.json", "--param", wrong)
        assert done.code == 2
        assert "--param" in done.err


def test_unknown_policy_names_the_nearest(cli):
    done = cli("record", "toywalk", "-o", "a.json", "--policy", "always_rigt")
    assert done.code == 2
    assert "did you mean 'always_right'?" in done.err


def test_never_overwrites_unless_told(cli, own_folders):
    (own_folders / "a.json").write_text("mine")
    assert cli("record", "toywalk", "-o", "a.json").code == 2
    assert (own_folders / "a.json").read_text() == "mine"
    assert cli("record", "toywalk", "-o", "a.json", "--overwrite").code == 0


def test_other_suffix_is_refused_before_anything_is_played(cli):
    done = cli("record", "toywalk", "-o", "a.txt")
    assert done.code == 2
    assert "did you mean a.json?" in done.err


def test_folder_that_is_not_there_is_an_error(cli):
    done = cli("record", "toywalk", "-o", "/proc/nowhere/a.json")
    assert done.code == 2
    assert "Traceback" not in done.err


def test_edited_recording_is_refused(cli, own_folders):
    cli("record", "toywalk", "-o", "a.json")
    file = own_folders / "a.json"
    file.write_text(file.read_text().replace('"reward": -1.0', '"reward": -2.0', 1))
    done = cli("replay", "a.json")
    assert done.code == 2
    assert "the file was changed" in done.err


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.json", "{"),
        ("a.json", "[]"),
        ("a.json", '{"format": "other"}'),
        ("a.jsonl", "hello"),
        ("a.npz", "hello"),
        ("a.json", None),
    ],
)
@pytest.mark.parametrize("command", ["replay", "render"])
def test_files_that_are_none(cli, own_folders, command, name, content):
    if content is not None:
        (own_folders / name).write_text(content)
    done = cli(command, name)
    assert done.code == 2
    assert name in done.err
    assert "Traceback" not in done.err


def test_recording_of_an_environment_that_is_not_installed(cli, counter):
    assert cli("record", counter, "-o", "a.json").code == 0
    done = cli("replay", "a.json")
    assert done.code == 2
    assert "name its folder with --env FOLDER" in done.err


def test_difference_is_shown_and_is_1(cli, counter, edit):
    assert cli("record", counter, "-o", "a.json").code == 0
    edit(counter / "fast.py", "count = state.count + 1", "count = state.count + 2")
    done = cli("replay", "a.json", "--env", counter)
    assert done.code == 1
    assert "differs" in done.out
    assert "state.count" in done.out


def test_render_as_text_and_images(cli, own_folders):
    done = cli("render", "toywalk", "--policy", "always_right", "--seed", 5)
    assert done.code == 0
    assert "|. . . . . " in done.out
    cli("record", "toywalk", "-o", "a.json", "--policy", "always_right", "--seed", 5, "--episodes", 3)
    assert cli("render", "a.json").out == done.out
    assert cli("render", "a.json", "--pick", "worst").code == 0
    done = cli("render", "a.json", "--gif", "a.gif", "--png", "frames")
    assert done.code == 0, done.err
    assert (own_folders / "a.gif").read_bytes()[:6] == b"GIF89a"
    assert (own_folders / "frames" / "00000.png").is_file()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--gif", "a.png"], "not the name of a GIF"),
        (["--png", "."], "the folder for the images is not empty"),
    ],
)
def test_render_refuses(cli, own_folders, words, told):
    (own_folders / "something").touch()
    done = cli("render", "toywalk", *words)
    assert done.code == 2
    assert told in done.err


def test_pick_of_an_unknown_kind(cli):
    cli("record", "toywalk", "-o", "a.json")
    done = cli("render", "a.json", "--pick", "nicest")
    assert done.code == 2
    assert "worst, best" in done.err


def test_pack(cli, own_folders):
    schema = load_package("toywalk").folder / "schema.json"
    cli("record", "toywalk", "-o", "a.json")
    cli("record", "toywalk", "-o", "b.npz", "--form", "eager", "--seed", 4)
    done = cli("export-pack", schema, "a.json", "b.npz", "-o", "pack")
    assert done.code == 0, done.err
    assert "2 trajectories" in done.out
    pack, _, rows = read_pack(own_folders / "pack")
    assert [row.seed for row in rows] == [0, 4]
    assert json.loads((own_folders / "pack" / "manifest.json").read_text())["sha256"] in done.out
    again = cli("export-pack", schema, "a.json", "-o", "pack")
    assert again.code == 2
    assert "nothing was touched" in again.err
    assert cli("export-pack", schema, "a.json", "-o", "pack", "--overwrite").code == 0
    assert pack.env_id == "simulacrum/toywalk-v0"


def test_failure_is_narrowed_to_its_step(cli, program, counter, edit, own_folders):
    sound, broken = "count = state.count + 1", "count = state.count + 1 + (state.count > 4).to(torch.int32)"
    edit(counter / "fast.py", sound, broken)
    assert cli("validate", counter, "-k", "differential", "--quick", "--compile", "eager").code == 1
    (record,) = [path for path in (own_folders / "failures").glob("*.json") if path.stem.isalnum()]
    done = cli("replay", record, "--env", counter)
    assert done.code == 1
    assert done.out.startswith("differs as recorded\nthe smallest case (eager, N = 1): differs in state.count")
    assert "DIVERGENCE in differential" in done.out
    assert cli("replay", record, "--env", "toywalk").code == 2
    # A process keeps the modules that it imported, so the mended twin needs another one.
    edit(counter / "fast.py", broken, sound)
    done = program("-m", "simulacrum", "replay", record, "--env", counter)
    assert done.code == 0, done.err
    assert done.out.startswith("agrees now: nothing differs any more")
