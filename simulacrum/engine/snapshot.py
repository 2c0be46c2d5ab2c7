"""State in and out of a batch: saved and restored to the bit, forked, copied, pickled, and as JSON."""

# pyright: reportPrivateUsage=false
# This file is the half of SimulacrumVectorEnv that saves and restores; it reads and sets what the class keeps.

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch

from simulacrum.engine.boundary import EngineState
from simulacrum.engine.params import batch_params
from simulacrum.engine.seeding import SEED_LIMIT
from simulacrum.errors import StateError, UsageError
from simulacrum.twin.batched import dump_state, load_states
from simulacrum.twin.state import params_type, state_type

if TYPE_CHECKING:
    from simulacrum.engine.vector import SimulacrumVectorEnv

FORMAT = 1


def save(env: SimulacrumVectorEnv) -> dict[str, Any]:
    """A dict of plain values and tensors of its own; `torch.save` stores it with weights_only safety."""
    state = env._state
    return {
        "format": FORMAT,
        "env_id": env.schema.id,
        "num_envs": env.num_envs,
        "autoreset_mode": env.autoreset_mode.name,
        "max_episode_steps": env.max_episode_steps,
        "seeds": list(env._seeds),
        "params": {name: value.clone() for name, value in zip(env.params._fields, env.params, strict=True)},
        "env": None if state is None else {n: v.clone() for n, v in zip(state.env._fields, state.env, strict=True)},
        "clock": None if state is None else {n: getattr(state, n).clone() for n in state._fields if n != "env"},
    }


def restore(env: SimulacrumVectorEnv, data: Mapping[str, Any]) -> None:
    """Put `env` where `data` was saved. Everything is checked before anything is changed."""
    _check_head(env, data)
    params = params_type(env.schema)(
        *(_own(env, data["params"], n, v) for n, v in zip(env.params._fields, env.params, strict=True))
    )
    seeds = _seeds(env, data)
    state = None
    if data["env"] is not None:
        shape = env.core.fresh(
            torch.zeros((env.num_envs, 2), dtype=torch.int32, device=env.device),
            torch.zeros(env.num_envs, dtype=torch.int32, device=env.device),
            env.params,
        )
        inner = state_type(env.schema)(
            *(_own(env, data["env"], n, v) for n, v in zip(shape.env._fields, shape.env, strict=True))
        )
        clock = {n: _own(env, data["clock"], n, getattr(shape, n)) for n in shape._fields if n != "env"}
        state = EngineState(env=inner, **clock)
    env.params, env._seeds = params, seeds
    env._illegal = None
    if state is None:
        env._rows = env._make_rows()
    else:
        # Wall time is not part of a state: an episode's `t` counts from the restore.
        env._rows.load(state, _now(env))


def _now(env: SimulacrumVectorEnv) -> torch.Tensor:
    import time

    return torch.full((env.num_envs,), time.perf_counter(), dtype=torch.float64, device=env.device)


def _check_head(env: SimulacrumVectorEnv, data: Mapping[str, Any]) -> None:
    wanted = {
        "format": FORMAT,
        "env_id": env.schema.id,
        "num_envs": env.num_envs,
        "autoreset_mode": env.autoreset_mode.name,
        "max_episode_steps": env.max_episode_steps,
    }
    if not isinstance(data, Mapping) or any(key not in data for key in (*wanted, "seeds", "params", "env", "clock")):
        raise StateError(
            "this is not a state_dict of a SimulacrumVectorEnv",
            expected=sorted(wanted),
            found=sorted(data) if isinstance(data, Mapping) else type(data).__name__,
        )
    for key, value in wanted.items():
        if data[key] != value:
            raise StateError(
                f"the state_dict is of another environment: {key}",
                expected=value,
                found=data[key],
                where="load_state_dict",
                next_step="build the env with the arguments it was saved with",
            )


def _seeds(env: SimulacrumVectorEnv, data: Mapping[str, Any]) -> list[int]:
    seeds = data["seeds"]
    fits = isinstance(seeds, (list, tuple)) and len(seeds) in ((env.num_envs,) if data["env"] else (0, env.num_envs))
    if not fits or not all(type(seed) is int and 0 <= seed < SEED_LIMIT for seed in seeds):
        raise StateError(
            "the state_dict's seeds do not fit",
            expected=f"{env.num_envs} integers",
            found=seeds,
            where="load_state_dict",
        )
    return list(seeds)


