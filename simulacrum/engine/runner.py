"""The scalar engine: one row of the reference twin with the same clock, draws and statistics as the batched core.

It knows no Gymnasium and no torch, resets only when told to, and checks everything the twin returns against the
schema. The battery drives many of these beside one batch; `SimulacrumEnv` wraps one for `gymnasium.make`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from simulacrum.contract.package import EnvPackage
from simulacrum.engine.draws import NO_DRAW, draw_layout
from simulacrum.errors import TwinError
from simulacrum.rng.layout import Layout
from simulacrum.rng.scalar import ScalarDraw, episode_key
from simulacrum.twin.checks import Checks
from simulacrum.twin.invariant import invariants_of
from simulacrum.twin.reference import Context, ReferenceEnv
from simulacrum.twin.state import dump_state, load_state, params_type, params_values


class StepResult(NamedTuple):
    """What one step of one row shows; scalars and nested tuples as the schema declares them."""

    state: Any
    observation: Any
    reward: Any
    terminated: bool
    truncated: bool
    info: dict[str, Any]
    action_mask: Any


class ReferenceRunner:
    """One row of the reference twin.

    Args:
        package: the environment package.
        params: parameters by name; defaults for the rest.
        max_episode_steps: the time limit in steps; None for none. The battery passes the batch's.
        ledger: record every word drawn, readable in `draws` after each reset and step.
        env, layout, checks: what other runners of the same package have already, so that a crowd makes them once.
    """

    def __init__(
        self,
        package: EnvPackage,
        *,
        params: Mapping[str, Any] | None = None,
        max_episode_steps: int | None = None,
        ledger: bool = False,
        env: ReferenceEnv | None = None,
        layout: Layout | None = None,
        checks: Checks | None = None,
    ) -> None:
        self.schema = package.schema
        self.env: ReferenceEnv = package.reference() if env is None else env
        self.layout = layout or draw_layout(self.schema)
        self.checks = checks or Checks(self.schema)
        self.params = params_type(self.schema)(**params_values(self.schema, params))
        self.max_episode_steps = max_episode_steps
        self.override: Mapping[str, Any] | None = None
        self.used: set[str] = set()  # slots drawn so far, over the runner's life
        self._ledger: list[Any] | None = [] if ledger else None
        self.seed, self.episode, self.t = 0, -1, 0
        self.key = (0, 0)
        self.state: Any = None
        self.returns = 0.0
        self.ended = False

    @property
    def draws(self) -> list[Any]:
        """The ledger of the last reset or step: records (slot, index, words)."""
        return list(self._ledger or ())

    def _draw(self, phase: str) -> ScalarDraw:
        if self._ledger is not None:
            self._ledger.clear()
        return ScalarDraw(self.layout, phase, self.key, self.t, ledger=self._ledger, override=self.override)

    def _context(self, draw: Any = NO_DRAW) -> Context:
        return Context(draw, self.t, self.params)

    def reset(self, seed: int | None = None, episode: int | None = None) -> Any:
        """Start an episode: with a seed, episode 0 of it; without, the next one. Returns the observation."""
        if seed is not None:
            self.seed, self.episode = seed, -1
        self.episode = self.episode + 1 if episode is None else episode
        self.key = episode_key(self.seed, self.episode)
        self.t, self.returns, self.ended = 0, 0.0, False
        draw = self._draw("reset")
        self.state = self.checks.state(self.env.reset(self._context(draw)))
        self.used |= draw.used
        return self.observe()

    def load(self, state: Mapping[str, Any], *, t: int, seed: int, episode: int) -> None:
        """Stand at a JSON state, `t` steps into `episode` of `seed`."""
        self.state = load_state(self.schema, state)
        self.seed, self.episode, self.t = seed, episode, t
        self.key = episode_key(seed, episode)
        self.returns, self.ended = 0.0, False

    def save(self) -> dict[str, Any]:
        """Where the runner stands, as plain values: what `restore` takes."""
        return {
            "params": {name: _plain(value) for name, value in zip(self.params._fields, self.params, strict=True)},
            "state": None if self.state is None else dump_state(self.schema, self.state),
            "clock": (self.seed, self.episode, self.t, self.returns, self.ended),
        }

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Stand where `save` was called, on a runner of the same package."""
        self.params = params_type(self.schema)(**params_values(self.schema, saved["params"]))
        self.state = None if saved["state"] is None else load_state(self.schema, saved["state"])
        self.seed, self.episode, self.t, self.returns, self.ended = saved["clock"]
        self.key = (0, 0) if self.episode < 0 else episode_key(self.seed, self.episode)

    def step(self, action: Any) -> StepResult:
        """One transition. `action` is a scalar, nested tuple or dict inside the action space (the caller checks)."""
        draw = self._draw("step")
        outcome = self.env.step(self.state, action, self._context(draw))
        self.used |= draw.used
        self.state = self.checks.state(outcome.state)
        reward = self.checks.reward(outcome.reward)
        self.t += 1
        terminated = _flag("terminated", outcome.terminated)
        truncated = _flag("truncated", outcome.truncated)
        if self.max_episode_steps is not None and self.t >= self.max_episode_steps:
            truncated = True
        self.returns += float(reward)
        self.ended = terminated or truncated
        return StepResult(self.state, self.observe(), reward, terminated, truncated, self.info(), self.action_mask())

    def observe(self) -> Any:
        """The observation of the present state."""
        return self.checks.observation(self.env.observe(self.state, self._context()))

    def info(self) -> dict[str, Any]:
        """The task metrics of the present state."""
        if not self.schema.info.fields:
            return {}
        return self.checks.info(self.env.info(self.state, self._context()))

    def action_mask(self) -> Any:
        """The action mask of the present state, or None when the schema declares none."""
        if self.checks.action_mask is None:
            return None
        return self.checks.action_mask(self.env.action_mask(self.state, self._context()))

    def broken_invariants(self) -> list[Any]:
        """The invariants that the present state breaks."""
        ctx = self._context()
        return [inv for inv in invariants_of(self.env) if not getattr(self.env, inv.method)(self.state, ctx)]


def _plain(value: Any) -> Any:
    return float(value) if isinstance(value, float) else value


def _flag(name: str, value: Any) -> bool:
    if value is True or value is False:
        return value
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
        return bool(value)
    raise TwinError(
        f"{name} is not a bool", expected="True or False", found=f"{value!r} ({type(value).__name__})", where=name
    )
