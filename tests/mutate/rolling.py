"""Steps of a batched twin that is only a text."""

from __future__ import annotations

import types
from pathlib import Path

import torch
from gymnasium.vector import AutoresetMode

from simulacrum.contract.package import EnvPackage
from simulacrum.engine.actions import to_tensors
from simulacrum.engine.boundary import Core
from simulacrum.engine.vector import SimulacrumVectorEnv
from simulacrum.harness.bench import seeds_for
from simulacrum.harness.drivers import Random
from simulacrum.harness.purity import print_of
from simulacrum.twin.batched import BatchedEnv


def twin_of(package: EnvPackage, source: str) -> BatchedEnv:
    """An instance of the twin that a text of fast.py defines."""
    package.module("__init__")
    module = types.ModuleType(f"{package.import_name}.text")
    module.__package__ = package.import_name
    exec(compile(source, "<text>", "exec"), vars(module))
    kinds = [kind for kind in vars(module).values() if isinstance(kind, type) and issubclass(kind, BatchedEnv)]
    return next(kind for kind in kinds if kind.__module__ == module.__name__)(package.schema)


def rolled(package: EnvPackage, source: str, rows: int = 5, steps: int = 3, limit: int | None = None) -> list[str]:
    """Hashes over everything that eager steps with random actions give. Whatever the text raises goes through."""
    env = SimulacrumVectorEnv(package, rows, **({} if limit is None else {"max_episode_steps": limit}))
    env.reset(seed=seeds_for(rows, 1))
    core, params = Core(twin_of(package, source), env.max_episode_steps), env.params
    state = core.fresh(env.state.seed, env.state.episode, params)
    driver, found = Random(package.schema, rows, 3), []
    torch.manual_seed(0)
    for step in range(steps):
        action = to_tensors(package.schema.action, driver.actions({}, step), rows, env.device)
        state, out = core.step(AutoresetMode.NEXT_STEP, state, action, params)
        found.append(print_of((state, out)))
    env.close()
    return found


def text_of(package: EnvPackage, file: str = "fast.py") -> str:
    """A package's file."""
    return Path(package.folder, file).read_text("utf-8")
