"""Where a package's reports may lie. Nothing here reads or writes one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simulacrum.contract.package import EnvPackage

REPORT_NAME = "validation_report.json"


def state_folder() -> Path:
    """The user's state directory for simulacrum; the variable SIMULACRUM_STATE_DIR names another."""
    chosen = os.environ.get("SIMULACRUM_STATE_DIR")
    if chosen:
        return Path(chosen)
    from platformdirs import user_state_path

    return user_state_path("simulacrum", appauthor=False)


def report_places(package: EnvPackage) -> list[Path]:
    """Every file that may hold a full report of `package`, its own folder's first; some may not exist."""
    kept = state_folder() / "reports" / package.name
    try:
        under_digest = sorted(kept.glob(f"*/{REPORT_NAME}"))
    except OSError:
        under_digest = []
    return [package.folder / REPORT_NAME, *under_digest]


def partial_place(package: EnvPackage) -> Path:
    """Where the last partial run of `package` is written down. No gate opens or closes by it."""
    return state_folder() / "partial" / package.name / REPORT_NAME
