"""The adapter against what Tianshou's collectors expect of a vector environment, and real trainings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch

pytest.importorskip("tianshou")

from tianshou.algorithm import DQN, PPO
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.modelfree.reinforce import DiscreteActorPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, CollectStats, VectorReplayBuffer
from tianshou.env import BaseVectorEnv, VectorEnvNormObs
from tianshou.trainer import OffPolicyTrainerParams, OnPolicyTrainerParams
from tianshou.utils.net.common import Net
from tianshou.utils.net.discrete import DiscreteActor, DiscreteCritic

import simulacrum
from simulacrum.adapters.tianshou import TianshouVectorEnv, make_tianshou
from simulacrum.errors import ActionError, ClosedError, GateError, UsageError

LIMIT = 7  # counter's time limit
Vector = Callable[..., Any]


@pytest.fixture
def make(vector: Vector) -> Callable[..., TianshouVectorEnv]:
    def build(num_envs: int = 4, *more: Any, action_masks: bool = False, **kwargs: Any) -> TianshouVectorEnv:
        env = vector(num_envs, *more, **{"autoreset_mode": "disabled", **kwargs})
        return TianshouVectorEnv(env, action_masks=action_masks)

    return build


Make = Callable[..., TianshouVectorEnv]


def zeros(count: int) -> np.ndarray:
    return np.zeros(count, dtype=np.int64)


def dqn(env: TianshouVectorEnv, eps: float = 0.1, **kwargs: Any) -> DQN:
    one = env.observation_space[0]
    net = Net(state_shape=one.shape, action_shape=env.action_space[0].n, hidden_sizes=(32, 32))
    policy = DiscreteQLearningPolicy(model=net, action_space=env.action_space[0], eps_training=eps, eps_inference=eps)
    return DQN(policy=policy, optim=AdamOptimizerFactory(lr=1e-3), **kwargs)


def collector(env: TianshouVectorEnv, size: int = 2000) -> Collector:
    made = Collector(dqn(env), env, VectorReplayBuffer(size, env.env_num))
    made.reset()
    return made


# --- the door -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["next_step", "same_step"])
def test_a_mode_that_cannot_be_served_is_refused_by_name(vector: Vector, mode: str) -> None:
    with pytest.raises(UsageError, match=f"autoreset_mode='{mode}'") as caught:
        TianshouVectorEnv(vector(autoreset_mode=mode))
    assert "disabled" in str(caught.value)


def test_other_envs_and_other_outputs_are_refused(vector: Vector) -> None:
    with pytest.raises(UsageError, match="output='numpy'"):
        TianshouVectorEnv(vector(autoreset_mode="disabled", output="numpy"))
    with pytest.raises(UsageError, match="CartPoleVectorEnv"):
        TianshouVectorEnv(gym.make_vec("CartPole-v1", 2))
    with pytest.raises(UsageError, match="make_tianshou decides autoreset_mode itself"):
        make_tianshou("simulacrum/forager-v0", 2, autoreset_mode="disabled")
    with pytest.raises(UsageError, match="no action mask"):
        TianshouVectorEnv(vector(2, simulacrum.load_package("toywalk"), autoreset_mode="disabled"), action_masks=True)


def test_make_tianshou_goes_through_the_gate(counter: Any) -> None:
    simulacrum.register_envs(counter.folder)
    try:
        with pytest.raises(GateError, match="counter"):
            make_tianshou("simulacrum/counter-v0", 2)
    finally:
        del gym.registry["simulacrum/counter-v0"]


# --- the interface --------------------------------------------------------------------------------------------------


def test_it_is_one_of_tianshous_vector_envs(make: Make) -> None:
    env = make(3)
    assert isinstance(env, BaseVectorEnv)
    assert (len(env), env.env_num, env.is_async, env.is_closed) == (3, 3, False, False)
    assert env.action_space == [gym.spaces.Discrete(2)] * 3
    assert [space.shape for space in env.observation_space] == [(2,)] * 3
    observation, infos = env.reset()
    assert (observation.dtype, observation.shape) == (np.float32, (3, 2))
    assert (infos.dtype, infos.shape) == (object, (3,))
    observation, rewards, terminated, truncated, infos = env.step(zeros(3))
    assert (observation.dtype, observation.shape) == (np.float32, (3, 2))
    assert [value.dtype for value in (rewards, terminated, truncated)] == [np.float32, np.bool_, np.bool_]
    assert [info["env_id"] for info in infos] == [0, 1, 2]
    assert [info["count"] for info in infos] == [1, 1, 1]


def test_a_reset_concerns_its_rows_alone(make: Make) -> None:
    env = make(4)
    env.reset()
    for _ in range(2):
        env.step(zeros(4))
    observation, infos = env.reset([3, 1])
    assert observation[:, 0].tolist() == [0, 0]
    assert [info["env_id"] for info in infos] == [3, 1]
    observation, *_ = env.step(zeros(4))
    assert observation[:, 0].tolist() == [3, 1, 3, 1]
    observation, infos = env.reset(np.int64(2))
    assert observation.shape == (1, 2)
    assert infos[0]["env_id"] == 2


def test_rows_that_are_not_stepped_hold_still(make: Make) -> None:
    env = make(4, params={"spread": 1})
    twin = make(4, params={"spread": 1})
    env.seed(5)
    twin.seed(5)
    first, same = env.reset()[0], twin.reset()[0]
    assert first.tobytes() == same.tobytes()
    some, *_, infos = env.step(zeros(2), [2, 0])
    assert [info["env_id"] for info in infos] == [2, 0]
    assert some[:, 0].tolist() == [first[2][0] + 1, first[0][0] + 1]
    assert some[:, 1].tolist() == [first[2][1], first[0][1]]
    env.step(zeros(2), np.array([0, 2]))  # the same rows in another order
    env.step(zeros(1), 1)  # other rows: those come back first
    observation, *_ = env.step(zeros(4))
    assert observation[:, 0].tolist() == [first[0][0] + 3, first[1][0] + 2, first[2][0] + 3, first[3][0] + 1]
    assert observation[:, 1].tolist() == first[:, 1].tolist()
    for _ in range(3):  # row by row where it has arrived, the other env is in the same bits
        same, *_ = twin.step(zeros(4))
    assert observation[[0, 2]].tobytes() == same[[0, 2]].tobytes()
    # Their draws did not move either: the next episode of a held row is the same.
    assert env.reset(3)[0].tobytes() == twin.reset(3)[0].tobytes()
    assert env.reset(1)[0].tobytes() == twin.reset(1)[0].tobytes()


def test_each_row_acts_by_its_own_action(make: Make) -> None:
    """In forager, where actions do something."""
    one, other = (make(6, simulacrum.load_package("forager")) for _ in range(2))
    for env in (one, other):
        env.seed(3)
        env.reset()
    actions = np.arange(6) % 4
    whole, *_ = one.step(actions)
    order = np.array([4, 1, 5])
    part, *_ = other.step(actions[order], order)
    assert part.tobytes() == whole[order].tobytes()
    rest = np.array([3, 0, 2])
    part, *_ = other.step(actions[rest], rest)
    assert part.tobytes() == whole[rest].tobytes()
    shuffled = np.array([5, 0, 3, 1, 4, 2])
    again, reward, *_ = other.step(actions[shuffled], shuffled)
    straight, straight_reward, *_ = one.step(actions)
    assert again.tobytes() == straight[shuffled].tobytes()
    assert reward.tolist() == straight_reward[shuffled].tolist()


def test_ended_rows_beside_stepped_ones_are_left_alone(make: Make) -> None:
    env = make(2, params={"goal": [2, 1000]})
    env.reset()
    env.step(zeros(2))
    _, _, terminated, _, _ = env.step(zeros(2))
    assert terminated.tolist() == [True, False]
    env.step(zeros(1), [1])
    with pytest.raises(gym.error.ResetNeeded):
        env.step(zeros(2))
    assert env.reset([0])[0][0][0] == 0
    assert env.step(zeros(2))[0][:, 0].tolist() == [1, 4]


def test_seeds_count_once_and_row_by_row(make: Make) -> None:
    env = make(3)
    assert env.seed(11) == [[11], [12], [13]]
    samples = [space.sample() for space in env.action_space]
    first, _ = env.reset()
    second, _ = env.reset()
    assert second.tobytes() != first.tobytes()
    env.seed([11, 12, 13])
    assert [space.sample() for space in env.action_space] == samples
    assert env.reset()[0].tobytes() == first.tobytes()
    assert env.reset()[0].tobytes() == second.tobytes()
    env.seed(11)
    assert env.reset([2])[0].tobytes() == first[2].tobytes()
    assert env.reset(seed=11)[0].tobytes() == first.tobytes()
    assert env.seed() == [None] * 3
    with pytest.raises(UsageError, match="not one seed for each row"):
        env.seed([1])


def test_misuse_is_refused(make: Make) -> None:
    env = make(2)
    with pytest.raises(UsageError, match="partial reset"):
        env.reset([0])
    env.reset()
    for rows in ([0, 0], [2], [-1], []):
        with pytest.raises(UsageError, match="not numbers of rows"):
            env.step(zeros(len(rows)), rows)
    with pytest.raises(UsageError, match="not one action"):
        env.step(zeros(1))
    with pytest.raises(UsageError, match="not one action"):
        env.step(None)
    with pytest.raises(UsageError, match="unknown arguments"):
        env.reset(sed=1)
    with pytest.raises(ActionError, match="row 1"):
        env.step(np.array([0, 2]))
    env.close()
    env.close()
    assert env.is_closed
    with pytest.raises(ClosedError):
        env.step(zeros(2))


def test_attributes_and_frames_by_row(make: Make) -> None:
    env = make(3, params={"goal": [5, 6, 7]})
    assert env.get_env_attr("goal", [2, 0]) == [7, 5]
    env.set_env_attr("goal", 2, [1])
    assert env.get_env_attr("goal") == [5, 2, 7]
    env.reset()
    env.step(zeros(1), [1])
    assert env.step(zeros(1), [1])[2].tolist() == [True]
    assert env.render() == [None, None, None]
    drawn = make(2, simulacrum.load_package("toywalk"), render_mode="rgb_array")
    drawn.reset()
    assert [frame.dtype for frame in drawn.render()] == [np.uint8, np.uint8]


# --- the library ----------------------------------------------------------------------------------------------------


def test_steps_collected_carry_their_true_counters(make: Make) -> None:
    env = make(4, params={"goal": [1000, 5, 1000, 3]})
    made = collector(env)
    stats = made.collect(n_step=4 * 21)
    assert stats.n_collected_steps == 84
    batch, _ = made.buffer.sample(0)
    assert len(batch) == 84
    np.testing.assert_array_equal(batch.obs_next[:, 0], batch.obs[:, 0] + 1)
    np.testing.assert_array_equal(batch.obs_next[:, 1], batch.obs[:, 1])
    np.testing.assert_array_equal(batch.info.count, batch.obs_next[:, 0])
    rows = batch.info.env_id
    assert set(batch.obs_next[batch.truncated][:, 0]) == {LIMIT}
    assert set(rows[batch.truncated]) == {0, 2}
    assert set(batch.obs_next[batch.terminated & (rows == 1)][:, 0]) == {5}
    assert set(batch.obs_next[batch.terminated & (rows == 3)][:, 0]) == {3}
    assert batch.terminated.sum() == 4 + 7
    assert batch.truncated.sum() == 2 * 3


def test_episodes_collected_are_whole(make: Make) -> None:
    """The last episodes are played by fewer and fewer rows."""
    env = make(4, params={"goal": [2, 3, 4, 1000], "spread": 0})
    made = collector(env)
    for _ in range(2):
        made.reset_buffer()
        stats = made.collect(n_episode=11)
        assert stats.n_collected_episodes == 11
        batch, _ = made.buffer.sample(0)
        np.testing.assert_array_equal(batch.obs_next[:, 0], batch.obs[:, 0] + 1)
        np.testing.assert_array_equal(batch.obs_next[:, 1], batch.obs[:, 1])
        ends = batch.terminated | batch.truncated
        wanted = np.array([2, 3, 4, LIMIT])[batch.info.env_id[ends]]
        np.testing.assert_array_equal(batch.obs_next[ends][:, 0], wanted)
        assert set(stats.lens.tolist()) <= {2, 3, 4, LIMIT}
        assert (stats.returns == stats.lens).all()  # a reward of 1 a step


def test_masked_policies_see_the_masks(make: Make) -> None:
    env = make(3, action_masks=True)
    observation, infos = env.reset()
    assert set(observation[0]) == {"obs", "mask"}
    assert "action_mask" not in infos[0]
    net = Net(state_shape=(2,), action_shape=2, hidden_sizes=(8,))
    policy = DiscreteQLearningPolicy(model=net, action_space=env.action_space[0], eps_training=0.5, eps_inference=0.5)
    algorithm = DQN(policy=policy, optim=AdamOptimizerFactory(lr=1e-3))
    made = Collector(algorithm, env, VectorReplayBuffer(1000, 3), exploration_noise=True)
    made.reset()
    made.collect(n_step=300)
    batch, _ = made.buffer.sample(0)
    counts = batch.obs.obs[:, 0]
    np.testing.assert_array_equal(batch.obs.mask[:, 1], counts < 3)
    assert (batch.act[counts >= 3] == 0).all()
    assert set(batch.act[counts < 3]) == {0, 1}


def test_random_actions_and_normalised_observations(make: Make) -> None:
    env = make(3)
    wrapped = VectorEnvNormObs(env)
    made = Collector(dqn(env), wrapped, VectorReplayBuffer(500, 3))
    made.reset()
    stats = made.collect(n_episode=5, random=True)
    assert set(stats.lens.tolist()) == {LIMIT}
    batch, _ = made.buffer.sample(0)
    assert set(batch.act) == {0, 1}
    assert wrapped.get_obs_rms().mean[0] > 0


def test_dqn_learns_toywalk(make: Make) -> None:
    torch.manual_seed(1)
    np.random.seed(1)
    package = simulacrum.load_package("toywalk")
    train, test = (make(count, package) for count in (16, 20))
    algorithm = dqn(train, eps=0.2, gamma=0.95, target_update_freq=50)
    training = Collector(algorithm, train, VectorReplayBuffer(20_000, 16), exploration_noise=True)
    testing: Collector[CollectStats] = Collector(algorithm, test)
    train.seed(1)
    test.seed(2)
    before = testing.collect(n_episode=40, reset_before_collect=True).returns.mean()
    result = algorithm.run_training(
        OffPolicyTrainerParams(
            training_collector=training,
            test_collector=testing,
            max_epochs=1,
            epoch_num_steps=3200,
            collection_step_num_env_steps=64,
            update_step_num_gradient_steps_per_sample=0.125,
            test_step_num_episodes=40,
            batch_size=64,
            show_progress=False,
            verbose=False,
        )
    )
    assert before < -20  # it walks left, and stays there
    assert result.best_reward > 0  # 5 is about what always walking right gives


def test_ppo_trains_on_true_ends(make: Make) -> None:
    env = make(4, params={"goal": [1000, 5, 6, 7]})
    actor = DiscreteActor(preprocess_net=Net(state_shape=(2,), hidden_sizes=(16,)), action_shape=2)
    critic = DiscreteCritic(preprocess_net=Net(state_shape=(2,), hidden_sizes=(16,)))
    policy = DiscreteActorPolicy(actor=actor, action_space=env.action_space[0])
    algorithm = PPO(policy=policy, critic=critic, optim=AdamOptimizerFactory(lr=1e-3))
    training = Collector(algorithm, env, VectorReplayBuffer(1000, 4))
    result = algorithm.run_training(
        OnPolicyTrainerParams(
            training_collector=training,
            test_collector=None,
            max_epochs=1,
            epoch_num_steps=400,
            collection_step_num_env_steps=200,
            update_step_num_repetitions=1,
            batch_size=50,
            show_progress=False,
            verbose=False,
        )
    )
    assert result.timing.update_speed > 0
    assert training.collect_episode > 60
