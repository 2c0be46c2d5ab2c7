"""skrl's `Wrapper` over a `SimulacrumVectorEnv`, torch from end to end.

skrl's own wrapper for Gymnasium sends every action over the host. This one hands tensors through as they are.

skrl takes the observation that follows a step for the next state, also where an episode was cut off; there it is the
first one of the next episode. `FinalObservations` gives its agents the true one.
"""

# skrl is an extra, and not there where the types are checked; its classes are then unknown to the checker.
# pyright: reportMissingImports=false, reportUntypedBaseClass=false, reportAttributeAccessIssue=false

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gymnasium as gym
import torch
from gymnasium import spaces
from skrl import config
from skrl.envs.wrappers.torch import Wrapper
from skrl.utils.spaces.torch import flatten_tensorized_space, tensorize_space, unflatten_tensorized_space

from simulacrum.adapters.checks import built, checked, shown_by
from simulacrum.errors import UsageError


def make_skrl(env_id: str, num_envs: int = 1, *, seed: int | None = None, **kwargs: Any) -> SkrlEnv:
    """The environment `env_id` for skrl, built by `gymnasium.make_vec` and so behind the gate.

    Args:
        env_id: a Gymnasium id, such as "simulacrum/forager-v0".
        num_envs: rows N.
        seed: as `SkrlEnv` takes it.
        kwargs: more for the environment: `device`, `compile`, `params`, `max_episode_steps`, `render_mode`, `threads`.

    Raises:
        GateError: the environment has no fresh, passing report.
        UsageError: an argument that this function decides itself (autoreset mode, output), or a space that skrl has
            no form for.
    """
    return SkrlEnv(built("make_skrl", env_id, num_envs, kwargs, mode="same_step"), seed=seed)


class SkrlEnv(Wrapper):
    """A `SimulacrumVectorEnv` as skrl wants its environments.

    Observations are `[N, size]`, views of the step's own tensors (a Dict space is concatenated in the order of its
    keys' names, as everywhere in skrl); rewards and flags are views `[N, 1]`. "truncated" means cut off and not
    terminated, because that is how skrl's agents read it. `infos` are the environment's own, and where an episode
    ended in the step they have besides

    - "final_observations" `[N, size]`: the last observations of the old episodes in these rows;
    - "episode": mean return, length and task metrics of the episodes that ended, each one number, which skrl's
      trainers write to TensorBoard.

    Args:
        env: the vector environment, in SAME_STEP mode and with torch output, and not wrapped.
        seed: of the first reset; row i takes seed + i. None takes what `skrl.utils.set_seed` was given.

    Raises:
        UsageError: another mode, NumPy output, something else than a `SimulacrumVectorEnv`, or a space that skrl has
            no form for: MultiBinary, or a Discrete action space that does not begin at 0.
    """

    def __init__(self, env: gym.vector.VectorEnv[Any, Any, Any], *, seed: int | None = None) -> None:
        why = "skrl's trainers expect the first observation of the next episode in the step that ends one"
        vector = checked(env, "SkrlEnv", maker="make_skrl", mode="same_step", why=why)
        for part, space in (("observation", vector.single_observation_space), ("action", vector.single_action_space)):
            _check_space(part, space)
        super().__init__(vector)
        self.env = vector
        self._seed = seed
        self._started = False

    @property
    def observation_space(self) -> gym.Space[Any]:
        """The space of one row."""
        return self.env.single_observation_space

    @property
    def action_space(self) -> gym.Space[Any]:
        """The space of one row."""
        return self.env.single_action_space

    def reset(self, *, seed: int | None = None) -> tuple[torch.Tensor, dict[str, Any]]:
        """(observations `[N, size]`, infos). Only the first call, and one with a seed, starts new episodes in all rows.

        Later ones show the rows as they stand: rows restart by themselves, and skrl's trainers call this in the middle.
        """
        if self._started and seed is None:
            observation, info = shown_by(self.env)
        else:
            first = config.torch.key if self._seed is None else self._seed
            observation, info = self.env.reset(seed=first if seed is None else seed)
            self._started = True
        return self._flat(observation), info

    def step(
        self, actions: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, dict[str, Any]]:
        """Step all rows with actions `[N, size]`: (observations, rewards, terminated, truncated, infos).

        Raises:
            ActionError, ClosedError, gymnasium.error.ResetNeeded: as `SimulacrumVectorEnv.step` does.
        """
        given = unflatten_tensorized_space(self.action_space, actions)
        observation, reward, terminated, truncated, info = self.env.step(_squeezed(self.action_space, given))
        ended = terminated | truncated
        infos = {key: value for key, value in info.items() if key not in ("episode", "_episode")}
        if bool(ended.any()):
            infos["final_observations"] = self._flat(info["final_obs"])
            infos["episode"] = _means(info, ended)
        flags = (terminated.unsqueeze(-1), (truncated & ~terminated).unsqueeze(-1))
        return self._flat(observation), reward.unsqueeze(-1), *flags, infos

    def state(self) -> None:
        """None: there is nothing that a critic sees and a policy does not."""
        return

    def render(self, *args: Any, **kwargs: Any) -> tuple[Any, ...] | None:
        """A frame for each row, as `SimulacrumVectorEnv.render` gives them; None without a `render_mode`."""
        return self.env.render()

    def close(self) -> None:
        """Close the environment; a second call does nothing."""
        self.env.close()

    def _flat(self, observation: Any) -> torch.Tensor:
        return flatten_tensorized_space(tensorize_space(self.observation_space, observation))


