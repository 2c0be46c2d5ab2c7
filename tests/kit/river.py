import math

import gymnasium
import numpy as np
from gymnasium import spaces


class Ferry(gymnasium.Env):
    """Cross a river; `x` is how far the ferry has been carried off, `y` how far it has come."""

    def __init__(self):
        self.action_space = spaces.Discrete(3)
        self.observation_space = spaces.Box(np.float32([-5, 0]), np.float32([5, 7]), dtype=np.float32)

    def _get_obs(self):
        return np.array([self.x, self.y], dtype=np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.x = int(self.np_random.integers(-2, 3))
        self.y = 0.0
        return self._get_obs(), {}

    def step(self, action):
        self.x += int(action) - 1
        if self.np_random.random() < 0.25:  # a gust
            self.x += 1
        self.x = min(max(self.x, -5), 5)
        self.y += 0.5 + 0.25 * math.cos(0.5 * self.x)
        landed = self.y >= 6.0
        reward = 2.0 - 0.5 * abs(self.x) if landed else -0.125
        return self._get_obs(), reward, landed, False, {}


gymnasium.register("lab/Ferry-v0", entry_point="river:Ferry", max_episode_steps=40)
