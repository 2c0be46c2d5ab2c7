"""training/common: what a run's folder says, where a resumed run is refused, when a run stops."""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
import torch

import simulacrum
from simulacrum.contract.package import EnvPackage
from simulacrum.errors import ProvenanceError

Script = Callable[[str], ModuleType]
SMALL = {"num_envs": 16, "num_steps": 20, "minibatch": 80, "epochs": 2, "width": 16, "compile_policy": False}
TOYWALK = {"env_id": "simulacrum/toywalk-v0", "eval_episodes": 3, "eval_seeds": 2, **SMALL}


@pytest.fixture
def ppo(script: Script) -> ModuleType:
    return script("ppo")


def test_folder_checkpoint_and_results_name_the_report(ppo: ModuleType, toywalk: EnvPackage, tmp_path: Path) -> None:
    results = ppo.main(ppo.Args(runs=tmp_path, total_steps=640, **TOYWALK))
    folder = Path(results["folder"])
    state = simulacrum.require_fresh_report(toywalk)
    assert state.report is not None
    about = json.loads((folder / "environment.json").read_text())
    saved = torch.load(folder / "checkpoint.pt", weights_only=True)
    assert about == saved["environment"] == simulacrum.provenance(state)
    assert results["digest"] == about["digest"] == state.report.whole
    assert json.loads((folder / "results.json").read_text()) == results


def test_a_run_is_not_resumed_on_changed_rules(
    ppo: ModuleType, toywalk: EnvPackage, tmp_path: Path, validate_again: Callable[[EnvPackage], None]
) -> None:
    folder = Path(ppo.main(ppo.Args(runs=tmp_path, total_steps=640, stop_after=1, **TOYWALK))["folder"])
    saved = torch.load(folder / "checkpoint.pt", weights_only=True)
    probes = toywalk.folder / "probes.py"  # not imported yet, so the process need not begin anew
    probes.write_text(probes.read_text() + "\n# another rule\n")
    validate_again(toywalk)
    with pytest.raises(ProvenanceError, match=r"envs/toywalk/probes\.py changed"):
        ppo.main(ppo.Args(resume=folder))
    assert torch.load(folder / "checkpoint.pt", weights_only=True)["iterations"] == saved["iterations"]


def test_a_run_stops_at_its_target_return(ppo: ModuleType, toywalk: EnvPackage, tmp_path: Path) -> None:
    size = {**TOYWALK, "runs": tmp_path, "total_steps": 40 * 320}
    results = ppo.main(ppo.Args(target_return=-1000.0, **size))
    assert results["reached_target"]
    episodes = [point[4] for point in results["curve"]]
    assert sum(episodes) >= 100 > sum(episodes[:-1])  # as soon as a hundred episodes speak for it
    assert results["steps"] < 40 * 320
    assert torch.load(Path(results["folder"]) / "checkpoint.pt", weights_only=True)["step"] == results["steps"]
    missed = ppo.main(ppo.Args(target_return=1000.0, **size))
    assert not missed["reached_target"]
    assert missed["steps"] == 40 * 320


def test_two_runs_in_one_second_have_two_folders(script: Script, tmp_path: Path) -> None:
    common = script("common")
    args = common.EnvArgs(runs=tmp_path, env_id="simulacrum/toywalk-v0")
    folders = {common.new_folder(args, {"digest": "0"}) for _ in range(3)}
    assert len(folders) == 3
    assert all(folder.parent == tmp_path for folder in folders)


def test_tracking_without_its_library_says_what_to_install(
    ppo: ModuleType, toywalk: EnvPackage, tmp_path: Path
) -> None:
    try:
        import wandb  # noqa: F401  # only whether it is there
    except ImportError:
        with pytest.raises(SystemExit, match=r"simulacrum\[track\]"):
            ppo.main(ppo.Args(runs=tmp_path, track=True, **TOYWALK))
    else:
        pytest.skip("wandb is installed")


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="asks glibc")
def test_freed_memory_is_kept_for_the_next_tensors(tmp_path: Path) -> None:
    """In a process of its own: the setting is for good."""
    code = """
import resource, sys, torch
sys.path.insert(0, sys.argv[1])
from common.memory import keep_memory
assert keep_memory()
def faults():
    for _ in range(20):
        parts = [torch.zeros(1 << 18) for _ in range(8)]  # a megabyte each, written to
        del parts
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
first = faults()
print(faults() - first)
"""
    folder = Path(__file__).parents[2] / "training"
    done = subprocess.run([sys.executable, "-c", code, str(folder)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 200  # 20 times 8 MiB anew would be 40,960
