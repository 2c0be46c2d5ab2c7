"""PPO in one file, torch from end to end: `python training/ppo.py --help`.

Read it from top to bottom: arguments, network, learner, training. It trains on the batched twin, which the gate lets
through only with a fresh report, and measures what it learned on the reference twin, beside the package's scripted
policies and in the same episodes. What every script does alike (folder, checkpoints, measuring) is in training/common.

It is fast on one core for three reasons. The environment is one call of machine code for all rows. All parameters are
one vector, so that gradient, clipping and Adam are a few operations and not some for each layer. And an update, from a
minibatch to new parameters, is one compiled graph (`Learner.update`). Inside the network a batch lies along the last
dimension, [features, N]: each product is then wide, and whatever goes over a batch goes over memory in its order.
"""

from __future__ import annotations

import math
import os
import shutil
import time
from dataclasses import dataclass, replace
from typing import Any

import gymnasium as gym
import torch
import torch.distributed as dist
import tyro
from torch import Tensor, nn

from common import Run, RunArgs, Vector, batch_of_one


@dataclass
class Args(RunArgs):
    exp: str = "ppo"  # name of the experiment, a part of the run's folder name
    compile_policy: bool = True  # acting and updates as compiled graphs; else operation by operation, some times slower

    total_steps: int = 1_500_000  # environment steps, all rows together
    num_envs: int = 1024  # rows of the batch
    num_steps: int = 32  # steps of every row between updates
    epochs: int = 3  # passes over each batch of experience
    minibatch: int = 4096  # transitions an update; divides num_envs x num_steps
    learning_rate: float = 2e-3  # of Adam, at the start
    anneal: bool = True  # learning rate and entropy bonus fall to zero along a line
    gamma: float = 0.99  # discount
    gae_lambda: float = 0.95  # 0: one-step advantages; 1: whole returns
    clip: float = 0.2  # how far a probability may move before its gradient stops, as a ratio
    clip_value: bool = False  # hold values to `clip` around what they were, too
    entropy: float = 0.01  # weight of the entropy bonus, at the start
    value_weight: float = 0.5  # weight of the value loss
    max_grad_norm: float = 0.5  # gradients are scaled down to this norm

    one_hot: int = 0  # numbers of an image of integers that are names of things, each then one of so many; 0: numbers
    width: int = 128  # units of the hidden layers
    layers: int = 2  # hidden layers
    activation: str = "relu"  # or tanh
    separate: bool = False  # hidden layers of their own for policy and value, instead of shared ones
    normalize: bool = False  # observations to mean 0 and variance 1, by what was seen so far
    items: tuple[int, int] | None = None  # K and M of an observation that ends in items (see ITEMS)


# --- the network ----------------------------------------------------------------------------------------------------

# Observations that end in K items of M numbers each, whose order means nothing: (K, M). The first number of
# all items comes first, then the second of all, and so on.
ITEMS = {"simulacrum/forager-v0": (6, 3)}
WAVES = (0.5, 1.0, 2.0, 4.0)  # times pi
FEW = 8  # inputs; see `Dense`
IMPOSSIBLE = -1e8  # logit of an action that a mask forbids: its probability is 0, and 0 times it is 0 too


class Reader(nn.Module):
    """Observations [N, D] to features [N, `size`].

    Each item passes through the same two layers, and what comes out is pooled, so a network need not learn anew
    for each place in the list what an item means. An item's numbers are also shown as waves of a few lengths:
    what matters are small differences ("one cell to the left"), which a plain layer is slow to see. An item that
    is all zeros is absent. Without items the features are the observation.
    """

    def __init__(self, observations: int, items: tuple[int, int], width: int) -> None:
        super().__init__()
        self.items, self.own = items, observations - items[0] * items[1]
        self.size = self.own + (2 * width if items[0] else 0)
        if items[0]:
            self.see_own = layer(self.own, width)
            self.see_item = layer(items[1] * (1 + 2 * len(WAVES)), width, 1.0)
            self.mix = layer(width, width)

    def forward(self, observation: Tensor) -> Tensor:
        own, rest = observation[:, : self.own], observation[:, self.own :]
        if not self.items[0]:
            return observation
        items = rest.unflatten(1, self.items[::-1]).transpose(1, 2)  # [N, K, M]
        present = (items != 0).any(dim=-1, keepdim=True)  # [N, K, 1]
        waves = torch.cat([length * math.pi * items for length in WAVES], dim=-1)
        hidden = self.see_item(torch.cat([items, waves.sin(), waves.cos()], dim=-1))
        hidden = torch.relu(hidden + self.see_own(own)[:, None])
        hidden = torch.relu(self.mix(hidden)) * present  # [N, K, width]
        return torch.cat([own, hidden.amax(dim=1), 2 * hidden.mean(dim=1)], dim=-1)


