"""Wrong use of memory, and rows that are not on their own."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from gymnasium.utils import seeding
from kit.track import Track

from conformance.faults.base import fault


class Buffers(Track):
    """Hands out a buffer of its own in place of one result."""

    def mine(self, name: str, value: Any) -> Any:
        kept = vars(self).setdefault(name, np.array(value))
        kept[...] = value
        return kept


@fault("aliasing.observations")
class OwnObservation(Buffers):
    def observe(self) -> Any:
        return self.mine("buffer", super().observe())


@fault("aliasing.rewards_and_flags")
class OwnReward(Buffers):
    def rewards(self, live: Any, actions: Any) -> Any:
        return self.mine("buffer", super().rewards(live, actions))


@fault("aliasing.infos")
class OwnInfo(Buffers):
    def infos(self, mask: Any) -> Any:
        given = super().infos(mask)
        return {**given, "at": self.mine("buffer", given["at"])}


@fault("aliasing.written")
class ReadsBack(Track):
    shown: Any = None

    def observe(self) -> Any:
        self.shown = super().observe()
        return self.shown

    def move(self, live: Any, actions: Any) -> None:
        self.at[:] = self.shown[:, 0].astype(np.int64)
        super().move(live, actions)


@fault("aliasing.actions")
class Clips(Track):
    def check(self, actions: Any) -> None:
        super().check(actions)
        actions[...] = np.clip(actions, 1, 1)


@fault("aliasing.read_only_actions")
class Scales(Track):
    def check(self, actions: Any) -> None:
        super().check(actions)
        actions *= 1


@fault("aliasing.options")
class Pops(Track):
    def mask_of(self, options: Any) -> Any:
        mask = super().mask_of(options)
        if options:
            options.pop("reset_mask", None)
        return mask


# --- rows -----------------------------------------------------------------------------------------------------------


@fault("rows.actions")
class Shared(Track):
    def rewards(self, live: Any, actions: Any) -> Any:
        return super().rewards(live, actions) + np.float32(actions.mean())


class OneGenerator(Track):
    """One generator for the starts of all rows."""

    def seeds_of(self, seed: Any) -> Any:
        self.common = seeding.np_random(seed)[0] if isinstance(seed, int) else getattr(self, "common", None)
        return super().seeds_of(seed)

    def begin(self, mask: Any) -> None:
        super().begin(mask)
        self.mark[mask] = self.common.integers(1000, size=int(mask.sum()))


fault("rows.later_episodes")(OneGenerator)


@fault("rows.number")
class Numbered(Track):
    def begin(self, mask: Any) -> None:
        super().begin(mask)
        self.mark[mask] = (self.mark[mask] + self.num_envs) % 1000


@fault("rows.instances")
class Sharing(Track):
    steps_of_all: ClassVar = [0]

    def reset(self, **given: Any) -> Any:
        self.steps_of_all[0] = 0
        return super().reset(**given)

    def step(self, actions: Any) -> Any:
        self.steps_of_all[0] += 1
        return super().step(actions)

    def observe(self) -> Any:
        return super().observe() + np.float32([0, 0, self.steps_of_all[0]])


@fault("partial_reset.others_stay")
class Masked(Track):
    def mask_of(self, options: Any) -> Any:
        return super().mask_of(options) | True


@fault("partial_reset.seeds")
class MaskWithoutSeed(Track):
    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        return super().reset(seed=None if options else seed, options=options)


@fault("partial_reset.refuses")
class AnyMask(Track):
    def mask_of(self, options: Any) -> Any:
        if not options:
            return super().mask_of(options)
        return np.resize(np.asarray(options["reset_mask"], dtype=bool), self.num_envs)
