"""Our own environments under ids without the gate: whether they may be trained on is not the question of a kit."""

from __future__ import annotations

from typing import Any

import gymnasium

from simulacrum.contract.package import load_package
from simulacrum.engine.vector import SimulacrumVectorEnv
from simulacrum.registry import make_single


def vector(package: str, num_envs: int = 1, **kwargs: Any) -> SimulacrumVectorEnv:
    """A package's vector environment."""
    return SimulacrumVectorEnv(load_package(package), num_envs, **kwargs)


def single(package: str, output: str = "numpy", **kwargs: Any) -> Any:
    """A package's reference. It gives arrays whatever the vector environment gives."""
    return make_single(package, **kwargs)


for _name in ("Toywalk", "Forager"):
    gymnasium.register(
        f"conformance/{_name}-v0",
        entry_point="suite.ungated:single",
        vector_entry_point="suite.ungated:vector",
        max_episode_steps=load_package(_name.lower()).schema.max_episode_steps,
        kwargs={"package": _name.lower()},
    )
