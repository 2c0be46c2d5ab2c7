"""Rules about what the environment says of itself and whether its observations keep to it."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from simulacrum.conformance.actions import as_given
from simulacrum.conformance.membership import misfit, outside
from simulacrum.conformance.rule import Broken, NotJudged, rule
from simulacrum.conformance.subject import Subject
from simulacrum.conformance.values import leaves, short

ATTRIBUTES = ("num_envs", "observation_space", "action_space", "single_observation_space", "single_action_space",
              "metadata", "render_mode", "spec", "closed")  # fmt: skip


@rule(
    "attributes.class",
    "it is a gymnasium.vector.VectorEnv, which every vector wrapper demands",
    "VectorEnv; VectorWrapper.__init__",
    "error",
)
def is_vector_env(subject: Subject) -> str:
    with subject.env() as env:
        if not isinstance(env, VectorEnv):
            found = ", ".join(kind.__name__ for kind in type(env).__mro__[:4])
            raise Broken("the class does not derive from gymnasium.vector.VectorEnv", found=found)
        return type(env).__name__


@rule(
    "attributes.present",
    "num_envs, the four spaces, metadata, render_mode, spec and closed can be read",
    "VectorEnv, attributes",
    "error",
)
def present(subject: Subject) -> str:
    with subject.env() as env:
        missing = [name for name in ATTRIBUTES if not hasattr(env, name)]
        if missing:
            raise Broken("attributes are missing", found=", ".join(missing))
        for name in ATTRIBUTES[1:5]:
            if not isinstance(getattr(env, name), spaces.Space):
                raise Broken("this is no gymnasium space", field=name, found=short(getattr(env, name)))
    return f"{len(ATTRIBUTES)} attributes"


@rule("attributes.num_envs", "num_envs is the number of rows that was asked for", "VectorEnv; make_vec", "error")
def num_envs(subject: Subject) -> str:
    for asked in (1, subject.num_envs):
        with subject.env(asked) as env:
            if isinstance(env.num_envs, bool) or not isinstance(env.num_envs, (int, np.integer)):
                raise Broken("num_envs is no integer", field="num_envs", found=short(env.num_envs))
            if env.num_envs != asked:
                raise Broken("another number of rows", field="num_envs", found=str(env.num_envs), expected=str(asked))
    return f"1 and {subject.num_envs} rows"


@rule(
    "attributes.autoreset_mode",
    "metadata['autoreset_mode'] is a member of gymnasium.vector.AutoresetMode",
    "VectorEnv; Vector Autoreset Mode",
    "error",
)
def autoreset_mode(subject: Subject) -> str:
    with subject.env() as env:
        mode = env.metadata.get("autoreset_mode")
        if not isinstance(mode, AutoresetMode):
            raise Broken("no AutoresetMode", field="metadata['autoreset_mode']", found=short(mode),
                         expected="AutoresetMode.NEXT_STEP, SAME_STEP or DISABLED")  # fmt: skip
        return mode.name


@rule(
    "spaces.batched",
    "the batched spaces have the structure, shapes and dtypes of N single ones",
    "VectorEnv.observation_space, action_space; vector.utils.batch_space",
    "error",
)
def batched_spaces(subject: Subject) -> str:
    with subject.env() as env:
        for name in ("observation_space", "action_space"):
            wanted = batch_space(getattr(env, f"single_{name}"), env.num_envs)
            _same_form(getattr(env, name), wanted, name)
    return "observation and action space"


def _same_form(found: spaces.Space[Any], wanted: spaces.Space[Any], path: str) -> None:
    if isinstance(wanted, spaces.Dict) and isinstance(found, spaces.Dict) and set(found) == set(wanted):
        for key in wanted:
            _same_form(found[key], wanted[key], f"{path}[{key!r}]")
        return
    if isinstance(wanted, spaces.Tuple) and isinstance(found, spaces.Tuple) and len(found) == len(wanted):
        for index, one in enumerate(wanted):
            _same_form(found[index], one, f"{path}[{index}]")
        return
    if type(found) is not type(wanted) or found.shape != wanted.shape or found.dtype != wanted.dtype:
        raise Broken("not the batch of the single space", field=path, found=_told(found), expected=_told(wanted))


def _told(space: spaces.Space[Any]) -> str:
    return f"{type(space).__name__} of shape {space.shape}, {space.dtype}"


@rule(
    "spaces.equal",
    "the batched spaces equal batch_space(single space, N), bounds included",
    "vector.utils.batch_space; TransformObservation",
    "warning",
)
def equal_spaces(subject: Subject) -> str:
    with subject.env() as env:
        for name in ("observation_space", "action_space"):
            wanted = batch_space(getattr(env, f"single_{name}"), env.num_envs)
            if getattr(env, name) != wanted:
                raise Broken("differs from the batch of the single space", field=name,
                             found=short(str(getattr(env, name))), expected=short(str(wanted)))  # fmt: skip
    return "observation and action space"


@rule(
    "spaces.samples",
    "samples of the spaces are contained in them, and a sampled batch of actions can be stepped",
    "Space.sample, Space.contains; VectorEnv.step",
    "error",
)
def samples(subject: Subject) -> str:
    with subject.env(**subject.course.extra) as env:
        observation, _ = env.reset(seed=subject.seed)
        for name in ATTRIBUTES[1:5]:
            space = getattr(env, name)
            space.seed(subject.seed)
            for _ in range(5):
                if not space.contains(space.sample()):
                    raise Broken("a sample is not contained in its space", field=name, found=short(space.sample()))
        for number in range(3):
            sample = env.action_space.sample()
            try:
                env.step(as_given(sample, observation))
            except Exception as error:
                raise Broken(f"a sampled action was refused: {type(error).__name__}: {short(str(error))}",
                             step=number, field="action", found=short(sample)) from error  # fmt: skip
    return "5 samples of each of the four spaces, 3 sampled steps"


@rule(
    "observations.form",
    "every observation has the structure, shape and dtype of the observation space",
    "VectorEnv.reset, VectorEnv.step",
    "error",
)
def observations_form(subject: Subject) -> str:
    return _each_observation(subject, misfit)


@rule(
    "observations.bounds",
    "every observation lies within the bounds of the observation space",
    "VectorEnv.observation_space",
    "error",
)
def observations_bounds(subject: Subject) -> str:
    return _each_observation(subject, outside)


def _each_observation(subject: Subject, judge: Any) -> str:
    tape = subject.tape()
    with subject.env(**subject.course.extra) as env:
        space = env.observation_space
    for number, one in enumerate([tape.observation, *(step.observation for step in tape.steps)]):
        found = judge(space, one, "observation")
        if found is not None:
            when = "reset" if number == 0 else "a step"
            raise Broken(f"{found.what}, in what {when} returned", row=found.row, step=number - 1 if number else None,
                         field=found.field, found=found.found, expected=found.expected)  # fmt: skip
    return f"{len(tape.steps) + 1} observations of {tape.num_envs} rows"


@rule(
    "observations.one_row",
    "a batch of one row keeps its axis and its dtypes",
    "VectorEnv.reset; vector.utils.batch_space",
    "error",
)
def one_row(subject: Subject) -> str:
    tape = subject.tape(num_envs=1)
    with subject.env(1, **subject.course.extra) as env:
        space = env.observation_space
    for number, one in enumerate([tape.observation, *(step.observation for step in tape.steps)]):
        found = misfit(space, one, "observation")
        if found is not None:
            raise Broken(f"{found.what}, with one row", step=number - 1 if number else None, field=found.field,
                         found=found.found, expected=found.expected)  # fmt: skip
    if not any(True for _ in leaves(tape.observation)):
        raise NotJudged("the observation is empty")
    return f"{len(tape.steps) + 1} observations of 1 row"
