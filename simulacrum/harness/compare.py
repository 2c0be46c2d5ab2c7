"""Bits against bits: the one comparator that every check uses.

For each field: name, dtype and shape first, then the bits (floats are viewed as integers, so -0.0 is not 0.0 and a
NaN equals only a NaN of the same bits). A field with a stated tolerance may differ within it, and how much of it was
used is remembered, so that a tolerance nobody needed can be called a weakened test.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from simulacrum.contract.fields import Field, Tolerance
from simulacrum.harness.frames import Array, Frame

BITS = "bits"


@dataclass(frozen=True)
class FieldDifference:
    """One field that differs: the rows where, the first of them, and the first place inside it."""

    name: str
    rows: Array  # int64, ascending
    index: tuple[int, ...]  # place inside the field, in the first differing row
    reason: str  # BITS, or what was wrong with name, dtype or shape


@dataclass
class Used:
    """How much of each tolerance was needed: the largest distance seen, as a share of what is allowed, and in ulp."""

    share: dict[str, float] = field(default_factory=dict[str, float])
    ulp: dict[str, int] = field(default_factory=dict[str, int])

    def merge(self, other: Used) -> None:
        """Take in what another run has needed."""
        for own, others in ((self.share, other.share), (self.ulp, other.ulp)):
            for name, value in others.items():
                own[name] = max(own.get(name, value), value)  # type: ignore[assignment]  # floats and ints, each its own

    def idle(self, fields: Mapping[str, Field]) -> list[str]:
        """The fields with a tolerance that no comparison so far has needed."""
        return [name for name, spec in fields.items() if spec.tolerance is not None and name not in self.share]


def bits(array: Array) -> Array:
    """The array viewed as unsigned integers of its width."""
    flat: Array = np.ascontiguousarray(array)
    return flat.view(f"u{array.dtype.itemsize}").reshape(array.shape)


def differences(
    reference: Frame,
    batched: Frame,
    fields: Mapping[str, Field],
    *,
    names: Iterable[str] | None = None,
    used: Used | None = None,
) -> list[FieldDifference]:
    """Every field in which the frames differ, in the order of `fields` (state first); empty when they agree.

    Without `names`, a name that only a frame has and `fields` has not is a difference too.
    """
    found: list[FieldDifference] = []
    for name in fields if names is None else names:
        problem = compare_field(name, reference.get(name), batched.get(name), fields[name], used)
        if problem is not None:
            found.append(problem)
    if names is None:
        extra = [name for name in dict.fromkeys([*reference, *batched]) if name not in fields]
        found.extend(FieldDifference(name, np.array([0]), (), "not declared in the schema") for name in extra)
    return found


def compare_field(
    name: str, reference: Array | None, batched: Array | None, spec: Field, used: Used | None = None
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
    unequal: Array = bits(reference) != bits(batched)
    if spec.tolerance is not None and unequal.any():
        unequal &= ~_within(name, reference, batched, unequal, spec.tolerance, used)
    if not unequal.any():
        return None
    rows: Array = np.flatnonzero(unequal.reshape(len(unequal), -1).any(axis=1))
    return FieldDifference(name, rows, first_place(unequal[rows[0]]), BITS)


def first_place(unequal: Array) -> tuple[int, ...]:
    """The index of the first True of one row's mask; () for a scalar field."""
    return tuple(int(i) for i in np.argwhere(unequal)[0]) if unequal.ndim else ()


def _within(
    name: str, reference: Array, batched: Array, unequal: Array, tolerance: Tolerance, used: Used | None
) -> Array:
    """Where two unequal values are still within the tolerance; integers are taken exactly, not as floats."""
    exact = np.longdouble if reference.dtype.kind in "iu" else np.float64
    a, b = reference.astype(exact), batched.astype(exact)
    with np.errstate(invalid="ignore", over="ignore"):
        distance = np.abs(a - b)
        allowed = tolerance.atol + tolerance.rtol * np.abs(a)
    near: Array = distance <= allowed
    steps: Array = ulps(reference, batched)
    near |= steps <= tolerance.ulp
    near &= np.isfinite(distance)
    if used is not None and bool((near & unequal).any()):
        _note(name, near & unequal, distance, allowed, steps, tolerance, used)
    return near


def _note(
    name: str, where: Array, distance: Array, allowed: Array, steps: Array, tolerance: Tolerance, used: Used
) -> None:
    """Remember the largest share of the tolerance that was needed; the kinder of its two measures counts."""
    shares = [np.full(distance.shape, np.inf)]
    if tolerance.atol or tolerance.rtol:
        shares.append(np.where(allowed > 0, distance / np.where(allowed > 0, allowed, 1.0), np.inf))
    if tolerance.ulp:
        shares.append(steps / tolerance.ulp)
    share = np.minimum.reduce(shares)[where]
    used.share[name] = max(used.share.get(name, 0.0), float(share.max()))
    used.ulp[name] = max(used.ulp.get(name, 0), int(steps[where].max()))


def ulps(a: Array, b: Array) -> Array:
    """How many values of their dtype lie between, element by element, as int64 (NaN: the largest int64).

    -0.0 is one step below 0.0. Distances beyond the largest int64 are given as it. For integers and booleans the
    distance is the difference itself.
    """
    largest = np.iinfo(np.int64).max
    if a.dtype.kind != "f":
        gap = np.where(a > b, a.astype(np.uint64) - b.astype(np.uint64), b.astype(np.uint64) - a.astype(np.uint64))
        return np.minimum(gap, np.uint64(largest)).astype(np.int64)
    top = np.uint64(1) << np.uint64(a.dtype.itemsize * 8 - 1)
    one, two = bits(a).astype(np.uint64), bits(b).astype(np.uint64)
    size_one, size_two = one & (top - np.uint64(1)), two & (top - np.uint64(1))
    same_sign = (one & top) == (two & top)
    across = size_one + size_two + np.uint64(1)  # below 2**64: both sizes are below 2**63
    along = np.where(size_one > size_two, size_one - size_two, size_two - size_one)
    steps = np.minimum(np.where(same_sign, along, across), np.uint64(largest)).astype(np.int64)
    return np.where(np.isnan(a) | np.isnan(b), largest, steps)


def checksum(frames: Iterable[Frame]) -> str:
    """SHA-256 over every bit of every field of the frames, in order: equal rollouts, equal sums."""
    digest = hashlib.sha256()
    for frame in frames:
        for name in sorted(frame):
            digest.update(name.encode())
            digest.update(np.ascontiguousarray(frame[name]).tobytes())
    return digest.hexdigest()
