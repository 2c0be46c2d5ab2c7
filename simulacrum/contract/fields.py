"""The plain facts about tensors that schema.json declares: fields, groups of fields, draws and parameters."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias, Union

from simulacrum.errors import SchemaError

Number: TypeAlias = "int | float"
# One number for all elements, a nested tuple with the field's shape, or None where there is no bound.
Bound: TypeAlias = Union[int, float, "tuple[Bound, ...]", None]

INTEGER_RANGES: dict[str, tuple[int, int]] = {
    "int8": (-(2**7), 2**7 - 1),
    "int16": (-(2**15), 2**15 - 1),
    "int32": (-(2**31), 2**31 - 1),
    "int64": (-(2**63), 2**63 - 1),
    "uint8": (0, 2**8 - 1),
}
FLOAT_DTYPES: tuple[str, ...] = ("float32", "float64")
DTYPES: tuple[str, ...] = ("bool", *INTEGER_RANGES, *FLOAT_DTYPES)

SPACES: tuple[str, ...] = ("Discrete", "MultiDiscrete", "MultiBinary", "Box", "Dict")
ALLOWANCES: tuple[str, ...] = ("nan", "-0.0", "inf")
PHASES: tuple[str, ...] = ("reset", "step")

# What each distribution may be declared as. For bernoulli and choice the dtype is that of the uniform number
# compared with the probability (its resolution), not that of the result.
DISTRIBUTIONS: dict[str, tuple[str, ...]] = {
    "uniform": ("float32", "float64"),
    "integers": ("int32", "int64"),
    "bernoulli": ("float32", "float64"),
    "normal": ("float32", "float64"),
    "choice": ("float32", "float64"),
    "permutation": ("int32",),
}


@dataclass(frozen=True)
class Tolerance:
    """How far two twins may differ in one field, and the written reason why bits cannot agree there."""

    atol: float
    rtol: float
    ulp: int
    reason: str


@dataclass(frozen=True)
class Field:
    """One tensor that the schema declares.

    `path` is the field's address ("state.position", "observation"), `name` its last part. `shape` is that of
    one instance; batched tensors carry `[N]` in front. `low` and `high` are inclusive, already rounded to
    `dtype`, and either one number for all elements, a nested tuple with `shape`, or None. `space` is set on
    leaves of action and observation only, `nvec` on MultiDiscrete only. `allow` holds those of "nan", "-0.0"
    and "inf" that may occur.
    """

    path: str
    name: str
    dtype: str
    shape: tuple[int, ...]
    low: Bound = None
    high: Bound = None
    space: str | None = None
    nvec: tuple[Bound, ...] | None = None
    tolerance: Tolerance | None = None
    allow: frozenset[str] = frozenset()
    description: str = ""

    @property
    def is_float(self) -> bool:
        return self.dtype in FLOAT_DTYPES

    @property
    def is_integer(self) -> bool:
        return self.dtype in INTEGER_RANGES

    @property
    def is_bool(self) -> bool:
        return self.dtype == "bool"

    @property
    def size(self) -> int:
        """Number of elements in one instance; 1 for a scalar."""
        product = 1
        for length in self.shape:
            product *= length
        return product


@dataclass(frozen=True)
class Group:
    """The fields of state, action, observation or info, in declared order.

    `single` says that the group is one tensor and not a mapping; its only key is then the empty string.
    Iterating gives `(key, Field)` pairs.
    """

    name: str
    fields: Mapping[str, Field]
    single: bool = False

    @property
    def leaf(self) -> Field:
        """The one field of a single group. Raises SchemaError for a group of named fields."""
        if not self.single:
            raise SchemaError(f"{self.name} is a mapping of fields, not one tensor", found=list(self.fields))
        return self.fields[""]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.fields)

    def items(self) -> Iterator[tuple[str, Field]]:
        return iter(self.fields.items())

    def values(self) -> Iterator[Field]:
        return iter(self.fields.values())

    def __iter__(self) -> Iterator[tuple[str, Field]]:
        return self.items()

    def __len__(self) -> int:
        return len(self.fields)

    def __contains__(self, key: object) -> bool:
        return key in self.fields

    def __getitem__(self, key: str) -> Field:
        return self.fields[key]


@dataclass(frozen=True)
class Draw:
    """A declared random draw: its slot name, when it is drawn, and the rule of spec.md that uses it.

    `count` is K for a slot with K indices (and the length of a permutation), None for a slot drawn once.
    """

    name: str
    phase: str
    distribution: str
    dtype: str
    count: int | None
    rule: str
    description: str = ""


@dataclass(frozen=True)
class Param:
    """A scalar parameter of the environment with its default, already rounded to the field's dtype."""

    field: Field
    default: int | float | bool


def round_to(dtype: str, value: Number) -> Number:
    """`value` as the nearest value of `dtype`: a float for float dtypes, an int for integer ones.

    Raises OverflowError where the dtype cannot hold it.
    """
    if dtype == "float32":
        return struct.unpack("<f", struct.pack("<f", value))[0]
    if dtype == "float64":
        return float(value)
    low, high = INTEGER_RANGES.get(dtype, (0, 1))
    if not low <= value <= high:
        raise OverflowError(f"{value} does not fit in {dtype}")
    return int(value)


def elements(bound: Bound) -> Iterator[Number]:
    """The numbers in a bound, row by row; nothing for None."""
    if isinstance(bound, tuple):
        for part in bound:
            yield from elements(part)
    elif bound is not None:
        yield bound
