"""The best that forager can give, in the episodes that ppo.py measures: `python training/forager_optimum.py`.

The best policy is the one that eats all berries in the fewest expected steps. For each start this is solved
exactly, by value iteration over position and the set of berries alive. Left out are the time limit and the
energy, which such a policy practically never runs into.
"""

from __future__ import annotations

from dataclasses import dataclass

import gymnasium as gym
import numpy as np
import tyro

import simulacrum
from common.measure import FIRST_EVAL_SEED


@dataclass
class Args:
    eval_episodes: int = 100  # episodes for each seed, as in ppo.py
    eval_seeds: int = 5  # seeds, as in ppo.py
    gust: float = 0.15  # probability that wind turns a move


def starts(args: Args) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Position [S], berries' cells [S, K] and all berries' gain [S] of every start that ppo.py measures."""
    env = gym.make("simulacrum/forager-v0")
    constants = simulacrum.load_package("forager").module("__init__")
    gains = np.array([constants.GAIN_SMALL, constants.GAIN_MEDIUM, constants.GAIN_LARGE])
    position, berries, gain = [], [], []
    for seed in range(FIRST_EVAL_SEED, FIRST_EVAL_SEED + args.eval_seeds):
        env.reset(seed=seed)
        for _ in range(args.eval_episodes):
            state = env.unwrapped.runner.state
            position.append(state.x * constants.SIZE + state.y)
            berries.append([x * constants.SIZE + y for x, y in zip(state.berry_x, state.berry_y, strict=True)])
            gain.append(gains[list(state.berry_kind)].sum())
            env.reset()
    return np.array(position), np.array(berries), np.array(gain)


def neighbours(size: int) -> np.ndarray:
    """Where north, east, south and west lead from each cell [4, cells]."""
    x, y = np.divmod(np.arange(size * size), size)
    moves = ((0, 1), (1, 0), (0, -1), (-1, 0))
    return np.stack([(x + dx).clip(0, size - 1) * size + (y + dy).clip(0, size - 1) for dx, dy in moves])


def fewest_steps(berries: np.ndarray, gust: float, size: int) -> np.ndarray:
    """Expected steps until all berries [S, K] are eaten, from each cell: [S, cells]."""
    count, kinds = berries.shape
    there = neighbours(size)
    rows, cells = np.arange(count)[:, None], np.arange(size * size)[None, :]
    steps = np.zeros((2**kinds, count, size * size))  # by the set of berries alive, the empty one first
    for alive in range(1, 2**kinds):
        left = np.full((count, size * size), alive)  # the set after a step ends on each cell
        for k in range(kinds):
            left = np.where((berries[:, k, None] == cells) & (alive >> k & 1 == 1), left & ~(1 << k), left)
        guess, before = np.full((count, size * size), 20.0), np.inf
        while np.abs(guess - before).max() > 1e-6:
            after = np.where(left != alive, steps[left, rows, cells], guess)
            tried = [1 + (1 - gust) * after[:, there[d]] + gust * after[:, there[(d + 1) % 4]] for d in range(4)]
            before, guess = guess, np.min(tried, axis=0)
        steps[alive] = guess
    return steps[-1]


def main(args: Args) -> float:
    """Print and return the mean of the best expected returns."""
    constants = simulacrum.load_package("forager").module("__init__")
    position, berries, gain = starts(args)
    steps = fewest_steps(berries, args.gust, constants.SIZE)[np.arange(len(position)), position]
    returns = constants.GAIN_REWARD * gain - constants.STEP_COST * steps
    print(f"best possible in {len(gain)} episodes: return {returns.mean():.2f}, length {steps.mean():.1f}")
    return float(returns.mean())


if __name__ == "__main__":
    main(tyro.cli(Args, description=__doc__))
