"""The first divergence between the twins, as a record: all one needs to see the fault and to run it again.

The JSON shape is the dataclasses below, name for name; `divergence.schema.json` beside this file states it
(version 1). Values are kept as text (decimal and bits), never as JSON numbers, so that no reader can round
them; words of draws are hex. `id` is a hash of the record without `files` and `command`; `id` and each
draw's `verdict` are derived, and the id is checked on reading."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from simulacrum.errors import TraceError
from simulacrum.trace.case import Shrunk, difference_from_json, shrunk_from_json
from simulacrum.trace.difference import Difference, Shown, difference, shown, ulp_between
from simulacrum.trace.jsonio import BadValue, canonical, dotted, line_of, load_document, pretty, sha256, short
from simulacrum.trace.values import plain_json

FORMAT = "simulacrum-divergence"
VERSION = 1


@dataclass(frozen=True)
class DrawPair:
    """The words that both sides used for one slot in the step, in index order; None for a word not asked
    for."""

    slot: str
    reference: tuple[int | None, ...]
    batched: tuple[int | None, ...]

    @property
    def verdict(self) -> str:
        """ "equal" or "differ" on the words that both drew; "only batched" / "only reference" / "unused"
        where no word was drawn by both. A batched twin draws for every row and discards, so "only batched"
        is no fault."""
        pairs = list(zip(self.reference, self.batched, strict=False))
        both = [pair for pair in pairs if pair[0] is not None and pair[1] is not None]
        if both:
            return "equal" if all(one == two for one, two in both) else "differ"
        if any(word is not None for word in self.batched):
            return "only batched"
        return "only reference" if any(word is not None for word in self.reference) else "unused"


def pair_draws(
    reference: Mapping[str, Sequence[int | None]], batched: Mapping[str, Sequence[int | None]]
) -> tuple[DrawPair, ...]:
    """Both sides' words of a step, slot by slot, in the order in which the slots first appear."""
    slots = dict.fromkeys([*batched, *reference])
    return tuple(
        DrawPair(slot, tuple(reference.get(slot, ())), tuple(batched.get(slot, ()))) for slot in slots
    )


@dataclass(frozen=True)
class Configuration:
    """What the batched side ran as. form: "eager", "inductor", ...; params: name -> value of this row.

    small: the content of the small.json that the package was made smaller with; None for the package as it is."""

    form: str
    device: str
    num_envs: int
    autoreset_mode: str
    params: Mapping[str, Any] = field(default_factory=dict[str, Any])
    max_episode_steps: int | None = None
    threads: int | None = None
    small: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class RuleText:
    """A rule of spec.md: "R7" and its words."""

    id: str
    text: str


@dataclass(frozen=True)
class Likely:
    """A kind of fault (`trace.kinds`) that the failure looks like, and why."""

    kind: str
    title: str
    why: str


@dataclass(frozen=True)
class Counts:
    """How far the difference reaches at its step, and how much was compared until then."""

    rows_differing: int
    rows_compared: int
    fields_differing: int
    transitions_compared: int | None = None


@dataclass(frozen=True)
class Divergence:
    """The earliest difference: one row, one step, one field.

    t is the number of steps the episode had taken before the step (what draws are keyed on); `step` counts
    the calls of `step` on the whole batch, from 0; -1 stands for the reset before the first step.
    `previous_state` is the row's state before the step (JSON; None at a reset) and `action` the action
    given to it (None at a reset). `forced` holds the values that both sides were given in place of drawing, by
    slot (a list for a slot of several indices). `shrunk` is the smallest case of it that was found, `diagnosis`
    what it looks like, the likeliest kind first."""

    check: str
    env_id: str
    configuration: Configuration
    seed: int
    row: int
    episode: int
    t: int
    step: int
    difference: Difference
    others: tuple[Difference, ...] = ()
    previous_state: Any = None
    action: Any = None
    draws: tuple[DrawPair, ...] = ()
    rule: RuleText | None = None
    counts: Counts | None = None
    hints: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    command: str | None = None
    shrunk: Shrunk | None = None
    diagnosis: tuple[Likely, ...] = ()
    forced: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def id(self) -> str:
        """12 hex digits of a hash over what was met, without what was made of it afterwards (`files`, `command`,
        `shrunk`, `diagnosis`): equal faults get equal names."""
        body = _body(replace(self, files={}, command=None, shrunk=None, diagnosis=()))
        del body["shrunk"], body["diagnosis"]
        return sha256(canonical(body))[:12]

    def to_json(self) -> dict[str, Any]:
        """The record as a JSON value; the shape is in this file's docstring."""
        return {"format": FORMAT, "version": VERSION, "id": self.id, **_body(self)}

    @classmethod
    def from_json(cls, value: Any, where: str = "divergence") -> Divergence:
        """The record of a JSON value. Raises TraceError naming the field for anything that is not one."""
        try:
            return _rebuild(value)
        except BadValue as error:
            raise TraceError(
                error.message,
                expected=error.expected,
                found=error.found,
                where=f"{where}, {dotted(error.path)}" if error.path else where,
            ) from None


