"""The adapter as skrl sees it, and what its trainers and agents make of the ends of episodes."""



from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest
import torch

pytest.importorskip("skrl")

from skrl.agents.torch.dqn import DQN
from skrl.agents.torch.ppo import PPO
from skrl.memories.torch import RandomMemory
from skrl.models.torch import CategoricalMixin, DeterministicMixin, GaussianMixin, Model
from skrl.trainers.torch import SequentialTrainer
from skrl.utils import set_seed
from torch import nn

import simulacrum
from simulacrum.adapters.skrl import FinalObservations, SkrlEnv, make_skrl
from simulacrum.contract.package import load_package
from simulacrum.errors import ActionError, ClosedError, GateError, UsageError

LIMIT = 7  # counter's time limit
KIT = Path(__file__).parents[1] / "kit"
QUIET = {"write_interval": 0, "checkpoint_interval": 0}
Vector = Callable[..., Any]


@pytest.fixture(autouse=True)
def _seed() -> Iterator[None]:
    set_seed(1)
    yield
    set_seed(0)


def zeros(env: SkrlEnv) -> torch.Tensor:
    return torch.zeros((env.num_envs, 1), dtype=torch.int64)


# --- the door ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["next_step", "disabled"])
def test_a_mode_that_cannot_be_served_is_refused_by_name(vector: Vector, mode: str) -> None:
    with pytest.raises(UsageError, match=f"autoreset_mode='{mode}'") as caught:
        SkrlEnv(vector(autoreset_mode=mode))
    assert "same_step" in str(caught.value)


def test_numpy_output_other_vector_envs_and_wrapped_ones_are_refused(vector: Vector) -> None:
    with pytest.raises(UsageError, match="output='numpy'"):
        SkrlEnv(vector(output="numpy"))
    with pytest.raises(UsageError, match="CartPoleVectorEnv"):
        SkrlEnv(gym.make_vec("CartPole-v1", 2))
    with pytest.raises(UsageError, match="RecordEpisodeStatistics"):
        SkrlEnv(gym.wrappers.vector.RecordEpisodeStatistics(vector()))


@pytest.mark.parametrize("name", ["autoreset_mode", "output", "vectorization_mode"])
def test_make_skrl_decides_modes_itself(name: str) -> None:
    with pytest.raises(UsageError, match=f"make_skrl decides {name} itself"):
        make_skrl("simulacrum/forager-v0", 2, **{name: "next_step"})


def test_make_skrl_goes_through_the_gate(counter: Any) -> None:
    simulacrum.register_envs(counter.folder)
    try:
        with pytest.raises(GateError, match="counter"):
            make_skrl("simulacrum/counter-v0", 2)
    finally:
        del gym.registry["simulacrum/counter-v0"]


def test_spaces_without_a_form_in_skrl_are_refused_by_name(vector: Vector) -> None:
    with pytest.raises(UsageError, match=r"observation\.low") as caught:
        SkrlEnv(vector(package=load_package(KIT / "glider")))
    assert "MultiBinary" in str(caught.value)
    with pytest.raises(UsageError, match=r"action\.cell"):
        SkrlEnv(vector(package=load_package(KIT / "canvas")))


# --- types and memory -------------------------------------------------------------------------------------


def test_types_shapes_and_spaces(vector: Vector) -> None:
    env = SkrlEnv(vector(4))
    assert (env.num_envs, env.num_agents, env.state_space, env.state()) == (4, 1, None, None)
    assert env.device == torch.device("cpu")
    assert env.observation_space.shape == (2,)
    assert env.action_space == gym.spaces.Discrete(2)
    observations, _ = env.reset()
    assert (observations.dtype, observations.shape) == (torch.float32, (4, 2))
    observations, rewards, terminated, truncated, _ = env.step(zeros(env))
    assert (observations.dtype, observations.shape) == (torch.float32, (4, 2))
    assert (rewards.dtype, rewards.shape) == (torch.float32, (4, 1))
    assert (terminated.dtype, terminated.shape) == (truncated.dtype, truncated.shape) == (torch.bool, (4, 1))


def test_nothing_is_copied_on_the_way(vector: Vector) -> None:
    env = SkrlEnv(vector(4))
    env.reset()
    given: list[Any] = []
    inner = env.env.step
    # The inner env's step, which keeps what it takes and gives.
    env.env.step = lambda action: given.append((action, inner(action))) or given[-1][1]  # type: ignore[method-assign]
    for _ in range(LIMIT):
        actions = zeros(env)
        shown = env.step(actions)
        action, (observation, reward, terminated, _, info) = given.pop()
        assert action.data_ptr() == actions.data_ptr()
        assert shown[0].data_ptr() == observation.data_ptr()
        assert shown[1].data_ptr() == reward.data_ptr()
        assert shown[2].data_ptr() == terminated.data_ptr()
        if "final_observations" in shown[4]:
            assert shown[4]["final_observations"].data_ptr() == info["final_obs"].data_ptr()


