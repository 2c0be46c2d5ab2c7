"""Bits against bits: the one comparator that every check uses.

For each field: name, dtype and shape first, then the bits (floats are viewed as integers, so -0.0 is not 0.0 and a
NaN equals only a NaN of the same bits). A field with a stated tolerance may differ within it, and how much of it was
used is remembered, so that a tolerance nobody needed can be called a weakened test.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from simulacrum.contract.fields import Field, Tolerance
from simulacrum.harness.frames import Frame


@dataclass(frozen=True)
class FieldDifference:
    """One field that differs: the rows where, the first of them, and the first place inside it."""

    name: str
    rows: np.ndarray  # int64, ascending
    index: tuple[int, ...]  # place inside the field, in the first differing row
    reason: str  # "bits", or what was wrong with name, dtype or shape


@dataclass
class Used:
    """How much of each tolerance was needed: the largest distance seen, as a share of what is allowed, and in ulp."""

    share: dict[str, float] = field(default_factory=dict[str, float])
    ulp: dict[str, int] = field(default_factory=dict[str, int])


def bits(array: np.ndarray) -> np.ndarray:
    """The array viewed as unsigned integers of its width."""
    return np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}").reshape(array.shape)


def differences(
    reference: Frame,
    batched: Frame,
    fields: Mapping[str, Field],
    *,
    names: Iterable[str] | None = None,
    used: Used | None = None,
) -> list[FieldDifference]:
    """Every field in which the frames differ, in the order of `fields` (state first); empty when they agree."""
    found: list[FieldDifference] = []
    for name in fields if names is None else names:
        problem = compare_field(name, reference.get(name), batched.get(name), fields[name], used)
        if problem is not None:
            found.append(problem)
    return found


def compare_field(
    name: str, reference: np.ndarray | None, batched: np.ndarray | None, spec: Field, used: Used | None = None
) -> FieldDifference | None:
    """The difference in one field, or None. `spec.dtype` and `spec.shape` are what both must have."""
    if reference is None or batched is None:
        side = "the reference" if reference is None else "the batched twin"
        return FieldDifference(name, np.array([0]), (), f"missing on {side}")
    for side, array in (("reference", reference), ("batched", batched)):
        if array.dtype != np.dtype(spec.dtype) or array.shape[1:] != spec.shape:
            reason = f"{side} gives {array.dtype} {list(array.shape[1:])}, declared {spec.dtype} {list(spec.shape)}"
            return FieldDifference(name, np.array([0]), (), reason)
    if reference.shape != batched.shape:
        return FieldDifference(name, np.array([0]), (), f"{len(reference)} rows against {len(batched)}")
    unequal = bits(reference) != bits(batched)
    if spec.tolerance is not None and unequal.any():
        unequal &= ~_within(name, reference, batched, spec.tolerance, used)
    if not unequal.any():
        return None
    rows = np.flatnonzero(unequal.reshape(len(unequal), -1).any(axis=1))
    inside = np.argwhere(unequal[rows[0]])[0] if spec.shape else ()
    return FieldDifference(name, rows, tuple(int(i) for i in inside), "bits")


def _within(
    name: str, reference: np.ndarray, batched: np.ndarray, tolerance: Tolerance, used: Used | None
) -> np.ndarray:
    a, b = reference.astype(np.float64), batched.astype(np.float64)
    distance = np.abs(a - b)
    steps = ulps(reference, batched)
    allowed = tolerance.atol + tolerance.rtol * np.abs(a)
    good = np.isfinite(distance) & ((distance <= allowed) | (steps <= tolerance.ulp))
    if used is not None:
        share = np.where(allowed > 0, distance / np.where(allowed > 0, allowed, 1.0), steps / max(tolerance.ulp, 1))
        used.share[name] = max(used.share.get(name, 0.0), float(share[good].max(initial=0.0)))
        used.ulp[name] = max(used.ulp.get(name, 0), int(steps[good].max(initial=0)))
    return good


def ulps(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """How many floats of their dtype lie between, element by element (NaN: the largest int64)."""
    width = a.dtype.itemsize * 8
    sign = np.uint64(1) << np.uint64(width - 1)

    def place(x: np.ndarray) -> np.ndarray:
        raw = bits(x).astype(np.uint64)
        size = (raw & (sign - np.uint64(1))).astype(np.float64 if width == 64 else np.int64)
        return np.where(raw & sign != 0, -size, size)

    steps = np.abs(place(a) - place(b))
    largest = np.iinfo(np.int64).max
    steps = np.minimum(steps, float(largest) / 2).astype(np.int64)
    return np.where(np.isnan(a) | np.isnan(b), largest, steps)


def checksum(frames: Iterable[Frame]) -> str:
    """SHA-256 over every bit of every field of the frames, in order: equal rollouts, equal sums."""
    import hashlib

    digest = hashlib.sha256()
    for frame in frames:
        for name in sorted(frame):
            digest.update(name.encode())
            digest.update(np.ascontiguousarray(frame[name]).tobytes())
    return digest.hexdigest()
