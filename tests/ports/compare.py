"""Popular ports of known environments beside the programs that they port: `python tests/ports/compare.py --write`.

gymnax is given states and asked for one step of each; EnvPool is played, and each step that it shows is taken once more
by the original; in a grid where nothing is random both walk the same way. What differs by more than rounding is a
finding, with the first row that shows it. The ports are installed into virtual environments of their own at first use,
as for the benchmarks.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "tests" / "benchmarks"), str(Path(__file__).parent)]

import oracle  # noqa: E402  # after its folder is on the path
from suite import venvs  # noqa: E402  # as above

RESULT = ROOT / "docs" / "assets" / "ports.json"
# A float32 step of these is within 1e-4 of the float64 one, of numbers up to 30; a rule that differs is far more.
ROUNDING = 1e-3
PORTS: dict[str, tuple[str, ...]] = {
    "gymnax": (*oracle.CLASSIC, *oracle.MINATAR),
    "envpool": ("CartPole-v1", "MountainCar-v0", "MountainCarContinuous-v0", *oracle.TABLES, *oracle.GRIDS),
    "navix": oracle.GRIDS,
}


def driven(port: str, name: str, case: oracle.Case | None) -> oracle.Case:
    """What a port made of a case, or of its own episodes."""
    with tempfile.TemporaryDirectory() as folder:
        given, target = Path(folder, "case.npz"), Path(folder, "out.npz")
        if case is not None:
            np.savez(given, **case)  # type: ignore[arg-type]  # its own keywords are no names of ours
        script = Path(__file__).with_name(f"drive_{port}.py")
        paths = [str(target)] if case is None else [str(given), str(target)]
        command = [str(venvs.python_of(port)), str(script), name, *paths]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"{port} could not step {name}: {done.stderr.strip().splitlines()[-1]}")
        with np.load(target) as made:
            return {key: made[key] for key in made.files}


def differences(ours: oracle.Case, theirs: oracle.Case, given: oracle.Case) -> dict[str, dict[str, Any]]:
    """Field to the number of rows that differ by more than rounding, the most they do, and the first such row."""
    found: dict[str, dict[str, Any]] = {}
    for key, value in ours.items():
        apart = np.abs(value.astype(float) - theirs[key].astype(float)).reshape(len(value), -1)
        far = (apart > ROUNDING * (1 + np.abs(value.astype(float)).reshape(len(value), -1))).any(axis=1)
        if far.any():
            row = int(np.flatnonzero(far)[0])
            shown = {name.removeprefix("state."): given[name][row].tolist() for name in given}
            found[key.removeprefix("next.")] = {
                "rows": int(far.sum()), "most": float(apart.max()), "first": shown,
                "original": value[row].tolist(), "port": theirs[key][row].tolist(),
            }  # fmt: skip
    return found


def outcomes(name: str, made: oracle.Case) -> dict[str, dict[str, Any]]:
    """Transitions of a port that the original's table does not have."""
    table, wrong = oracle.allowed(name), []
    keys = ("state.cell", "action", "next.cell", "reward", "terminated")
    for state, action, after, reward, ended in zip(*(made[key].tolist() for key in keys), strict=True):
        outcome = (int(after), float(reward), bool(ended))
        if outcome not in table[int(state), int(action)]:
            wrong.append((state, action, outcome, sorted(table[int(state), int(action)])))
    if not wrong:
        return {}
    state, action, outcome, right = wrong[0]
    return {"outcome": {"rows": len(wrong), "first": {"state": state, "action": action}, "original": right,
                        "port": outcome}}  # fmt: skip


def walks(case: oracle.Case, made: oracle.Case) -> dict[str, dict[str, Any]]:
    """Steps of a grid whose image, reward or end differs, before the episode is over in the original."""
    found: dict[str, dict[str, Any]] = {}
    for key in ("image", "reward", "terminated"):
        ours, theirs = (side[key][:, 1:] if key == "image" else side[key] for side in (case, made))
        apart = np.abs(ours.astype(float) - theirs.astype(float)).reshape(*case["alive"].shape, -1).max(-1)
        far = (apart > ROUNDING) & case["alive"]
        if far.any():
            row, step = np.argwhere(far)[0].tolist()
            found[key] = {"rows": int(far.sum()), "most": float(apart[far].max()),
                          "first": {"actions": case["action"][row, : step + 1].tolist()}}  # fmt: skip
            if key == "image":
                turned = (ours != theirs.swapaxes(-2, -3)).reshape(*far.shape, -1).any(-1) & case["alive"]
                found[key]["rows with the axes exchanged"] = int(turned.sum())
            else:
                found[key] |= {"original": ours[row, step].tolist(), "port": theirs[row, step].tolist()}
    return found


def compared(port: str, name: str) -> dict[str, Any]:
    """One environment of a port beside its original."""
    longest = None
    if name in oracle.GRIDS:
        case = oracle.walked(name)
        made = driven(port, name, {"action": case["action"]})
        found, steps = walks(case, made), int(case["alive"].sum())
    elif port == "envpool":
        made = driven(port, name, None)
        if name in oracle.TABLES:
            found = outcomes(name, made)
        else:
            given = {key: value for key, value in made.items() if key == "action" or key.startswith("state.")}
            found = differences(oracle.stepped(name, given), made, given)
        steps = len(made["reward"])
        longest = int(made["elapsed"].max())
    else:
        case = oracle.case_of(name)
        given = {key: value for key, value in case.items() if key == "action" or key.startswith("state.")}
        made = driven(port, name, case)
        found = differences({key: value for key, value in case.items() if key not in given}, made, given)
        steps = len(case["reward"])
    return {"port": str(made["version"]), "environment": name, "steps": steps, "longest": longest, "differences": found}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ports", nargs="*", default=list(PORTS), help="gymnax, envpool, navix")
    parser.add_argument("--write", action="store_true", help="keep the result for the docs")
    chosen = parser.parse_args()
    failed = venvs.ensure(chosen.ports)
    if failed:
        raise SystemExit("; ".join(f"{name} {why}" for name, why in failed.items()))
    console, results = Console(), []
    table = Table("port", "environment", "steps", "differs in", "steps", "by")
    for column in table.columns[:2]:
        column.no_wrap = True
    with console.status("comparing") as status:
        for port in chosen.ports:
            for name in PORTS[port]:
                status.update(f"{port}: {name}")
                results.append(result := compared(port, name))
                for field, found in result["differences"].items() or [("-", {"rows": 0})]:
                    most = f"{found['most']:.3g}" if "most" in found else ""
                    table.add_row(result["port"], name, f"{result['steps']:,}", field, f"{found['rows']:,}", most)
    console.print(table)
    if chosen.write:
        versions = {name: version(name) for name in ("gymnasium", "minatar", "minigrid")}
        RESULT.write_text(json.dumps({"versions": versions, "results": results}, indent=1) + "\n", encoding="utf-8")
        console.print(f"written: {RESULT.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
