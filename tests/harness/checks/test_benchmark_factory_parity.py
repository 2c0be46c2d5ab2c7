from __future__ import annotations

from collections.abc import Callable

import pytest
import torch._inductor.config as inductor_config

from simulacrum.contract.package import EnvPackage
from simulacrum.engine.forms import cpp_compiler
from simulacrum.harness.bench import Outcome

FORMS = ("eager", "inductor")
needs_compiler = pytest.mark.skipif(cpp_compiler() is None, reason="no C++ compiler here")


def test_eager_alone_is_skipped(check: Callable[..., Outcome]) -> None:
    outcome = check("benchmark_factory_parity", "toywalk")
    assert outcome.status == "skipped"
    assert "eager" in outcome.message


@needs_compiler
@pytest.mark.long
def test_a_compiled_form_has_the_bits_of_eager(check: Callable[..., Outcome]) -> None:
    outcome = check("benchmark_factory_parity", "toywalk", forms=FORMS)
    assert outcome.status == "passed", outcome.message
    facts = outcome.evidence["forms"]["inductor"]
    assert facts["outcome"] == "passed"
    assert facts["modes"] == ["disabled", "next_step", "same_step"]
    assert {1, 7} < set(facts["batch_sizes"])
    assert facts["graphs"] == 2
    assert (facts["graph_breaks"], facts["recompiles"], facts["host_syncs"]) == (0, 0, 0)
    assert facts["episodes_ended"] > 0


@needs_compiler
@pytest.mark.slow
def test_a_twin_that_is_another_when_compiled_is_found(
    check: Callable[..., Outcome], changed: Callable[..., EnvPackage]
) -> None:
    edit = (
        "fast.py", "return right.to(torch.int32) * 2 - 1",
        "return right.to(torch.int32) * (1 if torch.compiler.is_compiling() else 2) - 1",
    )
    outcome = check("benchmark_factory_parity", changed("toywalk", edit), forms=FORMS)
    assert outcome.status == "failed"
    assert outcome.evidence["forms"]["inductor"]["outcome"] == "failed"
    assert "another bit than eager" in outcome.message
    assert outcome.divergence is not None
    assert outcome.divergence.configuration.form == "inductor"


@needs_compiler
@pytest.mark.long
def test_a_compiler_that_errs_is_found(
    check: Callable[..., Outcome], changed: Callable[..., EnvPackage], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Torch's own planted fault: Inductor then compiles relu to a function that is wrong below zero.
    monkeypatch.setattr(inductor_config.cpp, "inject_relu_bug_TESTING_ONLY", "accuracy")
    edit = ("fast.py", "where = state.position.to(torch.float32) / GOAL",
            "where = state.position.to(torch.float32).relu() / GOAL")
    outcome = check("benchmark_factory_parity", changed("toywalk", edit), forms=FORMS)
    assert outcome.status == "failed"
    assert outcome.divergence is not None
    assert outcome.divergence.difference.path == "observation[0]"


@needs_compiler
@pytest.mark.slow
def test_a_twin_that_cannot_be_one_graph_fails_with_its_line(
    check: Callable[..., Outcome], changed: Callable[..., EnvPackage]
) -> None:
    edit = ("fast.py", "move = self._move(action, slips)  # R4: int32 [N]",
            "move = self._move(action, slips) if bool((action >= 0).any()) else -self._move(action, slips)")
    outcome = check("benchmark_factory_parity", changed("toywalk", edit), forms=FORMS)
    assert outcome.status == "failed"
    assert "fast.py:" in outcome.message
