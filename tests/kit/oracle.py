"""What Gymnasium's autoreset modes mean, said once more in plain Python, one row of the reference at a time.

It shares no code with the engine's batched clock. `RowOracle.step` gives what one row of a vector environment must
show, as NumPy values of the schema's dtypes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from simulacrum.contract.package import EnvPackage
from simulacrum.engine.runner import ReferenceRunner
from simulacrum.engine.single import scalar_action, to_array, to_array_group


class Row(NamedTuple):
    observation: Any
    reward: float
    terminated: bool
    truncated: bool
    info: dict[str, Any]
    action_mask: Any
    final_observation: Any  # of an episode that ended in this step under SAME_STEP, else None
    final_info: Any
    episode: tuple[float, int] | None  # return and length of an episode that ended in this step
    was_reset: bool  # under NEXT_STEP: this step was the reset


class RowOracle:
    """One row in one mode ("next_step", "same_step", or "disabled", where the test resets by hand)."""

    def __init__(self, package: EnvPackage, mode: str, seed: int, limit: int | None, params: Any = None) -> None:
        self.runner = ReferenceRunner(package, params=params, max_episode_steps=limit)
        self.schema, self.mode, self.seed = package.schema, mode, seed
        self.pending = False

    def reset(self, *, seeded: bool = True) -> Any:
        self.pending = False
        return self._observation(self.runner.reset(self.seed if seeded else None))

    def step(self, action: Any) -> Row:
        if self.mode == "next_step" and self.pending:
            observation = self.reset(seeded=False)
            return self._row(observation, 0.0, False, False, was_reset=True)
        out = self.runner.step(scalar_action(self.schema.action, action))
        observation, ended = self._observation(out.observation), out.terminated or out.truncated
        episode = (self.runner.returns, self.runner.t) if ended else None
        final: dict[str, Any] = {}
        if ended and self.mode == "same_step":
            final = {"final_observation": observation, "final_info": self._info()}
            observation = self.reset(seeded=False)
        self.pending = ended
        return self._row(observation, float(out.reward), out.terminated, out.truncated, episode=episode, **final)

    def _row(self, observation: Any, reward: float, terminated: bool, truncated: bool, **more: Any) -> Row:
        blank = {"final_observation": None, "final_info": None, "episode": None, "was_reset": False}
        mask = self.runner.action_mask()
        mask = None if mask is None or self.schema.action_mask is None else to_array(self.schema.action_mask, mask)
        return Row(observation, reward, terminated, truncated, self._info(), mask, **{**blank, **more})

    def _observation(self, value: Any) -> Any:
        return to_array_group(self.schema.observation, value)

    def _info(self) -> dict[str, Any]:
        return {name: to_array(self.schema.info.fields[name], v) for name, v in self.runner.info().items()}


def row_of(tree: Any, row: int) -> Any:
    """One row of a batched output of either kind, as NumPy."""
    if isinstance(tree, dict):
        return {key: row_of(value, row) for key, value in tree.items()}
    return np.asarray(tree[row])
