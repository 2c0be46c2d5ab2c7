"""What is known of a failure, for people and as JSON: the record with rules, source and values around it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from simulacrum.harness.explain.line_watcher import RanLine
from simulacrum.harness.explain.watched import Parting, Watched
from simulacrum.harness.explain.written import SourceLine
from simulacrum.trace.divergence import Divergence, Shown
from simulacrum.trace.show import configuration_text, where_text
from simulacrum.trace.values import plain_json

FORMAT = "simulacrum-explanation"
VERSION = 1


@dataclass(frozen=True)
class RuleSource:
    """A rule of spec.md: "R7", the heading it stands under, its words, its file and line."""

    id: str
    heading: str
    text: str
    file: str
    line: int


@dataclass(frozen=True)
class TwinSource:
    """The lines of one twin that compute the differing field, in the file's order."""

    file: str
    lines: tuple[SourceLine, ...]


@dataclass(frozen=True)
class Explanation:
    """A divergence and everything around it.

    rules: those of the first value that differs, then the ones that the field's lines name, nearest first. watched_*:
    what ran in the one step, run again. parting: the first name that has another value in the batched twin than in the
    reference, where one does.
    in_smallest: whether what was watched is the smallest case, in its own batch, and not the record's step as one row.
    path: the record's file, None where it is in none. env: the package's folder, where a command has to name it.
    """

    record: Divergence
    rules: tuple[RuleSource, ...]
    reference: TwinSource
    fast: TwinSource
    watched_reference: Watched
    watched_fast: Watched
    parting: Parting | None
    path: Path | None = None
    env: Path | None = None
    in_smallest: bool = False

    @property
    def watched_where(self) -> str:
        """What the watched step is of: "the record", or "the smallest case" where only that shows a value."""
        return "the smallest case" if self.in_smallest else "the record"

    @property
    def summary(self) -> str:
        """One sentence: which value, what it is on both sides, and when."""
        record, item = self.record, self.record.difference
        when = "at the start of an episode" if record.previous_state is None else f"in step t={record.t}"
        after = "" if record.action is None else f" after action {_brief(record.action)}"
        far = "" if item.ulp is None or item.ulp > 1000 else f", {item.ulp} ulp apart"
        one, two = _scalar(item.reference), _scalar(item.batched)
        return f"{item.path} is {one} in the reference and {two} in the batched twin{far}, {when}{after}"

    @property
    def parting_rules(self) -> tuple[str, ...]:
        """The rules that the lines of the first differing value carry out."""
        return () if self.parting is None else named_at(self.parting, self.watched_reference, self.watched_fast)

    def near_values(self, watched: Watched) -> tuple[RanLine, ...]:
        """The lines that ran, with what they computed, but of a whole state or step only what became the field."""
        item = self.record.difference
        names = {item.field, item.kind, item.kind.partition(".")[2]}

        def near(name: str) -> bool:
            return not name.startswith("return.") or name.rpartition(".")[2] in names

        return tuple(
            replace(line, values={name: value for name, value in line.values.items() if near(name)})
            for line in watched.lines
        )

    @property
    def commands(self) -> Mapping[str, str]:
        """The commands that run the step again and that show this, where the record is in a file."""
        found = {} if self.record.command is None else {"replay": self.record.command}
        if self.path is not None:
            words = f"simulacrum explain {shlex.quote(str(self.path))}"
            words += "" if self.env is None else f" --env {shlex.quote(str(self.env))}"
            found |= {"explain": words, "page": f"{words} --html {shlex.quote(f'{self.path.stem}.html')}"}
        return found

    def to_json(self) -> dict[str, Any]:
        """The explanation as JSON; `cli/events.schema.json` states the shape."""
        record, body = self.record, self.record.to_json()
        return {
            "format": FORMAT,
            "version": VERSION,
            "id": record.id,
            "summary": self.summary,
            "where": where_text(record),
            "ran_as": configuration_text(record),
            **{name: body[name] for name in _FROM_RECORD},
            "rules": [asdict(rule) for rule in self.rules],
            "sources": {side.file: _source(side) for side in (self.reference, self.fast)},
            "trace": {
                self.reference.file: _trace(self.watched_reference), self.fast.file: _trace(self.watched_fast)
            },
            "trace_of": self.watched_where,
            "first_value": None if self.parting is None else plain_json(asdict(self.parting)),
            "files": dict(record.files),
            "commands": dict(self.commands),
        }  # fmt: skip


_FROM_RECORD = (
    "check", "env_id", "configuration", "seed", "row", "episode", "t", "step", "difference", "others",
    "previous_state", "action", "draws", "hints", "diagnosis", "shrunk",
)  # fmt: skip


def named_at(parting: Parting, reference: Watched, fast: Watched) -> tuple[str, ...]:
    """The rules of the lines where the first differing value was computed: their own, or the last ones named before."""
    found: list[str] = []
    for watched, at in ((reference, parting.reference_line), (fast, parting.fast_line)):
        until = [line for line in watched.lines if line.function == parting.function and line.line <= at]
        found += next((line.rules for line in sorted(until, key=lambda line: -line.line) if line.rules), ())
    return tuple(dict.fromkeys(found))


def _source(side: TwinSource) -> list[dict[str, Any]]:
    return [
        {"line": one.line, "text": one.text, "distance": one.distance, "rules": list(one.rules)} for one in side.lines
    ]


def _trace(watched: Watched) -> dict[str, Any]:
    return {
        "rules": list(watched.rules), "raised": watched.raised, "lines": [_ran(line) for line in watched.lines],
    }  # fmt: skip


def _ran(line: RanLine) -> dict[str, Any]:
    return {
        "line": line.line, "function": line.function, "text": line.text, "rules": list(line.rules),
        "values": plain_json(line.values),
    }  # fmt: skip


def _brief(value: Any) -> str:
    return json.dumps(plain_json(value))


def _scalar(value: Shown) -> str:
    return value.decimal
