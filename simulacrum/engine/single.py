"""The reference twin as an ordinary `gymnasium.Env`, for `gymnasium.make` and Gymnasium's own vectors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium as gym
import numpy as np

from simulacrum.contract.fields import Field, Group
from simulacrum.contract.package import EnvPackage, load_package
from simulacrum.contract.spaces import single_action_space, single_observation_space
from simulacrum.engine.render_modes import check_render_mode, metadata
from simulacrum.engine.runner import ReferenceRunner
from simulacrum.engine.seeding import check_seed, entropy
from simulacrum.errors import ActionError, ClosedError, UsageError
from simulacrum.portable.scalar import Float32


class SimulacrumEnv(gym.Env[Any, Any]):
    """One instance of an environment, stepped by its reference twin.

    The time limit is not applied here: `gymnasium.make` wraps Gymnasium's own `TimeLimit` from the registered spec,
    and that is its one owner.

    Args:
        package: the environment package, or its name or folder.
        params: parameters by name.
        render_mode: None, "rgb_array" or "ansi".
    """

    def __init__(
        self,
        package: EnvPackage | str,
        *,
        params: Mapping[str, Any] | None = None,
        render_mode: str | None = None,
    ) -> None:
        self.package = load_package(package) if isinstance(package, str) else package
        self.schema = self.package.schema
        self.metadata = metadata(self.package)
        self.render_mode = check_render_mode(self.package, render_mode)
        self.observation_space = single_observation_space(self.schema)
        self.action_space = single_action_space(self.schema)
        self.runner = ReferenceRunner(self.package, params=params)
        self._closed = False
        self._seeded = False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start an episode: episode 0 of `seed`, or the next one. A never-seeded env takes entropy from the system."""
        self._check_open()
        if options:
            raise UsageError(
                "unknown reset options", expected="none", found=sorted(options), where="reset(options=...)"
            )
        chosen = check_seed(seed) if seed is not None else None if self._seeded else entropy()
        super().reset(seed=chosen)
        self._seeded = True
        observation = self.runner.reset(chosen)
        return self._observation(observation), self._info()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """One step. `ActionError` for an action outside the space; nothing is stepped then."""
        self._check_open()
        if self.runner.state is None:
            raise gym.error.ResetNeeded("call reset() before step()")
        if self.runner.ended:
            raise gym.error.ResetNeeded("the episode has ended: call reset() before the next step()")
        if not is_member(self.schema.action, self.action_space, action):
            raise ActionError(
                "the action is outside the action space",
                expected=self.action_space,
                found=repr(action),
                where="step(action)",
            )
        out = self.runner.step(scalar_action(self.schema.action, action))
        return self._observation(out.observation), float(out.reward), out.terminated, out.truncated, self._info()

    def render(self) -> Any:
        """A uint8 `[H, W, 3]` frame, a string, or None without a render mode."""
        if self.render_mode is None:
            return None
        module: Any = self.package.render()
        if self.runner.state is None:
            raise gym.error.ResetNeeded("call reset() before render()")
        return module.rgb(self.runner.state) if self.render_mode == "rgb_array" else module.text(self.runner.state)

    def close(self) -> None:
        """Close; a closed env refuses to reset and step."""
        self._closed = True

    def __getstate__(self) -> dict[str, Any]:
        # The twin's class lives in a module that another process has not loaded yet: it reads the package itself.
        return {**self.__dict__, "schema": None, "runner": self.runner.save()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.schema = self.package.schema
        self.runner = ReferenceRunner(self.package, params=state["runner"]["params"])
        self.runner.restore(state["runner"])

    def _check_open(self) -> None:
        if self._closed:
            raise ClosedError(
                "this environment was closed",
                expected="an open environment",
                where=repr(self),
                next_step="make a new one with gymnasium.make",
            )

    def _observation(self, value: Any) -> Any:
        return to_array_group(self.schema.observation, value)

    def _info(self) -> dict[str, Any]:
        info = {name: to_array(self.schema.info.fields[name], v) for name, v in self.runner.info().items()}
        mask = self.runner.action_mask()
        if mask is not None and self.schema.action_mask is not None:
            info["action_mask"] = to_array(self.schema.action_mask, mask)
        return info


def to_array(field: Field, value: Any) -> Any:
    """A scalar or nested tuples as a NumPy array (or NumPy scalar for shape ()) of the field's dtype."""
    array = np.array(value, dtype=field.dtype)
    return array if field.shape else array[()]


def to_array_group(group: Group, value: Any) -> Any:
    """`to_array` over a leaf or a dict of leaves."""
    if group.single:
        return to_array(group.leaf, value)
    return {name: to_array(field, value[name]) for name, field in group.fields.items()}


def is_member(group: Group, space: Any, action: Any) -> bool:
    """Whether the action is in the space, in any number type and container: torch tensors and lists too."""
    if group.single:
        return _leaf_is_member(group.leaf, space, action)
    if not isinstance(action, Mapping) or set(action) != set(group.fields):
        return False
    return all(_leaf_is_member(field, space[name], action[name]) for name, field in group.fields.items())


def _leaf_is_member(field: Field, space: Any, action: Any) -> bool:
    if field.space == "Discrete":
        scalar = action.item() if hasattr(action, "item") and getattr(action, "ndim", 0) == 0 else action
        return not isinstance(scalar, bool) and space.contains(scalar)
    array = _as_array(field, action)
    return array is not None and space.contains(array)


def _as_array(field: Field, action: Any) -> Any:
    """The action as an array of the field's dtype, or None where that would change its value."""
    try:
        array = np.asarray(action)
    except (ValueError, TypeError):
        return None
    if field.dtype.startswith("float") and array.dtype.kind == "f":
        with np.errstate(over="ignore"):  # what float32 cannot hold becomes infinite, and is refused as that
            array = array.astype(field.dtype)
        return array if np.isfinite(array).all() else None
    if not field.dtype.startswith("float") and array.dtype.kind in "iu":
        cast = array.astype(field.dtype)
        return cast if np.array_equal(cast, array) else None  # any integer width, as long as the value survives
    return None  # a float for an integer space, a bool, or no number


def scalar_action(group: Group, action: Any) -> Any:
    """An action as the reference takes it: ints, Float32, floats, nested tuples, or a dict of them."""
    if not group.single:
        return {name: _scalars(field, action[name]) for name, field in group.fields.items()}
    return _scalars(group.leaf, action)


def _scalars(field: Field, value: Any) -> Any:
    plain = np.asarray(value).tolist()

    def convert(item: Any) -> Any:
        if isinstance(item, list):
            return tuple(convert(inner) for inner in item)
        if field.dtype == "float32":
            return Float32(item)
        if field.dtype == "float64":
            return float(item)
        return bool(item) if field.dtype == "bool" else int(item)

    return convert(plain)
