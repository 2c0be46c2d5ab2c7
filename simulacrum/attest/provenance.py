"""Which environment a result comes from: what a training run writes down, and what it compares when it goes on.

A run that is resumed on changed rules is two runs, and neither was what its curve says. So a checkpoint carries the
digest of the report that opened the gate, with the hashes behind it, and resuming compares file by file.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from simulacrum.attest.gate import GateState
from simulacrum.contract.digest import Digest, compare
from simulacrum.errors import ProvenanceError, UsageError

# Rooms that judge an environment and have no part in what it does: a run may go on after they changed.
_JUDGES = ("simulacrum/harness/", "simulacrum/trace/")


def provenance(state: GateState) -> dict[str, Any]:
    """What to keep with a result: `env_id`, `digest` and `seal` of the report, `subjects`, `environment`.

    `digest` is the report's hash over all that was judged and with what, `seal` names the report itself; `subjects`
    maps each file's name to its SHA-256, `environment` holds versions and platform. All of it is JSON.

    Args:
        state: what `require_fresh_report` returned.

    Raises:
        UsageError: the state is of a closed gate, which `strict=False` lets through.
    """
    report = state.report
    if report is None or not state.fresh:
        raise UsageError(
            "there is no report that speaks for this environment",
            expected="the state of an open gate",
            found=f"a gate that is closed: {state.status}",
            next_step=state.next_command,
        )
    return {
        "env_id": report.env_id,
        "digest": report.whole,
        "seal": report.seal,
        "subjects": dict(report.subjects),
        "environment": dict(report.environment),
    }


def require_same_env(recorded: Mapping[str, Any], state: GateState, *, where: Any = None) -> None:
    """Refuse to go on with a result on another environment than the one it comes from.

    Rooms of the framework that only judge environments may differ. Everything else that the reports name must not: the
    package's files, the rooms that run them, Python, torch, the platform.

    Args:
        recorded: what `provenance` gave when the result was made.
        state: what `require_fresh_report` returned now.
        where: the file or folder that `recorded` was read from, for the message.

    Raises:
        ProvenanceError: something differs; the message says what.
    """
    now = provenance(state)
    try:
        before = _digest(recorded)
        env_id = str(recorded["env_id"])
    except (KeyError, TypeError, ValueError, AttributeError):
        raise ProvenanceError(
            "it does not say which environment it was made with", where=where, next_step="start a new run"
        ) from None
    if env_id != now["env_id"]:
        raise ProvenanceError(
            "it was made with another environment", expected=env_id, found=now["env_id"], where=where,
            next_step=f"name {env_id}, or start a new run",
        )  # fmt: skip
    changes = compare(*_comparable(before, _digest(now)))
    if changes:
        shown = [*changes[:8], *([f"and {len(changes) - 8} more"] if len(changes) > 8 else [])]
        raise ProvenanceError(
            f"{env_id} is not the environment it was made with: {'; '.join(shown)}",
            expected=f"digest {str(recorded['digest'])[:12]}",
            found=f"digest {now['digest'][:12]}",
            where=where,
            next_step="start a new run, or go back to the files of that digest",
        )


def _digest(recorded: Mapping[str, Any]) -> Digest:
    subjects = {
        str(name): str(sha)
        for name, sha in cast("Mapping[str, str]", recorded["subjects"]).items()
        if not str(name).startswith(_JUDGES)
    }
    return Digest(subjects, dict(recorded["environment"]), str(recorded["digest"]))


def _comparable(before: Digest, now: Digest) -> tuple[Digest, Digest]:
    """Both without modules outside package and framework that one process had loaded and the other had not."""
    alone = {name for name in {*before.subjects, *now.subjects} if not name.startswith(("envs/", "simulacrum/"))}
    alone -= before.subjects.keys() & now.subjects.keys()
    kept = [{name: sha for name, sha in one.subjects.items() if name not in alone} for one in (before, now)]
    return Digest(kept[0], before.environment, before.whole), Digest(kept[1], now.environment, now.whole)
