"""The native form is the eager one, bit for bit: every package of the kit, every mode, many sizes, and threads."""

from __future__ import annotations

import weakref
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from kit import NAMES
from kit.tools import MODES, Actor, assert_same, clone, play, timeless, vector
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode

from simulacrum.engine import batches
from simulacrum.engine.vector import SimulacrumVectorEnv
from simulacrum.errors import ActionError, TwinError, UsageError

STEPS = 30


def both(name: str, num_envs: int, **kwargs: Any) -> tuple[SimulacrumVectorEnv, SimulacrumVectorEnv]:
    """The eager and the native env, reset alike."""
    plain, native = (vector(name, num_envs, compile=form, **kwargs) for form in (False, "native"))
    assert native.form == "native"
    assert_same(plain.reset(seed=11), native.reset(seed=11))
    return plain, native


@pytest.mark.parametrize("num_envs", [1, 65])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", [*NAMES, "toywalk", "forager"])
def test_every_bit_is_that_of_the_eager_form(name: str, mode: str, num_envs: int) -> None:
    plain, native = both(name, num_envs, autoreset_mode=mode, max_episode_steps=9)
    assert_same(play(plain, STEPS, Actor(plain, 5)), play(native, STEPS, Actor(native, 5)))
    assert_same(plain.state, native.state)


@pytest.mark.parametrize("mode", MODES)
def test_numpy_output_too(mode: str) -> None:
    plain, native = both("dials", 5, autoreset_mode=mode, output="numpy", episode_statistics=True)
    assert_same(play(plain, STEPS), play(native, STEPS))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["counter", "canvas"])
def test_a_rollout_is_so_many_steps(name: str, mode: str) -> None:
    one = vector(name, 70, compile="native", autoreset_mode=mode, max_episode_steps=100 if mode == "disabled" else 7)
    one.reset(seed=2)
    several = one.fork(range(70))
    plain = vector(name, 70, autoreset_mode=mode, max_episode_steps=one.max_episode_steps)
    plain.load_state_dict(one.state_dict())
    act = Actor(one)
    actions = [act() for _ in range(1 if mode == "disabled" else 20)]
    together = stack(actions)
    found = several.rollout(together)
    eager = plain.rollout(together)
    assert_same([*found[:4], timeless(found[4])], list(steps_of(one, actions)))
    assert_same([*found[:4], timeless(found[4])], [*eager[:4], timeless(eager[4])])
    assert_same(one.state, several.state)


def steps_of(env: SimulacrumVectorEnv, actions: list[Any]) -> tuple[Any, ...]:
    outs = [clone(tuple(env.step(action))) for action in actions]
    parts = [stack(list(part)) for part in zip(*outs, strict=True)]
    return tuple(timeless(part) if isinstance(part, dict) else part for part in parts)


def stack(values: list[Any]) -> Any:
    if isinstance(values[0], dict):
        return {key: stack([value[key] for value in values]) for key in values[0]}
    return torch.stack([torch.as_tensor(value) for value in values])


def test_rollouts_refuse_what_steps_refuse() -> None:
    env = vector("counter", 3, compile="native")
    with pytest.raises(gym.error.ResetNeeded):
        env.rollout(torch.zeros((2, 3), dtype=torch.int64))
    env.reset(seed=0)
    before = env.state
    with pytest.raises(ActionError, match="row"):
        env.rollout(torch.tensor([[0, 0, 0], [0, 99, 0]]))
    assert_same(before, env.state)
    with pytest.raises(UsageError, match="sequence"):
        vector_reset("counter").rollout([])


def vector_reset(name: str) -> SimulacrumVectorEnv:
    env = vector(name, 2)
    env.reset(seed=0)
    return env


def test_any_number_of_threads_gives_the_same_bits() -> None:
    runs = []
    for threads in (1, 2, 3, None):
        env = vector("toywalk", 1700, compile="native", threads=threads, max_episode_steps=7)
        env.reset(seed=4)
        runs.append([*play(env, 10, Actor(env, 1)), env.state])
    for other in runs[1:]:
        assert_same(runs[0], other)


def test_threads_are_checked_and_small_batches_take_one() -> None:
    with pytest.raises(UsageError, match="threads"):
        vector("counter", 2, compile="native", threads=0)
    rows = vector("counter", 2, compile="native")._rows
    assert isinstance(rows, batches.NativeRows)
    assert rows.batch.threads == 1


# --- refusals -----------------------------------------------------------------------------------------------------


def test_an_illegal_action_is_refused_and_nothing_has_stepped() -> None:
    env = vector("toywalk", 5, compile="native")
    env.reset(seed=0)
    before = env.state
    for wrong in (2, -1, 2**40):
        with pytest.raises(ActionError, match=r"row 3"):
            env.step(torch.tensor([0, 1, 0, wrong, 1]))
        assert_same(before, env.state)
    with pytest.raises(ActionError, match="shape"):
        env.step(torch.zeros(4, dtype=torch.int64))
    with pytest.raises(ActionError, match="dtype"):
        env.step(torch.zeros(5))
    assert_same(before, env.state)


def test_the_action_of_an_ended_row_is_ignored_whatever_it_is() -> None:
    plain, native = both("toywalk", 4, max_episode_steps=2)
    for env in (plain, native):
        for _ in range(2):
            env.step(torch.ones(4, dtype=torch.int64))
    ended = native.state.ended
    assert bool(ended.all())
    assert_same(*(clone(tuple(env.step(torch.full((4,), 77)))[:4]) for env in (plain, native)))


