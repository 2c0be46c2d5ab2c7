"""Who acts: functions of one row, models that act for a whole batch, the package's probes, and chance.

A policy is a driver of the battery: it is shown a frame and gives the actions of all rows. It may look at nothing else,
so that one policy can stand in both twins.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as of
from typing import Any

import numpy as np

from simulacrum.contract.fields import Field
from simulacrum.contract.package import EnvPackage
from simulacrum.contract.schema import Schema
from simulacrum.errors import SimulacrumError, UsageError
from simulacrum.harness.drivers import Random, limits, per_field
from simulacrum.harness.frames import Array, Frame
from simulacrum.harness.reading import readings

Act = Callable[[Any, Any, int], Any]
# Observations `[N, ...]` (or a dict of them) and the action mask `[N, ...]` or None; gives the actions of all rows.
ActBatch = Callable[[Any, Any], Any]


@dataclass(frozen=True)
class Policy:
    """A policy by name. `about` says what it is, as JSON: a file and its hash, a seed, the steps it was trained for.

    act: for one row, `act(observation, state, t)` in the reference's types, as probes have it.
    batch: for all rows at once; where it is there, it is asked in place of `act`.
    """

    name: str
    act: Act | None = None
    batch: ActBatch | None = None
    about: Mapping[str, Any] = of(default_factory=dict[str, Any])

    def driver(self, schema: Schema, num_envs: int) -> Playing:
        """The policy at a batch of `num_envs` rows."""
        return Playing(self, schema, num_envs)


class Playing:
    """A policy as the driver of a batch; rows whose episode has ended get any legal action."""

    def __init__(self, policy: Policy, schema: Schema, num_envs: int) -> None:
        self.name, self.policy, self.schema, self.num_envs = policy.name, policy, schema, num_envs

    def actions(self, frame: Frame, step: int, rows: Array | None = None) -> Any:
        """The actions of all rows `[N, ...]`, in the schema's dtypes."""
        try:
            return self._batch(frame) if self.policy.batch is not None else self._rows(frame)
        except SimulacrumError:
            raise
        except Exception as error:
            raise UsageError(
                f"the policy {self.name} raised {type(error).__name__}: {error}",
                expected="an action for each observation of this environment",
                next_step="mend the policy, or name one that was trained in this environment",
            ) from error

    def _batch(self, frame: Frame) -> Any:
        assert self.policy.batch is not None
        group, mask = self.schema.observation, frame.get("action_mask")
        shown = frame["observation"] if group.single else {k: frame[f"observation.{k}"] for k in group.fields}
        given = self.policy.batch(shown, mask)
        if self.schema.action.single:
            return np.asarray(given, dtype=self.schema.action.leaf.dtype)
        return {name: np.asarray(given[name], dtype=one.dtype) for name, one in self.schema.action.fields.items()}

    def _rows(self, frame: Frame) -> Any:
        assert self.policy.act is not None
        group = self.schema.action
        result = per_field(group, self._lowest)
        going = np.flatnonzero(~(frame["terminated"] | frame["truncated"])).tolist()
        for row, seen in zip(going, readings(self.schema, frame, going), strict=True):
            action = self.policy.act(*seen)
            if group.single:
                result[row] = action
                continue
            for name in group.fields:
                result[name][row] = action[name]
        return result

    def _lowest(self, field: Field) -> Array:
        return np.broadcast_to(limits(field)[0], (self.num_envs, *field.shape)).astype(field.dtype)


def of_function(name: str, act: Act, about: Mapping[str, Any] | None = None) -> Policy:
    """A policy of `act(observation, state, t)`. An attribute `batch(observations, mask)` of it acts for all rows."""
    return Policy(name, act, getattr(act, "batch", None), dict(about or {}))


def probes_of(package: EnvPackage) -> list[Policy]:
    """The package's scripted policies; none where it brings none."""
    module: Any = package.probes()
    return [of_function(probe.name, probe.act, {"kind": "probe"}) for probe in getattr(module, "PROBES", ())]


def at_random(schema: Schema, seed: int) -> Policy:
    """Uniform over the action space. It is one stream of draws: what it does depends on what it did before."""
    drivers: dict[int, Random] = {}

    def batch(shown: Any, mask: Any) -> Any:
        rows = len(next(iter(shown.values())) if isinstance(shown, Mapping) else shown)
        return drivers.setdefault(rows, Random(schema, rows, seed)).actions({}, 0)

    return Policy("random", batch=batch, about={"kind": "random", "seed": seed})


def names(policies: Sequence[Policy]) -> str:
    """Their names in a row."""
    return ", ".join(policy.name for policy in policies)
