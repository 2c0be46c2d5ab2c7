"""What one row did: its episodes and steps, every value to the bit, checked against the schema.

In memory values are plain Python (see `values.py`); `records.checked` brings anything that fits the schema
into that form. Two trajectories are equal when all their bits are: NaN equals the same NaN, 0.0 does not
equal -0.0."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, cast

from simulacrum.trace.jsonio import BadValue, Keys, canonical, sha256
from simulacrum.trace.values import plain_json

if TYPE_CHECKING:
    from simulacrum.contract.schema import Schema

Words = Mapping[
    str, Sequence[int | None]
]  # slot -> unsigned 32-bit words in index order; None: not asked for

_WORDING = ("title", "description", "$comment", "examples")


class _ByBits:
    """Equality of bits instead of Python's `==`, for which NaN differs from itself and 0.0 equals -0.0."""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and _bits(self) == _bits(other)

    def __hash__(self) -> int:
        return hash(_bits(self))


def _bits(value: Any) -> bytes:
    return canonical(plain_json(asdict(value)))


@dataclass(frozen=True, eq=False)
class Start(_ByBits):
    """The beginning of an episode: its state and what was observed of it, with the draws of the reset.

    t is 0 after a reset; a row that began from a loaded state carries that state's step counter.
    """

    episode: int
    state: Mapping[str, Any]
    observation: Any
    info: Mapping[str, Any] = field(default_factory=dict[str, Any])
    action_mask: Any = None
    draws: Words = field(default_factory=dict[str, "Sequence[int | None]"])
    t: int = 0


@dataclass(frozen=True, eq=False)
class Step(_ByBits):
    """One step. t is the number of steps the episode had taken before it. State, observation, info and
    mask are those after the step and before any reset, also where the step ended the episode."""

    episode: int
    t: int
    action: Any
    reward: float
    terminated: bool
    truncated: bool
    observation: Any
    state: Mapping[str, Any]
    info: Mapping[str, Any] = field(default_factory=dict[str, Any])
    action_mask: Any = None
    draws: Words = field(default_factory=dict[str, "Sequence[int | None]"])

    @property
    def ended(self) -> bool:
        return self.terminated or self.truncated


@dataclass(frozen=True, eq=False)
class Trajectory(_ByBits):
    """One row over one episode or several. form is the twin that produced it: "reference", "eager",
    "inductor", ...

    Episodes ascend; inside one, t counts up without a gap; nothing follows a step that ended its episode
    but the start of the next. An episode may also be left before its end (a reset by the caller, or the
    recording's end)."""

    env_id: str
    schema_digest: str
    form: str
    seed: int
    params: Mapping[str, Any] = field(default_factory=dict[str, Any])
    max_episode_steps: int | None = None
    starts: tuple[Start, ...] = ()
    steps: tuple[Step, ...] = ()

    def episodes(self) -> list[tuple[Start, tuple[Step, ...]]]:
        """Each episode's start with its steps."""
        parts: dict[int, list[Step]] = {start.episode: [] for start in self.starts}
        for step in self.steps:
            parts[step.episode].append(step)
        return [(start, tuple(parts[start.episode])) for start in self.starts]

    def returns(self) -> list[float]:
        """The sum of rewards of each episode, added in order in float64."""
        return [sum((step.reward for step in steps), 0.0) for _, steps in self.episodes()]


def schema_digest(schema: Schema) -> str:
    """SHA-256 (hex) of what the schema means: its JSON without titles and descriptions, so that better
    wording does not make old trajectories unreadable."""
    return sha256(canonical(_meaning(schema.raw)))


def _meaning(value: Any) -> Any:
    if isinstance(value, dict):
        items = cast("dict[str, Any]", value).items()
        return {name: _meaning(item) for name, item in items if not _is_wording(name, item)}
    if isinstance(value, list):
        return [_meaning(item) for item in cast("list[Any]", value)]
    return value


def _is_wording(name: str, item: Any) -> bool:
    # A state field may be called "title"; then the value is an object, not a text.
    return name in _WORDING and not isinstance(item, dict)


def words_by_slot(
    records: Sequence[tuple[str, int | None, Sequence[int]]], counts: Mapping[str, int]
) -> Words:
    """A scalar ledger's records (slot, index, words) as slot -> words in index order, None for what was not
    drawn.

    counts: how many words each slot has in all. Records without an index begin at word 0.
    """
    result: dict[str, list[int | None]] = {}
    for slot, index, words in records:
        row = result.setdefault(slot, [None] * counts[slot])
        first = (index or 0) * len(words)
        row[first : first + len(words)] = words
    return result


class Order:
    """Checks that starts and steps come in a possible order; feed it in order of time. Raises BadValue."""

    def __init__(self) -> None:
        self._episode, self._t, self._ended = -1, 0, True

    def start(self, start: Start, path: Keys = ()) -> None:
        """Take an episode's start: its number is above those before it. `path` leads to it in the document."""
        if start.episode <= self._episode:
            raise BadValue(
                "episodes must ascend",
                path=(*path, "episode"),
                expected=f"> {self._episode}",
                found=start.episode,
            )
        self._episode, self._t, self._ended = start.episode, start.t, False

    def step(self, step: Step, path: Keys = ()) -> None:
        """Take a step: of the running episode, at the `t` after the last, and not after its end."""
        if step.episode != self._episode:
            raise BadValue(
                "a step of an episode that has not started",
                path=(*path, "episode"),
                expected=self._episode if self._episode >= 0 else "the start of an episode",
                found=step.episode,
            )
        if self._ended:
            raise BadValue("a step after the end of its episode", path=path, found=f"t={step.t}")
        if step.t != self._t:
            raise BadValue("steps must count up by one", path=(*path, "t"), expected=self._t, found=step.t)
        self._t, self._ended = self._t + 1, step.ended

    def whole(self, trajectory: Trajectory) -> None:
        """Take all of a trajectory, each start followed by its episode's steps."""
        number = 0
        for index, start in enumerate(trajectory.starts):
            self.start(start, ("starts", index))
            while number < len(trajectory.steps) and trajectory.steps[number].episode == start.episode:
                self.step(trajectory.steps[number], ("steps", number))
                number += 1
        if number < len(trajectory.steps):
            self.step(trajectory.steps[number], ("steps", number))
