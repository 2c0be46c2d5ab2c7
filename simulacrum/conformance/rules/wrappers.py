"""Rules about Gymnasium's own vector wrappers: they run on it, and what they compute is right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers import vector as wrappers

from simulacrum.conformance.rule import Broken, NotJudged, demand_same, rule
from simulacrum.conformance.subject import Subject
from simulacrum.conformance.tape import Tape, play
from simulacrum.conformance.values import difference, is_tensor, leaves, on_host, row_of, short

WRAPPERS = "gymnasium.wrappers.vector"


def _under(subject: Subject, wrap: Callable[[Any], Any]) -> tuple[Tape, Tape]:
    """The usual run, and the same one seen through a wrapper."""
    tape = subject.tape()
    if any(is_tensor(leaf) for _, leaf in leaves([tape.observation, tape.steps[0].reward])):
        raise NotJudged("it gives tensors, which this wrapper does not take")
    with subject.env(**subject.course.extra) as env:
        try:
            wrapped = wrap(env)
        except (AssertionError, ValueError, TypeError) as error:
            if isinstance(error, TypeError) and "VectorEnv" in str(error):
                raise Broken(short(str(error))) from error
            raise NotJudged(f"the wrapper refuses it: {short(str(error))}") from error
        return tape, play(wrapped, subject.actions, len(tape.steps), seed=subject.seed)


def _float_box(subject: Subject) -> None:
    with subject.env() as env:
        if not isinstance(env.single_observation_space, spaces.Box):
            raise NotJudged("its observations are no Box")


@rule(
    "wrappers.record_episode_statistics",
    "RecordEpisodeStatistics gives the true length and return of each episode",
    f"{WRAPPERS}.RecordEpisodeStatistics",
    "error",
)
def record_episode_statistics(subject: Subject) -> str:
    mode = subject.tape_with_ends().mode
    if mode is AutoresetMode.SAME_STEP and tuple(map(int, gymnasium.__version__.split(".")[:2])) < (1, 4):
        raise NotJudged(f"the wrapper itself counts wrongly in SAME_STEP in Gymnasium {gymnasium.__version__}")
    tape, seen = _under(subject, wrappers.RecordEpisodeStatistics)
    returns, lengths = np.zeros(tape.num_envs), np.zeros(tape.num_envs, dtype=np.int64)
    for number, (step, shown) in enumerate(zip(tape.steps, seen.steps, strict=True)):
        fresh = tape.ended_before(number)
        counts = ~fresh if tape.mode is AutoresetMode.NEXT_STEP else np.ones(tape.num_envs, dtype=bool)
        returns, lengths = np.where(fresh, 0.0, returns), np.where(fresh, 0, lengths)
        returns, lengths = returns + on_host(step.reward) * counts, lengths + counts
        for row in np.flatnonzero(step.ended):
            told = _episode(shown.info, int(row))
            for name, found, wanted in (("l", told[0], lengths[row]), ("r", told[1], returns[row])):
                if found is None or not np.isclose(found, wanted, rtol=1e-4, atol=1e-5):
                    raise Broken("not the episode's own", row=int(row), step=number, field=f"info.episode.{name}",
                                 found=short(found), expected=short(wanted))  # fmt: skip
    return f"{len(tape.ends())} episodes"


def _episode(info: dict[str, Any], row: int) -> tuple[Any, Any]:
    """(length, return) that the statistics give for a row, from the info itself or from the final one."""
    for place in (info, info.get("final_info", {})):
        episode = place.get("episode") if isinstance(place, dict) else None
        if isinstance(episode, dict) and "l" in episode:
            return episode["l"][row], episode["r"][row]
    return None, None


@rule(
    "wrappers.transform_reward",
    "TransformReward changes rewards alone",
    f"{WRAPPERS}.TransformReward",
    "warning",
)
def transform_reward(subject: Subject) -> str:
    tape, seen = _under(subject, lambda env: wrappers.TransformReward(env, lambda reward: 2 * reward + 1))
    for number, (step, shown) in enumerate(zip(tape.steps, seen.steps, strict=True)):
        wanted = {**step.returned(), "reward": 2 * step.reward + 1}
        demand_same(difference(shown.returned(), wanted, close=True), "another result than its own", step=number)
    return f"{len(tape.steps)} steps"


@rule("wrappers.clip_reward", "ClipReward gives the clipped rewards", f"{WRAPPERS}.ClipReward", "warning")
def clip_reward(subject: Subject) -> str:
    tape, seen = _under(subject, lambda env: wrappers.ClipReward(env, -0.5, 0.5))
    for number, (step, shown) in enumerate(zip(tape.steps, seen.steps, strict=True)):
        wanted = {**step.returned(), "reward": np.clip(step.reward, -0.5, 0.5)}
        demand_same(difference(shown.returned(), wanted, close=True), "another result than its own", step=number)
    return f"{len(tape.steps)} steps"


@rule(
    "wrappers.normalize_observation",
    "NormalizeObservation runs on it and gives finite observations of the same shape",
    f"{WRAPPERS}.NormalizeObservation",
    "warning",
)
def normalize_observation(subject: Subject) -> str:
    _float_box(subject)
    tape, seen = _under(subject, wrappers.NormalizeObservation)
    for number, (step, shown) in enumerate(zip(tape.steps, seen.steps, strict=True)):
        if np.shape(shown.observation) != np.shape(step.observation) or not np.isfinite(shown.observation).all():
            raise Broken("another shape, or not finite", step=number, field="observation",
                         found=short(shown.observation))  # fmt: skip
    return f"{len(tape.steps)} steps"


@rule(
    "wrappers.normalize_reward",
    "NormalizeReward runs on it and gives finite rewards",
    f"{WRAPPERS}.NormalizeReward",
    "warning",
)
def normalize_reward(subject: Subject) -> str:
    tape, seen = _under(subject, wrappers.NormalizeReward)
    for number, shown in enumerate(seen.steps):
        if np.shape(shown.reward) != (tape.num_envs,) or not np.isfinite(shown.reward).all():
            raise Broken("another shape, or not finite", step=number, field="reward", found=short(shown.reward))
    return f"{len(tape.steps)} steps"


@rule(
    "wrappers.flatten_observation",
    "FlattenObservation gives each observation as one flat row",
    f"{WRAPPERS}.FlattenObservation",
    "warning",
)
def flatten_observation(subject: Subject) -> str:
    with subject.env() as env:
        single = env.single_observation_space
    if not single.is_np_flattenable:
        raise NotJudged("its observations cannot be flattened to one row")
    tape, seen = _under(subject, wrappers.FlattenObservation)
    wide = (tape.num_envs, spaces.flatdim(single))
    for number, (step, shown) in enumerate(zip(tape.steps, seen.steps, strict=True)):
        if np.shape(shown.observation) != wide:
            raise Broken("another shape", step=number, field="observation", found=str(np.shape(shown.observation)),
                         expected=str(wide))  # fmt: skip
        for row in range(tape.num_envs):
            wanted = spaces.flatten(single, row_of(step.observation, row))
            demand_same(difference(shown.observation[row], wanted, "observation", close=True),
                        "not the flat observation", row=row, step=number)  # fmt: skip
    return f"{len(tape.steps)} steps"


@rule(
    "wrappers.dict_info_to_list",
    "DictInfoToList gives one dict a row, with the keys that its masks mark",
    f"{WRAPPERS}.DictInfoToList",
    "warning",
)
def dict_info_to_list(subject: Subject) -> str:
    tape, seen = _under(subject, wrappers.DictInfoToList)
    for number, (step, shown) in enumerate(zip(tape.steps, seen.steps, strict=True)):
        listed: Any = shown.info
        if not isinstance(listed, list) or len(listed) != tape.num_envs:
            raise Broken("no list of a dict a row", step=number, field="info", found=type(listed).__name__)
        for key, value in step.info.items():
            mask = step.info.get(f"_{key}")
            if str(key).startswith("_") or mask is None or isinstance(value, dict):
                continue
            for row in range(tape.num_envs):
                if (key in listed[row]) != bool(mask[row]):
                    raise Broken("a key where its mask has none, or none where it has one", row=row, step=number,
                                 field=f"info.{key}", found=str(key in listed[row]),
                                 expected=str(bool(mask[row])))  # fmt: skip
    return f"{len(tape.steps)} steps"
