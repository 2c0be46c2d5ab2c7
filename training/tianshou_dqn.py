"""Tianshou's DQN on the same environment, through the adapter: `python training/tianshou_dqn.py --help`.

The arguments mean what they mean in dqn.py. Tianshou collects, keeps the replay buffer and tests after every epoch;
its tests are the batched twin's episodes, and what is measured in the end is the reference twin's, as everywhere.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import tyro
from rich.console import Console
from tianshou.algorithm import DQN
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, CollectStats, VectorReplayBuffer
from tianshou.trainer import OffPolicyTrainerParams
from tianshou.utils import TensorboardLogger
from tianshou.utils.net.common import Net
from torch.utils.tensorboard import SummaryWriter

from common import (
    EnvArgs,
    EvalArgs,
    action_count,
    gate,
    new_folder,
    observation_size,
)
from common.library import finish
from simulacrum.adapters.tianshou import make_tianshou

EPOCHS = 10  # a run's tests


@dataclass
class Args(EvalArgs, EnvArgs):
    env_id: str = "simulacrum/cartpole-v1"  # id of a registered environment
    exp: str = "tianshou_dqn"  # name of the experiment, a part of the run's folder name

    total_steps: int = 50_000  # environment steps, all rows together
    num_envs: int = 16  # rows of the batch
    num_steps: int = 2  # steps of every row between updates; from 20 updates in a row on Tianshou draws a bar for them
    update_to_data: float = 0.5  # updates for each environment step
    minibatch: int = 128  # transitions an update
    buffer: int = 100_000  # transitions that the replay buffer keeps
    random_steps: int = 1_000  # environment steps, all rows together, before anything is learned
    learning_rate: float = 1e-3
    gamma: float = 0.99  # discount
    copy_every: int = 50  # updates between copies of the network into the target network
    explore_first: float = 1.0  # share of random actions at the start
    explore_last: float = 0.04  # share of random actions from `explore_until` on
    explore_until: float = 0.2  # part of the run in which that share falls along a line
    width: int = 128  # units of the hidden layers
    test_episodes: int = 20  # episodes after each tenth of the run


def main(args: Args) -> dict[str, Any]:
    """Train, save, measure; returns what results.json holds."""
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    np.random.seed(args.seed)  # Tianshou explores by NumPy's
    package, provenance = gate(args)
    make = {"device": args.device, "compile": args.compile}
    envs, tests = (make_tianshou(args.env_id, count, **make) for count in (args.num_envs, args.test_episodes))
    envs.seed(args.seed << 20)  # runs share no row's seed
    tests.seed((args.seed << 20) + (1 << 19))
    actions = envs.action_space[0]
    inputs = observation_size(envs.observation_space[0], "tianshou_dqn.py")
    outputs = action_count(actions, "tianshou_dqn.py")
    folder = new_folder(args, provenance)
    console, writer = Console(), SummaryWriter(str(folder))

    net = Net(state_shape=inputs, action_shape=outputs, hidden_sizes=(args.width, args.width)).to(args.device)
    policy = DiscreteQLearningPolicy(model=net, action_space=actions, eps_inference=0.0)
    algorithm = DQN(
        policy=policy,
        optim=AdamOptimizerFactory(lr=args.learning_rate),
        gamma=args.gamma,
        target_update_freq=args.copy_every,
    )
    buffer = VectorReplayBuffer(args.buffer, args.num_envs)
    training = Collector[CollectStats](algorithm, envs, buffer, exploration_noise=True)
    testing = Collector[CollectStats](algorithm, tests)
    training.reset()
    training.collect(n_step=-(-args.random_steps // args.num_envs) * args.num_envs, random=True)
    first = training.collect_step  # the trainer counts anew

    def explore(_: int, step: int) -> None:
        left = max(0.0, 1 - step / (args.explore_until * args.total_steps))
        policy.set_eps_training(args.explore_last + (args.explore_first - args.explore_last) * left)

    began = time.perf_counter()
    algorithm.run_training(
        OffPolicyTrainerParams(
            training_collector=training,
            test_collector=testing,
            max_epochs=EPOCHS,
            epoch_num_steps=max(1, args.total_steps // EPOCHS),
            collection_step_num_env_steps=args.num_envs * args.num_steps,
            update_step_num_gradient_steps_per_sample=args.update_to_data,
            batch_size=args.minibatch,
            test_step_num_episodes=args.test_episodes,
            training_fn=explore,
            logger=TensorboardLogger(writer),
            verbose=console.is_terminal,
            show_progress=console.is_terminal,
        )
    )
    seconds, steps = time.perf_counter() - began, first + training.collect_step
    torch.save(net.state_dict(), folder / "model.pt")
    writer.close()
    for env in (envs, tests):
        env.close()

    def trained(env: Any, observation: np.ndarray) -> Any:
        return policy.compute_action(observation)

    with torch.no_grad():
        return finish(
            args, folder, package, provenance, console, "Tianshou DQN", trained,
            seconds=seconds, steps=steps, model=folder / "model.pt",
        )  # fmt: skip


if __name__ == "__main__":
    main(tyro.cli(Args, description=__doc__))