def layer(inputs: int, outputs: int, gain: float = 2**0.5) -> nn.Linear:
    linear = nn.Linear(inputs, outputs)
    nn.init.orthogonal_(linear.weight, gain)
    nn.init.zeros_(linear.bias)
    return linear


class Dense(nn.Module):
    """`towers` linear layers side by side: features [towers, inputs, N] to [towers, outputs, N]."""

    def __init__(self, towers: int, inputs: int, outputs: int, gain: float = 2**0.5) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.stack([layer(inputs, outputs, gain).weight.detach() for _ in range(towers)]))
        self.bias = nn.Parameter(torch.zeros(towers, outputs, 1))

    def forward(self, features: Tensor) -> Tensor:
        if features.dim() == 2:  # all towers read the same: one product
            weight, bias = self.weight.flatten(0, 1), self.bias.flatten(0, 1)
            if len(features) <= FEW:  # a sum that the compiler joins with what comes next, and no slow narrow product
                out = sum((weight[:, i, None] * features[i] for i in range(len(features))), bias)
            else:
                out = weight @ features + bias
            return out.unflatten(0, self.weight.shape[:2])
        return torch.bmm(self.weight, features) + self.bias


class Tanh(torch.autograd.Function):
    """tanh to 1e-5 as x p(x²) / q(x²), its ninth continued fraction, much faster than by way of an exponential.

    Its gradient is made of its own value y, 1 - y², not by going through the polynomials once more.
    """

    @staticmethod
    def forward(x: Tensor) -> Tensor:
        x = x.clamp(-6.4, 6.4)
        s = x * x
        p = 34459425 + s * (4729725 + s * (135135 + s * (990 + s)))
        q = 34459425 + s * (16216200 + s * (945945 + s * (13860 + s * 45)))
        return x * p / q

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor], output: Tensor) -> None:
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        (y,) = ctx.saved_tensors
        return gradient * (1 - y * y)


ACTIVATIONS = {"relu": torch.relu, "tanh": Tanh.apply}


