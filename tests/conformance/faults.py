"""One fault for each rule: the smallest change to a right environment that the rule is there to catch.

`FAULTS[rule]` makes the faulty environment. Each class below changes one method of `kit.track.Track`.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import torch
from gymnasium import spaces
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode
from kit.track import GOAL, Track, TrackSingle

NEXT, SAME, DISABLED = AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP, AutoresetMode.DISABLED
FAULTS: dict[str, Callable[..., Any]] = {}


def fault(rule: str, **fixed: Any) -> Callable[[Any], Any]:
    """Enter a class or function as the fault of a rule; `fixed` are keywords that it is made with by default."""

    def enter(make: Any) -> Any:
        assert rule not in FAULTS
        FAULTS[rule] = lambda num_envs, **more: make(num_envs, **{**fixed, **more})
        return make

    return enter


# --- what it says of itself -------------------------------------------------------------------------------------------


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


def changed(rule: str, change: Callable[[Any], None], **fixed: Any) -> None:
    """A fault that is a change to the finished object."""

    def make(num_envs: int, **kwargs: Any) -> Any:
        env = Track(num_envs, **kwargs)
        change(env)
        return env

    fault(rule, **fixed)(make)


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


# --- calls ------------------------------------------------------------------------------------------------------------


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


class Returned(Track):
    """One of the five results changed on its way out."""

    def step(self, actions: Any) -> Any:
        return self.out(*super().step(actions))

    def out(self, *results: Any) -> Any:
        return results


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


# --- autoreset --------------------------------------------------------------------------------------------------------


@fault("next_step.reset_step")
class PaidReset(Track):
    def rewards(self, live: Any, actions: Any) -> Any:
        return super().rewards(live | True, actions)


@fault("next_step.action_ignored")
class EagerStart(Track):
    def move(self, live: Any, actions: Any) -> None:
        super().move(live, actions)
        self.pushed = np.where(live, 0, actions)

    def observe(self) -> Any:
        return super().observe() + (self.pushed[:, None] if self.started else 0)


class Final(Track):
    def final(self, ended: Any, observation: Any, info: Any) -> Any:
        return self.changed(super().final(ended, observation, info))


@fault("same_step.final_obs", autoreset_mode=SAME)
class MarksAll(Final):
    def changed(self, final: Any) -> Any:
        final["_final_obs"][:] = True
        return final


@fault("same_step.final_obs_mask", autoreset_mode=SAME)
class Unmarked(Final):
    def changed(self, final: Any) -> Any:
        del final["_final_obs"]
        return final


@fault("same_step.final_info", autoreset_mode=SAME)
class NoFinalInfo(Final):
    def changed(self, final: Any) -> Any:
        return {key: value for key, value in final.items() if "final_obs" in key}


@fault("same_step.ordinary_after", autoreset_mode=SAME)
class Stuttering(Track):
    def step(self, actions: Any) -> Any:
        return super().step(np.where(self.done, 1, actions))


@fault("disabled.reset_mask", autoreset_mode=DISABLED)
class ResetsAll(Track):
    def begin(self, mask: Any) -> None:
        super().begin(mask | mask.any())


@fault("disabled.no_autoreset", autoreset_mode=DISABLED)
class Tolerant(Track):
    def check(self, actions: Any) -> None:
        self.done[:] = False
        super().check(actions)


# --- final observations -----------------------------------------------------------------------------------------------


class AtTheEnd(Returned):
    def out(self, observation: Any, reward: Any, *rest: Any) -> Any:
        observation, reward = self.end(observation, reward, self.done)
        return (observation, reward, *rest)


@fault("final.beside_single")
class EarlyEnd(AtTheEnd):
    def end(self, observation: Any, reward: Any, done: Any) -> Any:
        observation[done, 0] -= 1
        return observation, reward


@fault("final.reward_and_flags")
class UnpaidEnd(AtTheEnd):
    def end(self, observation: Any, reward: Any, done: Any) -> Any:
        return observation, np.where(done, 0, reward)


@fault("final.not_the_next_first", autoreset_mode=SAME)
class FinalAfterReset(Track):
    def step(self, actions: Any) -> Any:
        given = super().step(actions)
        for row in np.flatnonzero(given[4].get("_final_obs", [])):
            given[4]["final_obs"][row] = given[0][row].copy()
        return given


@fault("final.not_the_one_before")
class Late(AtTheEnd):
    before: Any = None

    def end(self, observation: Any, reward: Any, done: Any) -> Any:
        shown = np.where(done[:, None], self.before, observation) if self.before is not None else observation
        self.before = observation.copy()
        return shown, reward

    def reset(self, **given: Any) -> Any:
        observation, info = super().reset(**given)
        self.before = observation.copy()
        return observation, info


@fault("modes.agree")
class Generous(AtTheEnd):
    def end(self, observation: Any, reward: Any, done: Any) -> Any:
        return observation, reward + done.astype(np.float32) * (self.mode is SAME)


# --- seeding ----------------------------------------------------------------------------------------------------------


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


# --- memory -----------------------------------------------------------------------------------------------------------


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


# --- rows -------------------------------------------------------------------------------------------------------------


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


# --- infos ------------------------------------------------------------------------------------------------------------


class Infos(Track):
    def infos(self, mask: Any) -> Any:
        return self.other(super().infos(mask))


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


# --- wrappers ---------------------------------------------------------------------------------------------------------


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


# --- life -------------------------------------------------------------------------------------------------------------


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


class Biased(Track):
    """Starts with another mark, by what it is given or by how often one was made: only a rebuilt one differs."""

    made = 0

    def __init__(self, num_envs: int = 1, *, bias: Any = 0, **kwargs: Any) -> None:
        super().__init__(num_envs, **kwargs)
        self.bias = bias

    def observe(self) -> Any:
        return super().observe() + np.float32([0, 0, self.bias])


def counted(num_envs: int = 1, **kwargs: Any) -> Biased:
    """Another environment each time."""
    Biased.made += 1
    return Biased(num_envs, bias=Biased.made, **kwargs)


def keyed(num_envs: int = 1, *, table: Any, **kwargs: Any) -> Biased:
    """Reads a table by number; JSON turns the numbers into text."""
    return Biased(num_envs, bias=table.get(1, 9), **kwargs)


class Lossy:
    """Survives copying, and loses its value in a pickle."""

    def __init__(self, value: int = 0) -> None:
        self.value = value

    def __deepcopy__(self, memo: Any) -> Lossy:
        return self

    def __reduce__(self) -> Any:
        return Lossy, ()


def lossy(num_envs: int = 1, *, bias: Lossy, **kwargs: Any) -> Biased:
    """Biased by an object."""
    return Biased(num_envs, bias=bias.value, **kwargs)


class Specless(Track):
    """Keeps no spec."""

    @property
    def spec(self) -> None:
        return None

    @spec.setter
    def spec(self, value: Any) -> None:
        pass


# rule -> (entry point in this module, keywords of the registration): these faults need an id.
REGISTERED: dict[str, tuple[str, dict[str, Any]]] = {
    "spec.set": ("Specless", {}),
    "spec.rebuild": ("counted", {}),
    "spec.json": ("keyed", {"table": {1: 5}}),
    "spec.pickle": ("lossy", {"bias": Lossy(5)}),
}

__all__ = ["FAULTS", "GOAL", "REGISTERED", "TrackSingle"]
