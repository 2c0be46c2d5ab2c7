from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import torch

from simulacrum.contract.package import EnvPackage
from simulacrum.harness.bench import Outcome
from simulacrum.harness.circumstances import CIRCUMSTANCES

SLIPS = 'slips = ctx.draw.bernoulli("slip", ctx.params.slip)'


def test_sound_twins_hold_in_every_circumstance(check: Callable[..., Outcome]) -> None:
    outcome = check("determinism", "forager")
    assert outcome.status == "passed", outcome.message
    assert outcome.evidence["held"] == [what for group in CIRCUMSTANCES.values() for what in group]
    there = outcome.evidence["fresh_process"]
    assert there["threads"] != outcome.evidence["threads_here"]
    assert there["batched"] == outcome.evidence["checksum"]


def test_a_state_of_columns_of_one_tensor_is_sound(check: Callable[..., Outcome]) -> None:
    """cartpole's start: flat tensors with a stride, which no view as bytes takes as they are."""
    outcome = check("determinism", "cartpole")
    assert outcome.status == "passed", outcome.message


def test_the_check_leaves_global_generators_where_they_were(check: Callable[..., Outcome]) -> None:
    before = random.getstate(), np.random.get_state()[1].tobytes(), torch.get_rng_state()
    check("determinism", "toywalk")
    assert random.getstate() == before[0]
    assert np.random.get_state()[1].tobytes() == before[1]
    assert torch.equal(torch.get_rng_state(), before[2])


def test_a_global_generator_is_named(check: Callable[..., Outcome], changed: Callable[..., EnvPackage]) -> None:
    edit = ("fast.py", SLIPS, "slips = torch.rand(action.shape) < ctx.params.slip")
    outcome = check("determinism", changed("toywalk", edit))
    assert outcome.status == "failed"
    assert "global generator of torch" in outcome.message


def test_a_twin_that_remembers_is_found(check: Callable[..., Outcome], changed: Callable[..., EnvPackage]) -> None:
    edit = (
        "fast.py", "move = self._move(action, slips)  # R4: int32 [N]",
        "self.calls = getattr(self, 'calls', 0) + 1\n"
        "        move = self._move(action, slips) * (1 - self.calls // 30 % 2)",
    )
    outcome = check("determinism", changed("toywalk", edit))
    assert outcome.status == "failed"
    assert outcome.divergence is not None
    assert "a second run" in outcome.message


def test_a_state_changed_in_place_is_found(check: Callable[..., Outcome], changed: Callable[..., EnvPackage]) -> None:
    edit = ("fast.py", "(state.position + move).clamp(", "state.position.add_(move).clamp_(")
    outcome = check("determinism", changed("toywalk", edit))
    assert outcome.status == "failed"
    assert "was changed by step" in outcome.message


def test_what_only_another_process_shows_is_found(
    check: Callable[..., Outcome], changed: Callable[..., EnvPackage]
) -> None:
    edits = (
        ("fast.py", "from typing import Any\n", "import os\nfrom typing import Any\n"),
        ("fast.py", "where = state.position.to(torch.float32) / GOAL",
         "where = state.position.to(torch.float32) / (os.getpid() % 997)"),
    )
    outcome = check("determinism", changed("toywalk", *edits))
    assert outcome.status == "failed"
    assert "other bits in a fresh process" in outcome.message
    assert "PYTHONHASHSEED" in outcome.message


def test_a_process_that_dies_is_a_failure_with_its_last_word(
    check: Callable[..., Outcome], changed: Callable[..., EnvPackage]
) -> None:
    edits = (
        ("fast.py", "from typing import Any\n", "import os\nfrom typing import Any\n"),
        ("fast.py", SLIPS, f"assert os.environ.get('PYTHONHASHSEED') not in ('1', '2'), 'not here'\n        {SLIPS}"),
    )
    outcome = check("determinism", changed("toywalk", *edits))
    assert outcome.status == "failed"
    assert "not here" in outcome.message