class Agent(nn.Module):
    """Policy and value; `forward` takes observations as `look` narrows them and gives (policy, value [N]).

    The policy is the logits of Discrete actions [N, A], or means and log standard deviations of Box actions [N, 2 A].
    """

    def __init__(self, observations: Any, actions: Any, items: tuple[int, int], args: Args) -> None:
        super().__init__()
        if not isinstance(actions, (gym.spaces.Discrete, gym.spaces.Box)) or len(actions.shape) > 1:
            raise SystemExit(f"ppo.py acts in Discrete spaces and vector Boxes, not {actions}")
        if args.activation not in ACTIVATIONS:
            raise SystemExit(f"--activation is one of {', '.join(ACTIVATIONS)}, not {args.activation}")
        self.discrete = isinstance(actions, gym.spaces.Discrete)
        self.outputs = int(actions.n) if self.discrete else actions.shape[0]
        self.look = Vector(observations, "ppo.py", args.one_hot)  # what the environment gives, as [N, D]
        self.activation = ACTIVATIONS[args.activation]
        self.read = Reader(self.look.size, items, args.width // 4)
        towers, sizes = 1 + args.separate, [self.read.size, *[args.width] * args.layers]
        self.hidden = nn.ModuleList([Dense(towers, sizes[i], sizes[i + 1]) for i in range(args.layers)])
        self.policy, self.value = Dense(1, sizes[-1], self.outputs, 0.01), Dense(1, sizes[-1], 1, 1.0)
        self.normalize = args.normalize
        if args.normalize:
            mean, variance = torch.zeros(self.look.size), torch.ones(self.look.size)
            moments = {"seen": torch.zeros(()), "mean": mean, "variance": variance}
            for name, moment in moments.items():
                self.register_buffer(name, moment)
        if not self.discrete:
            if not actions.is_bounded():
                raise SystemExit(f"ppo.py scales actions to their bounds, and {actions} has none")
            self.log_std = nn.Parameter(torch.full((self.outputs,), -0.5))
            self.register_buffer("centre", torch.from_numpy((actions.high + actions.low) / 2))
            self.register_buffer("reach", torch.from_numpy((actions.high - actions.low) / 2))

    def forward(self, observation: Tensor) -> tuple[Tensor, Tensor]:
        observation = self.look.spread(observation)
        if self.normalize:
            observation = ((observation - self.mean) / (self.variance + 1e-8).sqrt()).clamp(-10, 10)
        features = self.read(observation).T  # [features, N]
        for dense in self.hidden:
            features = self.activation(dense(features))  # [towers, width, N]
        policy, value = self.policy(features[:1])[0].T, self.value(features[-1:])[0, 0]
        return policy if self.discrete else torch.cat([policy, self.log_std.expand_as(policy)], dim=1), value

    def noise(self, steps: int, rows: int, generator: torch.Generator) -> Tensor:
        """What sampling needs for all steps of an iteration [steps, N, A]: no draws inside compiled graphs."""
        empty = torch.empty(steps, rows, self.outputs, device=generator.device)
        return empty.exponential_(generator=generator) if self.discrete else empty.normal_(generator=generator)

    def sample(self, policy: Tensor, noise: Tensor) -> Tensor:
        if self.discrete:  # of exponential waiting times with these rates, each is the first with its probability
            return (policy.softmax(-1) / noise).argmax(-1)
        mean, log_std = policy.chunk(2, dim=-1)
        return mean + log_std.exp() * noise

    def log_prob_and_entropy(self, policy: Tensor, action: Tensor) -> tuple[Tensor, Tensor]:
        """Both [N], of Discrete actions [N] or Box actions [N, A]."""
        if self.discrete:
            logs = policy.log_softmax(-1)
            taken = action[:, None] == torch.arange(self.outputs, device=action.device)  # faster than to gather
            return torch.where(taken, logs, 0.0).sum(-1), -(logs.exp() * logs).sum(-1)
        mean, log_std = policy.chunk(2, dim=-1)
        size = log_std + 0.5 * math.log(2 * math.pi)
        deviation = (action - mean) * (-log_std).exp()
        return -(0.5 * deviation.square() + size).sum(-1), (size + 0.5).sum(-1)

    def best(self, policy: Tensor) -> Tensor:
        return policy.argmax(-1) if self.discrete else policy[:, : self.outputs]

    def for_env(self, action: Tensor) -> Tensor:
        """Box actions are learned around 0 with a scale of 1; this puts them between the space's bounds."""
        return action if self.discrete else self.centre + self.reach * action.clamp(-1, 1)

    @torch.no_grad()
    def take_in(self, observations: Tensor) -> None:
        """Observations [..., narrow] join the running mean and variance (Chan's rule for joining two samples)."""
        if self.normalize:
            new = self.look.spread(observations.flatten(0, -2)).double()
            mean, square = averaged(torch.stack([new.mean(0), new.square().mean(0)]))
            share, apart = len(new) / (self.seen + len(new)), mean.float() - self.mean  # `seen` by each process
            variance = (square - mean.square()).float()
            self.variance.lerp_(variance, share).add_(share * (1 - share) * apart.square())
            self.mean.add_(share * apart)
            self.seen.add_(len(new))


# --- the learner: acting and updates, each one graph ------------------------------------------------------------------


class Learner:
    """The agent's parameters as one vector `flat` [P], Adam's two averages of it, and what is done with them.

    `act` and `update` are compiled where `compile_policy` says so. The agent goes on to work as a module of its own:
    its parameters are views of `flat`.
    """

    def __init__(self, agent: Agent, args: Args, masked: bool) -> None:
        self.agent, self.args, self.masked = agent, args, masked
        self.flat = torch.cat([parameter.detach().flatten() for parameter in agent.parameters()])
        for parameter, part in zip(agent.parameters(), self.parts(self.flat).values(), strict=True):
            parameter.data = part
        self.mean, self.square = torch.zeros_like(self.flat), torch.zeros_like(self.flat)
        self.steps = 0  # of Adam
        self.together = dist.is_initialized()  # with other processes
        acted, masks = (1 if agent.discrete else agent.outputs), (agent.outputs if masked else 0)
        self.columns = [agent.look.narrow_size, acted, masks, 1, 1, 1, 1]  # of packed experience, see `loss`
        if args.compile_policy:
            for name in ("act", "gradient", "descend") if self.together else ("act", "update"):
                setattr(self, name, torch.compile(getattr(self, name), fullgraph=True, dynamic=False))

    def compile(self, observation: Tensor, mask: Tensor | None) -> float:
        """Compile both before the clock of training starts, and leave no trace of it; returns the seconds it took."""
        began, before = time.perf_counter(), [kept.clone() for kept in (self.flat, self.mean, self.square)]
        self.act(observation, observation.new_ones(len(observation), self.agent.outputs), mask)
        self.update(observation.new_zeros(sum(self.columns), self.args.minibatch), observation.new_ones(3))
        for kept, old in zip((self.flat, self.mean, self.square), before, strict=True):
            kept.copy_(old)
        return time.perf_counter() - began

    def parts(self, flat: Tensor) -> dict[str, Tensor]:
        """The vector as the agent's parameters, by name."""
        named = dict(self.agent.named_parameters())
        parts = flat.split([parameter.numel() for parameter in named.values()])
        return {name: part.view(named[name].shape) for name, part in zip(named, parts, strict=True)}

    @torch.no_grad()
    def act(self, observation: Tensor, noise: Tensor, mask: Tensor | None) -> tuple[Tensor, ...]:
        """(action for the environment, action [N] or [N, A], its log-probability [N], value [N])."""
        policy, value = self.agent(observation)
        policy = policy if mask is None else policy.where(mask, IMPOSSIBLE)
        action = self.agent.sample(policy, noise)
        log_prob, _ = self.agent.log_prob_and_entropy(policy, action)
        return self.agent.for_env(action), action, log_prob, value

    def pack(self, *columns: Tensor) -> Tensor:
        """Experience, each [T, N] or [T, N, size], as one [batch, C]: shuffling it is then one operation."""
        flat = [column.flatten(0, 1).float() for column in columns]
        return torch.cat([column.view(len(column), -1) for column in flat], dim=1)

    def loss(self, flat: Tensor, minibatch: Tensor, entropy: Tensor) -> tuple[Tensor, Tensor]:
        """The loss of a minibatch [C, M], and its parts for the log [4]."""
        args, agent = self.args, self.agent
        seen, acted, mask, *scalars = minibatch.split(self.columns)
        log_before, value_before, better, target = (row[0] for row in scalars)  # [M]
        policy, value = torch.func.functional_call(agent, self.parts(flat), (seen.T,))
        policy = policy.where(mask.T > 0, IMPOSSIBLE) if self.masked else policy
        log_now, spread = agent.log_prob_and_entropy(policy, acted[0] if agent.discrete else acted.T)
        ratio = (log_now - log_before).exp()
        better = (better - better.mean()) / (better.std() + 1e-8)
        clipped = ratio.clamp(1 - args.clip, 1 + args.clip)
        policy_loss = -torch.min(ratio * better, clipped * better).mean()
        missed = (value - target).square()
        if args.clip_value:
            held = value_before + (value - value_before).clamp(-args.clip, args.clip)
            missed = torch.max(missed, (held - target).square())
        value_loss, spread = 0.5 * missed.mean(), spread.mean()
        kl = ((ratio - 1) - (log_now - log_before)).mean()
        loss = policy_loss + args.value_weight * value_loss - entropy * spread
        return loss, torch.stack([policy_loss, value_loss, spread, kl]).detach()

    def update(self, minibatch: Tensor, rates: Tensor) -> Tensor:
        """One step of Adam, in place; returns the parts of the loss [4].

        `rates` [3]: the learning rate and the factor of the root, both with Adam's correction for averages that
        began at zero; the weight of the entropy.
        """
        gradient, parts = self.gradient(minibatch, rates[2])
        self.descend(averaged(gradient) if self.together else gradient, rates)
        return parts

    def gradient(self, minibatch: Tensor, entropy: Tensor) -> tuple[Tensor, Tensor]:
        return torch.func.grad(self.loss, has_aux=True)(self.flat, minibatch, entropy)

    @torch.no_grad()
    def descend(self, gradient: Tensor, rates: Tensor) -> None:
        gradient = gradient * (self.args.max_grad_norm / (gradient.norm() + 1e-6)).clamp(max=1)
        self.mean.lerp_(gradient, 1 - 0.9)
        self.square.lerp_(gradient.square(), 1 - 0.999)
        self.flat.sub_(rates[0] * self.mean / (self.square.sqrt() * rates[1] + 1e-5))

    def learn(self, experience: Tensor, left: float, generator: torch.Generator) -> Tensor:
        """All epochs over experience [batch, C] with `left` of learning rate and entropy; parts of the last loss."""
        args, size = self.args, experience.shape[1]
        for _ in range(args.epochs):
            order = torch.randperm(len(experience), generator=generator, device=experience.device)
            shuffled = experience[order].view(-1, args.minibatch, size).transpose(1, 2).contiguous()  # [n, C, M]
            count = torch.arange(1, len(shuffled) + 1, dtype=torch.float64) + self.steps
            rates = torch.stack(
                [
                    left * args.learning_rate / (1 - 0.9**count),
                    (1 - 0.999**count).rsqrt(),
                    torch.full_like(count, left * args.entropy),
                ],
                dim=1,
            ).to(experience)
            for minibatch, rate in zip(shuffled, rates, strict=True):
                parts = self.update(minibatch, rate)
            self.steps += len(shuffled)
        return parts

    def state_dict(self) -> dict[str, Any]:
        return {"mean": self.mean, "square": self.square, "steps": self.steps}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.mean.copy_(state["mean"])
        self.square.copy_(state["square"])
        self.steps = state["steps"]


def averaged(tensor: Tensor) -> Tensor:
    """The mean over all processes that train together, in place."""
    if dist.is_initialized():
        dist.all_reduce(tensor)
        tensor /= dist.get_world_size()
    return tensor


def advantages_of(rewards: Tensor, values: Tensor, dones: Tensor, last: Tensor, args: Args) -> Tensor:
    """Advantages by GAE, backwards in time. All [T, N]; `last` [N] is what the observations after it are worth."""
    discount = args.gamma * ~dones
    following = torch.cat([values[1:], last[None]])
    deltas, decay = rewards + discount * following - values, args.gae_lambda * discount
    advantages = [torch.zeros_like(last)]
    for delta, factor in zip(deltas.flip(0), decay.flip(0), strict=True):
        advantages.append(torch.addcmul(delta, factor, advantages[-1]))
    return torch.stack(advantages[:0:-1])


# --- training -------------------------------------------------------------------------------------------------------


def main(args: Args) -> dict[str, Any]:
    """Train, save, measure, draw; returns what results.json holds (the folder alone after `stop_after`)."""
    # --- under torchrun: `world` processes, each with `num_envs` rows of the same run ---
    if "WORLD_SIZE" in os.environ and not dist.is_initialized():
        dist.init_process_group("gloo")
    rank, world = (dist.get_rank(), dist.get_world_size()) if dist.is_initialized() else (0, 1)

    # --- the gate, the environment, the agent ---
    run = Run(args, "PPO", leader=rank == 0)
    args = run.args
    if args.compile_policy and args.device == "cpu" and shutil.which(os.environ.get("CXX", "g++")) is None:
        run.console.print("no C++ compiler (g++, or another in CXX): this goes operation by operation, and slower")
        args = replace(args, compile_policy=False)
    batch = args.num_envs * args.num_steps
    if batch % args.minibatch:
        raise SystemExit(f"--minibatch {args.minibatch} does not divide the {batch} transitions of an iteration")
    envs = gym.make_vec(
        args.env_id,
        num_envs=args.num_envs,
        vectorization_mode="vector_entry_point",
        autoreset_mode="same_step",
        device=args.device,
        compile=args.compile,
        params=args.params,
    )
    items = args.items or ITEMS.get(args.env_id, (0, 0))
    agent = Agent(envs.single_observation_space, envs.single_action_space, items, args).to(args.device)
    learner = Learner(agent, args, masked=run.package.schema.action_mask is not None)
    generator = torch.Generator(args.device).manual_seed(args.seed + (rank << 32))

    # --- a new run, or one taken up where its last checkpoint left it, to the bit ---
    iterations = max(1, args.total_steps // (batch * world))
    if run.saved is None:
        observation, info = envs.reset(seed=(args.seed << 20) + rank * args.num_envs)  # runs share no row's seed
        observation, mask = agent.look.narrow(observation), info.get("action_mask")
        agent.take_in(observation)
    else:
        agent.load_state_dict(run.saved["agent"])
        learner.load_state_dict(run.saved["optimizer"])
        own = run.saved if world == 1 else run.saved["ranks"][rank]
        generator.set_state(own["generator"])
        envs.load_state_dict(own["envs"])
        observation, mask = own["observation"].to(args.device), own["mask"]
    compiling = learner.compile(observation, mask) if args.compile_policy else 0.0
    if compiling:
        run.console.print(f"compiled in {compiling:.1f} s", highlight=False)

    # --- train ---
    for iteration in run.iterations(iterations, batch * world):
        began = time.perf_counter()
        left = 1 - iteration / iterations if args.anneal else 1.0

        # Experience: `num_steps` of every row. The environment's tensors go straight into the list; it
        # never writes into one that it has given out.
        steps: list[tuple[Tensor, ...]] = []
        noise = agent.noise(args.num_steps, args.num_envs, generator)
        for t in range(args.num_steps):
            for_env, action, log_prob, value = learner.act(observation, noise[t], mask)
            allowed = observation[:, :0] if mask is None else mask  # [N, 0] where nothing is forbidden
            shown = (observation, action, allowed, log_prob, value)
            observation, reward, terminated, truncated, info = envs.step(for_env)
            observation, final = agent.look.narrow(observation), agent.look.narrow(info["final_obs"])
            mask, ended = info.get("action_mask"), info["episode"]
            got = (reward, terminated, truncated, final, info["_episode"], ended["r"], ended["l"])
            steps.append((*shown, *got))
        observations, actions, masks, log_probs, values, *got = map(torch.stack, zip(*steps, strict=True))
        rewards, terminated, truncated, final, ended, returns, lengths = got  # [T, N], final [T, N, D]
        episodes = averaged(torch.stack([ended.sum(), returns.sum(), lengths.sum()])) * world

        # An episode that was cut off would have gone on: what its last observation is worth belongs to its return.
        # (SAME_STEP: the following observation is already the next episode's.) One that terminated is worth what it
        # got.
        with torch.no_grad():
            cut = truncated & ~terminated
            if cut.any():
                rewards[cut] += args.gamma * agent(final[cut])[1]
            last = agent(observation)[1]
        advantages = advantages_of(rewards, values, terminated | truncated, last, args)
        targets = advantages + values

        experience = learner.pack(observations, actions, masks, log_probs, values, advantages, targets)
        policy_loss, value_loss, spread, kl = learner.learn(experience, left, generator).tolist()
        agent.take_in(observations)

        # What happened, in numbers.
        numbers = {
            "loss/policy": policy_loss,
            "loss/value": value_loss,
            "loss/entropy": spread,
            "loss/old_kl": kl,
            "loss/explained_variance": 1 - ((targets - values).var() / targets.var()).item(),
        }
        run.report(time.perf_counter() - began, episodes.tolist(), numbers)
        if run.due:
            own = {
                "generator": generator.get_state(),
                "envs": envs.state_dict(),
                "observation": observation,
                "mask": mask,
            }
            ranks: list[Any] = [None] * world if rank == 0 else []
            if world > 1:
                dist.gather_object(own, ranks or None)
                own = {"ranks": ranks}
            run.save(agent=agent.state_dict(), optimizer=learner.state_dict(), **own)
    envs.close()
    if world > 1:
        dist.destroy_process_group()

    # --- measure on the reference twin, beside the scripted policies, all in the same episodes ---
    def trained(env: Any, observation: Any) -> Any:
        with torch.no_grad():
            policy, _ = agent(agent.look.narrow(batch_of_one(observation, args.device)))
        if learner.masked:
            allowed = torch.tensor(env.unwrapped.runner.action_mask(), device=args.device)
            policy = policy.where(allowed, IMPOSSIBLE)
        action = agent.for_env(agent.best(policy))[0]
        return action.item() if agent.discrete else action.cpu().numpy()

    return run.finish(trained, compile_seconds=compiling)


if __name__ == "__main__":
    main(tyro.cli(Args, description=__doc__))