@pytest.mark.parametrize("form", [False, "native"], ids=["eager", "native"])
def test_editing_everything_returned_changes_nothing_later(vector: Vector, form: bool | str) -> None:
    clean, spoiled = SkrlEnv(vector(3, compile=form), seed=5), SkrlEnv(vector(3, compile=form), seed=5)
    first, second = clean.reset()[0], spoiled.reset()[0]
    assert torch.equal(first, second)
    second.fill_(-1)
    for _ in range(3 * LIMIT):
        a, b = clean.step(zeros(clean)), spoiled.step(zeros(spoiled))
        for mine, other in zip(a[:4], b[:4], strict=True):
            assert torch.equal(mine, other)
            other.fill_(1)
        if "final_observations" in b[4]:
            b[4]["final_observations"].fill_(-1)
        assert torch.equal(clean.reset()[0], spoiled.reset()[0])


def test_what_was_returned_is_never_overwritten(vector: Vector) -> None:
    env = SkrlEnv(vector(3, compile="native"))
    kept = [env.reset()[0]]
    copies = [kept[0].clone()]
    for _ in range(3 * LIMIT):
        *shown, infos = env.step(zeros(env))
        kept += [*shown, infos.get("final_observations", torch.zeros(0))]
        copies += [part.clone() for part in kept[len(copies) :]]
    assert all(torch.equal(a, b) for a, b in zip(kept, copies, strict=True))


def test_a_dict_is_concatenated_as_skrl_takes_it_apart(vector: Vector) -> None:
    from skrl.utils.spaces.torch import unflatten_tensorized_space

    space = gym.spaces.Dict({"b": gym.spaces.Box(-9, 9, (2,)), "a": gym.spaces.Discrete(4)})
    env = SkrlEnv(vector(2))
    env.env.single_observation_space = space
    flat = env._flat({"b": torch.tensor([[1.0, 2], [3, 4]]), "a": torch.tensor([3, 0])})
    assert flat.tolist() == [[3, 1, 2], [0, 3, 4]]
    assert unflatten_tensorized_space(space, flat)["b"].tolist() == [[1, 2], [3, 4]]


def test_multidiscrete_and_image_spaces(vector: Vector) -> None:
    env = SkrlEnv(vector(3, package=load_package(KIT / "dials")))
    assert env.reset()[0].shape == (3, 2)
    actions = torch.tensor([[0, 2], [1, 1], [1, 0]])
    other = vector(3, package=load_package(KIT / "dials"))
    other.reset(seed=[1, 2, 3])
    assert torch.equal(env.step(actions)[0], other.step(actions)[0])


# --- episodes ---------------------------------------------------------------------------------------------


def test_the_boundary_shows_the_old_last_and_the_new_first_observation(vector: Vector) -> None:
    env = SkrlEnv(vector(3, params={"goal": [1000, 3, 1]}))
    before, _ = env.reset()
    ends = 0
    for _ in range(4 * LIMIT):
        observations, _, terminated, truncated, infos = env.step(zeros(env))
        for row in (terminated | truncated).flatten().nonzero().flatten().tolist():
            ends += 1
            assert infos["final_observations"][row].tolist() == [before[row, 0] + 1, before[row, 1]]
            assert infos["final_observations"][row, 0] == (LIMIT, 3, 1)[row]
            assert observations[row, 0] == 0
            assert observations[row, 1] != before[row, 1]
            assert [bool(terminated[row]), bool(truncated[row])] == [row > 0, row == 0]
        before = observations
    assert ends == 4 + 9 + 28


def test_case_b07_what_terminated_was_not_cut_off(vector: Vector) -> None:
    env = SkrlEnv(vector(2, params={"goal": LIMIT}))
    env.reset()
    for _ in range(LIMIT):
        _, _, terminated, truncated, _ = env.step(zeros(env))
    assert terminated.all()
    assert not truncated.any()


def test_infos_hold_means_of_the_episodes_that_ended_for_the_trainers_log(vector: Vector) -> None:
    env = SkrlEnv(vector(3, params={"goal": [1000, 3, 3]}))
    env.reset()
    seen = {}
    for step in range(1, LIMIT + 1):
        *_, infos = env.step(zeros(env))
        assert ("episode" in infos) == (step in (3, 6, 7))
        seen[step] = infos.get("episode")
    assert {name: float(value) for name, value in seen[3].items()} == {
        "return": 3, "length": 3, "count": 3, "success": 1,
    }  # fmt: skip
    assert float(seen[7]["length"]) == LIMIT
    assert float(seen[7]["success"]) == 0
    assert all(value.numel() == 1 for value in seen[7].values())


