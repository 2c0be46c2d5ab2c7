"""The page of a failure, made of its explanation, its timeline and the source of both twins."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jinja2

from simulacrum.contract.package import EnvPackage
from simulacrum.contract.source import read_source
from simulacrum.harness.explain.explanation import Explanation
from simulacrum.harness.page.listing import Listing, brief, listing
from simulacrum.harness.page.timeline import timeline
from simulacrum.harness.small.config import small_package
from simulacrum.trace.divergence import Divergence
from simulacrum.trace.jsonio import write_bytes
from simulacrum.trace.show import configuration_text, where_text
from simulacrum.trace.values import plain_json

_FOLDER = Path(__file__).parent


def write_page(told: Explanation, package: EnvPackage, path: str | Path) -> Path:
    """Write the page of an explanation, whole or not at all, and return its path.

    Raises:
        TraceError: the file cannot be written. PackageError: the twins cannot be read.
    """
    path = Path(path)
    write_bytes(path, page_html(told, package).encode("utf-8"))
    return path


def page_html(told: Explanation, package: EnvPackage) -> str:
    """The page as text: HTML 5 with its style, its script and its pictures inside."""
    small = told.record.configuration.small
    with small_package(package, None if small is None else dict(small)) as judged:
        return _template().render(**_shown(told, judged))


def _shown(told: Explanation, package: EnvPackage) -> dict[str, Any]:
    """Everything that the template shows, by name."""
    record, times = told.record, timeline(told.record, package, told.path)
    ran = dict.fromkeys(rule for column in times.columns for rule in column.rules)
    named = {rule.id for rule in told.rules}
    spec = package.spec.rules
    return {
        "told": told,
        "record": record,
        "item": record.difference,
        "where": where_text(record),
        "ran_as": configuration_text(record),
        "times": times,
        "sides": ("reference.py", f"fast.py, {record.configuration.form}"),
        "rules": told.rules,
        "other_rules": [spec[name] for name in ran if name in spec and name not in named],
        "linked": named | set(ran),
        "listings": _listings(told, package),
        "traces": [(told.reference.file, told.watched_reference), (told.fast.file, told.watched_fast)],
        "facts": _facts(record),
        "shrunk": _shrunk(record),
        "style": _text("page.css"),
        "script": _text("page.js"),
    }


def _listings(told: Explanation, package: EnvPackage) -> list[Listing]:
    """The source of both twins, the first differing value marked."""
    first = told.parting
    return [
        listing(read_source(package.folder / side.file), side.lines, told.near_values(watched), line)
        for side, watched, line in (
            (told.reference, told.watched_reference, None if first is None else first.reference_line),
            (told.fast, told.watched_fast, None if first is None else first.fast_line),
        )
    ]


def _facts(record: Divergence) -> list[tuple[str, str]]:
    before = "none: it is a reset" if record.previous_state is None else _json(record.previous_state)
    found = [("where", where_text(record)), ("ran as", configuration_text(record)), ("state before", before)]
    if record.action is not None:
        found.append(("action", _json(record.action)))
    if record.forced:
        found.append(("draws put in", _json(record.forced)))
    if record.configuration.small is not None:
        found.append(("made small", _json(record.configuration.small)))
    return found


def _shrunk(record: Divergence) -> dict[str, Any] | None:
    """The smallest case in words and as JSON."""
    if record.shrunk is None:
        return None
    line = record.shrunk.case.line
    return {
        "summary": record.shrunk.summary,
        "start": None if line.start is None else _json(line.start),
        "seed": line.seed,
        "actions": [_json(action) for action in line.actions],
        "params": _json(line.params) if line.params else "",
        "forced": _json(record.shrunk.case.forced) if record.shrunk.case.forced else "",
        "difference": record.shrunk.difference,
        "trials": record.shrunk.trials,
    }


def _json(value: Any) -> str:
    return json.dumps(plain_json(value), ensure_ascii=False)


def _values(values: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(name, brief(value)) for name, value in values.items()]


@functools.cache
def _text(name: str) -> str:
    return (_FOLDER / name).read_text("utf-8")


@functools.cache
def _template() -> jinja2.Template:
    loader = jinja2.FileSystemLoader(_FOLDER)
    made = jinja2.Environment(
        loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    filters: dict[str, Any] = made.filters
    filters |= {"brief": brief, "values": _values}
    return made.get_template("page.html")
