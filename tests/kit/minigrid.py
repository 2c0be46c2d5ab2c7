"""The batched twins of MiniGrid's environments beside the package minigrid as it is installed."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gymnasium
import minigrid  # noqa: F401  # registers its environments
import numpy as np
import torch

from simulacrum.contract.package import load_package
from simulacrum.rng import batched
from simulacrum.rng.layout import Layout, Slot
from simulacrum.rng.scalar import ScalarDraw, episode_key
from simulacrum.twin.batched import dump_state, load_states, torch_dtype
from simulacrum.twin.reference import Context
from simulacrum.twin.state import dump_state as dump_scalar
from simulacrum.twin.state import load_state, params_type, params_values

Row = dict[str, Any]  # a state in JSON's terms


@dataclass(frozen=True)
class Outcome:
    """What one step of one row came to, the untouched package's or the batched twin's; equal if all bits are."""

    state: Row
    image: bytes
    direction: int
    reward: float
    terminated: bool
    truncated: bool


@functools.cache
def twin(name: str) -> Any:
    return load_package(name).fast()


@functools.cache
def reference_twin(name: str) -> Any:
    return load_package(name).reference()


def original(env_id: str, **arguments: Any) -> Any:
    """minigrid's environment without wrappers, after a reset."""
    env: Any = gymnasium.make(env_id, disable_env_checker=True, **arguments).unwrapped
    env.reset(seed=0)
    return env


def context(t: Sequence[int], params: Any = None) -> Context:
    return Context(None, torch.tensor(t, dtype=torch.int32), params)


def layout_of(schema: Any) -> Layout:
    return Layout(Slot(d.name, d.phase, d.distribution, d.dtype, d.count) for d in schema.draws)


def fast_steps(
    name: str, states: Sequence[Row], actions: Sequence[int], t: Sequence[int], **draws: Sequence[Any]
) -> list[Outcome]:
    """One step of the batched twin, eager, from each state, with draws by slot, one a row."""
    fast = twin(name)
    given, drawn = load_states(fast.schema, states), None
    if draws:
        rows, times = torch.zeros(len(states), dtype=torch.int32), torch.tensor(t, dtype=torch.int32)
        key = batched.episode_key(batched.split_seed([0] * len(states)), rows)
        drawn = batched.BatchedDraw(layout_of(fast.schema), "step", key, times, override=draws)
    made = fast.step(given, torch.tensor(actions), context(t)._replace(draw=drawn))
    seen = fast.observe(made.state, context([one + 1 for one in t]))
    assert made.reward.dtype == torch.float64
    assert (seen["image"].dtype, seen["direction"].dtype) == (torch.uint8, torch.int64)
    return [
        Outcome(
            dump_state(fast.schema, made.state, row),
            seen["image"][row].numpy().tobytes(),
            seen["direction"][row].item(),
            made.reward[row].item(),
            made.terminated[row].item(),
            made.truncated[row].item(),
        )
        for row in range(len(states))
    ]


def reference_step(name: str, state: Row, action: int, t: int, **draws: Any) -> Outcome:
    """The same by the reference twin, one row."""
    reference = reference_twin(name)
    drawn = ScalarDraw(layout_of(reference.schema), "step", episode_key(0, 0), t, override=draws) if draws else None
    made = reference.step(load_state(reference.schema, state), action, Context(drawn, t, None))
    seen = reference.observe(made.state, Context(None, t + 1, None))
    image = np.array(seen["image"], np.uint8)
    assert image.shape == (7, 7, 3)
    return Outcome(
        dump_scalar(reference.schema, made.state),
        image.tobytes(),
        seen["direction"],
        made.reward,
        made.terminated,
        made.truncated,
    )


def both_step(name: str, state: Row, action: int, t: int = 0, **draws: Any) -> Outcome:
    """What both twins make of a step with these draws, after a look that it is the same."""
    one = reference_step(name, state, action, t, **draws)
    assert one == fast_steps(name, [state], [action], [t], **{slot: [value] for slot, value in draws.items()})[0]
    return one


