"""Rules about memory: what was handed out never changes, and what was taken is left as it was."""

from __future__ import annotations

from typing import Any

import numpy as np

from simulacrum.conformance.actions import batched
from simulacrum.conformance.rule import Broken, NotJudged, demand_same, rule
from simulacrum.conformance.rules.seeding import demand_same_tape
from simulacrum.conformance.subject import Subject
from simulacrum.conformance.tape import Step, Tape, declared_mode, flag
from simulacrum.conformance.values import clone, difference, is_tensor, leaves, short

STEPS, MORE = 20, 5
STEP = "VectorEnv.step; SyncVectorEnv, copy"


def _kept(subject: Subject) -> list[tuple[Any, Any]]:
    """(what was handed out, what it held at that moment) for a reset and steps, five more steps later."""
    kept: list[tuple[Any, Any]] = []
    with subject.env(**subject.course.extra) as env:
        given = env.reset(seed=subject.seed)
        kept.append((given, clone(given)))
        observation, ended, mode = given[0], np.zeros(env.num_envs, dtype=bool), declared_mode(env)
        for number in range(min(STEPS, max(subject.course.steps, MORE + 1)) + MORE):
            if mode is not None and mode.name == "DISABLED" and ended.any():
                observation, _ = env.reset(options={"reset_mask": ended})
            action = batched(env.single_action_space, subject.actions.rows(number, range(env.num_envs)), observation)
            given = env.step(action)
            kept.append((given, clone(given)))
            observation = given[0]
            ended = flag(given[2], env.num_envs, "terminated") | flag(given[3], env.num_envs, "truncated")
        return [(value, copied) for value, copied in kept[:-MORE]]


def _unchanged(subject: Subject, names: dict[str, int]) -> str:
    kept = _kept(subject)
    for number, (value, copied) in enumerate(kept):
        for name, index in names.items():
            if number == 0 and index not in (0, 4):
                continue
            index = 1 if number == 0 and index == 4 else index
            when = "reset" if number == 0 else "a step"
            demand_same(difference(value[index], copied[index], name), f"what {when} gave changed later",
                        step=number - 1 if number else None)  # fmt: skip
    return f"{len(kept)} results, looked at again after at least {MORE} more steps"


@rule("aliasing.observations", "an observation that was handed out never changes", STEP, "error")
def observations(subject: Subject) -> str:
    return _unchanged(subject, {"observation": 0})


@rule("aliasing.rewards_and_flags", "rewards and flags that were handed out never change", STEP, "error")
def rewards_and_flags(subject: Subject) -> str:
    return _unchanged(subject, {"reward": 1, "terminated": 2, "truncated": 3})


@rule("aliasing.infos", "infos that were handed out never change, final observations included", STEP, "error")
def infos(subject: Subject) -> str:
    return _unchanged(subject, {"info": 4})


@rule(
    "aliasing.written",
    "whoever writes into what was handed out does not change the run",
    STEP,
    "warning",
)
def written(subject: Subject) -> str:
    tape = subject.tape()
    with subject.env(**subject.course.extra) as env:
        observation, info = env.reset(seed=subject.seed)
        again = Tape(declared_mode(env), tape.num_envs, clone(observation), clone(info))
        _spoil((observation, info))
        for number, expected in enumerate(tape.steps):
            if expected.restarted.any():
                _spoil(env.reset(options={"reset_mask": expected.restarted.copy()}))
            given = env.step(batched(env.single_action_space, expected.given, tape.observation))
            values: Any = [clone(one) for one in given]
            step = Step(expected.given, *values, ended=expected.ended, restarted=expected.restarted)
            again.steps.append(step)
            _spoil(given)
            parted = difference(step.returned(), expected.returned())
            demand_same(parted, "writing into an earlier result changed the run", step=number)
    demand_same_tape(again, tape, "writing into an earlier result changed the run")
    return f"{len(tape.steps)} steps"


def _spoil(tree: Any) -> None:
    """Fill every array and tensor with other values, in place; what is read-only stays."""
    for _, leaf in leaves(tree):
        if is_tensor(leaf):
            leaf.copy_(~leaf if "bool" in str(leaf.dtype) else leaf * 0 + 77)
        elif isinstance(leaf, np.ndarray) and leaf.dtype == object:
            _spoil([item for item in leaf.ravel() if item is not None])
        elif isinstance(leaf, np.ndarray) and leaf.flags.writeable and leaf.dtype.kind in "biuf":
            leaf[...] = ~leaf if leaf.dtype.kind == "b" else 77


@rule("aliasing.actions", "the caller's actions are not written to", "VectorEnv.step", "error")
def actions(subject: Subject) -> str:
    with subject.env(**subject.course.extra) as env:
        observation, _ = env.reset(seed=subject.seed)
        for number in range(5):
            given = batched(env.single_action_space, subject.actions.rows(number, range(env.num_envs)), observation)
            before = clone(given)
            ended = env.step(given)
            demand_same(difference(given, before, "action"), "the action was changed", step=number)
            if flag(ended[2], env.num_envs, "terminated").any() or flag(ended[3], env.num_envs, "truncated").any():
                env.reset()
    return "5 steps"


@rule("aliasing.read_only_actions", "actions in a read-only array are taken", "VectorEnv.step", "warning")
def read_only_actions(subject: Subject) -> str:
    with subject.env(**subject.course.extra) as env:
        observation, _ = env.reset(seed=subject.seed)
        given = batched(env.single_action_space, subject.actions.rows(0, range(env.num_envs)), observation)
        arrays = [leaf for _, leaf in leaves(given) if isinstance(leaf, np.ndarray)]
        if not arrays:
            raise NotJudged("its actions are no NumPy arrays")
        for array in arrays:
            array.flags.writeable = False
        env.step(given)
    return f"{len(arrays)} arrays"


@rule("aliasing.options", "the caller's dict of options is not changed", "VectorEnv.reset, options", "warning")
def options(subject: Subject) -> str:
    mask = np.arange(subject.num_envs) % 2 == 0
    with subject.env(**subject.course.extra) as env:
        env.reset(seed=subject.seed)
        given: dict[str, Any] = {"reset_mask": mask.copy()}
        try:
            env.reset(options=given)
        except Exception as error:
            raise NotJudged(f"it takes no reset_mask: {type(error).__name__}") from error
    if list(given) != ["reset_mask"]:
        raise Broken("keys were changed", field="options", found=str(list(given)), expected="['reset_mask']")
    demand_same(difference(given["reset_mask"], mask, "options['reset_mask']"), "the mask was changed")
    return f"reset_mask {short(mask)}"
