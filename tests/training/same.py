"""Whether two checkpoints are the same, and whether a resumed run ends in the one of an uninterrupted run."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import torch


def same(one: Any, other: Any) -> bool:
    """Equal in structure, dtype, shape and every bit."""
    if isinstance(one, torch.Tensor):
        return one.dtype == other.dtype and one.numpy().tobytes() == other.numpy().tobytes()
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and one == other


def assert_resumes_to_the_bit(script: ModuleType, runs: Path, **size: Any) -> None:
    """Six iterations at once, and the same in three parts. `size` is the script's arguments."""
    whole = script.main(script.Args(runs=runs / "whole", **size))
    folder = Path(script.main(script.Args(runs=runs / "parts", stop_after=2, **size))["folder"])
    assert set(script.main(script.Args(resume=folder, stop_after=1))) == {"folder"}
    resumed = script.main(script.Args(resume=folder))
    assert resumed["folder"] == str(folder)
    one, other = (torch.load(Path(run["folder"]) / "checkpoint.pt", weights_only=True) for run in (whole, resumed))
    assert one["iterations"] == other["iterations"] == 6
    own = set(one) - {"args", "environment", "seconds", "curve"}
    assert {"agent", "optimizer", "generator", "envs", "observation"} <= own
    for key in own:
        assert same(one[key], other[key]), key
    returns, others = ([point[2:] for point in run["curve"]] for run in (whole, resumed))
    assert returns == others
    assert whole["reference"] == resumed["reference"]
    unlike = script.main(script.Args(runs=runs / "unlike", seed=2, **size))
    agent = torch.load(Path(unlike["folder"]) / "checkpoint.pt", weights_only=True)["agent"]
    assert not same(one["agent"], agent)  # the comparison can fail
