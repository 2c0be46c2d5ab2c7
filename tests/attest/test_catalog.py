"""The catalogue is the one list of the checks."""

from __future__ import annotations

from simulacrum.attest.catalog import BY_NAME, CHECK_NAMES, CHECKS


def test_the_ten_checks_in_their_order() -> None:
    assert CHECK_NAMES == (
        "spec_contract",
        "differential",
        "batch_independence",
        "invariant_sweep",
        "auto_reset",
        "determinism",
        "replay",
        "scripted_policies",
        "benchmark_factory_parity",
        "throughput",
    )
    assert list(BY_NAME) == list(CHECK_NAMES)


def test_each_check_says_what_it_proves_and_what_it_cannot_see() -> None:
    for check in CHECKS:
        assert len(check.claim) > 20, check.name
        assert len(check.blind_spot) > 20, check.name
        assert check.claim != check.blind_spot, check.name


def test_who_must_pass() -> None:
    required = {check.name: check.required for check in CHECKS}
    assert required.pop("scripted_policies") == "if supplied"
    assert required.pop("benchmark_factory_parity") == "per configuration"
    assert required.pop("throughput") == "records"
    assert set(required.values()) == {"yes"}
    assert [check.name for check in CHECKS if check.needs_compiler] == ["benchmark_factory_parity"]
