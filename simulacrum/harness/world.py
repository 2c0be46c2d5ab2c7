"""A fixed crowd of rows with seeds, parameters and actions of their own, from which batches are picked.

Row r of a crowd is given the same seed, parameters and actions whatever batch it is put in, so every batch that holds
it must show the same bits for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from gymnasium.vector import AutoresetMode

from simulacrum.harness import drivers
from simulacrum.harness.bench import Bench, seeds_for
from simulacrum.harness.frames import Array, take
from simulacrum.harness.recording import Recording, record


@dataclass
class World:
    """A crowd: `seeds[r]`, `params[name][r]` and `actions[step][r]` belong to row r.

    Args:
        bench: the run it belongs to.
        size: how many rows there are to pick from.
        steps: how many steps each batch takes.
        limit: the time limit of every batch.
        seed: of the choices.
    """

    bench: Bench
    size: int
    steps: int
    limit: int | None
    seed: int

    def __post_init__(self) -> None:
        driver = drivers.standard(self.bench.schema, self.size, self.seed)
        self.seeds = seeds_for(self.size, self.seed)
        self.params = self.bench.row_params(self.size, self.seed)
        self.actions = [driver.actions({}, step) for step in range(self.steps)]

    def run(
        self,
        rows: Sequence[int],
        *,
        mode: AutoresetMode = AutoresetMode.NEXT_STEP,
        form: str = "eager",
        device: str | None = None,
        steps: int | None = None,
        seeds: Sequence[int] | int | None = None,
    ) -> Recording:
        """The rollout of a batch made of `rows` of the crowd, in that order; a row may stand in it more than once.

        `seeds`: in the place of the rows' own; one number s gives the batch's row i the seed s + i.
        """
        params = {name: values[np.asarray(rows)] for name, values in self.params.items()}
        env = self.bench.env(len(rows), mode=mode, form=form, limit=self.limit, params=params, device=device)
        chosen = [take(actions, rows) for actions in self.actions[:steps]]
        return record(env, [self.seeds[row] for row in rows] if seeds is None else seeds, chosen)


def picked(size: int, count: int, must: Sequence[int], seed: int) -> list[int]:
    """`count` different rows of a crowd of `size` in random order, with as many of `must` among them as fit."""
    generator = np.random.default_rng(seed)
    first = [int(row) for row in generator.permutation(np.array(must))[:count]]
    others: Array = np.setdiff1d(np.arange(size), first)
    rest = [int(row) for row in generator.permutation(others)[: count - len(first)]]
    return [int(row) for row in generator.permutation(np.array(first + rest))]
