"""Which drawings a package offers, as both Gymnasium faces say it. No torch, so that the single face needs none."""

from __future__ import annotations

from typing import Any

from simulacrum.contract.package import EnvPackage
from simulacrum.errors import UsageError

RENDER_MODES = ("rgb_array", "ansi")


def check_render_mode(package: EnvPackage, mode: Any) -> str | None:
    """None or a mode that the package can draw."""
    if mode is None:
        return None
    if mode not in RENDER_MODES:
        raise UsageError(
            "unknown render mode", expected=f"None or one of {RENDER_MODES}", found=repr(mode), where="render_mode="
        )
    if package.render() is None:
        raise UsageError(
            f"{package.name} has no render.py", expected="render_mode=None", found=repr(mode), where=str(package.folder)
        )
    return mode


def metadata(package: EnvPackage) -> dict[str, Any]:
    """A metadata dict of its own for each instance: Gymnasium's is shared by the class, and edits would leak."""
    drawn = (package.folder / "render.py").is_file()
    return {"render_modes": list(RENDER_MODES) if drawn else [], "render_fps": 15}
