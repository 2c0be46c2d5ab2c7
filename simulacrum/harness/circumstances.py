"""The circumstances in which a rollout is run again: none of them may change a bit of it (M9, M10, M11 among them).

Each takes the crowd and the first rollout, and returns what changed, or None.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from gymnasium.vector import AutoresetMode

from simulacrum.engine.vector import SimulacrumVectorEnv
from simulacrum.harness.frames import BatchSide
from simulacrum.harness.recording import Recording, explain, parting, record
from simulacrum.harness.world import World
from simulacrum.trace.divergence import Divergence

Problem = tuple[str, Divergence | None]
Circumstance = Callable[[World, Recording], Problem | None]


def parted_from(world: World, first: Recording, again: Recording, what: str) -> Problem | None:
    """The problem that `again` is not `first` bit for bit, with its record, or None; `what` names the second run."""
    rows = range(world.size)
    parted = parting(world.bench, first, again, rows, rows)
    if parted is None:
        return None
    found = explain(world.bench, parted, first, again, rows, rows, side="the first run", notes=(f"second run: {what}",))
    return f"{found.difference.path} of row {found.row} changes from run to run ({what})", found


def env_of(world: World) -> SimulacrumVectorEnv:
    return world.bench.env(world.size, limit=world.limit, params=world.params)


def _second(world: World, first: Recording) -> Problem | None:
    return parted_from(world, first, world.run(range(world.size)), "a second run")


def _past(world: World, first: Recording) -> Problem | None:
    """An env that has run before, reset with the same seeds: nothing of its past may show."""
    env = env_of(world)
    record(env, [seed ^ 1 for seed in world.seeds], list(reversed(world.actions)))
    return parted_from(world, first, record(env, world.seeds, world.actions), "an env that has run before")


def _beside(world: World, first: Recording) -> Problem | None:
    """Two envs stepped in turn; the other has another size, other seeds and other parameters."""
    env = env_of(world)
    count = world.size // 2
    stranger = BatchSide(world.bench.env(count, mode=AutoresetMode.SAME_STEP, limit=3))
    side, again = BatchSide(env), Recording(env, world.seeds, list(world.actions))
    stranger.reset(seed=123)
    again.states.append(None)
    again.frames.append(side.reset(seed=world.seeds))
    for actions in world.actions:
        again.states.append(env.state)
        stranger.step(_head(actions, count))
        again.frames.append(side.step(actions))
        stranger.step(_head(actions, count))
    return parted_from(world, first, again, "another env stepped in turn with it")


def _head(actions: Any, count: int) -> Any:
    return {k: v[-count:] for k, v in actions.items()} if isinstance(actions, dict) else actions[-count:]


def _generators_elsewhere(world: World, first: Recording) -> Problem | None:
    """The global generators of torch, NumPy and Python put elsewhere, and put back afterwards."""
    kept = random.getstate(), np.random.get_state(), torch.get_rng_state()
    try:
        random.seed(5)
        np.random.seed(5)
        torch.manual_seed(5)
        return parted_from(world, first, world.run(range(world.size)), "global generators seeded otherwise")
    finally:
        random.setstate(kept[0])
        np.random.set_state(kept[1])
        torch.set_rng_state(kept[2])


def _read_twice(world: World, first: Recording) -> Problem | None:
    """Observations, infos and masks read twice more after each step: equal, and without effect."""
    env = env_of(world)
    side, again = BatchSide(env), Recording(env, world.seeds, list(world.actions))
    again.states.append(None)
    again.frames.append(side.reset(seed=world.seeds))
    for actions in world.actions:
        again.states.append(env.state)
        one, two = _copied(env.core.observe(env.state, env.params)), env.core.observe(env.state, env.params)
        if not _same(one, two):
            return "observe, info or action_mask gives other values when it is asked a second time", None
        again.frames.append(side.step(actions))
    return parted_from(world, first, again, "observations read twice between steps")


def _unread(world: World, first: Recording) -> Problem | None:
    """Nothing that a step returns is looked at, and nothing is asked for between the steps."""
    env = env_of(world)
    env.reset(seed=world.seeds)
    for actions in world.actions[:-1]:
        env.step(actions)
    last = BatchSide(env).step(world.actions[-1])
    wrong = [name for name, value in last.items() if value.tobytes() != first.frames[-1][name].tobytes()]
    if not wrong:
        return None
    return f"{wrong[0]} after {len(world.actions)} steps is another one when nothing is read on the way", None


def _returned(world: World, first: Recording) -> Problem | None:
    """What was returned stays as it was while the env runs on, and actions are not edited."""
    env, kept = env_of(world), list[tuple[int, Any, Any]]()
    given = env.reset(seed=world.seeds)
    for step, actions in enumerate(world.actions):
        tensors = _tensors_of(actions)
        kept.append((step, (given, env.state.env, tensors), _copied((given, env.state.env, tensors))))
        given = env.step(tensors)
        for then, live, copy_of in kept[-6:]:
            if not _same(live, copy_of):
                return f"something returned by (or passed to) step {then} was changed by step {step}", None
    if any(not _same(live, copy_of) for _, live, copy_of in kept):
        return "something that was returned was changed by a later step", None
    return None


def _overwritten(world: World, first: Recording) -> Problem | None:
    """The caller overwrites everything returned as soon as its bits are noted: the simulation must not see it."""
    env = env_of(world)
    side, again = BatchSide(env), Recording(env, world.seeds, list(world.actions))
    again.states.append(None)
    again.frames.append(_spoiled(side, side.reset(seed=world.seeds)))
    for actions in world.actions:
        again.states.append(env.state)
        again.frames.append(_spoiled(side, side.step(actions)))
    return parted_from(world, first, again, "returned tensors overwritten by the caller")


def _spoiled(side: BatchSide, frame: dict[str, Any]) -> dict[str, Any]:
    """A copy of the frame, after everything in it that the env handed out is overwritten (the state is its own)."""
    copied = {name: value.copy() for name, value in frame.items()}
    own = ("state.", "t", "episode", "episode_return", "episode_length")
    for name, value in frame.items():
        if not name.startswith("state.") and name not in own and value.flags.writeable:
            value.view(f"u{value.dtype.itemsize}")[...] = 1
    return copied


def _restored(world: World, first: Recording) -> Problem | None:
    """A saved state put into a new env, and a deep copy, in the middle of episodes: both go on to the same bits."""
    env, half = env_of(world), len(world.actions) // 2
    begun = record(env, world.seeds, world.actions[:half])
    saved = copy.deepcopy(env.state_dict())
    twins = {"a deep copy": copy.deepcopy(env), "a saved state in a new env": env_of(world)}
    twins["a saved state in a new env"].load_state_dict(saved)
    record(env, [seed ^ 1 for seed in world.seeds], world.actions[half:])  # the original goes elsewhere meanwhile
    for what, twin in twins.items():
        side, again = BatchSide(twin), Recording(twin, world.seeds, list(world.actions))
        again.frames, again.states = list(begun.frames), list(begun.states)
        for actions in world.actions[half:]:
            again.states.append(twin.state)
            again.frames.append(side.step(actions))
        problem = parted_from(world, first, again, what)
        if problem is not None:
            return problem
    return None


# By the sub-check that they belong to.
CIRCUMSTANCES: Mapping[str, Mapping[str, Circumstance]] = {
    "run_again": {
        "run again": _second,
        "an env that has run before": _past,
        "global generators elsewhere": _generators_elsewhere,
    },
    "interleaved_envs": {"two envs in turn": _beside},
    "looking_changes_nothing": {
        "observations read twice": _read_twice,
        "nothing read": _unread,
        "returned tensors stay": _returned,
        "returned tensors overwritten": _overwritten,
    },
    "snapshot_and_restore": {"saved and restored": _restored},
}


# --- helpers ---------------------------------------------------------------------------------------------------


def generators() -> dict[str, bytes]:
    """The state of every global generator of this process."""
    numpy: Any = np.random.get_state()  # typed as one of two forms; without arguments it is the tuple
    states = {
        "random": repr(random.getstate()).encode(),
        "numpy.random": repr((numpy[0], np.asarray(numpy[1]).tobytes(), numpy[2:])).encode(),
        "torch": torch.get_rng_state().numpy().tobytes(),
    }
    if torch.cuda.is_available() and torch.cuda.is_initialized():
        states["torch.cuda"] = torch.cuda.get_rng_state().numpy().tobytes()
    return states


def moved(before: Mapping[str, bytes]) -> Problem | None:
    """The problem that a global generator is not where it was, or None."""
    after = generators()
    moved = [name for name, state in before.items() if after[name] != state]
    if not moved:
        return None
    return f"a rollout draws from the global generator of {', '.join(moved)}: draw by slot name instead", None


def _tensors_of(actions: Any) -> Any:
    if isinstance(actions, dict):
        return {name: torch.from_numpy(value.copy()) for name, value in actions.items()}
    return torch.from_numpy(actions.copy())


def _leaves(tree: Any) -> list[torch.Tensor]:
    if isinstance(tree, torch.Tensor):
        return [tree]
    if isinstance(tree, Mapping):
        return [leaf for value in tree.values() for leaf in _leaves(value)]
    if isinstance(tree, tuple):
        return [leaf for value in tree for leaf in _leaves(value)]
    return []


def _copied(tree: Any) -> tuple[torch.Tensor, ...]:
    return tuple(leaf.clone() for leaf in _leaves(tree))


def _same(one: Any, two: Any) -> bool:
    """Equal to the bit, tensor by tensor."""
    pairs = list(zip(_leaves(one), _leaves(two), strict=True))
    return all(torch.equal(_bytes(a), _bytes(b)) for a, b in pairs)


def _bytes(value: torch.Tensor) -> torch.Tensor:
    # A column of a wider tensor is flat and still not contiguous, which a view as bytes has to be.
    return value.reshape(-1).contiguous().view(torch.uint8)
