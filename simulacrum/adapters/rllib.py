"""RLlib's new API stack over a `SimulacrumVectorEnv`, in this process and in env runners anywhere.

RLlib reads a vector environment with NEXT_STEP resets and NumPy infos, and does not ask which it was given: with
SAME_STEP the last observation of every episode is the next episode's first, without a word. So the environment
is named here by a class that each env runner builds for itself, in the right mode and behind the gate of its own
machine; and by its folder, since a registration made in one process is unknown to all others.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gymnasium as gym
from gymnasium.vector import AutoresetMode, VectorWrapper
from ray.rllib.algorithms.algorithm_config import AlgorithmConfig  # pyright: ignore[reportMissingImports]  # has a venv of its own

from simulacrum.adapters.checks import built
from simulacrum.engine.vector import SimulacrumVectorEnv
from simulacrum.errors import UsageError
from simulacrum.registry import VECTOR, register_envs

_NAME = "configure_rllib"
_NEXT = "let configure_rllib(config, env_id, num_envs) choose it"
# RLlib seeds env runner w with `seed + w`. Rows count on from there, so that runners would share nearly all of them.
_ROWS_PER_SEED = 2**20


def configure_rllib(config: Any, env_id: str, num_envs: int = 1, **kwargs: Any) -> Any:
    """Have `config`, an `AlgorithmConfig` of the new API stack, sample from the environment `env_id`; returns it.

    It sets `environment(...)`, and of `env_runners(...)` the number of rows and the mode of vectorising; how many
    env runners there are, and all else, is left to the caller. The environment is built once here, so that what is
    wrong with it is told now and not by a worker.

    Args:
        config: such as `PPOConfig()`.
        env_id: a Gymnasium id, such as "simulacrum/forager-v0". If it was registered from a folder, env runners
            register that folder, which must be there on their machine.
        num_envs: rows of each env runner.
        kwargs: more for the environment: `compile`, `params`, `max_episode_steps`, `threads`.

    Raises:
        GateError: the environment has no fresh, passing report.
        UsageError: an argument that this function decides itself (autoreset mode, output), something else than a
            config of the new API stack, or an id that is not of a simulacrum environment.
    """
    if not isinstance(config, AlgorithmConfig) or not config.enable_env_runner_and_connector_v2:
        raise UsageError(
            "the adapter configures RLlib's new API stack",
            expected="an AlgorithmConfig with enable_env_runner_and_connector_v2, such as PPOConfig()",
            found="the old API stack" if isinstance(config, AlgorithmConfig) else type(config).__name__,
            where=f"{_NAME}(config, ...)",
        )
    env_config = {"env_id": env_id, "folder": _folder(env_id), **kwargs}
    RLlibVectorEnv({**env_config, "num_envs": num_envs}).close()
    config.environment(RLlibVectorEnv, env_config=env_config)
    config.env_runners(num_envs_per_env_runner=num_envs, gym_env_vectorize_mode="vector_entry_point")
    return config


class RLlibVectorEnv(VectorWrapper):
    """What RLlib builds in each env runner: the environment in NEXT_STEP mode, giving NumPy, behind the gate.

    A seed s that RLlib resets with gives row i the seed s * 2**20 + i. RLlib counts seeds on from runner to runner,
    and the rows of one runner count on as well: without the factor, runners would play the same episodes.

    Args:
        config: RLlib's `env_config` as `configure_rllib` writes it, and "num_envs".

    Raises:
        GateError: the environment has no fresh, passing report on the machine of this env runner.
        UsageError: arguments as of `configure_rllib`, or RLlib was told to vectorise single environments.
    """

    def __init__(self, config: Mapping[str, Any]) -> None:
        kwargs = dict(config)
        if "num_envs" not in kwargs:
            raise UsageError(
                "RLlib asks for single environments, to vectorise them itself",
                expected="gym_env_vectorize_mode='vector_entry_point'",
                where="config.env_runners(...)",
                next_step=_NEXT,
            )
        env_id, num_envs, folder = kwargs.pop("env_id"), kwargs.pop("num_envs"), kwargs.pop("folder", None)
        if folder is not None:
            register_envs(folder)
        super().__init__(built(_NAME, env_id, num_envs, kwargs, mode="next_step", output="numpy"))

    def reset(
        self, *, seed: int | list[int] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """As of the environment, with the rows' seeds of `seed` set apart from those of all other seeds."""
        spread: Any = seed * _ROWS_PER_SEED if isinstance(seed, int) else seed
        return self.env.reset(seed=spread, options=options)


def check_rllib_env(*, env: Any, **_: Any) -> None:
    """For configs that name a Gymnasium id themselves: refuses a simulacrum environment that RLlib would misread.

    `config.callbacks(on_environment_created=check_rllib_env)` asks in every env runner. Environments of others pass.

    Raises:
        UsageError: another mode than NEXT_STEP, or torch output.
    """
    inner = env.unwrapped
    if not isinstance(inner, SimulacrumVectorEnv):
        return
    if inner.autoreset_mode is not AutoresetMode.NEXT_STEP:
        raise UsageError(
            "RLlib takes the observation of a step that ends an episode for the episode's last",
            expected="autoreset_mode='next_step'",
            found=f"autoreset_mode={inner.autoreset_mode.name.lower()!r}",
            where="env_config",
            next_step=_NEXT,
        )
    if inner.output != "numpy":
        raise UsageError(
            "RLlib reads arrays",
            expected="output='numpy'",
            found=f"output={inner.output!r}",
            where="env_config",
            next_step=_NEXT,
        )


def _folder(env_id: str) -> str | None:
    """The folder that `env_id` was registered from; None where every process finds it by name."""
    spec = gym.spec(env_id)
    if spec.vector_entry_point != VECTOR:
        raise UsageError(
            "the adapter is for environments of simulacrum",
            expected="an id that simulacrum.register_envs registered",
            found=env_id,
            where=f"{_NAME}(config, env_id)",
        )
    source = str(spec.kwargs["package"])
    return None if source == env_id else str(Path(source).resolve())
