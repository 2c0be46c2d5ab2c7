"""Both twins behind one face: `gymnasium.vector.VectorEnv` with NumPy values, NEXT_STEP, and the same row seeds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from simulacrum.contract.package import EnvPackage
from simulacrum.contract.spaces import single_action_space, single_observation_space
from simulacrum.engine.seeding import entropy, row_seeds
from simulacrum.engine.vector import SimulacrumVectorEnv
from simulacrum.harness.frames import BatchSide, Frame, ReferenceSide
from simulacrum.transfer.policies import Policy

Side = Literal["batched", "reference"]
SIDES: tuple[Side, ...] = ("batched", "reference")
FIRST_EVALUATION_SEED = 2**60  # far from any training row's seed
EVALUATED_ROWS = 32
LONGEST = 100_000  # steps of an episode that neither rules nor clock end


class ReferenceVectorEnv(gym.vector.VectorEnv[Any, Any, Any]):
    """`num_envs` reference twins as one vector env, in NEXT_STEP: what the batched twin is trained beside.

    Args:
        package: the environment package.
        num_envs: rows N.
        limit: the time limit in steps, None for none.
    """

    def __init__(self, package: EnvPackage, num_envs: int, limit: int | None) -> None:
        self.package, self.schema, self.num_envs = package, package.schema, num_envs
        self.metadata = {"autoreset_mode": AutoresetMode.NEXT_STEP}
        self.single_observation_space = single_observation_space(self.schema)
        self.single_action_space = single_action_space(self.schema)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.side = ReferenceSide(package, range(num_envs), limit=limit)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start an episode in every row; an integer s gives row i the seed s + i."""
        seeds: Sequence[int | None] = row_seeds(entropy() if seed is None else seed, self.num_envs)
        frame = self.side.reset(seeds)
        return self._observation(frame), self._info(frame)

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """One step of every row; a row whose episode has ended starts the next one, whatever its action."""
        frame = self.side.step(actions)
        return self._observation(frame), frame["reward"], frame["terminated"], frame["truncated"], self._info(frame)

    def _observation(self, frame: Frame) -> Any:
        group = self.schema.observation
        return frame["observation"] if group.single else {key: frame[f"observation.{key}"] for key in group.fields}

    def _info(self, frame: Frame) -> dict[str, Any]:
        info = {name: frame[f"info.{name}"] for name in self.schema.info.fields}
        return info if self.schema.action_mask is None else {**info, "action_mask": frame["action_mask"]}


def vector_env(package: EnvPackage, side: Side, num_envs: int, form: str) -> gym.vector.VectorEnv[Any, Any, Any]:
    """One twin to train in. `form` is the batched twin's: "eager", "native" or "inductor"."""
    if side == "reference":
        return ReferenceVectorEnv(package, num_envs, package.schema.max_episode_steps)
    return SimulacrumVectorEnv(package, num_envs, compile=form, output="numpy")


def returns(package: EnvPackage, side: Side, policy: Policy, episodes: int, form: str) -> np.ndarray:
    """Returns `[episodes]` (float64) of whole episodes that a policy plays in one twin; the same seeds each time.

    Each row plays equally many episodes, and all of them count: the short ones come no more often than they should.
    """
    rows = min(EVALUATED_ROWS, episodes)
    each, schema = -(-episodes // rows), package.schema
    limit = schema.max_episode_steps
    seeds = list(range(FIRST_EVALUATION_SEED, FIRST_EVALUATION_SEED + rows))
    if side == "reference":
        driven: Any = ReferenceSide(package, range(rows), limit=limit)
    else:
        driven = BatchSide(SimulacrumVectorEnv(package, rows, compile=form))
    player, frame = policy.driver(schema, rows), driven.reset(seeds)
    found: list[list[float]] = [[] for _ in range(rows)]
    step, most = 0, each * ((limit or LONGEST) + 1)
    while min(map(len, found)) < each and step < most:
        frame = driven.step(player.actions(frame, step))
        for row in np.flatnonzero(frame["terminated"] | frame["truncated"]).tolist():
            found[row].append(float(frame["episode_return"][row]))
        step += 1
    return np.array([one for row in found for one in row[:each]])[:episodes]
