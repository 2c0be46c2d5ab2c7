"""A failure with all that is needed to mend it: rules, the lines of both twins, and what they computed on the way.

The record of a divergence says what differs. Here it is joined with the package as it is now: the rule's words and line
in spec.md, the lines that compute the field in both twins (`explain.written`), and its one step run again line by line
(`explain.watched`). `cli.explaining` prints it for people, `Explanation.to_json` is what programs get.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from simulacrum.contract.package import EnvPackage
from simulacrum.contract.source import read_source
from simulacrum.errors import UsageError
from simulacrum.harness.explain.explanation import Explanation, RuleSource, TwinSource, named_at
from simulacrum.harness.explain.standing import Standing, earlier, standing
from simulacrum.harness.explain.watched import (
    Watched,
    at_its_part,
    comparable,
    first_parting,
    watch_fast,
    watch_reference,
)
from simulacrum.harness.explain.watched_case import watch_case
from simulacrum.harness.explain.written import lines_that_compute
from simulacrum.harness.small.config import small_package
from simulacrum.trace.divergence import Divergence

NEAR = 2  # lines no further than this from where the value is handed over name the rules that are shown
EARLIER = 3  # agreeing steps before the divergent one that say which names mean the same in both twins


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
    first = () if parting is None else named_at(parting, one, two)
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
