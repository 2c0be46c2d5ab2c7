"""`simulacrum agree` and `new --from` on the command line, on a small environment of tests/kit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from simulacrum.contract.package import load_package

KIT = Path(__file__).resolve().parents[1] / "kit"


@pytest.fixture
def ferry(cli, own_folders, monkeypatch):
    monkeypatch.syspath_prepend(str(KIT))
    done = cli("new", "ferry", "--from", "gym:river:lab/Ferry-v0")
    assert done.code == 0, done.err
    return done, own_folders / "ferry"


def test_from_a_program_to_its_todos_and_its_agreement(cli, ferry):
    done, folder = ferry
    assert "wrote simulacrum/ferry-v0 into ferry, around gym:river:lab/Ferry-v0" in done.out
    assert "start_integers (integers, 1 at a reset)" in done.out
    assert "agrees with gym:river:lab/Ferry-v0" in done.out or "agrees nearly with" in done.out
    assert "simulacrum agree ./ferry" in done.out
    assert "last bits may differ" in done.out

    done = cli("validate", "./ferry", "-k", "spec_contract", "--compile", "eager")
    first = next(n for n, line in enumerate((folder / "spec.md").read_text().splitlines(), 1) if "TODO" in line)
    assert done.code == 1
    assert f"TODO in line {first}" in done.out
    assert "Traceback" not in done.out + done.err

    # With the rules said and not yet written, the batched twin's first gap is told with its line.
    spec = folder / "spec.md"
    spec.write_text(spec.read_text().replace("TODO", "LATER"))
    done = cli("validate", "./ferry", "-k", "spec_contract", "--compile", "eager")
    assert done.code != 0
    assert "TODO R2" in done.out + done.err
    assert "fast.py" in done.out + done.err
    assert "Traceback" not in done.out + done.err

    done = cli("agree", "./ferry", "--steps", "40", "--json")
    told = json.loads(done.out)
    assert (done.code, told["origin"], told["steps"], told["failed"]) == (0, "gym:river:lab/Ferry-v0", 40, None)
    reference = folder / "reference.py"
    reference.write_text(reference.read_text().replace("x=int(env.x)", "x=0"))
    load_package(folder).reload()  # a process of its own reads the file anyway
    done = cli("agree", "./ferry", "--steps", "40")
    assert done.code == 1
    assert "does not agree" in done.out


def test_package_without_a_program(cli):
    done = cli("agree", "toywalk")
    assert done.code == 2
    assert "--from gym:ID" in done.err


def test_reference_without_put(cli):
    done = cli("agree", "toywalk", "--from", "gym:CartPole-v1")
    assert done.code == 2
    assert "no put and no taken" in done.err


def test_unknown_program(cli, own_folders):
    done = cli("new", "pole", "--from", "gym:CartPoll-v1")
    assert done.code == 2
    assert "did you mean gym:CartPole-v1?" in done.err
    assert list(own_folders.iterdir()) == []
