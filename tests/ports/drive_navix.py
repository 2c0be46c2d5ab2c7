"""NAVIX's environments along given actions: `python drive_navix.py NAME case.npz out.npz`, in its own venv.

The image is NAVIX's own first-person one, which its documentation calls MiniGrid's observation.
"""

from __future__ import annotations

import sys
from importlib.metadata import version

import jax
import navix
import numpy as np


def main(name: str, source: str, target: str) -> None:
    actions = np.load(source)["action"]  # [rows, steps]
    size = name.removeprefix("MiniGrid-Empty-").removesuffix("-v0")
    env = navix.make(f"Navix-Empty-{size}-v0", observation_fn=navix.observations.symbolic_first_person)
    first = env.reset(jax.random.PRNGKey(0))

    def one(timestep, action):
        after = env.step(timestep, action)
        return after, (after.observation, after.reward, after.is_termination())

    images, rewards, ends = jax.jit(jax.vmap(lambda row: jax.lax.scan(one, first, row)[1]))(actions)
    start = np.broadcast_to(np.asarray(first.observation), (len(actions), 1, *first.observation.shape))
    np.savez(target, version=f"navix {version('navix')}", image=np.concatenate([start, np.asarray(images)], axis=1),
             reward=np.asarray(rewards), terminated=np.asarray(ends))  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:])
