"""A small PPO that trains a policy in any vector env of Gymnasium with NEXT_STEP, the same way in both twins.

It is here so that level 4 needs no training library: one network for all, fixed settings, minutes at most. Whoever
wants another one names a function of their own (`--train`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

import gymnasium as gym
import numpy as np
import torch
from gymnasium import spaces
from torch import Tensor, nn

from simulacrum.errors import UsageError
from simulacrum.transfer.policies import ActBatch

# train(envs, seed, steps) -> policy; see `train`.
Train = Callable[[gym.vector.VectorEnv[Any, Any, Any], int, int], ActBatch]
ROWS, STEPS, EPOCHS, MINIBATCHES = 32, 32, 4, 4  # rows trained in; steps a row between updates; passes; pieces a pass
GAMMA, LAMBDA, CLIP, ENTROPY, RATE, WIDTH = 0.99, 0.95, 0.2, 0.01, 2e-3, 64
_NEVER = -1e9  # the logit of an action that is masked


@dataclass(frozen=True)
class Heads:
    """How a network's outputs become actions.

    sizes: the number of choices of each element of a discrete action, () for a Box. shape: of one row's action.
    start: the lowest choice. centre, reach: of a Box, `[A]`; its actions are learned around 0 with a scale of 1.
    """

    sizes: tuple[int, ...]
    shape: tuple[int, ...]
    start: Any = 0
    centre: Any = 0.0
    reach: Any = 1.0

    @property
    def outputs(self) -> int:
        """How many numbers the network gives for one row."""
        return sum(self.sizes) if self.sizes else int(np.prod(self.shape))

    @classmethod
    def of(cls, space: gym.Space[Any]) -> Heads:
        """Of an action space. Raises UsageError for one that this learner cannot act in."""
        if isinstance(space, spaces.Discrete):
            return cls((int(space.n),), (), int(space.start))
        if isinstance(space, spaces.MultiDiscrete) and space.nvec.ndim == 1:
            return cls(tuple(int(n) for n in space.nvec), space.shape)
        if isinstance(space, spaces.MultiBinary) and len(space.shape) == 1:
            return cls((2,) * space.shape[0], space.shape)
        if isinstance(space, spaces.Box) and np.issubdtype(space.dtype, np.floating):
            low, high = space.low.reshape(-1).astype(np.float32), space.high.reshape(-1).astype(np.float32)
            bounded = np.isfinite(low) & np.isfinite(high)
            centre = np.where(bounded, low / 2 + high / 2, 0.0).astype(np.float32)
            reach = np.where(bounded, high / 2 - low / 2, 1.0).astype(np.float32)
            return cls((), space.shape, centre=torch.from_numpy(centre), reach=torch.from_numpy(reach))
        raise UsageError(
            "the built-in learner does not act in this space",
            expected="Discrete, MultiDiscrete, MultiBinary or a float Box",
            found=space,
            next_step="name a policy (--policy) or a training function of your own (--train)",
        )

    def to_env(self, action: Tensor) -> np.ndarray:
        """Actions `[N, A]` of the network in the form of the env."""
        if self.sizes:
            return (action.numpy() + self.start).reshape(-1, *self.shape)
        return (self.centre + self.reach * action.clamp(-1, 1)).numpy().reshape(-1, *self.shape)


class Network(nn.Module):
    """Observations `[N, D]`, brought to mean 0 and spread 1, to outputs `[N, A]` and values `[N]`."""

    mean: Tensor
    spread: Tensor

    def __init__(self, observations: int, heads: Heads, generator: torch.Generator) -> None:
        super().__init__()
        self.heads = heads
        self.policy = _stack(observations, heads.outputs, 0.01, generator)
        self.value = _stack(observations, 1, 1.0, generator)
        self.log_std = nn.Parameter(torch.full((0 if heads.sizes else heads.outputs,), -0.5))
        self.register_buffer("mean", torch.zeros(observations))
        self.register_buffer("spread", torch.ones(observations))

    def forward(self, seen: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
        """Outputs of the policy `[N, A]` and values `[N]` of observations `[N, ...]`; a masked action gets none."""
        scaled = ((seen - self.mean) / self.spread).clamp(-10, 10)
        outputs = self.policy(scaled)
        if mask is not None:
            outputs = outputs.masked_fill(~mask, _NEVER)
        return outputs, self.value(scaled).squeeze(-1)

    def best(self, outputs: Tensor) -> Tensor:
        """The likeliest action of each row, `[N, A]`."""
        if not self.heads.sizes:
            return outputs
        return torch.stack([part.argmax(-1) for part in outputs.split(self.heads.sizes, dim=-1)], dim=-1)

    def sample(self, outputs: Tensor, generator: torch.Generator) -> Tensor:
        """An action of each row by its probability, `[N, A]`."""
        if not self.heads.sizes:
            return outputs + self.log_std.exp() * torch.randn(outputs.shape, generator=generator)
        # Of exponential waiting times with these rates, each is the first with its probability.
        waits = torch.empty_like(outputs).exponential_(generator=generator)
        parts = zip(outputs.split(self.heads.sizes, -1), waits.split(self.heads.sizes, -1), strict=True)
        return torch.stack([(part.softmax(-1) / wait).argmax(-1) for part, wait in parts], dim=-1)

    def judge(self, outputs: Tensor, action: Tensor) -> tuple[Tensor, Tensor]:
        """Log-probability of each row's action, and the entropy, both `[N]`."""
        if not self.heads.sizes:
            normal = torch.distributions.Normal(outputs, self.log_std.exp(), validate_args=False)
            return normal.log_prob(action).sum(-1), normal.entropy().sum(-1)
        log_prob, entropy = torch.zeros(len(outputs)), torch.zeros(len(outputs))
        for number, part in enumerate(outputs.split(self.heads.sizes, dim=-1)):
            logs = part.log_softmax(-1)
            log_prob = log_prob + logs.gather(-1, action[:, number, None]).squeeze(-1)
            entropy = entropy - (logs.exp() * logs).sum(-1)
        return log_prob, entropy


