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
FEW, MANY = {"eval_episodes": 20, "eval_seeds": 2}, {"eval_episodes": 200, "eval_seeds": 5}  # episodes to measure with
# A choice of some hundred at most is observed: small networks, many updates.
TABULAR = {"num_envs": 64, "num_steps": 16, "minibatch": 256, "epochs": 2, "learning_rate": 2e-3, "explore_until": 0.5}
# An image whose numbers are names of things. Brought to mean 0 and variance 1 instead, what is seldom seen is shown so
# large that a policy was lost again as soon as it was found.
NAMED = {"one_hot": 11, "num_envs": 128, "num_steps": 64, "minibatch": 2048, "learning_rate": 1e-3}
# Other observations of integers, read as one vector.
SEEN = {"normalize": True, "num_envs": 64, "num_steps": 64, "minibatch": 1024, "learning_rate": 1e-3}
# Images of MinAtar. With 6 updates a batch at 2e-3, and not 32 at 5e-3, Breakout stayed at 6.
PIXELS = {"num_envs": 64, "num_steps": 128, "minibatch": 1024, "epochs": 4, "learning_rate": 5e-3}

# Arguments come from RL Baselines3 Zoo, from the scripts' defaults and from trials. What they reach is not told here
# but in docs/assets/environments, by a run.
TABLE = {
    "cartpole": Settings(
        "pqn", 475.0, THRESHOLD, GYMNASIUM, arguments={"total_steps": 300_000, "target_return": 475.0, **FEW}
    ),
    "pendulum": Settings(
        "sac", -172.2, "PPO of RL Baselines3 Zoo, 100,000 steps", ZOO, arguments={"total_steps": 20_000, **FEW}
    ),
    "acrobot": Settings(  # PPO with the arguments of RL Baselines3 Zoo, rewards as they are, stayed at -500
        "pqn", -100.0, THRESHOLD, GYMNASIUM, arguments={"total_steps": 600_000, **FEW}
    ),
    "mountaincar": Settings(
        "dqn", -110.0, THRESHOLD, GYMNASIUM, arguments={"total_steps": 150_000, "explore_until": 0.3, **FEW}
    ),
    "frozenlake": Settings(
        "pqn", 0.7, THRESHOLD, GYMNASIUM, arguments={"total_steps": 200_000, "width": 64, **TABULAR, **MANY}
    ),
    "cliffwalking": Settings(  # PQN took ways further from the edge (-15 to -17), as Sutton and Barto's Sarsa does
        "dqn", -13.0, "the shortest way", arguments={"total_steps": 60_000, "eval_limit": 200, **FEW}
    ),
    "taxi": Settings(  # PPO, which reads the mask of actions, was at -150 after 2 M steps
        "dqn", 7.8, "the best there is is 7.93, by value iteration on Gymnasium's own table",
        arguments={"total_steps": 150_000, "random_steps": 10_000, "minibatch": 256, "explore_until": 0.4,
                   "explore_last": 0.1, **MANY},
    ),
    "blackjack": Settings(
        "pqn", -0.06, "the best there is is -0.043, computed in the package's probes.py",
        arguments={"total_steps": 500_000, "gamma": 1.0, **TABULAR, "eval_episodes": 4_000, "eval_seeds": 5},
    ),
    "minigrid_empty": Settings(
        "ppo", 0.95, "the shortest way earns 0.961", arguments={"total_steps": 500_000, **SEEN, **FEW}
    ),
    "minigrid_doorkey": Settings(  # DoorKey-5x5; the default of 8x8 met no goal that it could learn from in 0.8 M steps
        "ppo", 0.95, "shortest ways earn 0.966 on average",
        arguments={"total_steps": 400_000, "params": {"size": 5}, **NAMED, **FEW},
    ),
    "minigrid_lavagap": Settings(
        "ppo", 0.94, "shortest ways earn 0.952 on average", arguments={"total_steps": 1_000_000, **NAMED, **FEW}
    ),
    "minigrid_dynamicobstacles": Settings(  # with the usual bonus for entropy it stood still, which earns 0
        "ppo", 0.9, "the scripted policy `careful` earns 0.914 in minigrid itself",
        arguments={"total_steps": 800_000, "entropy": 0.05, **NAMED, **MANY},
    ),
    "minigrid_fourrooms": Settings(  # one seed was at 0.54 after 2.4 M steps: PPO remembers no room that it has seen
        "ppo", 0.8, "shortest ways earn 0.852 on average", arguments={"total_steps": 4_000_000, **NAMED, **MANY}
    ),
    "minigrid_keycorridor": Settings(
        "ppo", 0.94, "shortest ways earn 0.951 on average", arguments={"total_steps": 4_000_000, **NAMED, **FEW}
    ),
    "pong": Settings(
        "ppo", 21.0, "21 points to none, before what bounces earn",
        arguments={"total_steps": 6_000_000, "gamma": 0.98, "target_return": 26.0, **FEW},
    ),
    "mountaincarcontinuous": Settings(  # without held actions and scaled observations it learned nothing
        "sac", 90.0, THRESHOLD, GYMNASIUM,
        arguments={"total_steps": 60_000, "random_steps": 8_000, "hold": 20, "scale": True, "update_to_data": 0.25,
                   "temperature": 0.1, "target_entropy": -2.0, **FEW},
    ),
    "minatar_seaquest": Settings(
        "ppo", 27.7, "the scripted policy `rescue`, on MinAtar's own program",
        arguments={"total_steps": 5_000_000, **PIXELS, **FEW},
    ),
    "minatar_breakout": Settings(
        "ppo", 34.5, "the scripted policy `ahead`, on MinAtar's own program",
        arguments={"total_steps": 3_000_000, **PIXELS, **FEW},
    ),
    "game_2048": Settings(  # rewards are hundreds: the value has layers of its own, so that its gradients stay there
        "ppo", 2_324.1, "the scripted policy `corner`, on the package gymnasium-2048",
        arguments={"total_steps": 5_000_000, "num_envs": 256, "num_steps": 64, "gamma": 0.997, "learning_rate": 1e-3,
                   "width": 256, "separate": True, "eval_episodes": 50, "eval_seeds": 4},
    ),
}  # fmt: skip
