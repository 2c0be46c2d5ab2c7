"""Environments that `new --from` must take or refuse, each for one reason: `gym:kit.strange_envs:strange/NAME-v2`."""

from __future__ import annotations

import enum
import random

import gymnasium
import numpy as np
from gymnasium import spaces


class Base(gymnasium.Env):
    """A counter from 0 to 9; what a subclass adds is what it is about."""

    action_space = spaces.Discrete(2)
    observation_space = spaces.Discrete(100)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at = 0
        self.begin()
        return self.look(), {}

    def begin(self):
        pass

    def move(self, action):
        self.at += int(action)

    def look(self):
        return self.at

    def step(self, action):
        self.move(action)
        return self.look(), float(self.at == 9), self.at >= 9, False, {}


class Words(Base):
    observation_space = spaces.Text(5)

    def look(self):
        return "a" * self.at


class Lists(Base):
    observation_space = spaces.Sequence(spaces.Discrete(2))

    def look(self):
        return (1,) * self.at


class Secret(Base):
    """Chance that no seed reaches."""

    def move(self, action):
        self.at += random.randrange(2)


class Waiting(Base):
    """A distribution that no draw answers."""

    def move(self, action):
        self.at += min(int(self.np_random.exponential(1.0)), 3)


class Crate:
    pass


class Objects(Base):
    """State that is now one object and now another."""

    def begin(self):
        self.held = None

    def move(self, action):
        if action:
            self.held = Crate() if self.held is None else None
        self.at += self.held is not None


class Failing(Base):
    def move(self, action):
        raise RuntimeError("no wind")


class WithFunction(Base):
    """An argument that no line of Python says."""

    def __init__(self, what):
        self.what = what


class Kind(enum.Enum):
    CALM = "calm"
    STORM = "storm"


class Boat:
    def __init__(self):
        self.x, self.tired = 0, False


class Everything(Base):
    """Enum, text, array written in place, a list that grows, an object, a dict, kinds of draws, dead attributes."""

    action_space = spaces.Dict({"go": spaces.Discrete(2), "far": spaces.Box(-1.0, 1.0, (2,), np.float32)})
    observation_space = spaces.Dict(
        {"board": spaces.Box(0, 99, (4,), np.int32), "at": spaces.Discrete(100), "note": spaces.Text(9)}
    )

    def __init__(self):
        self.board = np.zeros(4, np.int32)
        self.trace = []

    def begin(self):
        self.board[:] = 0
        self.weather, self.mood, self.boat = Kind.CALM, "fine", Boat()
        self.cards = [int(self.np_random.integers(1, 5))]
        self.tank = {"fuel": 1.0, "leaks": False}
        self.order = list(self.np_random.permutation(4))
        self.count = 0

    def move(self, action):
        self.count += 1
        self.trace.append(self.count)  # nobody reads it
        self.weather = (Kind.CALM, Kind.STORM)[int(self.np_random.choice(2, p=[0.7, 0.3]))]
        self.mood = "fine" if self.weather is Kind.CALM else "sick"
        self.board[self.order[self.count % 4]] += 1
        if self.cards[-1] < 4 and len(self.cards) < 4:
            self.cards.append(self.cards[-1] + 1)
        self.boat.x += action["go"] + len(self.cards) % 2
        self.boat.tired = self.boat.x > 3
        self.tank["fuel"] -= 0.125 * abs(float(action["far"][0])) + 0.01 * self.np_random.normal()
        self.tank["leaks"] = self.tank["fuel"] < 0.5
        self.at += 1 + (self.boat.tired and self.mood == "sick" and self.tank["leaks"])

    def look(self):
        return {"board": self.board.copy(), "at": self.at, "note": self.mood}


for _kind in (Words, Lists, Secret, Waiting, Objects, Failing, Everything):
    gymnasium.register(
        f"strange/{_kind.__name__}-v2", entry_point=f"kit.strange_envs:{_kind.__name__}", max_episode_steps=30
    )
gymnasium.register("strange/Function-v0", entry_point="kit.strange_envs:WithFunction", kwargs={"what": len})
