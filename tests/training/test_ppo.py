"""training/ppo.py at a small size: it trains, resumes to the bit, and measures on the reference twin."""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
import tyro

from simulacrum.contract.package import EnvPackage, load_package
from simulacrum.errors import GateError

SMALL = {
    "num_envs": 16,
    "num_steps": 20,
    "minibatch": 80,
    "epochs": 2,
    "width": 16,
    "compile_policy": False,  # compiling takes longer than what most tests do; some do it all the same
    "eval_episodes": 3,
    "eval_seeds": 2,
}
Script = Callable[[str], ModuleType]


@pytest.fixture
def ppo(script: Script) -> ModuleType:
    return script("ppo")


def test_trains_measures_and_draws(ppo: ModuleType, forager: EnvPackage, tmp_path: Path) -> None:
    results = ppo.main(ppo.Args(runs=tmp_path, total_steps=5 * 320, **SMALL))
    folder = Path(results["folder"])
    assert folder.name.startswith("forager-v0__ppo__1__")
    names = {path.name for path in folder.iterdir()}
    assert {"checkpoint.pt", "curve.png", "results.json"} <= names
    assert any(name.startswith("events.out.tfevents") for name in names)
    assert "checkpoint.part" not in names
    assert json.loads((folder / "results.json").read_text())["reference"] == results["reference"]
    assert 0 < len(results["curve"]) <= 5
    probes = load_package("forager").probes()
    assert probes is not None
    assert list(results["reference"]) == ["PPO, trained", *(f"{p.name}, scripted" for p in probes.PROBES)]
    assert all(measured["episodes"] == 6 for measured in results["reference"].values())
    assert (folder / "curve.png").read_bytes().startswith(b"\x89PNG")


def test_a_closed_gate_stops_it_before_anything_is_made(ppo: ModuleType, toywalk: EnvPackage, tmp_path: Path) -> None:
    (toywalk.folder / "validation_report.json").unlink()
    with pytest.raises(GateError, match="toywalk"):
        ppo.main(ppo.Args(env_id="simulacrum/toywalk-v0", runs=tmp_path / "runs", **SMALL))
    assert not (tmp_path / "runs").exists()


def test_a_resumed_run_has_the_bits_of_an_uninterrupted_one(
    ppo: ModuleType, forager: EnvPackage, tmp_path: Path
) -> None:
    size = {**SMALL, "total_steps": 6 * 320}
    whole = ppo.main(ppo.Args(runs=tmp_path / "whole", **size))
    part = ppo.main(ppo.Args(runs=tmp_path / "parts", stop_after=2, **size))
    assert set(part) == {"folder"}
    folder = Path(part["folder"])
    again = ppo.main(ppo.Args(resume=folder, stop_after=1))
    assert again == part
    resumed = ppo.main(ppo.Args(resume=folder))
    assert resumed["folder"] == str(folder)
    one, other = (torch.load(Path(run["folder"]) / "checkpoint.pt", weights_only=True) for run in (whole, resumed))
    assert one["iterations"] == other["iterations"] == 6
    for key in ("agent", "optimizer", "generator", "envs", "observation"):
        assert same(one[key], other[key]), key
    returns, others = ([point[2:] for point in run["curve"]] for run in (whole, resumed))
    assert returns == others
    assert whole["reference"] == resumed["reference"]
    unlike = ppo.main(ppo.Args(runs=tmp_path / "unlike", seed=2, **size))
    agent = torch.load(Path(unlike["folder"]) / "checkpoint.pt", weights_only=True)["agent"]
    assert not same(one["agent"], agent)  # the comparison can fail


def same(one: Any, other: Any) -> bool:
    """Equal in structure, dtype, shape and every bit."""
    if isinstance(one, torch.Tensor):
        return one.dtype == other.dtype and one.numpy().tobytes() == other.numpy().tobytes()
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and one == other


def test_resume_refuses_other_arguments_and_empty_folders(ppo: ModuleType, toywalk: EnvPackage, tmp_path: Path) -> None:
    size = {**SMALL, "env_id": "simulacrum/toywalk-v0", "runs": tmp_path, "total_steps": 640}
    folder = Path(ppo.main(ppo.Args(stop_after=1, **size))["folder"])
    with pytest.raises(SystemExit, match="leave out --seed, --gamma"):
        ppo.main(ppo.Args(resume=folder, seed=3, gamma=0.5))
    with pytest.raises(SystemExit, match="nothing to resume"):
        ppo.main(ppo.Args(resume=tmp_path))


