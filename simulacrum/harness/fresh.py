"""A rollout's checksum from another process: other hash seed, other thread count, nothing inherited.

`launch` starts `python -m simulacrum.harness.fresh` on the package's folder; that process runs `checksums` and prints
the result as JSON, to be compared with the caller's own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from simulacrum.contract.package import EnvPackage, load_package
from simulacrum.harness.bench import Bench
from simulacrum.harness.compare import checksum
from simulacrum.harness.frames import BatchSide, ReferenceSide, take
from simulacrum.harness.recording import record
from simulacrum.harness.world import World

WAIT = 300.0  # seconds that the other process may take; it needs a few


@dataclass(frozen=True)
class Rollouts:
    """What is run in both processes.

    rows, steps: of the batch that is compared frame by frame in this process as well; references of its first rows are
    run too. wide: rows of a batch large enough that torch spreads one operation over its threads; 0 for none.
    snapshot: a file with the first batch's state after half of its steps, from which the other process goes on; "" for
    none.
    """

    seed: int
    rows: int
    steps: int
    limit: int
    wide: int
    device: str = "cpu"
    snapshot: str = ""


def checksums(package: EnvPackage, rollouts: Rollouts) -> dict[str, str]:
    """The checksums of the rollouts by name: "batched", "reference", and "wide" and "restored" where there are such."""
    bench = Bench(package, device=rollouts.device)
    world = world_of(bench, rollouts)
    made = {"batched": checksum(world.run(range(rollouts.rows)).frames), "reference": reference_checksum(world, 5)}
    if rollouts.wide:
        made["wide"] = checksum(wide_world(bench, rollouts.seed).run(wide_rows(rollouts.wide)).frames)
    if rollouts.snapshot:
        made["restored"] = _restored(world, Path(rollouts.snapshot))
    return made


def wide_world(bench: Bench, seed: int) -> World:
    """The crowd of a batch so wide that torch shares operations among threads: episodes of one step, and a reset."""
    return World(bench, 256, 2, 1, seed)


def wide_rows(count: int) -> list[int]:
    """The rows of such a batch: the crowd again and again."""
    return [row % 256 for row in range(count)]


def half_of(world: World) -> int:
    """After how many steps a snapshot of the world's batch is taken."""
    return len(world.actions) // 2


def snapshot(world: World, file: Path) -> None:
    """Save the world's batch in the middle of its rollout, as `torch.save` does."""
    env = world.bench.env(world.size, limit=world.limit, params=world.params)
    record(env, world.seeds, world.actions[: half_of(world)])
    torch.save(env.state_dict(), file)


def _restored(world: World, file: Path) -> str:
    """The checksum of the second half, from a snapshot on."""
    env = world.bench.env(world.size, limit=world.limit, params=world.params)
    env.load_state_dict(torch.load(file, weights_only=True))
    side = BatchSide(env)
    return checksum([side.step(actions) for actions in world.actions[half_of(world) :]])


def world_of(bench: Bench, rollouts: Rollouts) -> World:
    """The crowd of the batch that is run in both processes."""
    return World(bench, rollouts.rows, rollouts.steps, rollouts.limit, rollouts.seed)


def reference_checksum(world: World, count: int) -> str:
    """The same rollout's first rows on the reference twin."""
    params = [{name: values[row].item() for name, values in world.params.items()} for row in range(count)]
    side = ReferenceSide(world.bench.package, range(count), limit=world.limit, params=params)
    frames = [side.reset(world.seeds[:count])]
    frames.extend(side.step(take(actions, range(count))) for actions in world.actions)
    return checksum(frames)


@dataclass
class Other:
    """The other process, running."""

    process: subprocess.Popen[str]
    settings: Mapping[str, str]

    def result(self) -> dict[str, Any]:
        """What it printed: the checksums, its hash seed and thread count; {"error": text} where it failed."""
        try:
            out, err = self.process.communicate(timeout=WAIT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
            return {"error": f"the other process gave no answer within {WAIT:.0f} s"}
        if self.process.returncode != 0:
            lines = err.strip().splitlines()
            return {"error": lines[-1] if lines else f"exit status {self.process.returncode}"}
        return {**json.loads(out.splitlines()[-1]), "settings": dict(self.settings)}


def launch(package: EnvPackage, rollouts: Rollouts, *, threads: int) -> Other:
    """Start the rollouts in a fresh process with another hash seed and `threads` threads."""
    hash_seed = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"
    # Threads that wait by spinning take the core from those that work: three times as long on a machine with two.
    settings = {
        "PYTHONHASHSEED": hash_seed, "OMP_NUM_THREADS": str(threads), "MKL_NUM_THREADS": str(threads),
        "OMP_WAIT_POLICY": "passive",
    }
    root = str(Path(__file__).resolve().parents[2])  # this very simulacrum, wherever the caller found it
    path = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-m", "simulacrum.harness.fresh", str(package.folder), json.dumps(asdict(rollouts))]
    process = subprocess.Popen(
        command, env={**os.environ, **settings, "PYTHONPATH": path}, text=True, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )
    return Other(process, settings)


def main(folder: str, rollouts: str) -> None:
    """Run the rollouts and print their checksums; global generators start elsewhere than in the caller."""
    import random

    random.seed(97)
    np.random.seed(97)
    torch.manual_seed(97)
    with torch.no_grad():
        made = checksums(load_package(Path(folder)), Rollouts(**json.loads(rollouts)))
    print(json.dumps({**made, "threads": torch.get_num_threads()}))


if __name__ == "__main__":
    main(*sys.argv[1:])
