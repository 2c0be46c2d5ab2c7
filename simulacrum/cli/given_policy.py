"""The policy that `--policy` names: a function in a Python file, a model that Stable-Baselines3 saved, a checkpoint."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simulacrum.errors import UsageError

if TYPE_CHECKING:
    from simulacrum.contract.fields import Group
    from simulacrum.contract.package import EnvPackage

Act = Callable[[Any, Any, int], Any]
FORMS = (
    "path.py:function, model.zip:ALGORITHM of Stable-Baselines3 (PPO where it is left out), or checkpoint.pt of "
    "training/ppo.py"
)


class Model:
    """A policy that acts for many rows at once; called as probes are, it acts for one.

    batch: `batch(observations, mask)`, observations `[N, ...]` or a dict of them; gives the actions of all rows.
    """

    def __init__(self, group: Group, batch: Callable[[Any, Any], Any]) -> None:
        self.group, self.batch = group, batch

    def __call__(self, observation: Any, state: Any, t: int) -> Any:
        from simulacrum.engine.single import to_array_group

        one = to_array_group(self.group, observation)
        return self.batch(one[None] if self.group.single else {name: part[None] for name, part in one.items()}, None)[0]


def load_policy(given: str, package: EnvPackage) -> Act:
    """`act(observation, state, t)` of one row, as probes have it.

    Args:
        given: "path.py:act", "model.zip:PPO", or "checkpoint.pt", with ":path/to/ppo.py" where the script that wrote
            it is neither below the working directory nor in this checkout.
        package: its schema says how a model sees observations.

    Raises:
        UsageError: no such file, function or algorithm, or what is needed to load it is not installed.
    """
    path, _, name = given.partition(":")
    file = Path(path).expanduser()
    if not file.is_file():
        raise UsageError("--policy names no file", expected=FORMS, found=given)
    if file.suffix == ".zip":
        return _model(file, name or "PPO", package)
    return _checkpoint(file, name, package) if file.suffix == ".pt" else function_of(file, name, "policy", FORMS)


def function_of(file: Path, name: str, what: str, forms: str) -> Callable[..., Any]:
    """A function of a Python file. `what` says what it is for, `forms` what the option takes."""
    spec = importlib.util.spec_from_file_location(f"simulacrum_{what}_{file.stem}", file)
    if not name or spec is None or spec.loader is None:
        raise UsageError(f"--{what} names no function of a Python file", expected=forms, found=f"{file}:{name}")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise UsageError(
            f"the {what}'s file does not run: {type(error).__name__}: {error}", expected=forms, where=file
        ) from error
    found = getattr(module, name, None)
    if not callable(found):
        known = [one for one, value in vars(module).items() if callable(value) and not one.startswith("_")]
        raise UsageError(f"{file.name} has no function {name!r}", expected=", ".join(known) or forms, where=file)
    return found


def _checkpoint(file: Path, script: str, package: EnvPackage) -> Act:
    """The greedy policy of a checkpoint that training/ppo.py wrote, with the network as that script has it."""
    import torch

    from simulacrum.contract.spaces import single_action_space, single_observation_space

    trainer = _script(file, script)
    try:
        saved = torch.load(file, map_location="cpu", weights_only=True)
        known = {field.name for field in fields(trainer.Args)}
        args = trainer.Args(**{name: value for name, value in saved["args"].items() if name in known})
        items = args.items or trainer.ITEMS.get(args.env_id, (0, 0))
        spaces = single_observation_space(package.schema), single_action_space(package.schema)
        agent = trainer.Agent(*spaces, tuple(items), args)
        agent.load_state_dict(saved["agent"])
    except (Exception, SystemExit) as error:
        told = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
        raise UsageError(
            f"the checkpoint does not load: {told}",
            expected=f"one that training/ppo.py wrote in {package.env_id}",
            where=file,
        ) from error

    def batch(observations: Any, mask: Any) -> Any:
        with torch.no_grad():
            outputs, _ = agent(torch.from_numpy(observations))
            return agent.for_env(agent.best(outputs)).numpy()

    return Model(package.schema.observation, batch)


def _script(checkpoint: Path, named: str) -> Any:
    """training/ppo.py as a module: the one that is named, or that of the working directory or of this checkout."""
    import simulacrum

    root = Path(simulacrum.__file__).parents[1]
    places = [Path(named).expanduser()] if named else [Path("training/ppo.py"), root / "training" / "ppo.py"]
    found = next((place.resolve() for place in places if place.is_file()), None)
    if found is None:
        raise UsageError(
            "the script that wrote the checkpoint is not found", expected="checkpoint.pt:path/to/ppo.py",
            found=", ".join(map(str, places)), where=checkpoint,
        )  # fmt: skip
    spec = importlib.util.spec_from_file_location("simulacrum_policy_script", found)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclass looks itself up
    sys.path.insert(0, str(found.parent))  # as if it were run: it imports what lies beside it
    try:
        spec.loader.exec_module(module)
    except ModuleNotFoundError as error:
        raise UsageError(
            f"the script that wrote the checkpoint does not run: {error}", where=found,
            next_step="pip install 'simulacrum[train]'",
        ) from error  # fmt: skip
    finally:
        sys.path.remove(str(found.parent))
        del sys.modules[spec.name]
    return module


def _model(file: Path, algorithm: str, package: EnvPackage) -> Act:
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

    def batch(observations: Any, mask: Any) -> Any:
        return model.predict(observations, deterministic=True)[0]

    return Model(package.schema.observation, batch)
