"""Both twins side by side over episode boundaries, with everything checked that a frame does not hold.

A `BoundaryRun` is a lockstep in which a row's action depends on the row, its episode and its `t` alone. The same
episodes are therefore played in every autoreset mode, and runs in different modes can be held against each other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from gymnasium.vector import AutoresetMode

from simulacrum.contract.fields import Field
from simulacrum.engine.vector import SimulacrumVectorEnv
from simulacrum.harness import drivers
from simulacrum.harness.bench import Bench, seeds_for
from simulacrum.harness.chronicle import ENDS, FINALS, STARTS, Chronicle
from simulacrum.harness.frames import Array, Frame
from simulacrum.harness.lockstep import Lockstep
from simulacrum.harness.recorder import Restart
from simulacrum.rng.scalar import split_seed
from simulacrum.trace.divergence import Divergence

Problem = tuple[str, Divergence | None]
EPISODES = 4  # for which the table holds actions of their own; later ones take them again


class Table:
    """Actions by episode and `t`, for each row: `get(frame)` is the batch of actions that follows a frame."""

    def __init__(self, bench: Bench, rows: int, steps: int, seed: int) -> None:
        self.rows, self.steps = rows, steps
        driver = drivers.standard(bench.schema, rows, seed)
        made = [driver.actions({}, step) for step in range(EPISODES * steps)]
        self.single = bench.schema.action.single
        names = [""] if self.single else list(made[0])
        self.columns: dict[str, Array] = {}
        for name in names:
            column = np.stack([actions if self.single else actions[name] for actions in made])
            self.columns[name] = column.reshape(EPISODES, steps, *column.shape[1:])

    def _place(self, frame: Frame) -> tuple[Array, Array, Array]:
        return frame["episode"] % EPISODES, frame["t"] % self.steps, np.arange(self.rows)

    def get(self, frame: Frame) -> Any:
        """The actions that follow a frame."""
        chosen = {name: column[self._place(frame)] for name, column in self.columns.items()}
        return chosen[""] if self.single else chosen

    def put(self, frame: Frame, actions: Any) -> None:
        """Note these as the actions that follow a frame, in rows that have not had `EPISODES` episodes yet.

        A row that has would write over its first episode, which a later run could then not repeat.
        """
        place, early = self._place(frame), frame["episode"] < EPISODES
        for name, column in self.columns.items():
            given = actions if self.single else actions[name]
            column[place] = drivers.choose(early, given, column[place])


@dataclass
class BoundaryRun:
    """One batch beside one reference a row, in one mode and with one limit.

    `met` counts what happened: the four cases by name, simultaneous and staggered ends, ends of the first and last row.
    """

    bench: Bench
    table: Table
    mode: AutoresetMode
    limit: int | None
    rows: int
    seed: int
    met: Counter[str] = field(default_factory=Counter[str])

    def __post_init__(self) -> None:
        self.seeds: list[int | None] = list(seeds_for(self.rows, self.seed))
        params = self.bench.row_params(self.rows, self.seed)
        self.env = self.bench.env(self.rows, mode=self.mode, limit=self.limit, params=params)
        self.lock = Lockstep(self.bench, self.env)
        self.restarts = 0

    def start(self) -> Problem | None:
        """Reset both sides."""
        return self._found(self.lock.reset(self.seeds)) or self._keys()

    def episodes(self, wanted: int, most: int) -> Problem | None:
        """Step until every row has finished `wanted` episodes, by the autoreset (by hand where it is disabled)."""
        problem = self.start()
        for _ in range(most):
            if problem is not None or int(self.lock.episodes.min()) >= wanted:
                break
            problem = self._restart_ended() or self.step()
        return problem

    def step(self) -> Problem | None:
        """One step from the table. Rows that are reset in it are given an action outside the space, if there is one."""
        resetting = self._waiting() if self.mode == AutoresetMode.NEXT_STEP else np.zeros(self.rows, dtype=bool)
        actions = spoil(self.env, self.table.get(self.lock.last), resetting)
        found = self.lock.step(actions)
        self._meet(resetting)
        return self._found(found) or self._keys() or self._statistics(resetting)

    def restart(self, rows: Array, seeds: Sequence[int | None] | None = None) -> Problem | None:
        """Reset rows by hand; the mask is given as an array, a tensor and a list in turn."""
        forms = (rows.copy(), torch.from_numpy(rows.copy()), rows.tolist())
        found = self.lock.restart(rows, seeds, given=forms[self.restarts % 3])
        self.restarts += 1
        return self._found(found) or self._keys()

    def _restart_ended(self) -> Problem | None:
        waiting = self._waiting()
        if self.mode != AutoresetMode.DISABLED or not waiting.any():
            return None
        return self.restart(waiting)

    def _waiting(self) -> Array:
        """The rows that have ended and not been reset since, as the reference has it."""
        return np.array([runner.ended for runner in self.lock.reference.runners])

    def _found(self, found: Divergence | None) -> Problem | None:
        if found is None:
            return None
        return f"{self.title}: the twins part in {found.difference.path} of row {found.row}", found

    @property
    def title(self) -> str:
        """How messages call it: `next_step, limit 5`."""
        return f"{self.mode.name.lower()}, limit {self.limit}"

    def _meet(self, resetting: Array) -> None:
        frame = self.lock.frames[-1][0]
        terminated, truncated = frame["terminated"], frame["truncated"]
        ended: Array = terminated | truncated
        self.met["none"] += int((~ended & ~resetting).sum())
        self.met["terminated"] += int((terminated & ~truncated).sum())
        self.met["truncated"] += int((truncated & ~terminated).sum())
        self.met["both"] += int((terminated & truncated).sum())
        self.met["all rows at once"] += int(ended.all())
        self.met["some rows, others not"] += int(ended.any() and not ended.all())
        self.met["first row"] += int(ended[0])
        self.met["last row"] += int(ended[-1])
        self.met["length one"] += int((ended & (frame["episode_length"] == 1)).sum())

    def _keys(self) -> Problem | None:
        """Seed words and draw keys of all rows, as the reference has them: where randomness stands is state too."""
        runners, state = self.lock.reference.runners, self.env.state
        for name, given, wanted in (
            ("seed", state.seed, [split_seed(runner.seed) for runner in runners]),
            ("draw key", state.key, [runner.key for runner in runners]),
        ):
            words = np.array(wanted, dtype=np.uint64).astype(np.uint32)
            wrong = np.flatnonzero((given.cpu().numpy().view(np.uint32) != words).any(axis=1))
            if len(wrong):
                return f"{self.title}: row {wrong[0]} has another {name} than the reference", None
        return None

    def _statistics(self, resetting: Array) -> Problem | None:
        """What the info says at an end, on exactly the rows that ended."""
        frame, info = self.lock.frames[-1][0], self.lock.batch.info
        ended: Array = frame["terminated"] | frame["truncated"]
        wanted: dict[str, tuple[Any, Array]] = {
            "_episode": (info["_episode"], ended),
            "episode.r": (info["episode"]["r"], np.where(ended, frame["episode_return"], 0.0)),
            "episode.l": (info["episode"]["l"], np.where(ended, frame["episode_length"], 0)),
        }
        if self.mode == AutoresetMode.NEXT_STEP:
            wanted["autoreset"] = (info["autoreset"], resetting)
        if self.mode == AutoresetMode.SAME_STEP:
            wanted.update(_final_obs=(info["_final_obs"], ended), _final_info=(info["_final_info"], ended))
        for name, (given, right) in wanted.items():
            shown = given.cpu().numpy()
            if shown.shape != right.shape or (shown != right).any():
                rows = np.flatnonzero(shown != right) if shown.shape == right.shape else [0]
                row = int(rows[0])
                return f"{self.title}: info[{name!r}] of row {row} is {shown[row]}, should be {right[row]}", None
        return None

    # --- what happened, episode by episode ---------------------------------------------------------------------

    def chronicle(self) -> Chronicle:
        """Starts and ends of every row's episodes, from the batch's frames."""
        made = Chronicle(self.rows)
        before = np.zeros(self.rows, dtype=bool)
        made.note("start", np.ones(self.rows, dtype=bool), self.lock.frames[0][1], STARTS)
        for (_, frame), action in zip(self.lock.frames[1:], self.lock.actions, strict=True):
            if isinstance(action, Restart):
                made.note("start", action.rows, frame, STARTS)
                before = before & ~action.rows
                continue
            ended: Array = frame["terminated"] | frame["truncated"]
            if self.mode == AutoresetMode.SAME_STEP:
                made.note("end", ended, frame, FINALS, episode=frame["episode"] - 1)
                made.note("start", ended, frame, STARTS)
            else:
                made.note("end", ended, frame, ENDS)
                made.note("start", before, frame, STARTS)
            before = ended if self.mode == AutoresetMode.NEXT_STEP else np.zeros_like(ended)
        return made


def spoil(env: SimulacrumVectorEnv, actions: Any, rows: Array) -> Any:
    """`actions` with a value outside the space in `rows`, where the action's dtype has one."""
    if not rows.any():
        return actions
    if isinstance(actions, dict):
        return {name: _spoil(env.schema.action.fields[name], value, rows) for name, value in actions.items()}
    return _spoil(env.schema.action.leaf, actions, rows)


def _spoil(action: Field, values: Array, rows: Array) -> Array:
    values = values.copy()
    if action.is_float:
        values[rows] = np.nan
        return values
    _, high = drivers.limits(action)
    above = np.asarray(high, dtype=np.int64) + 1
    if (above <= np.iinfo(values.dtype).max).all():
        values[rows] = above
    return values