def read_divergence(path: str | Path) -> Divergence:
    """The record in a failure file. Raises TraceError (file, line, field)."""
    path = Path(path)
    text, value = load_document(path)
    try:
        return _rebuild(value)
    except BadValue as error:
        line = line_of(text, error.path)
        name = f", {dotted(error.path)}" if error.path else ""
        raise TraceError(
            error.message, expected=error.expected, found=error.found, where=f"{path}, line {line}{name}"
        ) from None


def dump_divergence(record: Divergence) -> str:
    """The record as indented JSON text."""
    return pretty(record.to_json())


def _body(record: Divergence) -> dict[str, Any]:
    body = cast("dict[str, Any]", plain_json(asdict(record)))
    for pair, entry in zip(record.draws, body["draws"], strict=True):
        for side in ("reference", "batched"):
            entry[side] = [None if word is None else f"0x{word:08x}" for word in entry[side]]
        entry["verdict"] = pair.verdict
    if not record.forced:  # what is not there says nothing, and records from before it have their ids
        del body["forced"]
    if record.configuration.small is None:
        del body["configuration"]["small"]
    return body


def _rebuild(value: Any) -> Divergence:
    _check_shape(value)
    body = dict(cast("dict[str, Any]", value))
    stated = body.pop("id")
    del body["format"], body["version"]
    body["configuration"] = Configuration(**body["configuration"])
    body["difference"] = difference_from_json(body["difference"])
    body["others"] = tuple(difference_from_json(item) for item in body["others"])
    body["draws"] = tuple(
        DrawPair(item["slot"], _words(item["reference"]), _words(item["batched"])) for item in body["draws"]
    )
    body["rule"] = RuleText(**body["rule"]) if body["rule"] else None
    body["counts"] = Counts(**body["counts"]) if body["counts"] else None
    body["hints"] = tuple(body["hints"])
    body["shrunk"] = shrunk_from_json(body["shrunk"]) if body.get("shrunk") else None
    body["diagnosis"] = tuple(Likely(**item) for item in body.get("diagnosis", ()))
    record = Divergence(**body)
    if stated != record.id:
        raise BadValue(
            "the record was changed after it was written", path=("id",), expected=record.id, found=stated
        )
    return record


def _words(items: list[str | None]) -> tuple[int | None, ...]:
    return tuple(None if item is None else int(item, 16) for item in items)


def _check_shape(value: Any) -> None:
    import jsonschema  # here, because nothing but reading a record needs it

    schema = json.loads((Path(__file__).parent / "divergence.schema.json").read_text("utf-8"))
    validator: Any = jsonschema.Draft202012Validator(schema)
    error: Any = next(iter(validator.iter_errors(value)), None)
    if error is not None:
        path: tuple[str | int, ...] = tuple(error.absolute_path)
        message = f"not a divergence record (version {VERSION}): {short(error.message, 200)}"
        raise BadValue(message, path=path)


__all__ = [
    "Configuration",
    "Counts",
    "Difference",
    "Divergence",
    "DrawPair",
    "Likely",
    "RuleText",
    "Shown",
    "difference",
    "dump_divergence",
    "pair_draws",
    "read_divergence",
    "shown",
    "ulp_between",
]
