"""Peers as contenders: each runs in a process of its own virtual environment and steps only when it is its turn."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from suite import venvs
from suite.contender import Contender, Unavailable

WORKER = Path(__file__).parent / "peers" / "worker.py"
TITLES = {
    "envpool": "EnvPool",
    "gymnax": "gymnax",
    "pufferlib": "PufferLib Ocean C",
    "numba": "numba loop",
    "stub": "stub",
}
# One thread for everybody: the peers' own pools would spin on a core that another contender is measured on.
ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
    "JAX_PLATFORMS": "cpu",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
}


class Worker:
    """One process of one peer, started at first use. `Unavailable` where its virtual environment is missing."""

    def __init__(self, name: str) -> None:
        python = Path(sys.executable) if name == "stub" else venvs.python_of(name)
        if not python.exists():
            raise Unavailable(f"{name} is not set up: make bench PEERS={name}")
        self.name = name
        self._said = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115  # a pipe would fill up
        self._process = subprocess.Popen(
            [str(python), str(WORKER), name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._said,
            text=True, env={**os.environ, **ONE_THREAD, **venvs.environment_of(name)},
        )  # fmt: skip

    def ask(self, do: str, **more: Any) -> dict[str, Any]:
        """Send one command and wait for its answer. `Unavailable` when it failed."""
        pipe = self._process
        assert pipe.stdin is not None
        assert pipe.stdout is not None
        try:
            pipe.stdin.write(json.dumps({"do": do, **more}) + "\n")
            pipe.stdin.flush()
        except BrokenPipeError:
            pass
        line = pipe.stdout.readline()
        if not line:
            status = pipe.wait()
            self._said.seek(0)
            said = self._said.read().strip().splitlines()
            raise Unavailable(f"{self.name} ended with status {status}: {said[-1] if said else 'without a word'}")
        answer = json.loads(line)
        if "error" in answer:
            raise Unavailable(f"{self.name}: {answer['error']}")
        return answer

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(timeout=30)
        self._process.stdout.close()
        self._said.close()


def contender(worker: Worker, num_envs: int, **more: Any) -> Contender:
    """The peer of that worker with so many rows; a worker holds one at a time.

    `environment` may name another than CartPole.
    """
    built = worker.ask("build", num_envs=num_envs, **more)

    def run(calls: int) -> tuple[float, float]:
        took = worker.ask("run", calls=calls)
        return took["wall"], took["cpu"]

    return Contender(
        TITLES[worker.name], "peer", built["version"], built["settings"], built["steps_per_call"], run,
        close=lambda: worker.ask("close") and None,
    )  # fmt: skip
