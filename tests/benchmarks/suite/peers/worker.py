"""Runs one peer in the virtual environment of its own and steps it when told to.

    python worker.py NAME     with NAME one of PEERS; commands as JSON lines on the standard input:

    {"do": "build", "num_envs": N, "environment": ID}  -> {"version", "settings", "steps_per_call"}
    {"do": "run", "calls": C}                      -> {"wall", "cpu"}: seconds of C calls, in this process
    {"do": "close"}                                -> {}

Standard library and the peer only. Anything that fails is answered as {"error": text}.
"""

from __future__ import annotations

import importlib
import itertools
import json
import os
import sys
import time

PEERS = {
    "envpool": "envpool_env",
    "gymnax": "gymnax_env",
    "pufferlib": "pufferlib_cartpole",
    "numba": "numba_cartpole",
    "stub": "stub",
}


def main() -> None:
    # What the peer prints must not get among the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    name = sys.argv[1]
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    step, turn = None, iter(())
    for line in sys.stdin:
        command = json.loads(line)
        answer: dict[str, object] = {}
        try:
            if command["do"] == "build":
                named = {"environment": command["environment"]} if "environment" in command else {}
                built = importlib.import_module(PEERS[name]).build(command["num_envs"], **named)
                step, turn = built.pop("step"), itertools.cycle(built.pop("batches"))
                answer = built
            elif command["do"] == "run":
                wall, cpu = time.perf_counter(), time.process_time()
                for actions in itertools.islice(turn, command["calls"]):
                    step(actions)
                answer = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
            else:
                step, turn = None, iter(())
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def action_batches(num_envs: int, dtype: str, choices: int = 2, count: int = 64, stride: int = 16):
    """Batches of random choices from 0 on as views of one array, as `suite/contender.py` makes them."""
    import numpy as np

    whole = np.random.default_rng(num_envs).integers(0, choices, num_envs + count * stride).astype(dtype)
    return [whole[number * stride : number * stride + num_envs] for number in range(count)]


def number_batches(num_envs: int, low, high, count: int = 64):
    """Batches of random float32 numbers between bounds of the action's shape, as views of one array."""
    import numpy as np

    whole = np.random.default_rng(num_envs).uniform(low, high, (num_envs + count, *low.shape)).astype(np.float32)
    return [whole[number : number + num_envs] for number in range(count)]


if __name__ == "__main__":
    main()