def _own(env: SimulacrumVectorEnv, saved: Mapping[str, Any], name: str, like: torch.Tensor) -> torch.Tensor:
    value = saved.get(name) if isinstance(saved, Mapping) else None
    if not isinstance(value, torch.Tensor) or value.shape != like.shape or value.dtype != like.dtype:
        found = f"{value.dtype} {list(value.shape)}" if isinstance(value, torch.Tensor) else repr(value)
        raise StateError(
            f"the state_dict's {name} does not fit",
            expected=f"{like.dtype} {list(like.shape)}",
            found=found,
            where="load_state_dict",
        )
    return value.detach().clone(memory_format=torch.contiguous_format).to(env.device)


def constructor_arguments(env: SimulacrumVectorEnv) -> dict[str, Any]:
    """The keyword arguments that build an env like this one."""
    return {
        "num_envs": env.num_envs,
        "autoreset_mode": env.autoreset_mode,
        "device": str(env.device),
        "output": env.output,
        "compile": False if env.form == "eager" else env.form,
        "max_episode_steps": env.max_episode_steps,
        "render_mode": env.render_mode,
        "episode_statistics": env.episode_statistics,
        "threads": env.threads,
        "double_buffer": env.double_buffer,
    }


def reduced(env: SimulacrumVectorEnv) -> tuple[Any, ...]:
    """What pickle keeps: who builds it, from what, and the state. Not the compiled code, which is built again."""
    origin = env.package.name if env.package.origin == "built-in" else str(env.package.folder)
    saved = None if env.closed else save(env)
    return env.factory, origin, constructor_arguments(env), saved, env.spec


def rebuild(
    factory: Callable[..., Any], origin: str, arguments: dict[str, Any], saved: dict[str, Any] | None, spec: Any
) -> SimulacrumVectorEnv:
    """The inverse of `reduced`. Through the registry's factory, so a copy in another process meets the gate too."""
    env: SimulacrumVectorEnv = factory(origin, **arguments)
    env.factory, env.spec = factory, spec
    if saved is None:
        env.close()
    else:
        restore(env, saved)
    return env


def fork(env: SimulacrumVectorEnv, rows: Sequence[int] | torch.Tensor) -> SimulacrumVectorEnv:
    """A new env of `len(rows)` rows, row j being a copy of row `rows[j]`."""
    index = torch.as_tensor(rows, dtype=torch.int64).flatten().cpu()
    if len(index) == 0 or bool((index < 0).any()) or bool((index >= env.num_envs).any()):
        raise UsageError(
            "rows to fork are out of range",
            expected=f"at least one of 0 to {env.num_envs - 1}",
            found=index.tolist(),
            where="fork(rows)",
        )
    saved = save(env)
    if saved["env"] is None:
        raise UsageError("nothing to fork yet", expected="a reset env", next_step="call reset() first")
    place = index.to(env.device)
    for part in ("params", "env", "clock"):
        saved[part] = {name: value[place] for name, value in saved[part].items()}
    saved["seeds"] = [env._seeds[i] for i in index.tolist()]
    saved["num_envs"] = len(index)
    arguments: dict[str, Any] = {**constructor_arguments(env), "num_envs": len(index)}
    child: SimulacrumVectorEnv = type(env)(env.package, **arguments)
    child.factory, child.spec = env.factory, env.spec
    restore(child, saved)
    return child


def load_env_states(env: SimulacrumVectorEnv, states: Sequence[Mapping[str, Any]], t: int | Sequence[int]) -> None:
    """Replace the environment state of every row by a JSON state, `t` steps into its episode."""
    if len(states) != env.num_envs:
        raise StateError("wrong number of states", expected=env.num_envs, found=len(states), where="load_states")
    if env._state is None:
        env.reset()
    inner = load_states(env.schema, states, env.device)
    steps = [int(each) for each in t] if isinstance(t, Iterable) else [int(t)] * env.num_envs
    if len(steps) != env.num_envs or not all(0 <= each < 2**31 for each in steps):
        raise StateError(
            "wrong step counters",
            expected=f"one, or {env.num_envs}, of 0 or more",
            found=steps,
            where="load_states(t=)",
        )
    clock = torch.tensor(steps, dtype=torch.int32, device=env.device)
    state = env.state
    env._rows.load(
        state._replace(env=inner, t=clock, ended=torch.zeros_like(state.ended), returns=torch.zeros_like(state.returns))
    )


def dump_env_states(env: SimulacrumVectorEnv) -> list[dict[str, Any]]:
    """The environment state of every row as JSON dicts."""
    host = type(env.state.env)(*(value.cpu() for value in env.state.env))
    return [dump_state(env.schema, host, row) for row in range(env.num_envs)]


def with_params(env: SimulacrumVectorEnv, given: Mapping[str, Any]) -> None:
    """Change parameters for the steps to come."""
    current = {name: value.tolist() for name, value in zip(env.params._fields, env.params, strict=True)}
    env.params = batch_params(env.schema, {**current, **given}, env.num_envs, env.device)