def test_actions_of_other_kinds_are_taken_as_by_the_eager_form() -> None:
    plain, native = both("toywalk", 3)
    odd = torch.zeros((3, 2), dtype=torch.int64)[:, 0]  # not contiguous
    for action in ([0, 1, 0], np.array([1, 1, 0], dtype=np.int32), torch.tensor([1, 0, 1], dtype=torch.uint8), odd):
        assert_same(*(clone(tuple(env.step(action))[:4]) for env in (plain, native)))


def test_a_fault_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    env = vector_native("toywalk")
    monkeypatch.setattr(env._rows.batch, "_checked", lambda *_: 2)
    with pytest.raises(TwinError, match="divides by zero"):
        env.step(torch.zeros(2, dtype=torch.int64))


def vector_native(name: str, num_envs: int = 2, **kwargs: Any) -> Any:
    env = vector(name, num_envs, compile="native", **kwargs)
    env.reset(seed=0)
    return env


# --- memory -------------------------------------------------------------------------------------------------------


def test_what_was_returned_is_never_overwritten() -> None:
    env = vector_native("forager", 9)
    act = Actor(env)
    held = [env.step(act()) for _ in range(12)]
    kept = clone([tuple(out) for out in held])
    for _ in range(12):
        env.step(act())
    assert_same([tuple(out) for out in held], kept)


def test_memory_is_used_again_when_nobody_holds_it() -> None:
    env = vector_native("forager", 9)
    act = Actor(env)
    for _ in range(3):
        env.step(act())
    before = env._rows.batch.allocations
    for _ in range(50):
        env.step(act())
    assert env._rows.batch.allocations == before


def test_double_buffering_overwrites_the_step_before_the_last() -> None:
    env = vector_native("toywalk", 4, double_buffer=True)
    act = Actor(env)
    first, second, third = (env.step(act()) for _ in range(3))
    assert first[0].data_ptr() == third[0].data_ptr() != second[0].data_ptr()
    first[4]["mine"] = 1
    assert "mine" not in third[4]  # the dicts are fresh all the same
    plain = vector("toywalk", 4)
    plain.reset(seed=0)
    again = Actor(plain)
    for _ in range(3):
        expected = plain.step(again())
    assert_same(tuple(expected)[:4], tuple(third)[:4])


class Forbidden(TorchDispatchMode):
    """Any operation of torch is an error."""

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise AssertionError(f"a step calls torch: {function}")


@pytest.mark.parametrize("mode", ["next_step", "same_step"])
def test_a_step_calls_nothing_of_torch_and_allocates_nothing(mode: str) -> None:
    """No graph to break, nothing to recompile, no value that the host waits for: two calls of the library a step."""
    env = vector_native("toywalk", 16, autoreset_mode=mode)
    actions = [torch.randint(0, 2, (16,)) for _ in range(40)]
    for action in actions[:3]:
        env.step(action)
    made = env._rows.batch.allocations
    with Forbidden():
        for action in actions:
            env.step(action)
    assert env._rows.batch.allocations == made


def test_it_works_inside_inference_mode_and_with_gradients_on() -> None:
    plain, native = both("toywalk", 4)
    act = Actor(plain)
    with torch.inference_mode():
        action = act()
        assert_same(*(clone(tuple(env.step(action))[:4]) for env in (plain, native)))
    out = native.step(act())
    assert not out[0].is_inference()
    assert not out[0].requires_grad


# --- state in and out ---------------------------------------------------------------------------------------------


def test_state_goes_between_the_forms() -> None:
    plain, native = both("glider", 66)
    act = Actor(plain)
    for _ in range(5):
        native.step(act())
    plain.load_state_dict(native.state_dict())
    assert_same(plain.state, native.state)
    rows = [65, 0, 3, 3]
    children = plain.fork(rows), native.fork(rows)
    assert children[1].form == "native"
    follow = Actor(children[0], 3)
    actions = [follow() for _ in range(6)]
    outs = [[clone(tuple(child.step(action))[:4]) for action in actions] for child in children]
    assert_same(*outs)


def test_states_are_loaded_and_shown() -> None:
    plain, native = both("toywalk", 3)
    states = [{"position": place} for place in (-5, 0, 4)]
    assert_same(plain.load_states(states, t=[0, 5, 59]), native.load_states(states, t=[0, 5, 59]))
    assert native.dump_states() == states
    assert_same(*(clone(tuple(env.step([1, 1, 1]))[:4]) for env in (plain, native)))


def test_parameters_change_under_way() -> None:
    plain, native = both("toywalk", 8)
    for env in (plain, native):
        env.set_attr("slip", [0.0, 0.5] * 4)
    assert_same(play(plain, 12), play(native, 12))


def test_partial_resets_leave_the_other_rows_alone() -> None:
    plain, native = both("toywalk", 70)
    act = Actor(plain)
    for _ in range(3):
        action = act()
        for env in (plain, native):
            env.step(action)
    mask = torch.zeros(70, dtype=torch.bool)
    mask[[0, 63, 64, 69]] = True
    seeds = [row if row % 2 else None for row in range(70)]
    for seed in (None, seeds):
        assert_same(*(clone(env.reset(seed=seed, options={"reset_mask": mask})) for env in (plain, native)))
        assert_same(plain.state, native.state)


def test_a_closed_env_gives_its_memory_back_and_makes_none() -> None:
    """Gymnasium before 1.3 closes an env that is collected, which can come in the middle of a capture."""
    env = vector("counter", 3, compile="native")
    env.reset(seed=0)
    memory = weakref.ref(env._rows.batch._arena.memory)
    with FakeTensorMode():
        env.close()
    assert memory() is None
    assert env.closed
    env.close()