def train(envs: gym.vector.VectorEnv[Any, Any, Any], seed: int, steps: int) -> ActBatch:
    """Train for about `steps` steps of all rows together; the policy takes the likeliest action.

    Everything follows from the seed and from what `envs` shows: envs of the same bits give the same policy.

    Args:
        envs: a vector env of Gymnasium with NumPy values, in NEXT_STEP.
        seed: of the network, the sampling and the rows.
        steps: how many; 0 gives the untrained network.

    Returns:
        `policy(observations, mask)`: actions of all rows, from observations `[N, ...]` or a dict of them.

    Raises:
        UsageError: an action space that it cannot act in.
    """
    heads, space = Heads.of(envs.single_action_space), envs.single_observation_space
    generator = torch.Generator().manual_seed(seed)
    network = Network(_width(space), heads, generator)
    optimizer = torch.optim.Adam(network.parameters(), lr=RATE, eps=1e-5)
    shown, info = envs.reset(seed=seed << 20)
    seen, mask, over = _flat(shown), _mask(info), torch.zeros(envs.num_envs, dtype=torch.bool)
    iterations = steps // (envs.num_envs * STEPS)
    for iteration in range(iterations):
        if iteration < 10:
            _scale(network, seen, iteration)
        optimizer.param_groups[0]["lr"] = RATE * (1 - iteration / iterations)
        kept: list[tuple[Tensor, ...]] = []
        for _ in range(STEPS):
            with torch.no_grad():
                outputs, value = network(seen, mask)
                action = network.sample(outputs, generator)
                log_prob, _ = network.judge(outputs, action)
            shown, reward, terminated, truncated, info = envs.step(heads.to_env(action))
            ended = torch.from_numpy(np.array(terminated)), torch.from_numpy(np.array(truncated))
            earned = torch.from_numpy(np.array(reward, dtype=np.float32))
            row = torch.zeros(0) if mask is None else mask
            kept.append((seen, action, log_prob, value, earned, ended[0], ended[0] | ended[1], ~over, row))
            seen, mask, over = _flat(shown), _mask(info), ended[0] | ended[1]
        with torch.no_grad():
            last = network(seen, mask)[1]
        _update(network, optimizer, generator, kept, last)
    return _policy(network)


