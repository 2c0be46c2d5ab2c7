"""The built-in learner: it learns, it is the same in both twins, and it acts in the spaces that it says."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium import spaces
from kit import package

from simulacrum.errors import UsageError
from simulacrum.transfer.learner import ROWS, Heads, train
from simulacrum.transfer.policies import Policy
from simulacrum.transfer.sides import SIDES, returns, vector_env


@pytest.fixture(autouse=True)
def one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def test_it_learns_toywalk_alike_in_both_twins(toywalk):
    found = toywalk()
    observations = np.random.default_rng(0).uniform(-1, 1, (64, 2)).astype(np.float32)
    acted = []
    for side in SIDES:
        envs = vector_env(found, side, ROWS, "eager")
        policy = train(envs, 3, 8_192)
        acted.append(policy(observations, None))
        untrained = Policy("untrained", batch=train(envs, 3, 0))
        trained = Policy("trained", batch=policy)
        before, after = (returns(found, "batched", one, 64, "eager") for one in (untrained, trained))
        assert after.mean() > 2  # the best there is, always_right, has 4.75
        assert after.mean() > before.mean() + 1
        np.testing.assert_array_equal(after, returns(found, "reference", trained, 64, "eager"))
    np.testing.assert_array_equal(*acted)


def test_seeds_give_other_policies(toywalk):
    envs = vector_env(toywalk(), "batched", ROWS, "eager")
    observations = np.random.default_rng(0).uniform(-1, 1, (256, 2)).astype(np.float32)
    first, second = (train(envs, seed, 0)(observations, None) for seed in (1, 2))
    assert (first != second).any()


@pytest.mark.parametrize("name", ["counter", "dials", "glider"])
def test_it_acts_in_other_spaces(name):
    one = package(name)
    for side in SIDES:
        envs = vector_env(one, side, 4, "eager")
        if isinstance(envs.single_action_space, spaces.Dict):
            with pytest.raises(UsageError, match="does not act in this space"):
                train(envs, 1, 0)
            continue
        policy = train(envs, 1, 4 * 32 * 2)
        shown, info = envs.reset(seed=1)
        actions = policy(shown, info.get("action_mask"))
        for row in range(4):
            assert envs.single_action_space.contains(np.asarray(actions[row], envs.single_action_space.dtype))


def test_heads_put_actions_into_the_space():
    far = torch.tensor([[-9.0], [0.0], [9.0]])
    box = Heads.of(spaces.Box(-2.0, 6.0, (1,), np.float32))
    np.testing.assert_allclose(box.to_env(far), [[-2.0], [2.0], [6.0]])
    shifted = Heads.of(spaces.Discrete(3, start=5))
    assert shifted.to_env(torch.tensor([[0], [2]])).tolist() == [5, 7]
    many = Heads.of(spaces.MultiDiscrete([2, 3]))
    assert (many.sizes, many.outputs) == ((2, 3), 5)
    assert Heads.of(spaces.MultiBinary(2)).to_env(torch.tensor([[0, 1]])).tolist() == [[0, 1]]
    with pytest.raises(UsageError, match="does not act in this space"):
        Heads.of(spaces.Dict({"a": spaces.Discrete(2)}))


def test_masked_actions_are_never_taken():
    class Masked(gym.vector.VectorEnv):
        num_envs = 4
        single_observation_space = spaces.Box(-1, 1, (1,), np.float32)
        single_action_space = spaces.Discrete(3)
        mask = np.tile([False, True, False], (4, 1))

        def reset(self, *, seed=None, options=None):
            return np.zeros((4, 1), np.float32), {"action_mask": self.mask}

        def step(self, actions):
            assert (actions == 1).all()
            flags = np.zeros(4, bool)
            return np.zeros((4, 1), np.float32), np.zeros(4), flags, flags, {"action_mask": self.mask}

    policy = train(Masked(), 1, 4 * 32)
    assert (policy(np.zeros((4, 1), np.float32), Masked.mask) == 1).all()
