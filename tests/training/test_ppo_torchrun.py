"""training/ppo.py in two processes: rows and updates of one run, written by one of them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import gymnasium as gym
import pytest
import torch

from simulacrum.contract.package import EnvPackage

ROOT = Path(__file__).parents[2]
# What each process saw first and what it had learned after every iteration goes into a file of its own.
SCRIPT = """
import sys
from pathlib import Path
import torch, tyro
sys.path.insert(0, {training!r})
import ppo

kept = []
learn, take_in = ppo.Learner.learn, ppo.Agent.take_in
def keep_learn(self, *args):
    parts = learn(self, *args)
    kept.append(self.flat.clone())
    return parts
def keep_take_in(self, observations):
    if not kept:
        kept.append(observations.clone())
    take_in(self, observations)
ppo.Learner.learn, ppo.Agent.take_in = keep_learn, keep_take_in
results = ppo.main(tyro.cli(ppo.Args))
torch.save(kept, Path({out!r}) / ("kept%s.pt" % __import__("os").environ["RANK"]))
"""


def train(folder: Path, processes: int, *arguments: str) -> list[list[torch.Tensor]]:
    out = folder / "out"
    out.mkdir(exist_ok=True)
    script = folder / "script.py"
    script.write_text(SCRIPT.format(training=str(ROOT / "training"), out=str(out)))
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(processes)]
    done = subprocess.run(
        [*launch, str(script), "--runs", str(folder / "runs"), *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return [torch.load(out / f"kept{rank}.pt", weights_only=True) for rank in range(processes)]


@pytest.mark.long
@pytest.mark.nightly
def test_two_processes_train_one_agent_and_one_of_them_writes(toywalk: EnvPackage, tmp_path: Path) -> None:
    size = ["--num-envs", "8", "--num-steps", "20", "--minibatch", "40", "--width", "16", "--no-compile-policy",
            "--eval-episodes", "2", "--eval-seeds", "1", "--total-steps", str(4 * 320), "--normalize"]  # fmt: skip
    package = ["--env-id", "simulacrum/toywalk-v0", "--register", str(toywalk.folder)]
    one, other = train(tmp_path, 2, *package, *size, "--stop-after", "2")
    envs = gym.make_vec("simulacrum/toywalk-v0", num_envs=16, vectorization_mode="vector_entry_point")
    first, _ = envs.reset(seed=1 << 20)
    assert torch.equal(torch.cat([one[0], other[0]]), first)  # rows 0 to 7 and 8 to 15 of one run
    assert not torch.equal(one[0], other[0])
    assert len(one) == len(other) == 3
    assert all(torch.equal(mine, theirs) for mine, theirs in zip(one[1:], other[1:], strict=True))
    assert not torch.equal(one[1], one[2])

    (folder,) = (tmp_path / "runs").iterdir()  # one folder for both
    saved = torch.load(folder / "checkpoint.pt", weights_only=True)
    assert (saved["iterations"], saved["step"]) == (2, 2 * 320)
    assert len(saved["ranks"]) == 2

    resumed, resumed_other = train(tmp_path, 2, "--resume", str(folder))
    whole, _ = train(tmp_path, 2, *package, *size, "--exp", "whole")
    assert torch.equal(resumed[-1], resumed_other[-1])
    assert torch.equal(resumed[-1], whole[-1])  # to the bit, as with one process
    assert (folder / "results.json").is_file()
