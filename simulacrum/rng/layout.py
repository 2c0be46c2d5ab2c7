"""Which words a draw reads: the slots of an environment and their numbers, the same for both twins.

Words of one phase ("reset" or "step") are numbered from 0 in the order in which its slots are declared. A
slot of `count` K takes K times the words of one draw, side by side. Draws of two words begin at an even
word, so that one block of the generator (two words) serves them. `docs/draws.md` has the whole address.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from simulacrum.errors import DrawError

PHASES = ("reset", "step")

# distribution -> dtype -> words of one draw. What is not here cannot be declared.
WORDS: Mapping[str, Mapping[str, int]] = {
    "uniform": {"float32": 1, "float64": 2},
    "integers": {"int32": 1, "int64": 2},
    "bernoulli": {"float32": 1, "float64": 2},
    "normal": {"float32": 2, "float64": 2},
    "choice": {"float32": 1, "float64": 2},
    "permutation": {"int32": 1},
}

_RESULTS = {"bernoulli": "bool", "choice": "int32"}  # where it is not the declared dtype

# The second word of the counter says what a block is for. Step blocks count up from 0, reset blocks from
# 2**31; the constant below ("EPIS" in ASCII) marks the block that makes a key of a seed and an episode.
RESET_BLOCKS = 0x80000000
EPISODE_BLOCK = 0x45504953
# Far above any environment; it keeps step blocks below EPISODE_BLOCK and reset blocks below 2**32.
MAX_WORDS = 2**24


@dataclass(frozen=True)
class Slot:
    """One declared draw. `dtype` is that of the value; for bernoulli and choice, of the uniform they compare.

    `count` None: one value. `count` K: K values, addressed by index 0..K-1 (for a permutation: of K items).
    Raises DrawError for a phase, distribution, dtype or count that cannot be.
    """

    name: str
    phase: str
    distribution: str
    dtype: str
    count: int | None = None

    def __post_init__(self) -> None:
        where = f"the declaration of draw slot {self.name!r}"
        if self.phase not in PHASES:
            raise DrawError("unknown phase of a draw", expected=PHASES, found=repr(self.phase), where=where)
        if self.distribution not in WORDS:
            known = ", ".join(WORDS)
            found = repr(self.distribution)
            raise DrawError("unknown distribution", expected=known, found=found, where=where)
        known = WORDS[self.distribution]
        if self.dtype not in known:
            message = f"a {self.distribution} draw cannot have this dtype"
            raise DrawError(message, expected=", ".join(known), found=repr(self.dtype), where=where)
        if self.count is not None and self.count < 1:
            raise DrawError("a slot needs at least one index", expected=">= 1", found=self.count, where=where)
        if self.count is None and self.distribution == "permutation":
            raise DrawError("a permutation needs to know of how many items", expected="a count", where=where)

    @property
    def each(self) -> int:
        """Words of one draw: 1 or 2."""
        return WORDS[self.distribution][self.dtype]

    @property
    def words(self) -> int:
        """Words of the whole slot."""
        return self.each * (self.count or 1)

    @property
    def result(self) -> str:
        """The dtype of the values drawn: bool for bernoulli, int32 for choice, else the declared one."""
        return _RESULTS.get(self.distribution, self.dtype)


@dataclass(frozen=True)
class Layout:
    """The slots of one environment with their word numbers. Raises DrawError for a name declared twice."""

    slots: tuple[Slot, ...]
    _by_name: dict[str, Slot] = field(init=False, repr=False, compare=False)
    _offsets: dict[str, int] = field(init=False, repr=False, compare=False)
    _words: dict[str, int] = field(init=False, repr=False, compare=False)

    def __init__(self, slots: Iterable[Slot]) -> None:
        declared = tuple(slots)
        by_name: dict[str, Slot] = {}
        offsets: dict[str, int] = {}
        words: dict[str, int] = {"reset": 0, "step": 0}
        for slot in declared:
            if slot.name in by_name:
                raise DrawError("two draw slots have one name", found=repr(slot.name), where="declared draws")
            start = words[slot.phase]
            start += start % slot.each  # two-word draws begin at an even word
            by_name[slot.name], offsets[slot.name] = slot, start
            words[slot.phase] = start + slot.words
        for phase, total in words.items():
            if total > MAX_WORDS:
                message = f"the {phase} draws need too many words"
                raise DrawError(message, expected=f"at most {MAX_WORDS}", found=total, where="declared draws")
        object.__setattr__(self, "slots", declared)
        object.__setattr__(self, "_by_name", by_name)
        object.__setattr__(self, "_offsets", offsets)
        object.__setattr__(self, "_words", words)

    def offset(self, slot: Slot | str) -> int:
        """Number of the slot's first word within its phase."""
        return self._offsets[slot if isinstance(slot, str) else slot.name]

    def words(self, phase: str) -> int:
        """Words that one evaluation of the phase needs."""
        return self._words[phase]

    def blocks(self, phase: str) -> int:
        """Blocks of two words that one evaluation of the phase needs."""
        return (self._words[phase] + 1) // 2

    def names(self, phase: str) -> tuple[str, ...]:
        """Names of the phase's slots, in order of declaration."""
        return tuple(slot.name for slot in self.slots if slot.phase == phase)

    def lookup(self, phase: str, name: str, distribution: str) -> Slot:
        """The slot of that name. Raises DrawError if it is not declared for this phase and distribution."""
        slot = self._by_name.get(name)
        if slot is None:
            raise self.undeclared(phase, name)
        if slot.phase != phase:
            raise DrawError(
                f"slot {name!r} is asked for at {phase}, but is declared for {slot.phase}",
                expected=f"one of the {phase} draws: {_listing(self.names(phase))}",
                found=f"{name!r}, a {slot.phase} draw",
                where=f"draws at {phase}",
                next_step=f"declare a second slot, of phase {phase!r}, in schema.json and in spec.md",
            )
        if slot.distribution != distribution:
            raise DrawError(
                f"slot {name!r} is asked for as {distribution}, but is declared as {slot.distribution}",
                expected=f"draw.{slot.distribution}({name!r}, ...)",
                found=f"draw.{distribution}({name!r}, ...)",
                where=f"draws at {phase}",
                next_step="correct the call, or the distribution in x-draws of schema.json and in spec.md",
            )
        return slot

    def undeclared(self, phase: str, name: str) -> DrawError:
        """The error for a name that no slot has, with the nearest name that one has."""
        near = difflib.get_close_matches(name, list(self._by_name), n=1, cutoff=0.5)
        hint = f"did you mean {near[0]!r}? Otherwise declare" if near else "declare"
        declared = "; ".join(f"{each}: {_listing(self.names(each))}" for each in PHASES)
        return DrawError(
            f"draw slot {name!r} is not declared",
            expected=declared,
            found=repr(name),
            where=f"draws at {phase}",
            next_step=f"{hint} {name!r} in x-draws of schema.json and in spec.md",
        )

    def check_index(self, slot: Slot, index: object) -> None:
        """Raises DrawError for an index that the slot does not have."""
        where = f"slot {slot.name!r} at {slot.phase}"
        if index is None:
            return
        if slot.count is None:
            message = f"slot {slot.name!r} has no indices"
            raise DrawError(
                message,
                expected="no index",
                found=f"index={index}",
                where=where,
                next_step="leave index out, or give the slot a count in schema.json and in spec.md",
            )
        if not isinstance(index, int) or not 0 <= index < slot.count:
            message = f"index out of range for slot {slot.name!r}"
            raise DrawError(message, expected=f"an int 0..{slot.count - 1}", found=index, where=where)


def _listing(names: tuple[str, ...]) -> str:
    return ", ".join(names) if names else "none"
