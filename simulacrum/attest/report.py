"""Reports on disk: where they lie, how they are read, and the one way to write them.

A full run's report is `validation_report.json` in the package's folder or, where that folder cannot be
written, in the user's state directory under the digest. A partial run's report goes to a place of its own,
which the gate only ever mentions. Nothing here looks at a file's time.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from simulacrum.attest.atomic import cannot_write, folder_lock, replace_file
from simulacrum.attest.canonical import seal_of
from simulacrum.attest.catalog import CHECK_NAMES, OPTIONAL_NAMES
from simulacrum.attest.certificate import NATIVE, forget_others, keep
from simulacrum.attest.mutation import stated_score
from simulacrum.attest.places import REPORT_NAME, partial_place, report_places, state_folder
from simulacrum.attest.record import (
    FORMAT,
    VERSION,
    CheckResult,
    Configuration,
    Report,
    body_of,
    from_body,
)
from simulacrum.attest.subjects import Present
from simulacrum.errors import ReportError

if TYPE_CHECKING:
    from simulacrum.contract.package import EnvPackage

__all__ = [
    "REPORT_NAME",
    "CheckResult",
    "Configuration",
    "Report",
    "add_result",
    "add_score",
    "merged",
    "partial_place",
    "read_report",
    "report_places",
    "state_folder",
    "write_report",
]


class Binary(Protocol):
    """A native form on disk: its file, and what it says of itself ("processor" and "compiler" among it)."""

    @property
    def path(self) -> Path: ...

    @property
    def about(self) -> Mapping[str, Any]: ...


def read_report(path: Path | str) -> Report:
    """The report at `path`.

    Raises:
        ReportError: no such file, unreadable, not JSON, of another format version, against the schema, or
            its seal does not fit (cut short or edited); the message says which and where.
    """
    path = Path(path)
    again = "run the validation again; it writes a new report"
    try:
        body: Any = json.loads(path.read_bytes())
    except FileNotFoundError as error:
        raise ReportError("there is no validation report", where=path, next_step=again) from error
    except OSError as error:
        raise ReportError(f"the report cannot be read: {error.strerror or error}", where=path) from error
    except (ValueError, RecursionError) as error:
        raise ReportError(f"the report is not JSON: {error}", where=path, next_step=again) from error
    if not isinstance(body, dict):
        raise ReportError("the report is not a JSON object", where=path, next_step=again)
    found = cast("dict[str, Any]", body)
    if (found.get("format"), found.get("version")) != (FORMAT, VERSION):
        raise ReportError(
            "the report was written by another version of simulacrum, or is no report",
            expected=f"{FORMAT}, version {VERSION}",
            found=f"{found.get('format')!r}, version {found.get('version')!r}",
            where=path,
            next_step=again,
        )
    _check_against_schema(found, path)
    if found["seal"] != seal_of(found):
        raise ReportError(
            "the report was changed after it was written: its content does not fit its seal",
            expected=found["seal"],
            found=seal_of(found),
            where=path,
            next_step=again,
        )
    return from_body(found)


def write_report(package: EnvPackage, report: Report, binary: Binary | None = None) -> Path:
    """Write `report` and return where it lies now.

    `binary` is the native form that a full run judged; a copy is put beside the report, which states its hash.

    A full run's report replaces the old one in one move, passed or failed; the configurations that earlier
    runs validated for the very same subjects and environment are kept (see `merged`). A partial run's goes to
    `partial_place` and touches no full report.

    Raises:
        ReportError: the subjects changed while the run went on, the report holds what JSON cannot, or
            neither the package's folder nor the state directory takes it (full disk, no rights). The old
            report is as it was.
    """
    if not report.full:
        return _put_in_state(partial_place(package), package, report)
    edited = Present(package).changes_since(report)
    if edited:
        raise ReportError(
            "files changed while the validation ran, so its outcome belongs to no version of them",
            expected="the same files at the end as at the start",
            found="; ".join(edited),
            where=package.folder,
            next_step="run the validation again; the report on disk, if any, was left alone",
        )
    try:
        return _put(package.folder / REPORT_NAME, package, report, binary)
    except OSError as error:
        if not cannot_write(error):
            raise
    return _put_in_state(
        state_folder() / "reports" / package.name / report.whole / REPORT_NAME, package, report, binary
    )


def add_result(package: EnvPackage, path: Path, whole: str, name: str, result: CheckResult) -> Path:
    """Put the result of an optional check into the full report at `path`, in one move; all else in it stays.

    `whole` is the hash of what the result was found on. An earlier result of that name is replaced.

    Raises:
        ReportError: the report, or the files of the package, are of another content by now, or it cannot be written;
            the report is as it was.
    """
    with folder_lock(path.parent):
        report = read_report(path)
        edited = Present(package).changes_since(report)
        if report.whole != whole or edited:
            raise ReportError(
                f"{name} was found on other files than the report is about now",
                expected=f"the digest {whole[:12]}",
                found="; ".join(edited) or f"the digest {report.whole[:12]}",
                where=path,
                next_step="run it again; the report was left alone",
            )
        try:
            _write(path, replace(report, checks={**report.checks, name: result}))
        except OSError as error:
            raise ReportError(f"the report cannot be written: {error.strerror or error}", where=path) from error
    return path


def merged(old: Report, new: Report) -> Report:
    """`new` together with the configurations that `old` validated for the same subjects and environment.

    The results of optional checks, which a full run does not have, are kept as well.

    Where both validated one configuration, `new` wins. Another digest: `new` alone. A failing `new` keeps
    the others' outcomes; whether they count is up to its checks: a failed check of the environment itself
    closes all of them, a failed parity only its own configuration.
    """
    if not (old.full and new.full) or old.whole != new.whole:
        return new
    by_key = {one.key: one for one in (*old.configurations, *new.configurations)}
    kept = tuple(by_key[key] for key in sorted(by_key))
    checks = {**{name: old.checks[name] for name in OPTIONAL_NAMES if name in old.checks}, **new.checks}
    return replace(new, checks=checks, configurations=kept, revision=max(new.revision, old.revision + 1))


def _put(path: Path, package: EnvPackage, report: Report, binary: Binary | None = None) -> Path:
    with folder_lock(path.parent):
        if binary is not None:
            report = _with_binary(report, keep(binary.path, binary.about, path.parent))
        if report.full:
            for old in sorted(_readable(package), key=lambda old: old.revision, reverse=True):
                report = merged(old, report)
            report = replace(report, mutation_score=stated_score(package))
        _write(path, report)
        forget_others(report, path.parent)
    return path


def add_score(package: EnvPackage) -> list[Path]:
    """Put the package's mutation score into its reports on these very files; returns those that state it now.

    Nothing else of a report changes, its seal included: a score decides nothing. A report that cannot be read, or that
    lies where nothing can be written, stays as it is.
    """
    score, stated = stated_score(package), list[Path]()
    present = Present(package)
    for path in report_places(package) if score is not None else ():
        with contextlib.suppress(ReportError, OSError), folder_lock(path.parent):
            report = read_report(path)
            if not present.changes_since(report):
                _write(path, replace(report, mutation_score=score))
                stated.append(path)
    return stated


def _write(path: Path, report: Report) -> None:
    body = body_of(report)
    body["seal"] = seal_of(body)
    _check_against_schema(body, path)
    text = json.dumps(body, sort_keys=True, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    replace_file(path, text.encode("utf-8"))


def _with_binary(report: Report, about: Mapping[str, Any]) -> Report:
    """The report with the file of its native configuration named in it."""
    configurations = tuple(
        replace(one, details={**one.details, "binary": about}) if one.compile == NATIVE else one
        for one in report.configurations
    )
    return replace(report, configurations=configurations)


def _put_in_state(path: Path, package: EnvPackage, report: Report, binary: Binary | None = None) -> Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return _put(path, package, report, binary)
    except OSError as error:
        raise ReportError(
            f"the report could not be written: {error.strerror or error}",
            where=path,
            next_step="make the folder writable, or name one that is in the variable SIMULACRUM_STATE_DIR",
        ) from error


def _readable(package: EnvPackage) -> Iterator[Report]:
    for place in report_places(package):
        with contextlib.suppress(ReportError):  # none there, or damaged: there is nothing of it to keep
            yield read_report(place)


@lru_cache(maxsize=1)
def _validator() -> Any:
    # Imported here: jsonschema takes a while to import, and most users of this file only ask where reports
    # lie.
    from jsonschema import Draft202012Validator

    schema = json.loads(files("simulacrum.attest").joinpath("report.schema.json").read_text("utf-8"))
    schema["properties"]["checks"]["propertyNames"] = {"enum": [*CHECK_NAMES, *OPTIONAL_NAMES]}
    return Draft202012Validator(schema)


def _check_against_schema(body: Mapping[str, Any], path: Path) -> None:
    error = next(iter(_validator().iter_errors(body)), None)
    if error is not None:
        raise ReportError(
            f"the report does not fit its schema: {error.message[:200]}",
            where=f"{path}, at {error.json_path}",
            next_step="run the validation again; it writes a new report",
        )
