"""The C programs follow the rules that they are a limit of: the bits of the eager form, over many episodes."""

from __future__ import annotations

import pytest
import torch
from suite import contender, limits, ours

STEPS = {"toywalk": 400, "forager": 400, "cartpole": 1100}  # past the time limit of each
ROWS = 97


def differing_step(name: str, steps: int, limit: limits.Limit) -> str | None:
    """The first step and output in which the C program and the eager form differ; None where they agree."""
    env = ours.make(name, "eager", ROWS)
    seeds = torch.arange(ROWS) * 7919 + 2**40
    limit.reset(seeds)
    observation, _ = env.reset(seed=seeds.tolist())
    assert torch.equal(observation, limit.observations)
    batches = contender.action_batches(ours.choices(env), ROWS)
    ends = 0
    for number in range(steps):
        actions = batches[number % len(batches)]
        assert limit.step(limit.prepare(actions)) == 0
        observation, reward, terminated, truncated, _ = env.step(actions)
        ends += int((terminated | truncated).sum())
        pairs = {
            "observation": (observation.view(torch.int32), limit.observations.view(torch.int32)),
            "reward": (reward.view(torch.int32), limit.rewards.view(torch.int32)),
            "terminated": (terminated, limit.terminated.bool()),
            "truncated": (truncated, limit.truncated.bool()),
        }
        for output, (one, other) in pairs.items():
            if not torch.equal(one, other):
                return f"{output} at step {number}"
    assert ends > ROWS  # every row began anew about once or more: resets were compared too
    return None


@pytest.fixture(autouse=True)
def _compiler() -> None:
    pytest.importorskip("ziglang")


@pytest.mark.long
@pytest.mark.parametrize("name", limits.PROGRAMS)
def test_the_program_gives_the_bits_of_the_eager_form(name: str) -> None:
    assert differing_step(name, STEPS[name], limits.Limit(name, ROWS)) is None


def test_another_rule_is_noticed() -> None:
    limit = limits.Limit("toywalk", ROWS, {"SLIP": 1})  # it always slips
    assert differing_step("toywalk", 50, limit) is not None


def test_an_illegal_action_is_counted_and_its_row_held_still() -> None:
    limit = limits.Limit("toywalk", 4)
    limit.reset(torch.arange(4))
    before = limit.observations.clone()
    assert limit.step(limit.prepare(torch.tensor([2, -1, 9, 2]))) == 4
    assert torch.equal(before, limit.observations)
    assert not limit.rewards.any()


def test_the_size_of_a_row_is_told() -> None:
    assert limits.Limit("toywalk", 1).row_bytes == 32
    assert limits.Limit("forager", 1, {"BERRIES": 12}).row_bytes > limits.Limit("forager", 1).row_bytes