if TYPE_CHECKING:

    class _Agent:
        def record_transition(self, **transition: Any) -> None: ...

else:
    _Agent = object


class FinalObservations(_Agent):
    """Put before an skrl agent, it shows him the true next observation where an episode ended.

        class TruePPO(FinalObservations, PPO): ...

    skrl's agents value a state that was cut off by the observation after it. An environment that restarts rows in the
    same step shows the next episode there; with this, agents that learn from stored transitions (DQN, SAC, TD3, ...)
    store the old episode's last observation, and on-policy ones (PPO, A2C, TRPO, ...) bootstrap from it if
    `time_limit_bootstrap=True` is set.
    """

    def record_transition(
        self,
        *,
        next_observations: torch.Tensor,
        terminated: torch.Tensor,
        truncated: torch.Tensor,
        infos: Any,
        **transition: Any,
    ) -> None:
        """As the agent's, with the final observations of `infos` in the rows that ended.

        Raises:
            UsageError: the agent sees a part of the rows only (several agents on one environment).
        """
        final = infos.get("final_observations")
        if final is not None:
            if final.shape != next_observations.shape:
                raise UsageError(
                    "an agent with FinalObservations sees all rows",
                    expected=f"next observations {tuple(final.shape)}",
                    found=tuple(next_observations.shape),
                    where="record_transition(...)",
                    next_step="train several agents on environments of their own",
                )
            next_observations = torch.where(terminated | truncated, final, next_observations)
        super().record_transition(
            next_observations=next_observations, terminated=terminated, truncated=truncated, infos=infos, **transition
        )


def _check_space(part: str, space: Any) -> None:
    if isinstance(space, spaces.Dict):
        for key, one in space.spaces.items():
            _check_space(f"{part}.{key}", one)
        return
    starts_elsewhere = part.startswith("action") and isinstance(space, spaces.Discrete) and int(space.start) != 0
    if starts_elsewhere or not isinstance(space, (spaces.Box, spaces.Discrete, spaces.MultiDiscrete)):
        raise UsageError(
            "skrl has no form for this space",
            expected="Box, MultiDiscrete, Discrete (an action's from 0), or a Dict of these",
            found=str(space),
            where=part,
        )


def _squeezed(space: Any, value: Any) -> Any:
    """Actions as the environment takes them: a choice of a Discrete space is a number and not a list of one."""
    if isinstance(space, spaces.Dict):
        return {key: _squeezed(one, value[key]) for key, one in space.spaces.items()}
    return value.reshape(-1) if isinstance(space, spaces.Discrete) else value


def _means(info: dict[str, Any], ended: torch.Tensor) -> dict[str, torch.Tensor]:
    """Means over the rows that ended, by name; float64, each one number."""
    values = {name: value for name, value in info["final_info"].items() if value.ndim == 1}
    if "episode" in info:
        values |= {"return": info["episode"]["r"], "length": info["episode"]["l"]}
    if not values:
        return {}
    # All at once: this is done in almost every step of a large batch.
    together = torch.stack([value.to(torch.float64) for value in values.values()])
    means = together.index_select(1, ended.nonzero().flatten()).mean(1)
    return dict(zip(values, means.unbind(), strict=True))
