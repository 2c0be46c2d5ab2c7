"""A small vector environment of Gymnasium's kind that owes nothing to simulacrum, and its single form.

A runner starts at a random place between 0 and 9 and moves by its action (0, 1 or 2) and a random slip (0 or 1). The
episode is terminated at place 20 and truncated at the time limit. Every row has a generator of its own.
"""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

GOAL, LIMIT, MARKS = 20, 12, 1000
OBSERVATION = spaces.Box(
    np.zeros(3, dtype=np.float32), np.array([GOAL + 3, 10_000, MARKS], dtype=np.float32), dtype=np.float32
)
ACTION = spaces.Discrete(3)
ID = "kit/Track-v0"


class TrackSingle(gymnasium.Env):
    """One runner, without a time limit of its own."""

    metadata: ClassVar = {"render_modes": ["ansi", "rgb_array"], "render_fps": 4}
    observation_space, action_space = OBSERVATION, ACTION

    def __init__(self, render_mode: str | None = None) -> None:
        self.render_mode = render_mode

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.at, self.t = int(self.np_random.integers(10)), 0
        self.mark = int(self.np_random.integers(MARKS))
        return self._observe(), {"at": self.at}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.at += int(action) + int(self.np_random.integers(2))
        self.t += 1
        return self._observe(), float(action) + 0.5, self.at >= GOAL, False, {"at": self.at}

    def _observe(self) -> Any:
        return np.array([self.at, self.t, self.mark], dtype=np.float32)


class Track(VectorEnv):
    """Many runners. Its parts are methods, so that a test can put a wrong one in."""

    def __init__(
        self,
        num_envs: int = 1,
        *,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        max_episode_steps: int = LIMIT,
        render_mode: str | None = None,
    ) -> None:
        self.mode = AutoresetMode(autoreset_mode)
        self.num_envs, self.limit, self.render_mode = num_envs, max_episode_steps, render_mode
        self.metadata = {"render_modes": ["ansi", "rgb_array"], "render_fps": 4, "autoreset_mode": self.mode}
        self.single_observation_space, self.single_action_space = OBSERVATION, ACTION
        self.observation_space, self.action_space = batch_space(OBSERVATION, num_envs), batch_space(ACTION, num_envs)
        self.at, self.t, self.mark = (np.zeros(num_envs, dtype=np.int64) for _ in range(3))
        self.done = np.zeros(num_envs, dtype=bool)
        self.started = False
        self.generators = [seeding.np_random()[0] for _ in range(num_envs)]

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        mask = self.mask_of(options)
        for row, one in enumerate(self.seeds_of(seed)):
            if one is not None and mask[row]:
                self.generators[row] = seeding.np_random(one)[0]
        self.begin(mask)
        self.done = self.done & ~mask
        self.started = True
        return self.observe(), self.infos(mask)

    def mask_of(self, options: dict[str, Any] | None) -> Any:
        if not options or "reset_mask" not in options:
            return np.ones(self.num_envs, dtype=bool)
        mask = options["reset_mask"]
        if not isinstance(mask, np.ndarray) or mask.dtype != bool or mask.shape != (self.num_envs,) or not mask.any():
            raise ValueError(f"no mask of {self.num_envs} rows: {mask!r}")
        return mask

    def seeds_of(self, seed: Any) -> list[int | None]:
        if seed is None:
            return [None] * self.num_envs
        return list(seed) if isinstance(seed, (list, tuple)) else [seed + row for row in range(self.num_envs)]

    def begin(self, mask: Any) -> None:
        """New episodes in the rows of a mask."""
        for row in np.flatnonzero(mask):
            self.at[row], self.t[row] = self.generators[row].integers(10), 0
            self.mark[row] = self.generators[row].integers(MARKS)

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        self.check(actions)
        fresh = self.done.copy() if self.mode is AutoresetMode.NEXT_STEP else np.zeros(self.num_envs, dtype=bool)
        self.move(~fresh, np.asarray(actions))
        self.begin(fresh)
        reward = self.rewards(~fresh, np.asarray(actions))
        terminated, truncated = self.flags(~fresh)
        self.done = terminated | truncated
        observation, info = self.observe(), self.infos(np.ones(self.num_envs, dtype=bool))
        if self.mode is AutoresetMode.SAME_STEP and self.done.any():
            final = self.final(self.done, observation, info)
            self.begin(self.done)
            observation, info = self.observe(), {**self.infos(np.ones(self.num_envs, dtype=bool)), **final}
        return observation, reward, terminated, truncated, info

    def check(self, actions: Any) -> None:
        if self.closed:
            raise gymnasium.error.ClosedEnvironmentError("closed")
        if not self.started:
            raise gymnasium.error.ResetNeeded("reset first")
        if np.shape(actions) != (self.num_envs,):
            raise ValueError(f"{np.shape(actions)} are not {self.num_envs} actions")
        if self.mode is AutoresetMode.DISABLED and self.done.any():
            raise gymnasium.error.ResetNeeded("ended rows")

    def move(self, live: Any, actions: Any) -> None:
        for row in np.flatnonzero(live):
            self.at[row] += actions[row] + self.generators[row].integers(2)
            self.t[row] += 1

    def rewards(self, live: Any, actions: Any) -> Any:
        return np.where(live, actions + 0.5, 0.0).astype(np.float32)

    def flags(self, live: Any) -> tuple[Any, Any]:
        return live & (self.at >= GOAL), live & (self.t >= self.limit)

    def observe(self) -> Any:
        return np.stack([self.at, self.t, self.mark], axis=1).astype(np.float32)

    def infos(self, mask: Any) -> dict[str, Any]:
        late = mask & (self.t > 3)
        named = np.full(self.num_envs, None, dtype=object)
        for row in np.flatnonzero(late):
            named[row] = f"late at {self.at[row]}"
        given = {"at": np.where(mask, self.at, 0), "_at": mask.copy()}
        return {**given, "late": named, "_late": late} if late.any() else given

    def final(self, ended: Any, observation: Any, info: dict[str, Any]) -> dict[str, Any]:
        last = np.full(self.num_envs, None, dtype=object)
        for row in np.flatnonzero(ended):
            last[row] = observation[row].copy()
        kept = {key: value & ended if key[:1] == "_" else value for key, value in info.items()}
        return {"final_obs": last, "_final_obs": ended.copy(), "final_info": kept, "_final_info": ended.copy()}

    def render(self) -> Any:
        if self.render_mode == "ansi":
            return tuple(f"{at} of {GOAL}" for at in self.at)
        return tuple(np.zeros((4, GOAL + 4, 3), dtype=np.uint8) for _ in self.at)


def register() -> None:
    """Give it its id, once."""
    if ID not in gymnasium.registry:
        gymnasium.register(
            ID, entry_point="kit.track:TrackSingle", vector_entry_point="kit.track:Track", max_episode_steps=LIMIT
        )


register()
