"""Keep what validation and mutation found, for the pages of the documentation: `python tools/environment_facts.py`.

    python tools/environment_facts.py               every environment whose report is full, passing and fresh
    python tools/environment_facts.py cartpole      this one; a failure where its report is not

Reads the report that `simulacrum validate` left, with the score of `simulacrum mutate` where there is one, and writes
docs/assets/environments/NAME-validation.json.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from simulacrum.attest.gate import gate_state, require_fresh_report
from simulacrum.attest.mutation import digests, read_score
from simulacrum.contract.package import BrokenPackage, EnvPackage, load_package, packages_at

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "docs" / "assets" / "environments"
SMALL = ("states", "transitions", "complete", "max_episode_steps", "constants")


def summary(package: EnvPackage) -> dict[str, Any]:
    """What the page tells. Raises GateError where no full, passing and fresh report is there."""
    report = require_fresh_report(package).report
    assert report is not None  # an open gate has one
    found = report.checks["differential"].evidence
    small = found.get("small_model")
    known = read_score(package)
    score = known.score.brief if known is not None and not known.stale else None
    facts = report.environment
    return {
        "env_id": package.env_id,
        "transitions": found["compared_transitions"] + found.get("native_transitions", 0),
        "forms": [one.compile for one in report.configurations if one.outcome == "passed"],
        "small_model": {key: small[key] for key in SMALL if key in small} if small else None,
        "score": {key: score[key] for key in ("killed", "counted", "planted", "sampled")} if score else None,
        "package": digests(package)[0],
        "with": ", ".join(f"{name.removeprefix('outside ')} {facts[name].partition('+')[0]}"
                          for name in facts if name == "torch" or name.startswith("outside ")),
        "made": report.finished[:10],
    }  # fmt: skip


def main(names: list[str]) -> int:
    """Write the files of the environments with these names, or of all that can be told of."""
    OUT.mkdir(parents=True, exist_ok=True)
    if names:
        chosen = [load_package(name) for name in names]
    else:
        every = [one for one in packages_at(ROOT / "envs") if not isinstance(one, BrokenPackage)]
        chosen = [one for one in every if gate_state(one).fresh]
    for package in chosen:
        body = summary(package)
        path = OUT / f"{package.name}-validation.json"
        path.write_text(json.dumps(body, indent=1) + "\n", encoding="utf-8")
        print(f"{package.name:24} {body['transitions']:>12,} transitions  {path.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
