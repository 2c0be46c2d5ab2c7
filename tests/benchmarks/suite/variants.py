"""forager with other numbers of berries and other grids, as packages of their own, to see how cost grows.

    python tests/benchmarks/suite/variants.py FOLDER BERRIES SIZE     makes FOLDER/forager

The rules stay as they are; constants, bounds, shapes and counts are replaced in `__init__.py`, `schema.json` and the
tables of `spec.md`, so that the three agree (tests/benchmarks/test_variants.py) and the battery's `differential` holds.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any

FORAGER = Path(__file__).parents[3] / "envs" / "forager"
OWN = 5  # numbers of an observation that are not about berries
BERRIES, SIZE = 6, 8  # as the built-in package has them
FILES = ("__init__.py", "fast.py", "reference.py", "probes.py", "render.py", "schema.json", "spec.md")


def make(folder: Path, berries: int, size: int) -> Path:
    """Write the package `folder`/forager with so many berries on a grid of `size` x `size`; returns its folder."""
    package = folder / "forager"
    package.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        shutil.copyfile(FORAGER / name, package / name)
    constants = {"BERRIES": (BERRIES, berries), "SIZE": (SIZE, size)}
    for name, (old, new) in constants.items():
        _replace(package / "__init__.py", rf"^{name} = {old}$", f"{name} = {new}")
        _replace(package / "spec.md", rf"^\| {name} \| {old} \|", f"| {name} | {new} |")
    schema = json.loads((package / "schema.json").read_text(encoding="utf-8"))
    _change(schema, berries, size)
    (package / "schema.json").write_text(json.dumps(schema, indent=2) + "\n", encoding="utf-8")
    # The tables of the spec: bounds and counts of the state and of the draws.
    _replace(package / "spec.md", r"^(\| (?:x|y|berry_x|berry_y) \| .* \| 0) \| 7 \|", rf"\1 | {size - 1} |", 4)
    _replace(package / "spec.md", r"\| \[6\] \|", f"| [{berries}] |", 4)
    _replace(package / "spec.md", r"^(\| energy \| .* \| 0) \| 2\.8 \|", rf"\1 | {_gains(berries) + 1} |")
    _replace(package / "spec.md", r"^(\| berry_\w+ \| reset \| .*) \| 6 \|", rf"\1 | {berries} |", 3)
    return package


def _gains(berries: int) -> float:
    """The most that all berries give together."""
    return round(0.3 * berries, 2)


def _change(schema: dict[str, Any], berries: int, size: int) -> None:
    """The schema of the built-in package becomes the variant's."""
    for draw in schema["x-draws"]:
        if "count" in draw:
            draw["count"] = berries
    parts = schema["properties"]
    state, info = parts["state"]["properties"], parts["info"]["properties"]
    for name in ("x", "y"):
        state[name]["maximum"] = size - 1
    for name in ("berry_x", "berry_y", "berry_kind", "alive"):
        state[name] |= {"minItems": berries, "maxItems": berries, "x-shape": [berries]}
    for name in ("berry_x", "berry_y"):
        state[name]["items"]["maximum"] = size - 1
    state["energy"]["maximum"] = _gains(berries) + 1
    numbers = OWN + 3 * berries
    observation = parts["observation"]
    observation |= {"minItems": numbers, "maxItems": numbers, "x-shape": [numbers]}
    observation["x-low"] = [0] * OWN + [-1] * (2 * berries) + [0] * berries
    observation["x-high"] = [1, 1, _gains(berries) + 1, 1, 1] + [1] * (3 * berries)
    parts["reward"]["maximum"] = round(10 * _gains(berries) - 0.1 + 0.01, 2)
    info["eaten"]["maximum"] = berries
    info["gain"]["maximum"] = round(_gains(berries) + 0.01, 2)


def _replace(path: Path, pattern: str, new: str, times: int = 1) -> None:
    """Replace what matches in a file. The program ends if that is not `times` places: the package has changed."""
    text, found = re.subn(pattern, new, path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    if found != times:
        raise SystemExit(f"{pattern!r} is {found} times in {path.name} of forager, not {times}: edit {__file__}")
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    print(make(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