def _policy(network: Network) -> ActBatch:
    def act(observations: Any, mask: Any) -> np.ndarray:
        with torch.no_grad():
            outputs, _ = network(_flat(observations), None if mask is None else torch.from_numpy(np.array(mask, bool)))
        return network.heads.to_env(network.best(outputs))

    return act


def _update(
    network: Network, optimizer: torch.optim.Optimizer, generator: torch.Generator, kept: list[tuple[Tensor, ...]],
    last: Tensor,
) -> None:  # fmt: skip
    """One PPO update from the steps of all rows; steps that only begin an episode are left out."""
    seen, action, log_prob, value, reward, terminated, ended, counts, mask = map(torch.stack, zip(*kept, strict=True))
    # In NEXT_STEP the observation after an episode's last step is its own: what a cut episode would still have earned
    # is the value of that, and a terminated one is worth what it got.
    after = torch.cat([value[1:], last[None]]) * (~terminated).float()
    delta = reward + GAMMA * after - value
    advantage, running = torch.empty_like(delta), torch.zeros_like(last)
    for t in reversed(range(len(delta))):
        running = delta[t] + GAMMA * LAMBDA * (~ended[t]).float() * running
        advantage[t] = running
    chosen = counts.flatten()
    parts = [one.flatten(0, 1)[chosen] for one in (seen, action, log_prob, advantage, advantage + value)]
    masks = mask.flatten(0, 1)[chosen] if mask.dim() > 2 or mask.numel() else None
    for _ in range(EPOCHS):
        order = torch.randperm(len(parts[0]), generator=generator)
        for rows in order.chunk(MINIBATCHES):
            saw, took, before, gained, target = (one[rows] for one in parts)
            outputs, judged = network(saw, None if masks is None else masks[rows])
            now, entropy = network.judge(outputs, took)
            better = (gained - gained.mean()) / (gained.std() + 1e-8)
            ratio = (now - before).exp()
            loss = -torch.min(ratio * better, ratio.clamp(1 - CLIP, 1 + CLIP) * better).mean()
            loss = loss + 0.5 * (judged - target).square().mean() - ENTROPY * entropy.mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), 0.5)
            optimizer.step()


def _scale(network: Network, seen: Tensor, iteration: int) -> None:
    """Move mean and spread towards what is seen, less each time; they rest after the first updates."""
    share = 1 / (iteration + 1)
    network.mean += share * (seen.mean(0) - network.mean)
    network.spread += share * (seen.std(0).clamp(min=0.1) - network.spread)


def _stack(inputs: int, outputs: int, gain: float, generator: torch.Generator) -> nn.Sequential:
    layers: list[nn.Module] = []
    for size_in, size_out, scale in ((inputs, WIDTH, 2**0.5), (WIDTH, WIDTH, 2**0.5), (WIDTH, outputs, gain)):
        linear = nn.Linear(size_in, size_out)
        nn.init.orthogonal_(linear.weight, scale, generator=generator)
        nn.init.zeros_(linear.bias)
        layers += [linear, nn.Tanh()]
    return nn.Sequential(*layers[:-1])


def _width(space: gym.Space[Any]) -> int:
    """Numbers in one row's observation; a Discrete one is a number."""
    if isinstance(space, spaces.Dict):
        return sum(map(_width, space.values()))
    return int(np.prod(space.shape or ()))


def _flat(observations: Any) -> Tensor:
    """Observations `[N, ...]`, or a dict of them, as float32 `[N, D]`."""
    if isinstance(observations, Mapping):
        named = cast("Mapping[str, Any]", observations)
        return torch.cat([_flat(named[key]) for key in sorted(named)], dim=-1)
    array = np.asarray(observations)
    return torch.from_numpy(array.astype(np.float32).reshape(len(array), -1))


def _mask(info: Mapping[str, Any]) -> Tensor | None:
    mask = info.get("action_mask")
    return None if mask is None else torch.from_numpy(np.array(mask, dtype=bool).reshape(len(mask), -1))
