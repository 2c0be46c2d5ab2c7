"""What adapters ask of an environment: how they have one made, what they accept, how they look at its rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, cast

import gymnasium as gym
import torch
from gymnasium.vector import AutoresetMode

from simulacrum.engine.vector import SimulacrumVectorEnv
from simulacrum.errors import UsageError

Mode = Literal["next_step", "same_step", "disabled"]
Output = Literal["torch", "numpy"]


def built(
    maker: str, env_id: str, num_envs: int, kwargs: Mapping[str, Any], *, mode: Mode, output: Output = "torch"
) -> SimulacrumVectorEnv:
    """The environment `env_id` as the adapter's function `maker` needs it, behind the gate of `gymnasium.make_vec`.

    Args:
        kwargs: what the caller of `maker` gave for the environment, such as `device` or `params`.
        mode, output: the autoreset mode and the kind of output that the library needs.

    Raises:
        GateError: the environment has no fresh, passing report.
        UsageError: `kwargs` has an argument that `maker` decides, or the id is not of a simulacrum environment.
    """
    chosen = {"vectorization_mode": "vector_entry_point", "autoreset_mode": mode, "output": output}
    taken = sorted(set(kwargs) & set(chosen))
    if taken:
        raise UsageError(
            f"{maker} decides {', '.join(taken)} itself",
            expected=", ".join(f"{name}={chosen[name]!r}" for name in taken),
            found=", ".join(f"{name}={kwargs[name]!r}" for name in taken),
            where=f"{maker}(...)",
            next_step="leave it out",
        )
    return cast(SimulacrumVectorEnv, gym.make_vec(env_id, num_envs=num_envs, **cast(Any, chosen), **kwargs))


def checked(
    env: Any, adapter: str, *, maker: str, mode: Mode, why: str, output: Output = "torch"
) -> SimulacrumVectorEnv:
    """`env`, if `adapter` can go around it.

    Args:
        adapter, maker: names of the adapter's class and of the function that builds it, for the messages.
        mode: the one autoreset mode that the library can be served with.
        why: what the library does that needs this mode, as a sentence.
        output: the kind of output that the adapter reads.

    Raises:
        UsageError: something else than a `SimulacrumVectorEnv`, a wrapped one, another mode or another output.
    """
    where = f"{adapter}(env)"
    if not isinstance(env, SimulacrumVectorEnv):
        raise UsageError(
            "the adapter goes around the environment itself",
            expected="a SimulacrumVectorEnv, not wrapped",
            found=type(env).__name__,
            where=where,
            next_step=f"make one with {maker}(env_id, num_envs=...) and put the library's wrappers around that",
        )
    if env.autoreset_mode is not AutoresetMode[mode.upper()]:
        raise UsageError(
            why,
            expected=f"autoreset_mode={mode!r}",
            found=f"autoreset_mode={env.autoreset_mode.name.lower()!r}",
            where=where,
            next_step=f"make the environment with {maker}(env_id, num_envs=...), which chooses the mode",
        )
    if env.output != output:
        raise UsageError(
            "the adapter reads tensors" if output == "torch" else "the adapter reads arrays",
            expected=f"output={output!r}",
            found=f"output={env.output!r}",
            where=where,
            next_step=f"make the environment with {maker}(env_id, num_envs=...), which chooses the output",
        )
    return env


def shown_by(env: SimulacrumVectorEnv) -> tuple[Any, dict[str, Any]]:
    """(observations, infos) of all rows as they stand, in memory of their own, without a step."""
    with torch.inference_mode(False), torch.no_grad():
        observation, metrics, action_mask = env.core.observe(env.state, env.params)
        info = metrics if action_mask is None else {**metrics, "action_mask": action_mask}
        return _copied(observation), _copied(info)


def _copied(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _copied(one) for name, one in cast("Mapping[str, Any]", value).items()}
    return value.clone(memory_format=torch.contiguous_format)
