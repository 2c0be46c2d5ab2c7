"""The reference as a vector env is the batched twin's equal, step by step."""

from __future__ import annotations

import numpy as np
import pytest
from kit import package

from simulacrum.transfer.policies import Policy
from simulacrum.transfer.sides import returns, vector_env


@pytest.mark.parametrize("name", ["counter", "dials", "glider"])
def test_both_faces_show_the_same(name):
    batched, reference = (vector_env(package(name), side, 5, "eager") for side in ("batched", "reference"))
    assert batched.observation_space == reference.observation_space
    assert batched.action_space == reference.action_space
    batched.action_space.seed(3)
    ended = 0
    for step in range(30):
        if step == 0:
            one, other = batched.reset(seed=11), reference.reset(seed=11)
        else:
            actions = batched.action_space.sample()
            one, other = batched.step(actions), reference.step(actions)
            ended += int((one[2] | one[3]).sum())
        for part, same in zip(one[:-1], other[:-1], strict=True):
            np.testing.assert_equal(same, part)
        for key, value in other[-1].items():
            np.testing.assert_equal(value, one[-1][key])
    assert ended, "no episode ended, so no reset was compared"


def test_returns_are_of_whole_first_episodes(toywalk):
    found = toywalk()
    always = Policy("right", batch=lambda shown, mask: np.ones(len(shown), np.int64))
    batched, reference = (returns(found, side, always, 100, "eager") for side in ("batched", "reference"))
    np.testing.assert_array_equal(batched, reference)
    assert batched.shape == (100,)
    assert batched.mean() == pytest.approx(4.75, abs=1.1)  # exactly 4.75, with a spread of 2.58
