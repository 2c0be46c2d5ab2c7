"""Who acts in a recording: a random policy, or one of the package's probes."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from simulacrum.cli.players import Reading
from simulacrum.errors import UsageError

if TYPE_CHECKING:
    from simulacrum.contract.package import EnvPackage

Policy = Callable[[Reading], Any]
RANDOM = "random"


def policy_of(package: EnvPackage, name: str, seed: int) -> Policy:
    """The policy of that name; `seed` decides the random one's choices.

    Raises:
        UsageError: the package has no probe of that name; the nearest one is named.
    """
    if name == RANDOM:
        return _random(package, seed)
    module: Any = package.probes()
    probes = {probe.name: probe for probe in getattr(module, "PROBES", ())}
    if name not in probes:
        known = [RANDOM, *probes]
        near = difflib.get_close_matches(name, known, n=1)
        raise UsageError(
            f"{package.name} has no policy {name!r}",
            expected=f"one of {', '.join(known)}",
            found=name,
            next_step=f"did you mean {near[0]!r}?" if near else None,
        )
    act = probes[name].act
    return lambda seen: act(seen.observation, seen.state, seen.t)


def _random(package: EnvPackage, seed: int) -> Policy:
    """Uniform over the action space; over the allowed actions where a Discrete space has a mask."""
    from simulacrum.harness.drivers import Random
    from simulacrum.harness.frames import row_action

    schema = package.schema
    driver = Random(schema, 1, seed)
    generator = np.random.default_rng(seed)
    masked = schema.action_mask is not None and schema.action.single and schema.action.leaf.space == "Discrete"

    def act(seen: Reading) -> Any:
        if masked and any(seen.mask):
            low = schema.action.leaf.low
            first = int(low) if isinstance(low, (int, float)) else 0
            return first + int(generator.choice(np.flatnonzero(np.array(seen.mask))))
        return row_action(schema, driver.actions({}, 0), 0)

    return act
