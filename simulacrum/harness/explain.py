"""A failure with all that is needed to mend it: rules, the lines of both twins, and what they computed on the way.

The record of a divergence says what differs. Here it is joined with the package as it is now: the rule's words and line
in spec.md, the lines that compute the field in both twins (`harness.written`), and its one step run again line by line
(`harness.watched`). `cli.explaining` prints it for people, `to_json` is what programs get.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from simulacrum.contract.package import EnvPackage
from simulacrum.contract.source import read_source
from simulacrum.errors import UsageError
from simulacrum.harness.line_watcher import RanLine
from simulacrum.harness.small.config import small_package
from simulacrum.harness.standing import Standing, earlier, standing
from simulacrum.harness.watched import (
    Parting,
    Watched,
    at_its_part,
    comparable,
    first_parting,
    watch_fast,
    watch_reference,
)
from simulacrum.harness.watched_case import watch_case
from simulacrum.harness.written import SourceLine, lines_that_compute
from simulacrum.trace.divergence import Divergence, Shown
from simulacrum.trace.show import configuration_text, where_text
from simulacrum.trace.values import plain_json

FORMAT = "simulacrum-explanation"
VERSION = 1
NEAR = 2  # lines no further than this from where the value is handed over name the rules that are shown
EARLIER = 3  # agreeing steps before the divergent one that say which names mean the same in both twins


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
        return () if self.parting is None else _named_at(self.parting, self.watched_reference, self.watched_fast)

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


def explain(
    record: Divergence, package: EnvPackage, *, path: str | Path | None = None, env: Path | None = None
) -> Explanation:
    """The explanation of a record, from the package's files as they are now (made small as the record says).

    Raises:
        UsageError: the record is of another environment. PackageError, SpecError: a file that cannot be read.
    """
    if package.env_id != record.env_id:
        raise UsageError(
            "the record is of another environment", expected=package.env_id, found=record.env_id, where=path
        )
    path, small = Path(path) if path is not None else _own_path(record), record.configuration.small
    with small_package(package, None if small is None else dict(small)) as judged:
        return _explained(record, judged, path, env)


def _explained(record: Divergence, package: EnvPackage, path: Path | None, env: Path | None) -> Explanation:
    reference, fast = (_source_of(package, name, record) for name in ("reference.py", "fast.py"))
    at = standing(record, package)
    one, two = (Watched(), Watched()) if at is None else (watch_reference(package, at), watch_fast(package, at))
    alike = _alike(package, list(earlier(record, path, package, EARLIER))) if first_parting(one, two) else {}
    parting, apart = first_parting(one, two, alike), False
    if parting is None and record.shrunk is not None:  # it may need other rows, or a past
        small, large = watch_case(package, record.shrunk)
        parting = first_parting(small, large)
        if parting is not None:
            one, two, apart = small, large, True
    if parting is not None and parting.name.startswith("return."):
        parting = at_its_part(parting, package)
    first = () if parting is None else _named_at(parting, one, two)
    rules = tuple(_rules(record, package, (reference, fast), first))
    return Explanation(record, rules, reference, fast, one, two, parting, path, env, apart)


def _alike(package: EnvPackage, before: list[Standing]) -> dict[tuple[str, str], bool]:
    found: dict[tuple[str, str], bool] = {}
    for at in before:
        for key, same in comparable(watch_reference(package, at), watch_fast(package, at)).items():
            found[key] = found.get(key, True) and same
    return found


def _own_path(record: Divergence) -> Path | None:
    named = record.files.get("record")
    return None if named is None else Path(named)


def _source_of(package: EnvPackage, name: str, record: Divergence) -> TwinSource:
    lines = lines_that_compute(
        read_source(package.folder / name), record.difference, at_reset=record.previous_state is None,
        rule=None if record.rule is None else record.rule.id, fields=tuple(package.schema.state.fields),
    )  # fmt: skip
    return TwinSource(name, lines)


def _named_at(parting: Parting, reference: Watched, fast: Watched) -> tuple[str, ...]:
    """The rules of the lines where the first differing value was computed: their own, or the last ones named before."""
    found: list[str] = []
    for watched, at in ((reference, parting.reference_line), (fast, parting.fast_line)):
        until = [line for line in watched.lines if line.function == parting.function and line.line <= at]
        found += next((line.rules for line in sorted(until, key=lambda line: -line.line) if line.rules), ())
    return tuple(dict.fromkeys(found))


def _rules(
    record: Divergence, package: EnvPackage, sources: tuple[TwinSource, ...], first: tuple[str, ...]
) -> Iterator[RuleSource]:
    """The rules `first`, then those of the nearest lines; the record's own before these if they name it, else after."""
    lines = sorted(
        (line for side in sources for line in side.lines if line.distance is not None and line.distance <= NEAR),
        key=lambda line: line.distance or 0,
    )
    near = list(dict.fromkeys(name for line in lines for name in line.rules))
    own = [] if record.rule is None else [record.rule.id]
    order = [*own, *near] if set(own) & set(near) else [*near, *own]
    known = package.spec.rules
    for name in dict.fromkeys([*first, *order]):
        if name in known:
            rule = known[name]
            yield RuleSource(rule.id, rule.heading, rule.text, "spec.md", rule.line)


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


def _scalar(value: Shown) -> str:
    return value.decimal


def _brief(value: Any) -> str:
    return json.dumps(plain_json(value))