def test_acts_in_true_transitions_only(
    ppo: ModuleType, cut_off: EnvPackage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every observation acted on follows the one before it or starts an episode; no last one is acted on."""
    acted, learned, bootstrapped = [], [], []

    class Watched(ppo.Agent):
        def forward(self, observation: torch.Tensor) -> Any:
            if torch.is_grad_enabled():
                learned.append(observation)
            elif bool((observation[:, 0] == 7).any()):
                bootstrapped.append(observation)
            else:
                acted.append(observation)
            return super().forward(observation)

    monkeypatch.setattr(ppo, "Agent", Watched)
    size = {**SMALL, "epochs": 1}
    ppo.main(ppo.Args(env_id="simulacrum/counter-v0", runs=tmp_path, total_steps=640, stop_after=1, **size))
    assert len(acted) == 21  # one for each step, and one for what follows the last
    junk = 0
    for now, following in itertools.pairwise(acted):
        goes_on = (following[:, 0] == now[:, 0] + 1) & (following[:, 1] == now[:, 1])
        starts = (now[:, 0] == 6) & (following[:, 0] == 0) & (following[:, 1] != now[:, 1])
        junk += int((~(goes_on | starts)).sum())
    assert junk == 0
    assert torch.equal(torch.cat(learned)[:, 0].sort()[0], torch.cat(acted[:-1])[:, 0].sort()[0])
    assert [len(last) for last in bootstrapped] == [32]  # of two steps, and of all 16 rows
    assert all(bool((last[:, 0] == 7).all()) for last in bootstrapped)


@pytest.mark.parametrize(("package", "worth"), [("cut_off", 2.0), ("terminated", 1.0)])
def test_a_cut_off_episode_is_worth_what_would_have_come_and_a_terminated_one_is_not(
    ppo: ModuleType, package: str, worth: float, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """With reward 1 and discount 1/2, the state before the end is worth 1 + 1/2 + 1/4 + ... or just 1."""
    request.getfixturevalue(package)
    size = {**SMALL, "gamma": 0.5, "learning_rate": 3e-3, "epochs": 4}
    results = ppo.main(
        ppo.Args(env_id="simulacrum/counter-v0", runs=tmp_path, total_steps=9_600, stop_after=29, **size)
    )
    saved = torch.load(Path(results["folder"]) / "checkpoint.pt", weights_only=True)
    agent = ppo.Agent(gym.spaces.Box(0, 1000, (2,)), gym.spaces.Discrete(2), (0, 0), ppo.Args(width=16))
    agent.load_state_dict(saved["agent"])
    _, value = agent(torch.tensor([[6.0, 0.2], [6.0, 0.5], [6.0, 0.8]]))
    assert value.tolist() == pytest.approx([worth] * 3, abs=0.4)  # learned, not exact; the two are 1 apart


def test_learns_a_discrete_task(ppo: ModuleType, toywalk: EnvPackage, tmp_path: Path) -> None:
    """The optimum of toywalk is its probe `always_right`."""
    results = ppo.main(
        ppo.Args(
            env_id="simulacrum/toywalk-v0",
            runs=tmp_path,
            total_steps=30_000,
            num_envs=64,
            num_steps=32,
            minibatch=512,
            width=32,
            compile_policy=False,
            eval_episodes=50,
            eval_seeds=2,
        )
    )
    reference = results["reference"]
    assert reference["PPO, trained"]["return"] == reference["always_right, scripted"]["return"]


def test_learns_a_continuous_task(ppo: ModuleType, aim: EnvPackage, tmp_path: Path) -> None:
    """Aiming always at 0 earns -5/3 an episode, a random aim less than -5, the optimum is 0."""
    results = ppo.main(
        ppo.Args(
            env_id="simulacrum/aim-v0",
            runs=tmp_path,
            total_steps=30_000,
            num_envs=64,
            num_steps=15,
            minibatch=240,
            epochs=4,
            learning_rate=3e-3,
            gamma=0.5,
            width=32,
            compile_policy=False,
            entropy=0.0,
            eval_episodes=20,
            eval_seeds=2,
        )
    )
    assert results["reference"]["PPO, trained"]["return"] > -0.1


def test_unusable_spaces_are_named(ppo: ModuleType) -> None:
    vector, number = gym.spaces.Box(-1, 1, (3,)), gym.spaces.Discrete(2)
    with pytest.raises(SystemExit, match="Text"):
        ppo.Agent(gym.spaces.Text(3), number, (0, 0), ppo.Args(width=8))
    with pytest.raises(SystemExit, match="bounds"):
        ppo.Agent(vector, gym.spaces.Box(-np.inf, np.inf, (1,)), (0, 0), ppo.Args(width=8))
    with pytest.raises(SystemExit, match="MultiDiscrete"):
        ppo.Agent(vector, gym.spaces.MultiDiscrete([2, 2]), (0, 0), ppo.Args(width=8))


def test_items_are_read_alike_in_any_order(ppo: ModuleType) -> None:
    agent = ppo.Agent(gym.spaces.Box(-1, 1, (5 + 18,)), gym.spaces.Discrete(4), (6, 3), ppo.Args(width=16))
    seen = torch.randn(7, 23)
    turned = torch.cat([seen[:, :5], seen[:, 5:].unflatten(1, (3, 6)).flip(2).flatten(1)], dim=1)
    policy, value = agent(seen)
    # A float32 mean over the items in another order rounds otherwise.
    torch.testing.assert_close(agent(turned), (policy, value), rtol=1e-4, atol=1e-6)
    changed = seen.clone()
    changed[:, 5] += 1
    assert not torch.allclose(agent(changed)[1], value, rtol=1e-4, atol=1e-6)


def test_an_item_of_foragers_observation_is_one_berry(ppo: ModuleType) -> None:
    """Which numbers belong together is written in forager's spec; the network must not read them otherwise."""
    env = gym.make("simulacrum/forager-v0")
    observation, _ = env.reset(seed=1)
    state = env.unwrapped.runner.state
    agent = ppo.Agent(env.observation_space, env.action_space, ppo.ITEMS["simulacrum/forager-v0"], ppo.Args(width=16))
    seen: list[torch.Tensor] = []
    agent.read.see_item.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    agent(torch.from_numpy(observation)[None])
    for k in range(6):
        where = [(state.berry_x[k] - state.x) / 7, (state.berry_y[k] - state.y) / 7]
        gain = (1 / 3, 1 / 2, 1.0)[state.berry_kind[k]]
        assert seen[0][0, k, :3].tolist() == pytest.approx([*where, gain])


def test_scripted_policies_are_measured_in_the_same_episodes(ppo: ModuleType, toywalk: EnvPackage) -> None:
    args = ppo.Args(env_id="simulacrum/toywalk-v0", eval_episodes=5, eval_seeds=3)
    seen: list[float] = []

    def right(env: Any, observation: np.ndarray) -> int:
        if observation[1] == 0:  # the first of an episode
            seen.append(float(observation[0]))
        return 1

    returns, lengths = sys.modules["common"].measure(args, right)
    first = list(seen)
    again = sys.modules["common"].measure(args, right)
    assert len(returns) == len(lengths) == len(first) == 15
    assert len(set(first)) > 1
    assert seen[15:] == first
    assert returns.tolist() == again[0].tolist()


def test_an_episode_that_does_not_end_is_given_up(ppo: ModuleType, toywalk: EnvPackage) -> None:
    args = ppo.Args(env_id="simulacrum/toywalk-v0", eval_episodes=5, eval_seeds=2, eval_limit=3)
    _, lengths = sys.modules["common"].measure(args, lambda env, observation: 0)
    assert lengths.max() == 3
    assert len(lengths) == 10


def test_arguments_are_read_from_the_command_line(ppo: ModuleType, script: Script) -> None:
    words = ["--items", "6", "3", "--resume", "runs/one", "--compile", "inductor", "--learning-rate", "1e-4"]
    args = tyro.cli(ppo.Args, args=words)
    assert (args.items, args.resume, args.compile, args.learning_rate) == ((6, 3), Path("runs/one"), "inductor", 1e-4)
    assert tyro.cli(script("sb3_ppo").Args, args=["--num-envs", "8"]).num_envs == 8


# --- the learner ------------------------------------------------------------------------------------------------------

# What torch itself uses while it compiles.
compiles = pytest.mark.filterwarnings("ignore::DeprecationWarning:torch", "ignore:.*torch.jit.*:DeprecationWarning")


def make_learner(ppo: ModuleType, masked: bool = False, discrete: bool = True, **options: Any) -> Any:
    options = {"width": 8, "minibatch": 64, "compile_policy": False, **options}
    space = gym.spaces.Discrete(3) if discrete else gym.spaces.Box(-2, 4, (2,))
    torch.manual_seed(3)
    args = ppo.Args(**options)
    return ppo.Learner(ppo.Agent(gym.spaces.Box(-1, 1, (5,)), space, (0, 0), args), args, masked)


def make_minibatch(learner: Any) -> torch.Tensor:
    """Experience [C, 64] as the learner itself would have it."""
    torch.manual_seed(4)
    seen = torch.randn(64, 5)
    mask = (torch.rand(64, 3) < 0.7).index_fill(1, torch.tensor([0]), True) if learner.masked else None
    noise = learner.agent.noise(1, 64, torch.Generator().manual_seed(1))[0]
    _, action, log_prob, value = learner.act(seen, noise, mask)
    shown = seen[:, :0] if mask is None else mask
    columns = [seen, action, shown, log_prob + 0.3 * torch.randn(64), value, torch.randn(64), torch.randn(64)]
    return learner.pack(*(column[None] for column in columns)).T.contiguous()


VARIANTS = [
    {},
    {"separate": True, "activation": "tanh", "clip_value": True},
    {"discrete": False, "layers": 1},
    {"masked": True, "normalize": True},
]


@pytest.mark.parametrize("options", VARIANTS)
def test_a_step_is_what_torchs_own_adam_does_after_clipping(ppo: ModuleType, options: dict[str, Any]) -> None:
    learner, model = make_learner(ppo, **options), make_learner(ppo, **options)
    parameters = [part.detach().clone().requires_grad_() for part in learner.parts(learner.flat).values()]
    optimizer = torch.optim.Adam(parameters, lr=1e-2, eps=1e-5)
    minibatch, before = make_minibatch(learner), learner.flat.clone()
    for count in range(1, 4):
        loss, _ = model.loss(torch.cat([part.flatten() for part in parameters]), minibatch, torch.tensor(0.01))
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, 0.5)
        optimizer.step()
        learner.update(minibatch, torch.tensor([1e-2 / (1 - 0.9**count), (1 - 0.999**count) ** -0.5, 0.01]))
    expected = torch.cat([part.detach().flatten() for part in parameters])
    torch.testing.assert_close(learner.flat, expected, rtol=1e-4, atol=1e-6)
    assert (learner.flat - before).abs().mean() > 1e-3
    assert all(  # the agent's own parameters are the vector's
        parameter.untyped_storage().data_ptr() == learner.flat.untyped_storage().data_ptr()
        for parameter in learner.agent.parameters()
    )


