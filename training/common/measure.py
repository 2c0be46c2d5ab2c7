"""Measuring a policy on the reference twin, the one that can be read, beside the package's scripted policies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
from rich.table import Table

Act = Callable[[Any, Any], Any]  # (environment, observation) to action, all of one row
Measured = tuple[np.ndarray, np.ndarray]  # returns and lengths of episodes
FIRST_EVAL_SEED = 2**60  # far from any training row's seed


def measure(args: Any, act: Act, **kwargs: Any) -> Measured:
    """Returns and lengths on the reference twin, `eval_episodes` episodes for each of `eval_seeds` seeds.

    An episode that goes on after `eval_limit` steps is given up, and counts with what it got.

    Args:
        args: the run's `EnvArgs` and `EvalArgs`.
        act: the policy; it is given the environment and the observation.
        kwargs: more for `gymnasium.make`, such as `params`.
    """
    env = gym.make(args.env_id, **kwargs)
    returns, lengths = [], []
    for seed in range(FIRST_EVAL_SEED, FIRST_EVAL_SEED + args.eval_seeds):
        observation, _ = env.reset(seed=seed)
        for _ in range(args.eval_episodes):
            total, length, over = 0.0, 0, False
            while not over:
                observation, reward, terminated, truncated, _ = env.step(act(env, observation))
                total, length = total + float(reward), length + 1
                over = terminated or truncated or length == args.eval_limit
            returns.append(total)
            lengths.append(length)
            observation, _ = env.reset()
    env.close()
    return np.array(returns), np.array(lengths)


def scripted_policies(package: Any) -> dict[str, Act]:
    """The policies of the package's probes.py, by the names that tables show."""
    probes = package.probes()
    return {f"{probe.name}, scripted": _scripted(probe.act) for probe in (probes.PROBES if probes is not None else ())}


def _scripted(act: Callable[[Any, Any, int], Any]) -> Act:
    """A probe reads the reference's own scalars: observation, state, steps taken."""
    return lambda env, _: act(env.unwrapped.runner.observe(), env.unwrapped.runner.state, env.unwrapped.runner.t)


def summary(returns: np.ndarray, lengths: np.ndarray) -> dict[str, float]:
    return {
        "return": float(returns.mean()),
        "standard_error": float(returns.std(ddof=1) / len(returns) ** 0.5) if len(returns) > 1 else float("nan"),
        "length": float(lengths.mean()),
        "episodes": len(returns),
    }


def table(args: Any, measured: dict[str, Measured]) -> Table:
    """Mean returns, and how much the trained policy (the first) gained on each other one, episode by episode."""
    size = f"{args.eval_seeds} seeds x {args.eval_episodes} episodes"
    shown = Table(title=f"{args.env_id}, reference twin, {size}")
    for heading in ("policy", "mean return", "episode length", "gain over it"):
        shown.add_column(heading, justify="left" if heading == "policy" else "right")
    mine = next(iter(measured.values()))[0]
    for name, (returns, lengths) in sorted(measured.items(), key=lambda entry: -entry[1][0].mean()):
        mean, gain = summary(returns, lengths), summary(mine - returns, lengths)
        gained = "" if returns is mine else f"{gain['return']:+.2f} ± {gain['standard_error']:.2f}"
        got = f"{mean['return']:.2f} ± {mean['standard_error']:.2f}"
        shown.add_row(name, got, f"{mean['length']:.1f}", gained)
    shown.caption = "± is one standard error"
    return shown
