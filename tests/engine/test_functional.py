"""The pure functions: exported, differentiated, mapped onto no host value, the same as the env's own step."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from gymnasium.vector import AutoresetMode
from kit import NAMES
from kit.tools import MODES, Actor, advance, assert_same, vector
from torch.utils._python_dispatch import TorchDispatchMode

from simulacrum.rng.batched import split_seed

WAITING = ("_local_scalar_dense", "nonzero", "is_nonzero", "masked_select", "equal", "unique", "item")


class NoWaiting(TorchDispatchMode):
    """Refuses every operation that waits for the device to learn a value."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.count += 1
        assert func.overloadpacket.__name__ not in WAITING, func
        return func(*args, **(kwargs or {}))


def start(env: Any, seed: int = 0) -> Any:
    reset, _ = env.functional()
    seeds = split_seed([seed + row for row in range(env.num_envs)])
    return reset(seeds, torch.zeros(env.num_envs, dtype=torch.int32), env.params)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", [*NAMES, "toywalk", "forager"])
def test_the_pure_step_is_the_envs_step_and_waits_for_nothing(name: str, mode: str) -> None:
    env = vector(name, 3, autoreset_mode=mode, max_episode_steps=None if mode == "disabled" else 3)
    env.reset(seed=0)
    state, (_, step), actor = start(env), env.functional(), Actor(env)
    for _ in range(8):
        action = actor()
        with NoWaiting() as watch:
            state, out = step(state, action, env.params)
        assert watch.count > 5
        if mode == "disabled":
            if bool(env.state.ended.any()):
                return
            env.step(action)
        else:
            seen = advance(env, action)
            assert_same((out.observation, out.reward, out.terminated, out.truncated), seen[:4])
        assert_same(tuple(state), tuple(env.state))


def test_the_watch_can_fail() -> None:
    with pytest.raises(AssertionError, match="_local_scalar_dense"), NoWaiting():
        torch.ones(1).item()


@pytest.mark.parametrize("mode", ["next_step", "same_step"])
def test_rewards_have_gradients_by_actions_taken_before(mode: str) -> None:
    env = vector("glider", 3, autoreset_mode=mode)
    state, (_, step) = start(env), env.functional()
    action = torch.tensor([[0.5, -0.25], [0.25, 0.5], [-0.5, 0.125]], requires_grad=True)
    total, expected = torch.zeros(()), torch.zeros(3, 2)
    for taken in range(1, 4):
        state, out = step(state, action, env.params)
        total = total + out.reward.sum()
        # The reward is minus the sum of both coordinates' sizes, and each step moves by half of the thrust.
        expected -= state.env.position.detach().sign() * 0.5 * taken
    (gradient,) = torch.autograd.grad(total, action)
    assert_same(gradient, expected)


def test_gradients_do_not_cross_an_episodes_end() -> None:
    env = vector("glider", 2, autoreset_mode="same_step", max_episode_steps=1)
    _, step = env.functional()
    action = torch.full((2, 2), 0.5, requires_grad=True)
    state, _ = step(start(env), action, env.params)
    _, out = step(state, torch.zeros(2, 2), env.params)
    assert not out.reward.requires_grad or torch.autograd.grad(out.reward.sum(), action)[0].abs().sum() == 0


@pytest.mark.parametrize("mode", ["next_step", "same_step"])
@pytest.mark.parametrize("name", ["toywalk"])
def test_the_step_exports_with_a_batch_size_left_open(name: str, mode: str) -> None:
    env = vector(name, 3, autoreset_mode=mode)
    _, step = env.functional()

    class Step(torch.nn.Module):
        def forward(self, state: Any, action: Any, params: Any) -> Any:
            return tuple(torch.utils._pytree.tree_leaves(step(state, action, params)))

    state, action = start(env), Actor(env)()
    batch = torch.export.Dim("batch", min=2)
    open_ended = torch.utils._pytree.tree_map(lambda _: {0: batch}, (state, action, env.params))
    program = torch.export.export(Step(), (state, action, env.params), dynamic_shapes=open_ended, strict=False)
    other = vector(name, 8, autoreset_mode=mode)
    given = start(other, 9), Actor(other)(), other.params
    leaves = torch.utils._pytree.tree_leaves(step(*given))
    for ours, theirs in zip(program.module()(*given), leaves, strict=False):
        assert_same(ours, theirs)


def test_every_mode_is_a_function_of_the_core() -> None:
    env = vector("counter", 2)
    state = start(env)
    for mode in AutoresetMode:
        after, out = env.core.step(mode, state, torch.tensor([0, 1]), env.params)
        assert after.t.tolist() == [1, 1]
        assert (out.final_observation is not None) == (mode == AutoresetMode.SAME_STEP)
        assert (out.reset_rows is not None) == (mode == AutoresetMode.NEXT_STEP)