@compiles
@pytest.mark.long
@pytest.mark.parametrize("options", [VARIANTS[1], VARIANTS[2]])
def test_compiled_and_eager_take_the_same_steps(ppo: ModuleType, options: dict[str, Any]) -> None:
    eager, compiled = make_learner(ppo, **options), make_learner(ppo, **options, compile_policy=True)
    before = compiled.flat.clone()
    assert compiled.compile(torch.randn(64, 5), None) > 0
    assert torch.equal(compiled.flat, before)  # compiling leaves no trace
    assert not compiled.mean.any()
    minibatch = make_minibatch(eager)
    torch.testing.assert_close(make_minibatch(compiled), minibatch, rtol=1e-4, atol=1e-5)
    for _ in range(3):
        parts = [learner.update(minibatch, torch.tensor([1e-3, 1.0, 0.01])) for learner in (eager, compiled)]
        torch.testing.assert_close(*parts, rtol=1e-3, atol=1e-5)
    torch.testing.assert_close(compiled.flat, eager.flat, rtol=1e-3, atol=1e-5)


@compiles
@pytest.mark.long
@pytest.mark.nightly
def test_a_compiled_run_resumes_to_the_bit(ppo: ModuleType, toywalk: EnvPackage, tmp_path: Path) -> None:
    size = {**SMALL, "env_id": "simulacrum/toywalk-v0", "total_steps": 4 * 320, "compile_policy": True}
    whole = ppo.main(ppo.Args(runs=tmp_path / "whole", **size))
    part = ppo.main(ppo.Args(runs=tmp_path / "parts", stop_after=2, **size))
    resumed = ppo.main(ppo.Args(resume=Path(part["folder"])))
    one, other = (torch.load(Path(run["folder"]) / "checkpoint.pt", weights_only=True) for run in (whole, resumed))
    assert whole["compile_seconds"] > 0
    for key in ("agent", "optimizer", "generator", "envs", "observation"):
        assert same(one[key], other[key]), key
    halfway = ppo.main(ppo.Args(runs=tmp_path / "half", stop_after=2, **size))
    agent = torch.load(Path(halfway["folder"]) / "checkpoint.pt", weights_only=True)["agent"]
    assert not same(one["agent"], agent)