def test_later_resets_show_the_rows_as_they_stand(vector: Vector) -> None:
    env = SkrlEnv(vector(2), seed=4)
    first, _ = env.reset()
    assert env.env.np_random_seed == (4, 5)
    env.step(zeros(env))
    now, infos = env.reset()
    assert now[:, 0].tolist() == [1, 1]
    assert torch.equal(now[:, 1], first[:, 1])
    assert infos["action_mask"].tolist() == [[True, True]] * 2
    assert torch.equal(env.reset(seed=4)[0], first)


def test_rows_take_the_seed_of_the_library(vector: Vector) -> None:
    set_seed(33)
    env = SkrlEnv(vector(2))
    env.reset()
    assert env.env.np_random_seed == (33, 34)


def test_bad_actions_rendering_and_closing(vector: Vector) -> None:
    env = SkrlEnv(vector(2, render_mode="rgb_array"))
    env.reset()
    frames = env.render()
    assert frames is not None
    assert [frame.shape for frame in frames] == [(16, 16, 3)] * 2
    with pytest.raises(ActionError, match="row 1"):
        env.step(torch.tensor([[0], [2]]))
    env.close()
    env.close()
    with pytest.raises(ClosedError):
        env.step(zeros(env))


# --- agents -----------------------------------------------------------------------------------------------


class Policy(CategoricalMixin, Model):
    def __init__(self, env: SkrlEnv) -> None:
        Model.__init__(self, observation_space=env.observation_space, action_space=env.action_space, device="cpu")
        CategoricalMixin.__init__(self)
        self.net = nn.Linear(2, 2)

    def compute(self, inputs: dict[str, Any], role: str = "") -> Any:
        return self.net(inputs["observations"]), {}


class Value(DeterministicMixin, Model):
    def __init__(self, env: SkrlEnv, outputs: int = 1) -> None:
        Model.__init__(self, observation_space=env.observation_space, action_space=env.action_space, device="cpu")
        DeterministicMixin.__init__(self)
        self.net = nn.Linear(2, outputs)

    def compute(self, inputs: dict[str, Any], role: str = "") -> Any:
        return self.net(inputs["observations"]), {}


class TruePPO(FinalObservations, PPO):
    pass


class TrueDQN(FinalObservations, DQN):
    pass


def ppo(env: SkrlEnv, kind: type[PPO], rollouts: int, **more: Any) -> PPO:
    return kind(
        models={"policy": Policy(env), "value": Value(env)},
        memory=RandomMemory(memory_size=rollouts, num_envs=env.num_envs, device="cpu"),
        cfg={"rollouts": rollouts, "learning_epochs": 1, "mini_batches": 1, "experiment": QUIET, **more},
        observation_space=env.observation_space,
        action_space=env.action_space,
        device="cpu",
    )


def train(env: SkrlEnv, agent: Any, timesteps: int) -> None:
    cfg = {"timesteps": timesteps, "disable_progressbar": True, "close_environment_at_exit": False}
    SequentialTrainer(env=env, agents=agent, cfg=cfg).train()


@pytest.mark.parametrize(
    ("kind", "goal", "worth"),
    [(TruePPO, 1000, "final"), (TruePPO, LIMIT, "nothing"), (PPO, 1000, "first")],
    ids=["cut off", "terminated", "without FinalObservations"],
)
def test_what_ppo_bootstraps_from_at_the_end_of_an_episode(
    vector: Vector, kind: type[PPO], goal: int, worth: str
) -> None:
    """The last case is why FinalObservations exist: skrl alone values the next episode's first observation."""
    env = SkrlEnv(vector(2, params={"goal": goal}))
    agent = ppo(env, kind, LIMIT, discount_factor=0.5, time_limit_bootstrap=True)
    value = copy.deepcopy(agent.value.net)
    finals: list[torch.Tensor] = []
    inner = env.step

    def step(actions: torch.Tensor) -> Any:
        shown = inner(actions)
        finals.append(shown[4].get("final_observations", shown[0]))
        firsts.append(shown[0])
        return shown

    firsts: list[torch.Tensor] = []
    env.step = step  # type: ignore[method-assign]  # its own, and keeps what it shows
    train(env, agent, LIMIT)
    assert finals[-1][:, 0].tolist() == [LIMIT, LIMIT]
    with torch.no_grad():
        gained = {"final": value(finals[-1]), "first": value(firsts[-1]), "nothing": torch.zeros(2, 1)}
    assert (gained["final"] - gained["first"]).abs().min() > 1e-3
    rewards = agent.memory.get_tensor_by_name("rewards")
    assert torch.equal(rewards[:-1], torch.ones(LIMIT - 1, 2, 1))
    torch.testing.assert_close(rewards[-1], 1 + 0.5 * gained[worth])


