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

TABLE = {
    "cartpole": Settings(
        "pqn", 475.0, THRESHOLD, GYMNASIUM,
        arguments={"total_steps": 300_000, "target_return": 475.0, "eval_episodes": 20, "eval_seeds": 2},
    ),
    "pendulum": Settings(
        "sac", -172.2, "PPO of RL Baselines3 Zoo, 100,000 steps", ZOO,
        arguments={"total_steps": 20_000, "eval_episodes": 20, "eval_seeds": 2},
    ),
}  # fmt: skip
