"""The catalogue is the one list of the checks."""

from __future__ import annotations

from simulacrum.attest.catalog import (
    BY_NAME,
    CHECK_NAMES,
    CHECKS,
    OPTIONAL,
    OPTIONAL_NAMES,
    SUB_CHECK_PATHS,
    SUB_CHECKS,
    of_level,
)


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


def test_what_may_be_added_is_no_check_of_the_battery() -> None:
    assert OPTIONAL_NAMES == ("policy_transfer",)
    assert not set(OPTIONAL_NAMES) & set(BY_NAME)
    assert {check.required for check in OPTIONAL} == {"if run"}
    assert not set(of_level(3)) & set(OPTIONAL_NAMES)


def test_each_check_says_what_it_proves_and_what_it_cannot_see() -> None:
    for check in (*CHECKS, *OPTIONAL):
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


def test_level_of_a_check_is_that_of_its_first_part() -> None:
    for check in CHECKS:
        levels = [one.level for one in SUB_CHECKS if one.check == check.name]
        assert check.level == min(levels, default=check.level), check.name
        assert 1 <= check.level <= 3, check.name


def test_a_level_holds_the_ones_below_it() -> None:
    assert "spec_contract" in of_level(1)
    assert {"differential.small_model", "differential.boundary_states"} <= set(of_level(1))
    assert "differential.boundary_pairs" not in of_level(1)
    assert set(of_level(1)) <= set(of_level(2))
    assert "differential.rollouts" not in of_level(2)
    assert tuple(of_level(3)) == CHECK_NAMES
    for level in (1, 2):
        names = of_level(level)
        chosen = {path for path in SUB_CHECK_PATHS if path in names or path.partition(".")[0] in names}
        assert chosen == {one.path for one in SUB_CHECKS if one.level <= level}


def test_a_level_within_chosen_checks() -> None:
    assert of_level(1, ["differential"]) == ["differential.small_model", "differential.boundary_states"]
    assert of_level(1, ["differential.rollouts", "invariant_sweep.no_op"]) == ["invariant_sweep.no_op"]
    assert of_level(2, ["replay"]) == []
    assert of_level(3, ["replay"]) == ["replay"]
