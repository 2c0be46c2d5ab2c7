"""Wrong use of seeds and generators."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from gymnasium.utils import seeding
from kit.track import Track

from conformance.faults.base import FAULTS, fault


@fault("seeding.same_seed")
class Noisy(Track):
    def begin(self, mask: Any) -> None:
        super().begin(mask)
        self.mark[mask] = seeding.np_random()[0].integers(1000)


FAULTS["wrappers.transform_reward"] = FAULTS["seeding.same_seed"]  # nothing but the wrapper stands between two runs


@fault("seeding.same_infos")
class NoisyInfo(Track):
    def infos(self, mask: Any) -> Any:
        return {**super().infos(mask), "luck": seeding.np_random()[0].random(self.num_envs)}


@fault("seeding.reseeded")
class Warm(Track):
    walked = 0

    def step(self, actions: Any) -> Any:
        self.walked += 1
        return super().step(actions)

    def observe(self) -> Any:
        return super().observe() + np.float32([0, 0, self.walked % 7])


class Seeds(Track):
    def seeds_of(self, seed: Any) -> Any:
        return self.other(super().seeds_of(seed), seed)


@fault("seeding.seed_matters")
class SeededAtBirth(Seeds):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.generators = [seeding.np_random(row)[0] for row in range(self.num_envs)]

    def other(self, seeds: Any, seed: Any) -> Any:
        return [None] * self.num_envs


@fault("seeding.rows_differ")
class Copies(Seeds):
    def other(self, seeds: Any, seed: Any) -> Any:
        return [seeds[0]] * self.num_envs


@fault("seeding.unseeded_rows_differ")
class UnseededCopies(Track):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.generators = [copy.deepcopy(self.generators[0]) for _ in self.generators]


@fault("seeding.unseeded_differ")
class BornWithZero(Track):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.generators = [seeding.np_random(row)[0] for row in range(self.num_envs)]


@fault("seeding.none_goes_on")
class Forgetful(Seeds):
    last: Any = None

    def other(self, seeds: Any, seed: Any) -> Any:
        self.last = seeds if seed is not None else self.last
        return self.last or seeds


@fault("seeding.episodes_differ")
class Cached(Track):
    firsts: Any = None

    def begin(self, mask: Any) -> None:
        super().begin(mask)
        if self.firsts is None:
            self.firsts = self.at.copy(), self.mark.copy()
        self.at[mask], self.mark[mask] = self.firsts[0][mask], self.firsts[1][mask]

    def reset(self, **given: Any) -> Any:
        self.firsts = None
        return super().reset(**given)


@fault("seeding.seed_list")
class NoLists(Seeds):
    def other(self, seeds: Any, seed: Any) -> Any:
        if isinstance(seed, list):
            raise TypeError("an integer, please")
        return seeds


@fault("seeding.row_seed")
class EverySecond(Seeds):
    def other(self, seeds: Any, seed: Any) -> Any:
        return [seed + 2 * row for row in range(self.num_envs)] if isinstance(seed, int) else seeds


@fault("seeding.global_generators")
class Global(Track):
    def step(self, actions: Any) -> Any:
        np.random.random()
        return super().step(actions)