def test_advantages_are_those_of_the_recursion(ppo: ModuleType) -> None:
    torch.manual_seed(0)
    rewards, values, last = torch.randn(6, 4), torch.randn(6, 4), torch.randn(4)
    dones = torch.rand(6, 4) < 0.3
    args = ppo.Args(gamma=0.9, gae_lambda=0.7)
    found = ppo.advantages_of(rewards, values, dones, last, args)
    for row in range(4):
        advantage, following = 0.0, float(last[row])
        for t in reversed(range(6)):
            goes_on = 0.0 if dones[t, row] else 1.0
            delta = float(rewards[t, row]) + 0.9 * goes_on * following - float(values[t, row])
            advantage = delta + 0.9 * 0.7 * goes_on * advantage
            following = float(values[t, row])
            assert float(found[t, row]) == pytest.approx(advantage, abs=1e-5)


def test_tanh_is_close_and_so_is_its_gradient(ppo: ModuleType) -> None:
    x = torch.linspace(-12, 12, 10_001, requires_grad=True)
    y = ppo.Tanh.apply(x)
    assert (y - x.tanh()).abs().max() < 2e-5
    (gradient,) = torch.autograd.grad(y.sum(), x)
    assert (gradient - (1 - x.tanh() ** 2)).abs().max() < 4e-5


