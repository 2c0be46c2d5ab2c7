"""Wrong infos, what wrappers stumble over, and wrong lives."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from gymnasium.utils import seeding
from kit.track import Track

from conformance.faults.base import Infos, fault


@fault("info.masks")
class IntMask(Infos):
    def other(self, info: Any) -> Any:
        return {**info, "_at": info["_at"].astype(np.int64)}


@fault("info.has_mask")
class NoMask(Infos):
    def other(self, info: Any) -> Any:
        return {key: value for key, value in info.items() if key != "_late"}


@fault("info.rows")
class OneForAll(Infos):
    def other(self, info: Any) -> Any:
        return {**info, "at": int(info["at"][0])}


@fault("info.masked_values")
class EmptyObjects(Infos):
    def other(self, info: Any) -> Any:
        for value in info.values():
            if value.dtype == object:
                value[:] = None
        return info


# --- wrappers -------------------------------------------------------------------------------------------------------


@fault("wrappers.record_episode_statistics")
class OwnStatistics(Infos):
    def other(self, info: Any) -> Any:
        return {**info, "episode": {"r": self.at * 0.0, "l": self.t}}


@fault("wrappers.clip_reward")
class ReadOnlyReward(Track):
    def rewards(self, live: Any, actions: Any) -> Any:
        reward = super().rewards(live, actions)
        reward.flags.writeable = False
        return reward


@fault("wrappers.normalize_observation")
class NotANumber(Track):
    def observe(self) -> Any:
        return super().observe() * np.float32(np.nan)


@fault("wrappers.normalize_reward")
class InfiniteReward(Track):
    def rewards(self, live: Any, actions: Any) -> Any:
        return super().rewards(live, actions) * np.float32(np.inf)


@fault("wrappers.flatten_observation")
class OtherColumns(Track):
    def observe(self) -> Any:
        return np.concatenate([super().observe()] * 2, axis=1)


@fault("wrappers.dict_info_to_list")
class ListInfo(Infos):
    def other(self, info: Any) -> Any:
        return {**info, "at": info["at"].tolist()}


# --- life -----------------------------------------------------------------------------------------------------------


@fault("render.frames")
class OneFrame(Track):
    def render(self) -> Any:
        return list(super().render())


@fault("close.twice")
class ClosesOnce(Track):
    def close(self, **kwargs: Any) -> None:
        if self.closed:
            raise RuntimeError("already closed")
        super().close(**kwargs)


@fault("close.closed")
class CloseWithoutFlag(Track):
    def close(self, **kwargs: Any) -> None:
        pass


@fault("close.step_after")
class Undead(Track):
    def check(self, actions: Any) -> None:
        pass


@fault("copies.pickle")
class Amnesiac(Track):
    def __getstate__(self) -> Any:
        return {**vars(self), "generators": [seeding.np_random(0)[0] for _ in self.generators]}


@fault("copies.deepcopy")
class Shallow(Track):
    def __deepcopy__(self, memo: Any) -> Any:
        return copy.copy(self)
