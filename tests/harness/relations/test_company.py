"""M1 to M5 and M7, each on a twin that breaks it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from simulacrum.attest.catalog import SUB_CHECKS
from simulacrum.harness.bench import Outcome

MOVE = "move = self._move(action, slips)  # R4: int32 [N]"
BY_PLACE = ("fast.py", MOVE, f"{MOVE}\n        move = torch.where(torch.arange(len(move)) % 5 == 3, -move, move)")
BY_SIZE = ("fast.py", MOVE, f"{MOVE}\n        if len(move) % 16 == 0:\n            move = -move")
BY_OTHERS = ("fast.py", "elapsed = ctx.t.clamp(", "elapsed = ctx.t.amax().expand_as(ctx.t).clamp(")
BY_FIRST = ("fast.py", "where = state.position.to(torch.float32)", "where = state.position.roll(1).to(torch.float32)")
LUCK_BY_PLACE = (
    "fast.py", "slips = ctx.draw.bernoulli(\"slip\", ctx.params.slip)  # R3: bool [N]",
    "slips = ctx.draw.bernoulli(\"slip\", ctx.params.slip) ^ (torch.arange(len(action)) == 3)",
)
# Positions of live rows are never beyond 5: only rows that hold what no live row does can show it.
BY_EXTREMES = (
    "fast.py", "where = state.position.to(torch.float32) / GOAL",
    "where = state.position.to(torch.float32) / state.position.abs().amax().clamp(min=GOAL)",
)


@pytest.mark.parametrize(
    ("name", "edit"),
    [
        ("rows_alone", BY_OTHERS), ("batch_sizes", BY_SIZE), ("permuted_rows", BY_PLACE),
        ("split_and_joined", BY_FIRST), ("copies_of_one_row", BY_PLACE), ("shifted_seeds", LUCK_BY_PLACE),
        ("padded_with_dead_rows", BY_EXTREMES), ("whole_episodes", BY_OTHERS),
    ],
)  # fmt: skip
def test_each_relation_finds_its_fault(
    relation: Callable[..., Outcome], name: str, edit: tuple[str, str, str]
) -> None:
    outcome = relation(f"batch_independence.{name}", "toywalk", edit)
    assert outcome.status == "failed", outcome.message
    assert outcome.divergence is not None
    assert outcome.divergence.files["record"]


def test_only_rows_with_extreme_values_show_what_they_leak(relation: Callable[..., Outcome]) -> None:
    assert relation("batch_independence.split_and_joined", "toywalk", BY_EXTREMES).status == "passed"


def test_a_seed_that_is_counted_on_wrongly_is_found(
    relation: Callable[..., Outcome], monkeypatch: pytest.MonkeyPatch
) -> None:
    from simulacrum.engine import vector

    sound = vector.row_seeds
    monkeypatch.setattr(
        vector, "row_seeds", lambda seed, count: [seed + 2 * row for row in range(count)]
        if isinstance(seed, int) else sound(seed, count),
    )  # fmt: skip
    outcome = relation("batch_independence.shifted_seeds", "toywalk")
    assert outcome.status == "failed"
    # It failed, so it has one.
    assert "counted on from row to row" in outcome.divergence.hints[1]  # type: ignore[union-attr]


def test_every_relation_of_the_list_is_a_sub_check() -> None:
    assert {one.relation for one in SUB_CHECKS} - {""} == {f"M{number}" for number in range(1, 19)}
