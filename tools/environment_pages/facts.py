"""What a page tells of its environment: what the package says of itself, and what was measured and kept.

Measured are the files NAME-throughput.json (tests/benchmarks/environments.py), NAME-training.json
(training/published.py) and NAME-validation.json (tools/environment_facts.py). Where one is missing, a page says nothing
of it. Each states a hash of the package that it was measured on.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from simulacrum.attest.mutation import digests
from simulacrum.contract.fields import Field
from simulacrum.contract.package import EnvPackage

ROOT = Path(__file__).resolve().parents[2]
MEASURED = ROOT / "docs" / "assets" / "environments"
PARTS = ("throughput", "training", "validation")
OWN_TESTS = ("rules", "probes", "render")  # ends of names of test files that compare with nothing outside


@dataclass(frozen=True)
class Facts:
    """One environment: its package, and the measured parts by name; None where there is none."""

    package: EnvPackage
    throughput: dict[str, Any] | None
    training: dict[str, Any] | None
    validation: dict[str, Any] | None

    @property
    def name(self) -> str:
        return self.package.name

    def older(self, part: dict[str, Any]) -> bool:
        """Whether the package was edited since that part was measured."""
        return part.get("package") != digests(self.package)[0]


def facts(package: EnvPackage, folder: Path = MEASURED) -> Facts:
    """What is kept of an environment in `folder`."""
    found = {}
    for part in PARTS:
        path = folder / f"{package.name}-{part}.json"
        found[part] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None
    return Facts(package, **found)


@dataclass(frozen=True)
class Outside:
    """A distribution that the reference drives: its name, the version here, the versions asked for ("" for any)."""

    name: str
    installed: str
    asked: str

    @property
    def text(self) -> str:
        return f"{self.name} {self.installed}" + (f" ({self.asked})" if self.asked else "")


def outside(package: EnvPackage) -> list[Outside]:
    """What the reference drives, as `x-outside` names it."""
    asked = _asked()
    return [Outside(name, _installed(name), asked.get(name, "")) for name in package.schema.outside]


def _installed(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _asked() -> dict[str, str]:
    """Ranges of versions in pyproject.toml by name; read as text, since Python 3.10 has no reader of TOML."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    listed = re.findall(r'"([A-Za-z][\w.-]*)(?:\[[\w,-]*\])?((?:[<>=!~]=?[\d.*]+,?)+)"', text)
    return {name.lower().replace("_", "-"): versions for name, versions in listed}


def comparisons(package: EnvPackage) -> list[tuple[str, str]]:
    """Tests that hold the twin to the untouched original: (path, first line of what the file says of itself)."""
    found = []
    for path in sorted((ROOT / "tests" / "envs").glob(f"test_{package.name}_*.py")):
        if path.stem.rpartition("_")[2] not in OWN_TESTS:
            told = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
            found.append((path.relative_to(ROOT).as_posix(), told.partition("\n")[0]))
    return found


def fields(package: EnvPackage) -> Iterator[Field]:
    """Every field that the twins compute."""
    schema = package.schema
    for group in (schema.state, schema.observation, schema.info):
        yield from group.values()
    yield schema.reward


def trained(part: dict[str, Any]) -> str:
    """`500.0`, or `480.2 to 500.0` where seeds differ."""
    ends = sorted(run["return"] for run in part["runs"])
    low, high = (f"{end:,.4g}" for end in (ends[0], ends[-1]))
    return low if low == high else f"{low} to {high}"


def fastest(part: dict[str, Any]) -> tuple[float, int] | None:
    """The native form's highest rate and its rows."""
    own = next((row for row in part["rows"] if row["name"] == "native"), None)
    return max(((rate, int(size)) for size, rate in own["rates"].items()), default=None) if own else None


def one_by_one(part: dict[str, Any]) -> tuple[float, str, int] | None:
    """The same as `ahead` for the original itself, one environment after the other, at the most rows."""
    row = next((row for row in part["rows"] if row["name"].endswith("SyncVectorEnv") and row["native_is"]), None)
    if row is None:
        return None
    size = max(row["native_is"], key=int)
    return row["native_is"][size], row["name"], int(size)


def ahead(part: dict[str, Any]) -> tuple[float, str, int] | None:
    """How many times as fast the native form is as the fastest peer, at the most rows that both were measured at."""
    sizes = sorted({int(size) for row in part["rows"] if row["kind"] == "peer" for size in row["native_is"]})
    for size in reversed(sizes):
        near = [(row["native_is"][str(size)], row["name"], size) for row in part["rows"]
                if row["kind"] == "peer" and str(size) in row["native_is"]]  # fmt: skip
        if near:
            return min(near)
    return None
