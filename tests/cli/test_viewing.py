"""`simulacrum view` and `render --video`: of an environment, a recording and a failure; written, opened, refused."""

from __future__ import annotations

import itertools
import json
import re

import imageio_ffmpeg
import pytest

from simulacrum.cli.sources import DIVERGENCE
from simulacrum.contract.package import load_package
from simulacrum.trace import read_trajectories

FAULT = (
    "(state.position + move).clamp(LEFT_END, GOAL)",
    "(state.position + move + (ctx.t == 7)).clamp(LEFT_END, GOAL)",
)
DITHER = ("--policy", "dither", "--seed", 3, "--max-steps", 12)


@pytest.fixture
def faulty(toywalk, edit):
    edit(toywalk / "fast.py", *FAULT)
    return toywalk


def film(path):
    """What a page shows."""
    found = re.search(r'id="data">(.*?)</script>', path.read_text(encoding="utf-8"), re.DOTALL)
    assert found
    return json.loads(found[1])


def test_an_environment_is_played_in_both_twins(cli, own_folders):
    done = cli("view", "toywalk", *DITHER, "--out", "walk.html")
    assert done.code == 0, done.err
    assert re.search(r"shows +13 moments, \d+ values equal in both twins", done.out)
    shown = film(own_folders / "walk.html")
    assert shown["sides"] == ["reference.py", "fast.py, eager"]
    assert ["policy", "dither"] in shown["facts"]
    assert ["slip", "0.1"] in shown["facts"]


def test_a_fault_is_marked(cli, faulty, own_folders):
    done = cli("view", faulty, *DITHER, "--out", "walk.html")
    assert done.code == 0
    assert "the first difference in episode 0, step t=7: state.position" in done.out
    assert film(own_folders / "walk.html")["here"] == 8


def test_another_form_of_the_batched_twin_follows(cli, own_folders):
    done = cli("view", "toywalk", *DITHER, "--form", "native", "--out", "native.html")
    assert done.code == 0, done.err
    shown = film(own_folders / "native.html")
    assert shown["sides"] == ["reference.py", "fast.py, native"]
    assert shown["here"] is None
    cli("view", "toywalk", *DITHER, "--out", "eager.html")
    assert shown["series"] == film(own_folders / "eager.html")["series"]


def test_a_form_that_there_is_not_is_refused(cli, own_folders):
    done = cli("view", "toywalk", *DITHER, "--form", "nativ", "--out", "native.html")
    assert done.code == 2
    assert "nativ" in done.err
    assert not (own_folders / "native.html").exists()


def test_parameters_reach_both_twins(cli, own_folders):
    cli("view", "toywalk", *DITHER, "--param", "slip=0", "-o", "walk.html")
    position = next(one for one in film(own_folders / "walk.html")["series"] if one["name"] == "position")
    walked = [int(position["known"][place][0]) for place in position["at"]]
    assert {abs(two - one) for one, two in itertools.pairwise(walked)} == {1}
    assert max(walked) - min(walked) == 1  # right and left in turn


def test_a_recording_is_shown_beside_its_repetition(cli, faulty, own_folders):
    cli("record", faulty, *DITHER, "--form", "eager", "--out", "batched.json")
    done = cli("view", "batched.json", "--env", faulty, "--out", "walk.html")
    assert "step t=7" in done.out, done.err
    shown = film(own_folders / "walk.html")
    assert shown["sides"] == ["reference.py", "fast.py, eager"]
    cli("record", faulty, *DITHER, "--out", "reference.json")
    cli("view", "reference.json", "--env", faulty, "--out", "again.html")
    again = film(own_folders / "again.html")
    assert (again["moments"], again["series"]) == (shown["moments"], shown["series"])


def test_a_failure_is_shown_as_it_was_met_and_what_follows(cli, faulty, own_folders):
    assert cli("validate", faulty, "-k", "differential.rollouts", "--quick", "--compile", "eager").code == 1
    files = (own_folders / "failures").glob("*.json")
    (record,) = [path for path in files if json.loads(path.read_text("utf-8")).get("format") == DIVERGENCE]
    done = cli("view", record, "--env", faulty, "--out", "walk.html")
    assert done.code == 0, done.err
    met = json.loads(record.read_text(encoding="utf-8"))
    shown = film(own_folders / "walk.html")
    here = shown["moments"][shown["here"]]
    assert (here["episode"], here["t"]) == (met["episode"], met["t"])
    assert shown["here"] < len(shown["moments"]) - 1


def test_a_twin_that_raises_is_shown_until_then(cli, toywalk, edit, own_folders):
    edit(
        toywalk / "fast.py",
        *(FAULT[0], "(state.position + move * (1 // int((ctx.t != 4).item()))).clamp(LEFT_END, GOAL)"),
    )
    done = cli("view", toywalk, *DITHER, "--out", "walk.html")
    assert done.code == 0, done.err
    shown = film(own_folders / "walk.html")
    assert shown["note"] == "fast.py raised ZeroDivisionError: integer division or modulo by zero"
    assert [one["sides"] for one in shown["moments"][3:6]] == ["both", "both", "reference"]


def test_without_out_it_opens_in_the_browser(cli, own_folders, tmp_path, monkeypatch):
    opened = tmp_path / "opened"
    browser = tmp_path / "browser.sh"
    browser.write_text(f'#!/bin/sh\nprintf "%s" "$1" > {opened}\n', encoding="utf-8")
    browser.chmod(0o755)
    monkeypatch.setenv("BROWSER", str(browser))
    monkeypatch.setattr("webbrowser._tryorder", None)  # read again, with this variable
    done = cli("view", "toywalk", *DITHER)
    assert done.code == 0, done.err
    page = tmp_path / "state" / "view" / "toywalk.html"
    assert opened.read_text(encoding="utf-8") == page.as_uri()
    assert len(film(page)["moments"]) == 13


def test_a_folder_is_written_and_nothing_else_replaced(cli, own_folders):
    assert cli("view", "toywalk", *DITHER, "--out", "walk").code == 0
    assert (own_folders / "walk" / "index.html").is_file()
    (own_folders / "mine").mkdir()
    (own_folders / "mine" / "notes.txt").write_text("x", encoding="utf-8")
    done = cli("view", "toywalk", *DITHER, "--out", "mine")
    assert done.code == 2
    assert "nothing was touched" in done.err


def test_a_player_by_keys_needs_a_terminal(cli):
    done = cli("view", "toywalk", *DITHER, "--terminal")
    assert done.code == 2
    assert "needs a terminal" in done.err
    assert "--out" in done.err


def test_an_episode_becomes_a_film(cli, own_folders):
    done = cli("render", "toywalk", "--policy", "dither", "--seed", 3, "--video", "walk.mp4")
    assert done.code == 0, done.err
    frames, _ = imageio_ffmpeg.count_frames_and_secs(str(own_folders / "walk.mp4"))
    cli("record", "toywalk", "--policy", "dither", "--seed", 3, "--out", "walk.json")
    (recorded,) = read_trajectories(own_folders / "walk.json", load_package("toywalk").schema)
    assert frames == 1 + len(recorded.steps)


def test_a_pack_brings_its_page(cli, own_folders, toywalk):
    cli("record", "toywalk", *DITHER, "--out", "walk.json")
    done = cli("export-pack", toywalk / "schema.json", "walk.json", "--out", "pack", "--page", "walk.html")
    assert done.code == 0, done.err
    assert len(film(own_folders / "walk.html")["moments"]) == 13
