"""The policy that `validate --policy` names: a function in a Python file, or a model that Stable-Baselines3 saved."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simulacrum.errors import UsageError

if TYPE_CHECKING:
    from simulacrum.contract.package import EnvPackage

Act = Callable[[Any, Any, int], Any]
FORMS = "path.py:function, or model.zip:ALGORITHM of Stable-Baselines3 (PPO where it is left out)"


def load_policy(given: str, package: EnvPackage) -> Act:
    """`act(observation, state, t)` of one row, as probes have it.

    Args:
        given: "path.py:act" or "model.zip:PPO".
        package: its schema says how a model sees observations.

    Raises:
        UsageError: no such file, function or algorithm, or Stable-Baselines3 is not installed.
    """
    path, _, name = given.partition(":")
    file = Path(path).expanduser()
    if not file.is_file():
        raise UsageError("--policy names no file", expected=FORMS, found=given)
    return _model(file, name or "PPO", package) if file.suffix == ".zip" else _function(file, name)


def _function(file: Path, name: str) -> Act:
    spec = importlib.util.spec_from_file_location(f"simulacrum_policy_{file.stem}", file)
    if not name or spec is None or spec.loader is None:
        raise UsageError("--policy names no function of a Python file", expected=FORMS, found=f"{file}:{name}")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise UsageError(
            f"the policy's file does not run: {type(error).__name__}: {error}", expected=FORMS, where=file
        ) from error
    act = getattr(module, name, None)
    if not callable(act):
        known = [one for one, value in vars(module).items() if callable(value) and not one.startswith("_")]
        raise UsageError(f"{file.name} has no function {name!r}", expected=", ".join(known) or FORMS, where=file)
    return act


def _model(file: Path, algorithm: str, package: EnvPackage) -> Act:
    from simulacrum.engine.single import to_array_group

    try:
        library: Any = importlib.import_module("stable_baselines3")
    except ModuleNotFoundError as error:
        raise UsageError(
            "a model.zip needs Stable-Baselines3", next_step="pip install 'simulacrum[sb3]'", where=file
        ) from error
    kind: Any = getattr(library, algorithm, None)
    if not hasattr(kind, "load"):
        raise UsageError(f"Stable-Baselines3 has no algorithm {algorithm!r}", expected=FORMS, where=file)
    try:
        model: Any = kind.load(file, device="cpu")
    except Exception as error:
        raise UsageError(
            f"{algorithm} does not load it: {type(error).__name__}: {error}", expected=FORMS, where=file
        ) from error
    group = package.schema.observation

    def act(observation: Any, state: Any, t: int) -> Any:
        return model.predict(to_array_group(group, observation), deterministic=True)[0]

    return act
