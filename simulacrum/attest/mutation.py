"""The mutation score of a package, kept beside its validation report, which states the sum of it.

It says which files it was measured on. The gate does not read it: a score is about the battery, not about the package's
being right.
"""

from __future__ import annotations

import datetime
import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, cast

from simulacrum.attest.atomic import cannot_write, replace_file
from simulacrum.attest.places import state_folder
from simulacrum.contract.digest import MUTATION_SCORE, package_files, subject_files
from simulacrum.contract.package import EnvPackage

FORMAT, VERSION = "simulacrum mutation score", 1


@dataclass(frozen=True)
class Score:
    """How many mutants of fast.py that are faults the battery found. `sampled`: how many of `planted` were looked at.

    package, battery: hashes over the package's files and over the framework's. summary: as `matrix.summary` gives it.
    """

    env_id: str
    killed: int
    counted: int
    planted: int
    sampled: int
    seconds: float
    finished: str
    package: str
    battery: str
    summary: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def text(self) -> str:
        """`312/312`, with `of 900` behind it where only some of the mutants were looked at."""
        more = f" of {self.planted}" if self.sampled < self.planted else ""
        return f"{self.killed}/{self.counted}{more}"

    @property
    def brief(self) -> dict[str, Any]:
        """All of it but the files' hashes, with of the summary only the ids that survived and each kind's score."""
        kinds = cast("Mapping[str, Mapping[str, Any]]", self.summary.get("kinds", {}))
        return {
            "score": self.text, "killed": self.killed, "counted": self.counted, "planted": self.planted,
            "sampled": self.sampled, "seconds": float(self.seconds), "finished": self.finished,
            "survivors": list(self.summary.get("survivors", ())),
            "kinds": {kind: str(one["score"]) for kind, one in kinds.items()},
        }  # fmt: skip


@dataclass(frozen=True)
class Known:
    """A score on disk, and whether it is about what is there now. `why` is empty where it is."""

    score: Score
    path: Path
    why: str

    @property
    def stale(self) -> bool:
        """Whether the package has changed since; a change of the framework alone makes it `older battery`."""
        return self.why == PACKAGE_CHANGED

    @property
    def age(self) -> str:
        """`3 h`, `5 d`."""
        finished = datetime.datetime.fromisoformat(self.score.finished)
        seconds = (datetime.datetime.now(datetime.timezone.utc) - finished).total_seconds()
        for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60)):
            if seconds >= size:
                return f"{int(seconds // size)} {unit}"
        return "now"


PACKAGE_CHANGED = "the package changed since"
BATTERY_CHANGED = "the battery changed since"


def digests(package: EnvPackage) -> tuple[str, str]:
    """Hashes over the files of the package's folder, and over the framework's; nothing is imported for them."""
    own = package_files(package.folder)
    framework = {name: path for name, path in subject_files(package).items() if name.startswith("simulacrum/")}
    return _hash(own), _hash(framework)


def write_score(package: EnvPackage, score: Score) -> Path:
    """Put the score in the package's folder or, where that cannot be written, in the user's state directory."""
    body = json.dumps({"format": FORMAT, "version": VERSION, **asdict(score)}, indent=1, default=str).encode()
    places = _places(package)
    try:
        replace_file(places[0], body)
    except OSError as error:
        if not cannot_write(error):
            raise
        places[1].parent.mkdir(parents=True, exist_ok=True)
        replace_file(places[1], body)
        return places[1]
    return places[0]


def read_score(package: EnvPackage) -> Known | None:
    """The score of a package, or None where there is none that can be read."""
    for path in _places(package):
        try:
            body = cast("dict[str, Any]", json.loads(path.read_bytes()))
            if (body.pop("format"), body.pop("version")) != (FORMAT, VERSION):
                continue
            score = Score(**body)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            continue
        own, framework = digests(package)
        why = PACKAGE_CHANGED if own != score.package else BATTERY_CHANGED if framework != score.battery else ""
        return Known(score, path, why)
    return None


def stated_score(package: EnvPackage) -> dict[str, Any] | None:
    """What a report on the package and the framework as they are now says of the score; None where there is none.

    A score of other files, were they only the framework's, is left out: a report is about one state of them.
    """
    known = read_score(package)
    return known.score.brief if known is not None and not known.why else None


def _places(package: EnvPackage) -> tuple[Path, Path]:
    return package.folder / MUTATION_SCORE, state_folder() / "mutation" / package.name / MUTATION_SCORE


def _hash(files: Mapping[str, Path]) -> str:
    digest = hashlib.sha256()
    for name in sorted(files):
        digest.update(f"{name}\0".encode())
        digest.update(hashlib.sha256(files[name].read_bytes()).digest())
    return digest.hexdigest()


def now() -> str:
    """The time as scores state it: ISO 8601 in UTC."""
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
