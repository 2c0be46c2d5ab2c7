"""Wrong words: what an environment says of itself, what it takes and what it gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from kit.track import Track

from conformance.faults.base import Returned, changed, fault


@fault("attributes.class")
class Duck:
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._inner = Track(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


@fault("attributes.present")
class WithoutSpec(Duck):
    def __getattr__(self, name: str) -> Any:
        if name == "spec":
            raise AttributeError(name)
        return super().__getattr__(name)


changed("attributes.num_envs", lambda env: setattr(env, "num_envs", float(env.num_envs)))
changed("attributes.autoreset_mode", lambda env: env.metadata.update(autoreset_mode="NextStep"))
changed("spaces.batched", lambda env: setattr(env, "observation_space", env.single_observation_space))
changed(
    "spaces.equal",
    lambda env: setattr(env, "observation_space", spaces.Box(-1, 1e6, (env.num_envs, 3), dtype=np.float32)),
)
changed("observations.bounds", lambda env: setattr(env.observation_space, "high", env.observation_space.high * 0 + 5))
changed("render.modes", lambda env: env.metadata.pop("render_modes"))


@fault("spaces.samples")
class Picky(Track):
    def check(self, actions: Any) -> None:
        if actions.dtype != np.int32:
            raise ValueError("int32 wanted")


@fault("observations.form")
class Wide(Track):
    def observe(self) -> Any:
        return super().observe().astype(np.float64)


@fault("observations.one_row")
class Squeezed(Track):
    def observe(self) -> Any:
        return super().observe().squeeze()


# --- calls ----------------------------------------------------------------------------------------------------------


@fault("reset.returns")
class ResetAlone(Track):
    def reset(self, **given: Any) -> Any:
        return super().reset(**given)[0]


@fault("reset.arguments")
class NoOptions(Track):
    def reset(self, *, seed: Any = None) -> Any:
        return super().reset(seed=seed)


@fault("reset.empty_options")
class NoEmptyOptions(Track):
    def mask_of(self, options: Any) -> Any:
        if options is not None and "reset_mask" not in options:
            raise KeyError("reset_mask")
        return super().mask_of(options)


@fault("step.returns")
class OldFour(Returned):
    def out(self, *results: Any) -> Any:
        return results[0], results[1], results[2] | results[3], results[4]


@fault("step.reward")
class ColumnReward(Track):
    def rewards(self, live: Any, actions: Any) -> Any:
        return super().rewards(live, actions)[:, None]


@fault("step.reward_is_float")
class IntReward(Track):
    def rewards(self, live: Any, actions: Any) -> Any:
        return super().rewards(live, actions).astype(np.int32)


@fault("step.flags")
class IntFlags(Returned):
    def out(self, *results: Any) -> Any:
        return (*results[:2], results[2].astype(np.int8), *results[3:])


@fault("step.library")
class TensorReward(Track):
    def rewards(self, live: Any, actions: Any) -> Any:
        return torch.from_numpy(super().rewards(live, actions))


@fault("step.time_limit")
class NeverTruncated(Track):
    def flags(self, live: Any) -> Any:
        terminated, truncated = super().flags(live)
        return terminated | truncated, np.zeros_like(truncated)


@fault("step.before_reset")
class Unstarted(Track):
    def check(self, actions: Any) -> None:
        self.started = True
        super().check(actions)


@fault("step.wrong_number_of_actions")
class Recycling(Track):
    def step(self, actions: Any) -> Any:
        return super().step(np.resize(actions, self.num_envs))