def test_a_forbidden_action_has_probability_0(ppo: ModuleType, cut_off: EnvPackage, tmp_path: Path) -> None:
    """counter forbids action 1 from its third count on."""
    seen: list[tuple[torch.Tensor, torch.Tensor]] = []

    class Watched(ppo.Learner):
        def act(self, observation: torch.Tensor, noise: torch.Tensor, mask: torch.Tensor) -> Any:
            found = super().act(observation, noise, mask)
            assert torch.equal(mask[:, 1], observation[:, 0] < 3)
            seen.append((observation[:, 0], found[1]))
            return found

    original = ppo.Learner
    ppo.Learner = Watched
    try:
        results = ppo.main(
            ppo.Args(env_id="simulacrum/counter-v0", runs=tmp_path, total_steps=640, stop_after=1, **SMALL)
        )
    finally:
        ppo.Learner = original
    count, action = (torch.cat(column) for column in zip(*seen, strict=True))
    assert set(action[count < 3].tolist()) == {0, 1}
    assert set(action[count >= 3].tolist()) == {0}
    saved = torch.load(Path(results["folder"]) / "checkpoint.pt", weights_only=True)
    assert all(torch.isfinite(part).all() for part in saved["agent"].values())


def test_observations_are_normalised_by_all_that_was_seen(ppo: ModuleType, toywalk: EnvPackage, tmp_path: Path) -> None:
    agent = make_learner(ppo, normalize=True).agent
    torch.manual_seed(0)
    parts = [torch.randn(3, 7, 5) * 4 + 9, torch.randn(40, 5) - 2, torch.randn(1, 5)]
    for part in parts:
        agent.take_in(part)
    whole = torch.cat([part.flatten(0, -2) for part in parts])
    torch.testing.assert_close(agent.mean, whole.mean(0), rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(agent.variance, whole.var(0, correction=0), rtol=1e-4, atol=1e-4)
    size = {**SMALL, "env_id": "simulacrum/toywalk-v0", "runs": tmp_path, "total_steps": 640, "normalize": True}
    saved = torch.load(Path(ppo.main(ppo.Args(**size))["folder"]) / "checkpoint.pt", weights_only=True)
    assert saved["agent"]["seen"] == 16 + 2 * 320
    assert not torch.equal(saved["agent"]["mean"], torch.zeros(len(saved["agent"]["mean"])))


def test_it_stops_at_a_target_return(ppo: ModuleType, toywalk: EnvPackage, tmp_path: Path) -> None:
    size = {**SMALL, "env_id": "simulacrum/toywalk-v0", "runs": tmp_path, "total_steps": 100 * 320}
    results = ppo.main(ppo.Args(target_return=-100.0, **size))
    assert results["reached_target"]
    assert results["steps"] < 100 * 320


def test_sizes_that_do_not_fit_are_named(ppo: ModuleType, toywalk: EnvPackage, tmp_path: Path) -> None:
    size = {**SMALL, "env_id": "simulacrum/toywalk-v0", "runs": tmp_path, "minibatch": 100}
    with pytest.raises(SystemExit, match="--minibatch 100 does not divide the 320"):
        ppo.main(ppo.Args(**size))
    with pytest.raises(SystemExit, match="relu, tanh"):
        make_learner(ppo, activation="gelu")


def test_without_a_compiler_it_trains_all_the_same(
    ppo: ModuleType,
    toywalk: EnvPackage,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("CXX", str(tmp_path / "nowhere"))
    size = {**SMALL, "env_id": "simulacrum/toywalk-v0", "runs": tmp_path, "total_steps": 320, "compile_policy": True}
    assert ppo.main(ppo.Args(**size))["compile_seconds"] == 0
    assert "no C++ compiler" in capsys.readouterr().out
