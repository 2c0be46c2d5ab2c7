"""The verdicts of a run, kept in a folder so that the next run goes on where this one stopped."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from simulacrum.attest.atomic import replace_file
from simulacrum.errors import UsageError
from simulacrum.mutate.mutant import Mutant
from simulacrum.mutate.verdict import Verdict, digest_of

FORMAT, VERSION = "simulacrum mutation results", 1
NAME = "results.json"
PAUSE = 2.0  # seconds between two writings, at least


@dataclass
class Results:
    """Verdicts by the hash of the changed file, in `folder`/results.json; in memory only where there is no folder.

    about: what they depend on beside the mutant: the digest of package and framework, and how they were judged.
    """

    about: Mapping[str, Any]
    folder: Path | None = None
    found: dict[str, dict[str, Any]] = field(default_factory=dict[str, "dict[str, Any]"])
    written: float = 0.0

    @classmethod
    def open(cls, folder: Path | None, about: Mapping[str, Any]) -> Results:
        """What the folder holds for the same `about`; nothing where it is of another.

        Raises:
            UsageError: the file there is not one of this kind, or cannot be read.
        """
        made = cls(about, folder)
        if folder is None or not (folder / NAME).exists():
            return made
        path = folder / NAME
        try:
            body = cast("dict[str, Any]", json.loads(path.read_text("utf-8")))
            known = body["format"] == FORMAT and body["version"] == VERSION
            if known and body["about"] == json.loads(json.dumps(dict(about))):
                made.found = {one["digest"]: one for one in body["mutants"]}
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise UsageError(f"the results of an earlier run cannot be read: {error}", where=path,
                             next_step="name another folder with --output, or remove the file") from error
        if not known:
            raise UsageError("a file of another kind lies where the results go", where=path,
                             next_step="name another folder with --output")
        return made

    def get(self, mutant: Mutant) -> Verdict | None:
        """The verdict of an earlier run. One that ran out of time, or whose process ended, is not kept."""
        one = self.found.get(digest_of(mutant))
        verdict = None if one is None else Verdict.from_json(one["verdict"])
        return verdict if verdict is not None and verdict.status not in ("timeout", "lost") else None

    def put(self, mutant: Mutant, verdict: Verdict) -> None:
        """Keep a verdict; the file follows within some seconds, or with `save`."""
        digest = digest_of(mutant)
        self.found[digest] = {"digest": digest, **described(mutant), "verdict": verdict.to_json()}
        if time.monotonic() - self.written > PAUSE:
            self.save()

    def save(self) -> None:
        """Write the file now."""
        if self.folder is None:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        body = {"format": FORMAT, "version": VERSION, "about": self.about, "mutants": list(self.found.values())}
        replace_file(self.folder / NAME, json.dumps(body, indent=1, default=str).encode())
        self.written = time.monotonic()


def described(mutant: Mutant) -> dict[str, Any]:
    """A mutant in words, without the whole file."""
    return {
        "id": mutant.id, "kind": mutant.kind, "operator": mutant.operator, "file": mutant.file, "line": mutant.line,
        "before": mutant.before, "after": mutant.after, "dose": mutant.dose, "note": mutant.note, "diff": mutant.diff,
    }  # fmt: skip
