"""Rows of the reference twin, for the page: played one after the other, shown as the batched twin shows them.

What an environment's engine does for one row is `simulacrum.engine.runner`; here is only when a row begins anew, and
the bytes of what it shows, so that JavaScript can hold them against another program's memory.
"""

from __future__ import annotations

import itertools
import shutil
import sys
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from simulacrum.contract.package import EnvPackage
from simulacrum.engine.draws import draw_layout
from simulacrum.engine.runner import ReferenceRunner
from simulacrum.twin.checks import Checks

_numbers = itertools.count()


class Play:
    """Reference rows of one package folder.

    Args:
        folder: of the package.
        source: text that stands for its reference.py; None for the file as it is. A changed package is read from a
            folder of its own below `copies`.
    """

    def __init__(self, folder: str, source: str | None = None, copies: str = "/tmp/edited") -> None:
        path = Path(folder)
        if source is not None:
            path = Path(shutil.copytree(path, Path(copies) / str(next(_numbers)) / path.name))
            (path / "reference.py").write_text(source, encoding="utf-8")
        self.package = EnvPackage.open(path, "the page")
        self.schema = self.package.schema
        self._shared = {"layout": draw_layout(self.schema), "checks": Checks(self.schema)}
        self._env = self.package.reference()
        self.one = self._runner()

    def _runner(self) -> ReferenceRunner:
        limit = self.schema.max_episode_steps
        return ReferenceRunner(self.package, max_episode_steps=limit, env=self._env, **self._shared)

    # --- one row, step by step ------------------------------------------------------------------------------------

    def reset(self, seed: int | None) -> dict[str, Any]:
        """Begin an episode of the row that is looked at."""
        return self._told(self.one.reset(seed), 0.0, False, False)

    def step(self, action: int) -> dict[str, Any]:
        """One step of it; an ended row has to be reset first."""
        out = self.one.step(action)
        return self._told(out.observation, out.reward, out.terminated, out.truncated)

    def _told(self, observation: Any, reward: Any, terminated: bool, truncated: bool) -> dict[str, Any]:
        return {
            "observation": [float(value) for value in observation],
            "reward": float(reward),
            "terminated": terminated,
            "truncated": truncated,
            "position": self.one.state.position,
            "t": self.one.t,
            "broken": [invariant.rule for invariant in self.one.broken_invariants()],
        }

    # --- many rows ------------------------------------------------------------------------------------------------

    def rows(
        self, seeds: Sequence[int], actions: Sequence[int], steps: int, same_step: bool = False
    ) -> dict[str, bytes]:
        """Play all rows for some steps; the bytes of what is shown, step after step and in each step row after row.

        seeds: of each row. actions: `steps` times one a row. same_step: an ended row begins anew in the step that ended
        it, as in Gymnasium's SAME_STEP; otherwise in the next one, whose action is not looked at.
        """
        shown: dict[str, array[Any]] = {
            "observation": array("f"), "reward": array("f"), "terminated": array("B"), "truncated": array("B"),
            "position": array("i"), "final": array("f"),
        }  # fmt: skip
        runners = [self._runner() for _ in seeds]
        for runner, seed in zip(runners, seeds, strict=True):
            runner.reset(int(seed))
        for step in range(steps):
            for row, runner in enumerate(runners):
                self._advance(runner, int(actions[step * len(runners) + row]), same_step, shown)
        return {name: values.tobytes() for name, values in shown.items()}

    def _advance(self, runner: ReferenceRunner, action: int, same_step: bool, shown: dict[str, Any]) -> None:
        if runner.ended:
            observation, reward, terminated, truncated = runner.reset(), 0.0, False, False
        else:
            out = runner.step(action)
            observation, reward, terminated, truncated = out.observation, out.reward, out.terminated, out.truncated
        shown["final"].extend(observation)
        if same_step and runner.ended:
            observation = runner.reset()
        shown["observation"].extend(observation)
        shown["reward"].append(reward)
        shown["terminated"].append(terminated)
        shown["truncated"].append(truncated)
        shown["position"].append(runner.state.position)

    def single(
        self, positions: Sequence[int], times: Sequence[int], seeds: Sequence[int], actions: Sequence[int]
    ) -> Any:
        """One step from each of these states, `times` steps into episode 0 of the seeds; as `rows` shows it."""
        shown: dict[str, array[Any]] = {
            "observation": array("f"), "reward": array("f"), "terminated": array("B"), "truncated": array("B"),
            "position": array("i"), "final": array("f"),
        }  # fmt: skip
        for position, t, seed, action in zip(positions, times, seeds, actions, strict=True):
            self.one.load({"position": int(position)}, t=int(t), seed=int(seed), episode=0)
            self._advance(self.one, int(action), False, shown)
        return {name: values.tobytes() for name, values in shown.items()}

    def loop(self, seconds: float, clock: Any) -> float:
        """Steps of one row in a second, always to the right, measured for so long by `clock()` in seconds."""
        runner, steps, began = self._runner(), 0, clock()
        runner.reset(0)
        while (now := clock()) - began < seconds:
            for _ in range(50):
                if runner.ended:
                    runner.reset()
                else:
                    runner.step(1)
                    steps += 1
        return steps / (now - began)


def forget() -> None:
    """Leave the modules of changed packages, so that a page that is edited for hours does not grow."""
    for name in [name for name in sys.modules if name.startswith("simulacrum_packages.")]:
        if "/edited/" in (getattr(sys.modules[name], "__file__", None) or ""):
            del sys.modules[name]
