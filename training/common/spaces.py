"""What a network must know of an environment's spaces, and a plain word where a script cannot use them."""

from __future__ import annotations

from typing import Any, TypeGuard

import gymnasium as gym
import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor


class Vector:
    """Observations of any space that the environments here have, read as one float32 vector of `size` numbers.

    A Box of floats is as it is, a Box of bounded integers lies between 0 and 1, and whatever has a shape is flattened.
    Discrete and MultiDiscrete choices are one-hot, since their numbers have no order. The parts of a Dict follow
    each other in its own order. With `one_hot`, the numbers of a Box of integers are choices too, of so many: what
    MiniGrid's OneHotPartialObsWrapper does to an image whose numbers are names of things. Larger ones are all zeros.
    With `scale`, a Box of floats is brought from its bounds to between -1 and 1.

        look = Vector(envs.single_observation_space, "ppo.py")
        look(observation)   # tensors [N, ...], or a dict of them, to float32 [N, size]

    Raises:
        SystemExit: another kind of space, or `scale` for a Box without finite bounds.
    """

    def __init__(self, space: gym.Space[Any], script: str, one_hot: int = 0, scale: bool = False) -> None:
        self.space, self.one_hot, self.scale = space, one_hot, scale
        self.parts = dict(space.items()) if isinstance(space, gym.spaces.Dict) else {"": space}
        self.size = sum(_size(part, script, one_hot) for part in self.parts.values())
        # The usual case costs nothing in each step, and gives back the very tensor that came.
        self.as_it_is = isinstance(space, gym.spaces.Box) and space.dtype == np.float32 and len(space.shape) == 1
        self.as_it_is &= not scale
        self._scales: dict[str, tuple[Tensor, Tensor]] = {}
        for part in self.parts.values():
            if scale and isinstance(part, gym.spaces.Box) and not part.is_bounded():
                raise SystemExit(f"{script} --scale needs observations with finite bounds, not {part}")

    def __call__(self, observation: Any) -> Tensor:
        if self.as_it_is:
            return observation
        named = observation if isinstance(observation, dict) else {"": observation}
        read = [self._read(name, part, named[name]) for name, part in self.parts.items()]
        return read[0] if len(read) == 1 else torch.cat(read, dim=-1)

    def one(self, observation: Any, device: str | torch.device) -> Tensor:
        """The same of one row's observation in NumPy, as `gymnasium.make` gives it: [1, size]."""
        single = isinstance(observation, dict)
        named = observation if single else {"": observation}
        rows = {name: torch.as_tensor(np.asarray(part), device=device)[None] for name, part in named.items()}
        return self(rows if single else rows[""])

    def _read(self, name: str, space: gym.Space[Any], part: Tensor) -> Tensor:
        rows = len(part)
        if isinstance(space, gym.spaces.Discrete):
            return F.one_hot(part.long() - int(space.start), int(space.n)).float()
        if isinstance(space, gym.spaces.MultiDiscrete):
            choices = part.long().view(rows, -1)
            sizes = [int(n) for n in space.nvec.flatten()]
            return torch.cat([F.one_hot(choices[:, i], n) for i, n in enumerate(sizes)], dim=-1).float()
        numbers = part.reshape(rows, -1).float()
        if _of_integers(space):
            if self.one_hot:
                return (numbers[..., None] == torch.arange(self.one_hot, device=numbers.device)).float().flatten(1)
            low, reach = self._scale(name, space, numbers.device)
            return (numbers - low) / reach
        if self.scale and isinstance(space, gym.spaces.Box):
            low, reach = self._scale(name, space, numbers.device)
            return 2 * (numbers - low) / reach - 1
        return numbers

    def _scale(self, name: str, space: gym.spaces.Box, device: torch.device) -> tuple[Tensor, Tensor]:
        if name not in self._scales:
            low, high = (torch.from_numpy(bound.astype(np.float64).flatten()) for bound in (space.low, space.high))
            reach = torch.where(high > low, high - low, 1.0)  # what can be but one number has no reach
            self._scales[name] = low.float().to(device), reach.float().to(device)
        return self._scales[name]


def _of_integers(space: gym.Space[Any]) -> TypeGuard[gym.spaces.Box]:
    return isinstance(space, gym.spaces.Box) and np.issubdtype(space.dtype, np.integer)


def _size(space: gym.Space[Any], script: str, one_hot: int) -> int:
    if isinstance(space, gym.spaces.Discrete):
        return int(space.n)
    if isinstance(space, gym.spaces.MultiDiscrete):
        return int(space.nvec.sum())
    if not isinstance(space, (gym.spaces.Box, gym.spaces.MultiBinary)):
        raise SystemExit(f"{script} reads observations of Box, Discrete, Multi- and Dict spaces, not {space}")
    numbers = int(np.prod(space.shape, dtype=np.int64))
    return numbers * one_hot if one_hot and _of_integers(space) else numbers


def observation_size(space: gym.Space[Any], script: str) -> int:
    """How many numbers an observation has, for scripts whose library reads vectors alone; see `Vector` otherwise.

    Raises:
        SystemExit: observations are not one vector.
    """
    if not isinstance(space, gym.spaces.Box) or len(space.shape) != 1:
        raise SystemExit(f"{script} reads observations that are one vector, not {space}")
    return space.shape[0]


def action_count(space: gym.Space[Any], script: str) -> int:
    """How many actions there are; they are counted from 0.

    Raises:
        SystemExit: actions are not Discrete.
    """
    if not isinstance(space, gym.spaces.Discrete) or space.start != 0:
        raise SystemExit(f"{script} acts in Discrete spaces that begin at 0, not {space}")
    return int(space.n)


def action_bounds(space: gym.Space[Any], script: str) -> tuple[Tensor, Tensor]:
    """Centre and reach of actions, float32 [A]: a number from -1 to 1 is `centre + reach * number` for the environment.

    Raises:
        SystemExit: actions are not one bounded vector.
    """
    if not isinstance(space, gym.spaces.Box) or len(space.shape) != 1 or not space.is_bounded():
        raise SystemExit(f"{script} acts in bounded Boxes that are one vector, not {space}")
    low, high = np.asarray(space.low, np.float32), np.asarray(space.high, np.float32)
    return torch.from_numpy((high + low) / 2), torch.from_numpy((high - low) / 2)
