"""counter, whose observation says which step of which episode it is, and what the adapters make of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from simulacrum.contract.package import EnvPackage, load_package
from simulacrum.engine.vector import SimulacrumVectorEnv


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def counter() -> EnvPackage:
    return load_package(Path(__file__).parents[1] / "kit" / "counter")


@pytest.fixture
def vector(counter: EnvPackage) -> Iterator[Callable[..., SimulacrumVectorEnv]]:
    """Builds counter's vector env, without the gate: these tests are about what comes behind it."""
    made: list[SimulacrumVectorEnv] = []

    def build(num_envs: int = 4, package: Any = counter, **kwargs: Any) -> SimulacrumVectorEnv:
        made.append(SimulacrumVectorEnv(package, num_envs, **{"autoreset_mode": "same_step", **kwargs}))
        return made[-1]

    yield build
    for env in made:
        env.close()
