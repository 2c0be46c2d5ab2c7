"""What a network must know of an environment's spaces, and a plain word where a script cannot use them."""

from __future__ import annotations

from typing import Any, TypeGuard

import gymnasium as gym
import numpy as np
import torch
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

    The same in two steps, for experience that is kept: `narrow` gives float32 [N, `narrow_size`] with one number for a
    choice, `spread` makes the vector of it.

    Raises:
        SystemExit: another kind of space, or `scale` for a Box without finite bounds.
    """

    def __init__(self, space: gym.Space[Any], script: str, one_hot: int = 0, scale: bool = False) -> None:
        self.space, self.scale = space, scale
        self.parts = dict(space.items()) if isinstance(space, gym.spaces.Dict) else {"": space}
        # Of each part, and in its order: sizes of the choices that it is made of, or how many numbers it has.
        self.choices = [_choices(part, script, one_hot) for part in self.parts.values()]
        self.widths = [_numbers(part) for part in self.parts.values()]
        self.narrow_size = sum(self.widths)
        self.size = sum(sum(sizes) or width for sizes, width in zip(self.choices, self.widths, strict=True))
        # The usual case costs nothing in each step, and gives back the very tensor that came.
        self.as_it_is = isinstance(space, gym.spaces.Box) and space.dtype == np.float32 and len(space.shape) == 1
        self.as_it_is &= not scale
        self._scales: dict[str, tuple[Tensor, Tensor]] = {}
        for part in self.parts.values():
            if scale and isinstance(part, gym.spaces.Box) and not part.is_bounded():
                raise SystemExit(f"{script} --scale needs observations with finite bounds, not {part}")

    def __call__(self, observation: Any) -> Tensor:
        return self.spread(self.narrow(observation))

    def narrow(self, observation: Any) -> Tensor:
        """Observations as tensors [N, ...], or a dict of them, to float32 [N, narrow_size]."""
        if self.as_it_is:
            return observation
        named = observation if isinstance(observation, dict) else {"": observation}
        of_parts = zip(self.parts.items(), self.choices, strict=True)
        read = [self._read(name, part, bool(sizes), named[name]) for (name, part), sizes in of_parts]
        return read[0] if len(read) == 1 else torch.cat(read, dim=-1)

    def spread(self, narrow: Tensor) -> Tensor:
        """What `narrow` gave, [N, narrow_size], to [N, size]: choices as one-hot."""
        if not any(self.choices):
            return narrow
        parts = zip(narrow.split(self.widths, dim=-1), self.choices, strict=True)
        spread = [_one_hot(part, sizes) if sizes else part for part, sizes in parts]
        return spread[0] if len(spread) == 1 else torch.cat(spread, dim=-1)

    def _read(self, name: str, space: gym.Space[Any], chosen: bool, part: Tensor) -> Tensor:
        numbers = part.reshape(len(part), -1).float()
        if isinstance(space, gym.spaces.Discrete):
            return numbers - int(space.start)
        if isinstance(space, gym.spaces.MultiDiscrete):  # to copy zeros to the device in each step would be for nothing
            start = space.start.flatten()
            return numbers - torch.as_tensor(start, device=numbers.device) if start.any() else numbers
        if not chosen and isinstance(space, gym.spaces.Box) and (self.scale or _of_integers(space)):
            low, reach = self._scale(name, space, numbers.device)
            numbers = (numbers - low) / reach
            return numbers if _of_integers(space) else 2 * numbers - 1
        return numbers

    def _scale(self, name: str, space: gym.spaces.Box, device: torch.device) -> tuple[Tensor, Tensor]:
        if name not in self._scales:
            low, high = (torch.from_numpy(bound.astype(np.float64).flatten()) for bound in (space.low, space.high))
            reach = torch.where(high > low, high - low, 1.0)  # what can be but one number has no reach
            self._scales[name] = low.float().to(device), reach.float().to(device)
        return self._scales[name]


def batch_of_one(observation: Any, device: str | torch.device = "cpu") -> Any:
    """One row's observation in NumPy, as `gymnasium.make` gives it, as tensors [1, ...], or a dict of them."""
    if isinstance(observation, dict):
        return {name: batch_of_one(part, device) for name, part in observation.items()}
    return torch.as_tensor(np.asarray(observation), device=device)[None]


def _one_hot(numbers: Tensor, sizes: list[int]) -> Tensor:
    """Choices [N, K] counted from 0, of as many as `sizes` [K] says, to float32 [N, sum of sizes]."""
    if len(set(sizes)) == 1:
        return (numbers[..., None] == torch.arange(sizes[0], device=numbers.device)).float().flatten(-2)
    return torch.cat([_one_hot(numbers[..., i : i + 1], [size]) for i, size in enumerate(sizes)], dim=-1)


def _of_integers(space: gym.Space[Any]) -> TypeGuard[gym.spaces.Box]:
    return isinstance(space, gym.spaces.Box) and np.issubdtype(space.dtype, np.integer)


def _numbers(space: gym.Space[Any]) -> int:
    return 1 if isinstance(space, gym.spaces.Discrete) else int(np.prod(space.shape, dtype=np.int64))


def _choices(space: gym.Space[Any], script: str, one_hot: int) -> list[int]:
    """How many there are of each of its choices; none where its numbers are numbers."""
    if isinstance(space, gym.spaces.Discrete):
        return [int(space.n)]
    if isinstance(space, gym.spaces.MultiDiscrete):
        return [int(n) for n in space.nvec.flatten()]
    if not isinstance(space, (gym.spaces.Box, gym.spaces.MultiBinary)):
        raise SystemExit(f"{script} reads observations of Box, Discrete, Multi- and Dict spaces, not {space}")
    return [one_hot] * _numbers(space) if one_hot and _of_integers(space) else []


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
