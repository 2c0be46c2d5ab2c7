"""One step of gymnax's environments from given states: `python drive_gymnax.py NAME case.npz out.npz`, in its venv."""

from __future__ import annotations

import sys
from importlib.metadata import version

import gymnax
import jax
import jax.numpy as jnp
import numpy as np


def main(name: str, source: str, target: str) -> None:
    case = np.load(source)
    env, params = gymnax.make(name, **({"use_minimal_action_set": False} if "MinAtar" in name else {}))
    first = env.reset(jax.random.key(0), params)[1]

    def one(given, action):
        kinds = {key: jnp.asarray(getattr(first, key)).dtype for key in given}
        state = first.replace(**{key: value.astype(kinds[key]) for key, value in given.items()})
        _, after, reward, ended, _ = env.step_env(jax.random.key(0), state, action, params)
        return after, reward, ended

    rows = {key[6:]: jnp.asarray(case[key]) for key in case.files if key.startswith("state.")}
    after, reward, ended = jax.jit(jax.vmap(one))(rows, jnp.asarray(case["action"]))
    made = {f"next.{key}": np.asarray(getattr(after, key)).reshape(case[f"next.{key}"].shape) for key in rows}
    np.savez(target, version=f"gymnax {version('gymnax')}", reward=np.asarray(reward).reshape(-1),
             terminated=np.asarray(ended).reshape(-1), **made)  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:])
