"""A peer that does next to nothing: for the tests of the worker."""

from __future__ import annotations


def build(num_envs):
    if num_envs == 13:
        raise ValueError("thirteen is refused")
    print("a peer may print")
    return {
        "version": "stub 1",
        "settings": "none",
        "steps_per_call": num_envs,
        "batches": [[0] * num_envs, [1] * num_envs],
        "step": sum,
    }