def both_start(name: str, params: Mapping[str, Any], **draws: Any) -> Row:
    """Where both twins begin an episode with these parameters and draws, after a look that it is the same."""
    reference, fast = reference_twin(name), twin(name)
    schema = reference.schema
    layout = layout_of(schema)
    values = params_values(schema, params)
    kind = params_type(schema)
    scalar = ScalarDraw(layout, "reset", episode_key(0, 0), 0, override=draws)
    key, zero = batched.episode_key(batched.split_seed([0]), torch.zeros(1, dtype=torch.int32)), torch.zeros(1)
    rows = batched.BatchedDraw(
        layout, "reset", key, zero.to(torch.int32), override={slot: [value] for slot, value in draws.items()}
    )
    dtypes = {name: torch_dtype(param.field.dtype) for name, param in schema.params.items()}
    columns = kind(**{name: torch.tensor([value], dtype=dtypes[name]) for name, value in values.items()})
    one = dump_scalar(schema, reference.reset(Context(scalar, 0, kind(**values))))
    many = fast.reset(Context(rows, zero.to(torch.int32), columns))
    assert one == dump_state(schema, many, 0)
    return one


def cells(outcome: Outcome) -> Any:
    """The image, uint8 `[7, 7, 3]`: column, row, number."""
    return np.frombuffer(outcome.image, np.uint8).reshape(7, 7, 3)


def original_step(env: Any, taken: Any, action: int) -> Outcome:
    """One step of minigrid's; `taken` reads a state out of it."""
    seen, reward, terminated, truncated, _ = env.step(action)
    assert seen["image"].dtype == np.uint8
    return Outcome(taken(env), seen["image"].tobytes(), int(seen["direction"]), float(reward), terminated, truncated)


def same(ours: Sequence[Outcome], theirs: Sequence[Outcome], told: Sequence[Any]) -> None:
    """Fail at the first difference, with what `told` says of it."""
    for one, other, what in zip(ours, theirs, told, strict=True):
        if one != other:
            where = np.argwhere(cells(one) != cells(other)).tolist()
            raise AssertionError(f"{what}\n ours   {one}\n theirs {other}\n image differs at {where}")


def fast_starts(name: str, count: int, seed: int = 0, **params: Any) -> tuple[list[Row], list[bytes], list[int]]:
    """States, images and directions of `count` fresh episodes of the batched twin, through the engine."""
    from simulacrum.engine.vector import SimulacrumVectorEnv

    envs = SimulacrumVectorEnv(load_package(name), count, compile=False, params=params)
    seen, _ = envs.reset(seed=seed)
    images = [image.tobytes() for image in seen["image"].numpy()]
    return envs.dump_states(), images, seen["direction"].tolist()


class Proposals:
    """A generator that answers what it is given, and keeps what it was asked: for all that minigrid may draw."""

    def __init__(self, answers: Sequence[int]) -> None:
        self.answers, self.asked = list(answers), []

    def integers(self, low: int, high: int) -> int:
        self.asked.append((int(low), int(high)))
        if not self.answers:
            raise StopIteration
        return self.answers.pop(0)


def chi_square(counts: Mapping[Any, int], chances: Mapping[Any, float]) -> tuple[float, int]:
    """Pearson's statistic of counts against chances that add up to 1, and its degrees of freedom."""
    assert set(counts) <= set(chances), "something came that cannot come"
    total = sum(counts.values())
    terms = [(counts.get(key, 0) - total * chance) ** 2 / (total * chance) for key, chance in chances.items()]
    return sum(terms), len(terms) - 1


def too_rare(statistic: float, freedom: int) -> bool:
    """Whether chance brings such a statistic less than once in a million times (Wilson and Hilferty's bound)."""
    spread = 2 / (9 * freedom)
    return statistic > freedom * (1 - spread + 4.7534 * spread**0.5) ** 3


def play_fast(name: str, probe: Any, **params: Any) -> tuple[list[float], list[int]]:
    """Returns and lengths of a probe's episodes, each row's first, in the batched twin."""
    from simulacrum.engine.vector import SimulacrumVectorEnv

    package = load_package(name)
    rows = probe.episodes
    envs = SimulacrumVectorEnv(package, rows, compile=False, autoreset_mode="same_step", params=params)
    seen, _ = envs.reset(seed=list(range(probe.seed, probe.seed + rows)))
    returns, lengths = [0.0] * rows, [0] * rows
    going = set(range(rows))
    for t in range(package.schema.max_episode_steps or 0):
        states = [load_state(package.schema, state) for state in envs.dump_states()]
        images, directions = seen["image"].tolist(), seen["direction"].tolist()
        actions = [
            probe.act({"image": images[row], "direction": directions[row]}, states[row], t) if row in going else 0
            for row in range(rows)
        ]
        seen, reward, terminated, truncated, _ = envs.step(torch.tensor(actions))
        for row in sorted(going):
            returns[row], lengths[row] = returns[row] + reward[row].item(), t + 1
            if terminated[row] or truncated[row]:
                going.remove(row)
        if not going:
            return returns, lengths
    raise AssertionError(f"rows {sorted(going)} never end")
