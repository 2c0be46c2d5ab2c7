"""Which environment of other people is the same as one of ours: found by its id, or kept in the one table here.

Our ids repeat those of the originals in small letters: simulacrum/mountaincar-v0 is MountainCar-v0. So an environment
names its original by its id alone. Where the names part, `NAMES` has the original's.
"""

from __future__ import annotations

import contextlib
import importlib
import re
from importlib.metadata import version

import gymnasium as gym

from simulacrum.contract.package import EnvPackage

# Ours by package name to the original's id, where they are not the same letters.
NAMES = {
    "minigrid_empty": "MiniGrid-Empty-8x8-v0",
    "minigrid_doorkey": "MiniGrid-DoorKey-8x8-v0",
    "minigrid_lavagap": "MiniGrid-LavaGapS7-v0",
    "minigrid_fourrooms": "MiniGrid-FourRooms-v0",
    "minigrid_dynamicobstacles": "MiniGrid-Dynamic-Obstacles-6x6-v0",
    "minigrid_keycorridor": "MiniGrid-KeyCorridorS3R1-v0",
}
# Distributions whose environments are registered by a call, not by an import: module, function, how their ids begin.
CALLS = {"minatar": ("minatar.gym", "register_envs", "MinAtar/")}


def gymnasium_id(package: EnvPackage) -> str | None:
    """The id in Gymnasium's registry of the environment that a package is about, or None."""
    for name in package.schema.outside:
        _register(name)
    if package.name in NAMES:
        return NAMES[package.name] if NAMES[package.name] in gym.registry else None
    wanted = _plain(package.env_id.partition("/")[2])
    return next((key for key in gym.registry if not key.startswith("simulacrum/") and _plain(key) == wanted), None)


def gymnax_id(env_id: str) -> str:
    """gymnax's name of an environment in Gymnasium's registry: MinAtar/Breakout-v1 is Breakout-MinAtar there."""
    found = re.fullmatch(r"MinAtar/(\w+)-v\d+", env_id)
    return f"{found[1]}-MinAtar" if found else env_id


def version_of(package: EnvPackage) -> str:
    """The version of the program behind the original, as a table shows it."""
    return ", ".join(f"{name} {version(name)}" for name in package.schema.outside or ("gymnasium",) if name != "numpy")


def _register(name: str) -> None:
    with contextlib.suppress(ImportError):
        if name in CALLS:
            module, call, begin = CALLS[name]
            if not any(key.startswith(begin) for key in gym.registry):  # a second call warns
                getattr(importlib.import_module(module), call)()
        else:
            importlib.import_module(name.replace("-", "_"))


def _plain(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())
