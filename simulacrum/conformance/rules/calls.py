"""Rules about what `reset` and `step` take and give."""

from __future__ import annotations

from typing import Any

import numpy as np

from simulacrum.conformance.actions import batched
from simulacrum.conformance.rule import Broken, NotJudged, rule
from simulacrum.conformance.subject import Subject
from simulacrum.conformance.tape import play
from simulacrum.conformance.values import is_array, leaves, on_host, short

FLAGS = ("terminated", "truncated")


@rule("reset.returns", "reset() returns a batch of observations and a dict of infos", "VectorEnv.reset", "error")
def reset_returns(subject: Subject) -> str:
    with subject.env() as env:
        given = env.reset()
        if not isinstance(given, tuple) or len(given) != 2:
            raise Broken("not a pair", found=type(given).__name__, expected="(observations, infos)")
        if not isinstance(given[1], dict):
            raise Broken("infos are no dict", field="info", found=type(given[1]).__name__, expected="dict")
    return "a pair"


@rule("reset.arguments", "reset takes seed and options by keyword", "VectorEnv.reset", "error")
def reset_arguments(subject: Subject) -> str:
    arguments: dict[str, Any] = {}
    try:
        with subject.env() as env:
            for arguments in ({"seed": None}, {"seed": 3}, {"options": None}, {"seed": 3, "options": None}):
                env.reset(**arguments)
    except TypeError as error:
        raise Broken(f"refused: {short(str(error))}", found=f"reset({_spelt(arguments)})") from error
    return "seed, options, both"


@rule("reset.empty_options", "an empty dict of options is no different from none", "VectorEnv.reset", "warning")
def empty_options(subject: Subject) -> str:
    with subject.env() as env:
        env.reset(seed=3, options={})
    return "reset(seed=3, options={})"


def _spelt(arguments: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in arguments.items())


def _one_step(subject: Subject) -> tuple[int, Any]:
    with subject.env(**subject.course.extra) as env:
        observation, _ = env.reset(seed=subject.seed)
        given = env.step(batched(env.single_action_space, subject.actions.rows(0, range(env.num_envs)), observation))
        return int(env.num_envs), given


@rule(
    "step.returns",
    "step() returns observations, rewards, terminations, truncations and a dict of infos",
    "VectorEnv.step",
    "error",
)
def step_returns(subject: Subject) -> str:
    _, given = _one_step(subject)
    if not isinstance(given, tuple) or len(given) != 5:
        told = f"{type(given).__name__} of {len(given)}" if hasattr(given, "__len__") else type(given).__name__
        raise Broken("not five values", found=told, expected="a tuple of 5")
    if not isinstance(given[4], dict):
        raise Broken("infos are no dict", field="info", found=type(given[4]).__name__, expected="dict")
    return "a tuple of 5"


@rule("step.reward", "each step gives one real number a row as reward", "VectorEnv.step", "error")
def reward(subject: Subject) -> str:
    kinds: dict[str, int] = {}
    for number, step in enumerate(subject.tape().steps):
        value = step.reward
        if not is_array(value):
            raise Broken("no array", step=number, field="reward", found=type(value).__name__)
        array = on_host(value)
        if array.shape != (subject.num_envs,):
            raise Broken("another shape", step=number, field="reward", found=str(array.shape),
                         expected=f"({subject.num_envs},)")  # fmt: skip
        if array.dtype.kind not in "fiu":
            raise Broken("no numbers", step=number, field="reward", found=f"dtype {array.dtype}", expected="a number")
        if not bool(np.isfinite(array).all()):
            row = int(np.flatnonzero(~np.isfinite(array))[0])
            raise Broken("not finite", row=row, step=number, field="reward", found=short(array[row]))
        kinds.setdefault(str(array.dtype), number)
    if len(kinds) > 1:
        dtypes = list(kinds)
        raise Broken("the dtype changes", step=kinds[dtypes[1]], field="reward", found=dtypes[1], expected=dtypes[0])
    return f"{next(iter(kinds))} in {len(subject.tape().steps)} steps"


