"""How each environment is trained, and to which level: the table of training/published.py.

An environment without a row here lacks nothing but the training on its page.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

ZOO = "https://github.com/DLR-RM/rl-baselines3-zoo/blob/master/benchmark.md"
GYMNASIUM = "https://gymnasium.farama.org/api/registry/"


@dataclass(frozen=True)
class Settings:
    """One row. `level` is a mean return on the reference twin; `source` says whose, and `link` where it is written.

    `arguments` are those of the script that differ from its defaults; `total_steps` is always among them.
    """

    script: str  # file of training/, without .py
    level: float
    source: str
    link: str = ""
    seeds: int = 3
    arguments: dict[str, Any] = field(default_factory=dict[str, Any])


THRESHOLD = "reward threshold in Gymnasium's registry"
OPTIMUM = "the best there is"
FEW, MANY = {"eval_episodes": 20, "eval_seeds": 2}, {"eval_episodes": 200, "eval_seeds": 5}  # episodes to measure with
# Observations of one choice of some hundred at most, rewards that come late: many rows, small networks.
TABULAR = {"num_steps": 16, "epochs": 2, "learning_rate": 2e-3, "explore_until": 0.5}

TABLE = {
    "cartpole": Settings(
        "pqn", 475.0, THRESHOLD, GYMNASIUM, arguments={"total_steps": 300_000, "target_return": 475.0, **FEW}
    ),
    "pendulum": Settings(
        "sac", -172.2, "PPO of RL Baselines3 Zoo, 100,000 steps", ZOO, arguments={"total_steps": 20_000, **FEW}
    ),
    "frozenlake": Settings(
        "pqn", 0.7, THRESHOLD, GYMNASIUM,
        arguments={"total_steps": 200_000, "num_envs": 64, "minibatch": 256, "width": 64, **TABULAR, **MANY},
    ),
}  # fmt: skip
