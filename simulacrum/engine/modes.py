"""The constructor's arguments at the door: each is checked once, and the error names what would have been right."""

from __future__ import annotations

import difflib
import numbers
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import torch
from gymnasium.vector import AutoresetMode

from simulacrum.errors import DeviceError, UsageError

_MODES = {
    "next_step": AutoresetMode.NEXT_STEP,
    "same_step": AutoresetMode.SAME_STEP,
    "disabled": AutoresetMode.DISABLED,
}


def check_num_envs(num_envs: Any) -> int:
    """`num_envs` as a positive int."""
    if isinstance(num_envs, bool) or not isinstance(num_envs, numbers.Integral) or int(num_envs) < 1:
        raise UsageError("num_envs must be a positive integer", expected="1 or more", found=repr(num_envs))
    return int(num_envs)


def check_autoreset_mode(mode: Any) -> AutoresetMode:
    """An `AutoresetMode` from a member or from its name in any case ("next_step", "NextStep", "SAME_STEP")."""
    if isinstance(mode, AutoresetMode):
        return mode
    if isinstance(mode, str):
        plain = mode.lower().replace("_", "").replace("-", "").removeprefix("autoresetmode.")
        for name, member in _MODES.items():
            if plain == name.replace("_", ""):
                return member
    raise UsageError(
        "unknown autoreset mode", expected=f"one of {sorted(_MODES)}", found=repr(mode), where="autoreset_mode="
    )


def check_device(device: Any) -> torch.device:
    """A torch device that is there; `DeviceError` names those that are."""
    try:
        chosen = torch.device(device)
        if chosen.type == "meta":
            raise RuntimeError("tensors there have no values")
        torch.empty(0, device=chosen)
    except (RuntimeError, AssertionError, TypeError, NotImplementedError) as error:
        there = ["cpu", *(f"cuda:{i}" for i in range(torch.cuda.device_count()))]
        raise DeviceError(
            f"device {device!r} is not usable here",
            expected=f"one of {there}",
            found=str(error).split("\n")[0],
            where="device=",
            next_step="run `simulacrum doctor` to see what this machine and this torch offer",
        ) from None
    # torch's types say int; a bare "cuda" has None.
    if chosen.type == "cuda" and chosen.index is None:  # pyright: ignore[reportUnnecessaryComparison]
        chosen = torch.device("cuda", torch.cuda.current_device())
    return chosen


def check_output(output: Any) -> Literal["torch", "numpy"]:
    """ "torch" or "numpy"."""
    if output not in ("torch", "numpy"):
        raise UsageError("unknown output", expected="'torch' or 'numpy'", found=repr(output), where="output=")
    return output


def check_threads(threads: Any) -> int | None:
    """A number of threads, or None for as many as pay."""
    if threads is None:
        return None
    if isinstance(threads, bool) or not isinstance(threads, numbers.Integral) or int(threads) < 1:
        raise UsageError("threads must be a positive integer or None", expected="1 or more", found=repr(threads))
    return int(threads)


def check_steps(actions: Any) -> int:
    """The number of steps T of a sequence of actions `[T, N, ...]`, at least 1."""
    first = next(iter(actions.values()), ()) if isinstance(actions, Mapping) else actions
    if not hasattr(first, "__len__") or len(first) < 1:
        raise UsageError(
            "a rollout needs a sequence of actions",
            expected="[T, N, ...] with T of 1 or more",
            where="rollout(actions)",
        )
    return len(first)


def stacked(values: Any) -> Any:
    """The values of T steps as one, every tensor `[T, ...]`."""
    first = values[0]
    if isinstance(first, torch.Tensor):
        return torch.stack(values)
    if isinstance(first, dict):
        return {key: stacked([value[key] for value in values]) for key in first}
    return type(first)(*(stacked(list(parts)) for parts in zip(*values, strict=True)))


def check_limit(limit: Any) -> int | None:
    """A time limit in steps, or None for none."""
    if limit is None:
        return None
    if isinstance(limit, bool) or not isinstance(limit, numbers.Integral) or not 1 <= int(limit) < 2**31:
        raise UsageError(
            "max_episode_steps must be a positive integer or None",
            expected="1 or more",
            found=repr(limit),
            where="max_episode_steps=",
        )
    return int(limit)


def check_options(options: Mapping[str, Any] | None, num_envs: int) -> torch.Tensor | None:
    """The reset mask of `options` as a bool tensor `[N]` on the host, or None. `options` is never edited.

    Raises:
        UsageError: (a ValueError) unknown keys, or a mask of wrong shape, dtype, or without a True.
    """
    if options is None:
        return None
    if not isinstance(options, Mapping):
        raise UsageError(
            "options is not a mapping",
            expected="a dict or None",
            found=type(options).__name__,
            where="reset(options=...)",
        )
    for key in options:
        if key != "reset_mask":
            near = difflib.get_close_matches(str(key), ["reset_mask"], n=1, cutoff=0.3)
            raise UsageError(
                f"unknown reset option {key!r}",
                expected="'reset_mask'",
                found=repr(key),
                where="reset(options=...)",
                next_step=f"did you mean {near[0]!r}?" if near else None,
            )
    given = options.get("reset_mask")
    return None if given is None else _mask(given, num_envs)


def _mask(given: Any, num_envs: int) -> torch.Tensor:
    where = "reset(options={'reset_mask': ...})"
    mask = given.detach().cpu() if isinstance(given, torch.Tensor) else torch.from_numpy(_host_mask(given, where))
    if mask.dtype != torch.bool:
        raise UsageError("reset_mask has the wrong dtype", expected="bool", found=str(mask.dtype), where=where)
    if tuple(mask.shape) != (num_envs,):
        raise UsageError(
            "reset_mask has the wrong shape", expected=f"({num_envs},)", found=tuple(mask.shape), where=where
        )
    if not bool(mask.any()):
        raise UsageError("reset_mask is all False", expected="at least one row to reset", found="none", where=where)
    return mask.clone()


def _host_mask(given: Any, where: str) -> np.ndarray:
    try:
        array = np.array(given)
    except ValueError:
        array = np.array(None)
    if array.dtype.kind not in "biuf":
        raise UsageError(
            "reset_mask is not an array of bools",
            expected="an array, tensor or list of bools",
            found=repr(given)[:80],
            where=where,
        )
    return array
