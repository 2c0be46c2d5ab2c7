"""Rules about an environment's life: drawing, closing, rebuilding from its spec, copying."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
from gymnasium.envs.registration import EnvSpec

from simulacrum.conformance.actions import batched
from simulacrum.conformance.rule import Broken, NotJudged, demand_same, rule
from simulacrum.conformance.subject import Subject
from simulacrum.conformance.tape import play, take
from simulacrum.conformance.values import difference, short

RENDER, CLOSE, SPEC = "VectorEnv.render", "VectorEnv.close", "make_vec; EnvSpec"


# --- rendering -------------------------------------------------------------------------------------------------------


@rule(
    "render.modes",
    "metadata['render_modes'] lists the render modes, and render_mode is None or one of them",
    f"VectorEnv.metadata; {RENDER}",
    "warning",
)
def render_modes(subject: Subject) -> str:
    with subject.env() as env:
        modes = env.metadata.get("render_modes")
        if not isinstance(modes, (list, tuple)):
            raise Broken("no list", field="metadata['render_modes']", found=short(modes), expected="a list of names")
        if env.render_mode is not None and env.render_mode not in modes:
            raise Broken("not among the declared modes", field="render_mode", found=short(env.render_mode),
                         expected=short(list(modes)))  # fmt: skip
        return ", ".join(map(str, modes)) or "none"


@rule(
    "render.frames",
    "made with a declared mode, render() gives a tuple with a frame for each row",
    RENDER,
    "warning",
)
def render_frames(subject: Subject) -> str:
    with subject.env() as env:
        modes = [mode for mode in env.metadata.get("render_modes") or () if mode in ("rgb_array", "ansi")]
    if not modes:
        raise NotJudged("it declares neither rgb_array nor ansi")
    for mode in modes:
        try:
            frames = _frames(subject, mode)
        except (gymnasium.error.DependencyNotInstalled, ImportError) as error:
            raise NotJudged(f"{mode}: {short(str(error))}") from error
        if not isinstance(frames, tuple) or len(frames) != subject.num_envs:
            told = f"{type(frames).__name__} of {len(frames)}" if hasattr(frames, "__len__") else type(frames).__name__
            raise Broken(f"{mode}: no tuple of a frame a row", found=told, expected=f"tuple of {subject.num_envs}")
        for row, frame in enumerate(frames):
            right = isinstance(frame, str) if mode == "ansi" else _is_picture(frame)
            if not right:
                raise Broken(f"{mode}: no frame", row=row, found=short(frame),
                             expected="text" if mode == "ansi" else "uint8 [H, W, 3]")  # fmt: skip
    return ", ".join(modes)


def _frames(subject: Subject, mode: str) -> Any:
    with subject.env(render_mode=mode) as env:
        env.reset(seed=subject.seed)
        return env.render()


def _is_picture(frame: Any) -> bool:
    return isinstance(frame, np.ndarray) and frame.dtype == np.uint8 and frame.ndim == 3 and frame.shape[2] == 3


# --- closing ---------------------------------------------------------------------------------------------------------


@rule("close.twice", "close() can be called twice, also in the middle of an episode", CLOSE, "error")
def close_twice(subject: Subject) -> str:
    with subject.env() as env:
        env.reset(seed=subject.seed)
        env.close()
        env.close()
    with subject.env() as env:
        env.close()
    return "after a reset, and before one"


@rule("close.closed", "close() sets the attribute `closed`", CLOSE, "warning")
def close_closed(subject: Subject) -> str:
    with subject.env() as env:
        if env.closed:
            raise Broken("closed before it was", field="closed", found=short(env.closed), expected="False")
        env.close()
        if env.closed is not True:
            raise Broken("still open", field="closed", found=short(env.closed), expected="True")
    return "False, then True"


@rule("close.step_after", "a step after close() is refused", f"{CLOSE}; AsyncVectorEnv.step_async", "warning")
def close_step_after(subject: Subject) -> str:
    with subject.env() as env:
        observation, _ = env.reset(seed=subject.seed)
        action = batched(env.single_action_space, subject.actions.rows(0, range(env.num_envs)), observation)
        env.close()
        try:
            env.step(action)
        except Exception as error:
            return f"refused: {type(error).__name__}"
    raise Broken("a closed environment stepped")


# --- specs -----------------------------------------------------------------------------------------------------------


def _spec(env: Any, subject: Subject) -> EnvSpec:
    spec = getattr(getattr(env, "unwrapped", env), "spec", None)
    if not isinstance(spec, EnvSpec):
        raise NotJudged("it has no spec" if subject.env_id else "it was not made by an id, so it has no spec")
    return spec


@rule("spec.set", "the environment keeps the spec that make_vec gives it", SPEC, "error")
def spec_set(subject: Subject) -> str:
    if subject.env_id is None:
        raise NotJudged("it was not made by an id")
    with subject.env() as env:
        spec = getattr(env, "spec", None)
        if not isinstance(spec, EnvSpec):
            raise Broken("no EnvSpec", field="spec", found=type(spec).__name__, expected="EnvSpec")
        if spec.id != subject.env_id.rpartition(":")[2]:
            raise Broken("another id", field="spec.id", found=spec.id, expected=subject.env_id)
    return spec.id


def _rebuilt(subject: Subject, env: Any, spec: Any, how: str) -> str:
    again = gymnasium.make_vec(spec)
    try:
        if again.num_envs != env.num_envs:
            raise Broken(f"{how} gives another number of rows", field="num_envs", found=str(again.num_envs),
                         expected=str(env.num_envs))  # fmt: skip
        for name in ("observation_space", "action_space"):
            if getattr(again, name) != getattr(env, name):
                raise Broken(f"{how} gives another space", field=name, found=short(str(getattr(again, name))))
        tapes = [play(one, subject.actions, 5, seed=subject.seed) for one in (again, env)]
        for number, (step, other) in enumerate(zip(tapes[0].steps, tapes[1].steps, strict=True)):
            demand_same(difference(step.returned(), other.returned()), f"{how} gives another run", step=number)
    finally:
        again.close()
    return f"{env.num_envs} rows, 5 steps"


@rule("spec.rebuild", "make_vec(env.spec) gives the same environment again", SPEC, "error")
def spec_rebuild(subject: Subject) -> str:
    with subject.env() as env:
        return _rebuilt(subject, env, _spec(env, subject), "the spec")


@rule("spec.json", "the spec survives EnvSpec.to_json and from_json", f"{SPEC}.to_json", "warning")
def spec_json(subject: Subject) -> str:
    with subject.env() as env:
        spec = _spec(env, subject)
        if callable(spec.entry_point) or callable(spec.vector_entry_point):
            raise NotJudged("it was registered with a callable, which is no text")
        return _rebuilt(subject, env, EnvSpec.from_json(spec.to_json()), "the spec from JSON")


@rule("spec.pickle", "the spec survives pickling", SPEC, "warning")
def spec_pickle(subject: Subject) -> str:
    with subject.env() as env:
        spec = _spec(env, subject)
        return _rebuilt(subject, env, pickle.loads(pickle.dumps(spec)), "the pickled spec")


# --- copies ----------------------------------------------------------------------------------------------------------


def _goes_on(subject: Subject, copied: Callable[[Any], Any], what: str) -> str:
    """A copy made in the middle of the run goes on as the run does, and leaves the original alone."""
    tape = subject.tape()
    half = len(tape.steps) // 2
    with subject.env(**subject.course.extra) as env:
        mine = play(env, subject.actions, half, seed=subject.seed)
        try:
            other = copied(env)
        except Exception as error:
            raise NotJudged(f"it cannot be {what}: {type(error).__name__}: {short(str(error), 80)}") from error
        theirs = copy.deepcopy(mine)
        try:
            for number in range(half, len(tape.steps)):
                given, wanted = tape.steps[number].given, tape.steps[number].returned()
                step = take(other, theirs, given)
                demand_same(difference(step.returned(), wanted), "the copy goes on in another way", step=number)
                step = take(env, mine, given)
                demand_same(difference(step.returned(), wanted), "the copy changed the original", step=number)
        finally:
            other.close()
    return f"{len(tape.steps) - half} steps"


@rule("copies.pickle", "an environment that can be pickled goes on from where it was", "Env, pickling", "warning")
def copies_pickle(subject: Subject) -> str:
    import cloudpickle

    return _goes_on(subject, lambda env: pickle.loads(cloudpickle.dumps(env)), "pickled")


@rule("copies.deepcopy", "a deep copy goes on from where it was, on its own", "Env, copying", "warning")
def copies_deepcopy(subject: Subject) -> str:
    return _goes_on(subject, _deep_copy, "copied")


def _deep_copy(env: Any) -> Any:
    """A deep copy, tried only where the environment can be pickled or says itself how it is copied.

    Half a copy of pipes or processes would close, as it is collected, file descriptors that the original still uses.
    """
    import cloudpickle

    if not hasattr(type(env), "__deepcopy__"):
        cloudpickle.dumps(env)
    return copy.deepcopy(env)
