"""Limit programs: the rules of an environment written by hand in C (../limits), called through ctypes on arrays.

They give the observations, rewards and flags of the batched twin, bit for bit (tests/benchmarks/test_limits.py), and do
less: no info, no episode statistics, and outputs are written into the same arrays at every step.
"""

from __future__ import annotations

import ctypes
import hashlib
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from suite.contender import Contender, Unavailable, action_batches, timed

SOURCES = Path(__file__).parent.parent / "limits"
BUILT = Path(__file__).parents[3] / "build" / "bench" / "limits"
FLAGS = ["-O3", "-march=native", "-fwrapv", "-ffp-contract=off"]
# environment -> (numbers in an observation, actions)
PROGRAMS: dict[str, tuple[int, int]] = {"toywalk": (2, 2), "forager": (23, 4), "cartpole": (4, 2)}


def build(name: str, defines: Mapping[str, int] | None = None) -> ctypes.CDLL:
    """The program as a library; built once for a text, flags and defines. `Unavailable` without the compiler."""
    options = [*FLAGS, *(f"-D{key}={value}" for key, value in (defines or {}).items())]
    text = b"".join(path.read_bytes() for path in sorted(SOURCES.glob("*.[ch]")))
    key = hashlib.sha256(text + " ".join([sys.executable, *options]).encode()).hexdigest()[:16]
    library = BUILT / f"{name}-{key}.so"
    if not library.exists():
        BUILT.mkdir(parents=True, exist_ok=True)
        made = library.with_suffix(".new")
        command = [sys.executable, "-m", "ziglang", "cc", *options, "-shared", "-fPIC", "-o", str(made)]
        done = subprocess.run([*command, str(SOURCES / f"{name}.c")], capture_output=True, text=True, check=False)
        if "No module named ziglang" in done.stderr:
            raise Unavailable("the C programs need the `ziglang` package (extra `bench`)")
        if done.returncode:
            raise SystemExit(f"{name}.c does not build:\n{done.stderr}")
        made.replace(library)
    loaded = ctypes.CDLL(str(library))
    loaded.row_bytes.restype = loaded.step.restype = ctypes.c_long
    return loaded


class Limit:
    """N rows of a limit program and the arrays that it writes, as tensors.

    observations float32 `[N, numbers]`, rewards float32 `[N]`, terminated and truncated uint8 `[N]`; each step
    overwrites them.
    """

    def __init__(self, name: str, num_envs: int, defines: Mapping[str, int] | None = None) -> None:
        if name not in PROGRAMS:
            raise Unavailable(f"no C program of {name} was written")
        numbers, self.actions = PROGRAMS[name]
        if defines and "BERRIES" in defines:
            numbers = 5 + 3 * defines["BERRIES"]
        library = build(name, defines)
        self.row_bytes = int(library.row_bytes())
        self.num_envs = num_envs
        self.observations = torch.zeros(num_envs, numbers)
        self.rewards = torch.zeros(num_envs)
        self.terminated = torch.zeros(num_envs, dtype=torch.uint8)
        self.truncated = torch.zeros(num_envs, dtype=torch.uint8)
        self._rows = torch.zeros(num_envs * self.row_bytes, dtype=torch.uint8)
        self._reset, self.call = library.reset, library.step
        self._count = ctypes.c_long(num_envs)
        outputs = (self.observations, self.rewards, self.terminated, self.truncated)
        self._outputs = [pointer(array) for array in outputs]

    def reset(self, seeds: Tensor) -> None:
        """Every row at the start of episode 0 of its seed; int64 `[N]`, read as unsigned."""
        self._reset(pointer(self._rows), pointer(seeds), self._outputs[0], self._count)

    def prepare(self, actions: Tensor) -> list[Any]:
        """The arguments of a step with these actions, int64 `[N]`, which must stay alive and in place."""
        return [pointer(self._rows), pointer(actions), *self._outputs, self._count]

    def step(self, prepared: list[Any]) -> int:
        """One step of all rows; how many actions were illegal."""
        return self.call(*prepared)


def pointer(tensor: Tensor) -> ctypes.c_void_p:
    """The address of a tensor's first number."""
    return ctypes.c_void_p(tensor.data_ptr())


def contender(name: str, num_envs: int, defines: Mapping[str, int] | None = None) -> Contender:
    """The limit program of an environment as a contender."""
    limit = Limit(name, num_envs, defines)
    limit.reset(torch.arange(num_envs))
    batches = action_batches(limit.actions, num_envs)
    # The prepared arguments are addresses within `limit` and `batches`, which `step` keeps alive.
    prepared = [limit.prepare(batch) for batch in batches]
    call, held = limit.call, (limit, batches)

    def step(arguments: list[Any], held: object = held) -> None:
        call(*arguments)

    settings = f"scalar C with branches, zig cc {' '.join(FLAGS)}, through ctypes, outputs overwritten"
    return Contender("C by hand", "limit", _compiler(), settings, num_envs, timed(step, prepared))


def _compiler() -> str:
    from importlib.metadata import version

    return f"ziglang {version('ziglang')}"