def test_dqn_stores_true_next_observations(vector: Vector) -> None:
    env = SkrlEnv(vector(2, params={"goal": [1000, 5]}))
    agent = TrueDQN(
        models={"q_network": Value(env, 2), "target_q_network": Value(env, 2)},
        memory=RandomMemory(memory_size=40, num_envs=2, device="cpu"),
        cfg={"learning_starts": 10, "batch_size": 8, "experiment": QUIET},
        observation_space=env.observation_space,
        action_space=env.action_space,
        device="cpu",
    )
    train(env, agent, 40)
    seen = agent.memory.get_tensor_by_name("observations")
    following = agent.memory.get_tensor_by_name("next_observations")
    assert torch.equal(following[..., 0], seen[..., 0] + 1)
    assert torch.equal(following[..., 1], seen[..., 1])
    assert agent.memory.get_tensor_by_name("terminated")[..., 0].sum(0).tolist() == [0, 8]


def test_several_agents_cannot_share_final_observations(vector: Vector) -> None:
    env = SkrlEnv(vector(4, params={"goal": 2}))
    agents = [ppo(env, TruePPO, 8) for _ in range(2)]
    for agent in agents:
        agent.memory = RandomMemory(memory_size=8, num_envs=2, device="cpu")
    cfg = {"timesteps": 8, "disable_progressbar": True, "close_environment_at_exit": False}
    with pytest.raises(UsageError, match="sees all rows"):
        SequentialTrainer(env=env, agents=agents, scopes=[2, 2], cfg=cfg).train()


def test_a_single_row_starts_each_episode_at_its_first_observation(vector: Vector) -> None:
    env = SkrlEnv(vector(1))
    agent = ppo(env, TruePPO, 3 * LIMIT)
    train(env, agent, 3 * LIMIT)
    assert agent.memory.get_tensor_by_name("observations")[:, 0, 0].tolist() == [*range(LIMIT)] * 3


def test_trained_agents_are_saved_evaluated_and_logged(vector: Vector, tmp_path: Path) -> None:
    env = SkrlEnv(vector(8))
    logged = {"directory": str(tmp_path), "experiment_name": "run", "write_interval": 10, "checkpoint_interval": 20}
    agent = ppo(env, TruePPO, 10, time_limit_bootstrap=True, experiment=logged)
    before = copy.deepcopy(agent.policy.state_dict())
    trainer = SequentialTrainer(
        env=env, agents=agent, cfg={"timesteps": 40, "disable_progressbar": True, "close_environment_at_exit": False}
    )
    tags: set[str] = set()
    agent.track_data = lambda tag, number: tags.add(tag) or type(agent).track_data(agent, tag, number)
    trainer.train()
    assert {"Info / return", "Info / length", "Info / success"} <= tags
    assert any(not torch.equal(before[name], value) for name, value in agent.policy.state_dict().items())
    assert (tmp_path / "run" / "checkpoints" / "agent_40.pt").exists()
    agent.load(str(tmp_path / "run" / "checkpoints" / "agent_40.pt"))
    trainer.eval()


def test_continuous_actions_are_clipped_by_the_model(vector: Vector) -> None:
    aim = load_package(Path(__file__).parents[1] / "training" / "data" / "aim")

    class Gaussian(GaussianMixin, Model):
        def __init__(self, env: SkrlEnv, clip: bool) -> None:
            Model.__init__(self, observation_space=env.observation_space, action_space=env.action_space, device="cpu")
            GaussianMixin.__init__(self, clip_actions=clip)
            self.net = nn.Linear(1, 1)

        def compute(self, inputs: dict[str, Any], role: str = "") -> Any:
            return self.net(inputs["observations"]), {"log_std": torch.full((1,), 2.0)}

    env = SkrlEnv(vector(16, package=aim))
    observations, _ = env.reset()
    actions, _ = Gaussian(env, True).act({"observations": observations})
    assert actions.abs().max() == 2
    env.step(actions.detach())
    with pytest.raises(ActionError):
        env.step(Gaussian(env, False).act({"observations": observations})[0].detach())


def test_nothing_of_this_file_left_a_report(counter: Any) -> None:
    assert not (Path(counter.folder) / "validation_report.json").exists()
