"""Row seeds: what `reset(seed=...)` may be given, and what each row makes of it."""

from __future__ import annotations

import numbers
import secrets
from collections.abc import Sequence
from typing import Any

import numpy as np

from simulacrum.errors import UsageError

SEED_LIMIT = 2**64


def row_seeds(seed: Any, num_envs: int) -> list[int | None]:
    """One seed a row: an integer s gives s, s + 1, ...; a list gives each row its own, None meaning "go on".

    Raises:
        UsageError: (a ValueError) not an integer or list of them, wrong length, negative or 2**64 and above.
    """
    if seed is None:
        return [None] * num_envs
    if isinstance(seed, numbers.Integral) and not isinstance(seed, bool):
        return [check_seed(int(seed) + row) for row in range(num_envs)]
    if isinstance(seed, np.ndarray) and seed.ndim == 0:
        return row_seeds(seed.item(), num_envs)
    if isinstance(seed, (Sequence, np.ndarray)) and not isinstance(seed, (str, bytes)):
        seeds = list(seed)
        if len(seeds) != num_envs:
            raise UsageError(
                "the list of seeds has the wrong length",
                expected=f"{num_envs}, one a row",
                found=len(seeds),
                where="reset(seed=...)",
            )
        return [None if s is None else check_seed(s) for s in seeds]
    raise UsageError(
        "this is not a seed",
        expected="an integer, a list of integers or None",
        found=repr(seed),
        where="reset(seed=...)",
    )


def check_seed(seed: Any) -> int:
    """`seed` as a Python int in [0, 2**64)."""
    if isinstance(seed, bool) or not isinstance(seed, numbers.Integral):
        raise UsageError("this is not a seed", expected="an integer", found=repr(seed), where="reset(seed=...)")
    value = int(seed)
    if not 0 <= value < SEED_LIMIT:
        raise UsageError(
            "the seed is out of range",
            expected="0 to 2**64 - 1 (row i of reset(seed=s) gets s + i)",
            found=value,
            where="reset(seed=...)",
        )
    return value


def entropy() -> int:
    """A seed from the system, for rows that were never given one."""
    return secrets.randbits(63)