@rule("step.reward_is_float", "rewards are floating point numbers", "VectorEnv.step; SyncVectorEnv", "warning")
def reward_is_float(subject: Subject) -> str:
    dtype = on_host(subject.tape().steps[0].reward).dtype
    if dtype.kind != "f":
        raise Broken("other numbers", field="reward", found=str(dtype), expected="float32 or float64")
    return str(dtype)


@rule("step.flags", "terminations and truncations are one bool a row", "VectorEnv.step", "error")
def flags(subject: Subject) -> str:
    count, given = _one_step(subject)
    for name, value in zip(FLAGS, given[2:4], strict=True):
        if not is_array(value):
            raise Broken("no array", field=name, found=type(value).__name__, expected=f"bool ({count},)")
        array = on_host(value)
        if array.shape != (count,):
            raise Broken("another shape", field=name, found=str(array.shape), expected=f"({count},)")
        if array.dtype != np.bool_:
            raise Broken("another dtype", field=name, found=str(array.dtype), expected="bool")
    return "bool"


@rule(
    "step.library",
    "observations, rewards and flags are all arrays of one library, in reset and in step",
    "VectorEnv.step, ArrayType",
    "warning",
)
def library(subject: Subject) -> str:
    tape = subject.tape()
    shown = {"reset": tape.observation, "step": tape.steps[0].returned()}
    kinds = {
        f"{when} {path}".strip(): type(leaf).__module__.partition(".")[0]
        for when, values in shown.items()
        for path, leaf in leaves(values)
        if is_array(leaf)
    }
    if len(set(kinds.values())) > 1:
        first = next(iter(kinds.values()))
        name = next(name for name, kind in kinds.items() if kind != first)
        raise Broken("mixed libraries", field=name, found=kinds[name], expected=first)
    return next(iter(kinds.values()), "nothing")


@rule(
    "step.time_limit",
    "under max_episode_steps=5 an episode is truncated at its fifth step, and at no earlier one",
    "make_vec, max_episode_steps; Env.step",
    "warning",
)
def time_limit(subject: Subject) -> str:
    limit = 5
    try:
        with subject.env(max_episode_steps=limit) as env:
            tape = play(env, subject.actions, limit, seed=subject.seed)
    except Exception as error:
        raise NotJudged(f"it takes no max_episode_steps: {type(error).__name__}") from error
    with subject.env() as env:
        free = play(env, subject.actions, limit, seed=subject.seed)
    for row in range(tape.num_envs):
        end, by_itself = tape.first_end(row), free.first_end(row)
        if end is None:
            raise Broken("no end at the limit", row=row, step=limit - 1, field="truncated", found="False",
                         expected="True")  # fmt: skip
        cut = bool(on_host(tape.steps[end].truncated)[row])
        # Where it ends by itself at the limit, both flags are right; where it does not, only one is.
        wanted = end == limit - 1 if by_itself != end else cut
        if cut != wanted:
            raise Broken("truncated before the limit" if cut else "not truncated at the limit", row=row, step=end,
                         field="truncated", found=str(cut), expected=str(wanted))  # fmt: skip
    return f"{tape.num_envs} rows"


@rule("step.before_reset", "a step before the first reset is refused", "OrderEnforcing; SyncVectorEnv", "warning")
def before_reset(subject: Subject) -> str:
    with subject.env() as env:
        sample = batched(env.single_action_space, subject.actions.rows(0, range(env.num_envs)), None)
        try:
            env.step(sample)
        except Exception as error:
            return f"refused: {type(error).__name__}"
    raise Broken("a step before the first reset was taken")


@rule(
    "step.wrong_number_of_actions",
    "a batch with too few actions is refused",
    "VectorEnv.action_space; SyncVectorEnv",
    "warning",
)
def wrong_number(subject: Subject) -> str:
    with subject.env() as env:
        observation, _ = env.reset(seed=subject.seed)
        few = batched(env.single_action_space, subject.actions.rows(0, range(env.num_envs - 1)), observation)
        try:
            env.step(few)
        except Exception as error:
            return f"refused: {type(error).__name__}"
    raise Broken("taken", field="action", found=f"{subject.num_envs - 1} actions", expected=f"{subject.num_envs}")
