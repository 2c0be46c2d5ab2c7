"""gymnax's environments as its authors use them: vmap over rows, lax.scan over steps, one jitted call for many steps.

Actions are given, all outputs of every step are kept, and the call waits for them. Threads are one, by the flags that
workers.py sets.
"""

from __future__ import annotations

from importlib.metadata import version

import gymnax
import jax
import jax.numpy as jnp


def scan_length(num_envs):
    """Steps in one call, as many as this project's own rollout takes (suite/ours.py)."""
    return max(8, min(1000, 2**18 // num_envs))


def build(num_envs, environment="CartPole-v1"):
    steps = scan_length(num_envs)
    env, params = gymnax.make(environment)
    step_rows = jax.vmap(env.step, in_axes=(0, 0, 0, None))

    def one(carry, actions):
        key, state = carry
        key, now = jax.random.split(key)
        observation, state, reward, terminated, truncated, _ = step_rows(
            jax.random.split(now, num_envs), state, actions, params
        )
        return (key, state), (observation, reward, terminated, truncated)

    run = jax.jit(lambda carry, actions: jax.lax.scan(one, carry, actions))
    key, first = jax.random.split(jax.random.key(0))
    _, state = jax.vmap(env.reset, in_axes=(0, None))(jax.random.split(first, num_envs), params)
    held = {"carry": (key, state)}

    def step(actions):
        held["carry"], outputs = run(held["carry"], actions)
        jax.block_until_ready((held["carry"], outputs))

    space, shape, keys = env.action_space(params), (steps, num_envs), [jax.random.key(seed) for seed in range(2)]
    if hasattr(space, "n"):
        batches = [jax.random.randint(key, shape, 0, int(space.n), jnp.int32) for key in keys]
    else:
        batches = [jax.random.uniform(key, (*shape, *space.shape), jnp.float32, space.low, space.high) for key in keys]
    return {
        "version": f"gymnax {version('gymnax')}, jax {version('jax')}",
        "settings": f"jit of lax.scan over {steps} steps of a vmapped step, outputs kept, one thread",
        "steps_per_call": steps * num_envs,
        "batches": jax.block_until_ready(batches),
        "step": step,
    }
