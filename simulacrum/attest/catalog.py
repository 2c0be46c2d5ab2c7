"""The ten checks of the battery, in the order they run, and what may be added to them: the one list of their names.

A check's name is also its file under `simulacrum/harness/checks/`, its key in `validation_report.json` and
its heading in the documentation. Everything that needs the names reads them here, those of the sub-checks too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from simulacrum.attest.sub_checks import RELATIONS, SubCheck

Required = Literal["yes", "if supplied", "per configuration", "records", "if run"]


@dataclass(frozen=True)
class CheckInfo:
    """What one check is called, when it must pass, what a pass means and what it cannot see.

    `required` reads:
    "yes" - a report without a pass never opens the gate;
    "if supplied" - runs where the package brings what the check needs, else it is skipped;
    "per configuration" - decided for each device class and compiled form; a failure closes that one;
    "records" - writes figures down, and fails only where what it timed is not what was compared;
    "if run" - no report needs it; where it was run and has failed, the report speaks against the environment.

    level: the first level at which some of it runs; its sub-checks have levels of their own (`SubCheck`).
    """

    name: str
    required: Required
    claim: str
    blind_spot: str
    needs_compiler: bool = False
    level: int = 3


CHECKS: tuple[CheckInfo, ...] = (
    CheckInfo(
        name="spec_contract",
        required="yes",
        claim="spec.md and schema.json exist, are complete, and agree with each other and the code's imports",
        blind_spot="whether the rules, as written, are the rules the author had in mind",
        level=1,
    ),
    CheckInfo(
        name="differential",
        required="yes",
        claim="both twins agree bit for bit, over several batch sizes, drivers and episode ends",
        blind_spot="a rule misread in the same way in both twins, and states that no driver reached",
        level=1,
    ),
    CheckInfo(
        name="batch_independence",
        required="yes",
        claim="a row alone, in a batch of any size, at any position, gives the same bits",
        blind_spot="batch sizes and neighbours that were not tried",
        level=2,
    ),
    CheckInfo(
        name="invariant_sweep",
        required="yes",
        claim="the stated invariants hold after every step of long, wide rollouts",
        blind_spot="whatever nobody stated as an invariant",
        level=1,
    ),
    CheckInfo(
        name="auto_reset",
        required="yes",
        claim="the episode boundary is right in every mode: staggered, simultaneous, length-one episodes",
        blind_spot="wrappers and training code that read the boundary wrongly outside the environment",
        level=2,
    ),
    CheckInfo(
        name="determinism",
        required="yes",
        claim="the same seeds and actions give the same bits, in this process and in a fresh one",
        blind_spot="other machines, and other versions of torch than the one that ran",
    ),
    CheckInfo(
        name="replay",
        required="yes",
        claim="trajectories survive the way through a file and reproduce themselves in both twins",
        blind_spot="trajectories longer or stranger than the recorded ones",
    ),
    CheckInfo(
        name="scripted_policies",
        required="if supplied",
        claim="policies with a known outcome earn what the author says, so rewards mean what was meant",
        blind_spot="behaviour that no supplied policy shows",
    ),
    CheckInfo(
        name="benchmark_factory_parity",
        required="per configuration",
        claim="the compiled or device form, as training builds it, has the bits of the eager one on the CPU",
        blind_spot="forms, devices and batch sizes that were not run",
        needs_compiler=True,
    ),
    CheckInfo(
        name="throughput",
        required="records",
        claim="steps per second of both twins, resets and observations counted; differential's checksum",
        blind_spot="the speed of any other machine or of the policy beside the environment",
    ),
)

# Run by commands of their own, and added to the report of a full run. No run of the battery has them.
OPTIONAL: tuple[CheckInfo, ...] = (
    CheckInfo(
        name="policy_transfer",
        required="if run",
        claim="a policy plays the same in both twins: equal episodes, or, within tolerances, equivalent returns",
        blind_spot="whatever a policy that has learned to do well avoids",
        level=4,
    ),
)

CHECK_NAMES: tuple[str, ...] = tuple(check.name for check in CHECKS)
OPTIONAL_NAMES: tuple[str, ...] = tuple(check.name for check in OPTIONAL)
BY_NAME: dict[str, CheckInfo] = {check.name: check for check in CHECKS}

# In the order in which each check runs them.
SUB_CHECKS: tuple[SubCheck, ...] = (
    SubCheck(
        name="small_model",
        check="differential",
        level=1,
        claim="from every state of a small configuration, every action and every draw lead to the same in both twins",
        catches="rules wrong anywhere in the small world, draws used wrongly, the time limit, illegal actions",
    ),
    SubCheck(
        name="boundary_states",
        check="differential",
        level=1,
        claim="single steps agree from states with a field, the clock or a parameter at, inside or beside an end",
        catches="comparisons off by one, clamps, the time limit, draws at their ends, wherever rollouts seldom come",
    ),
    SubCheck(
        name="boundary_pairs",
        check="differential",
        level=2,
        claim="single steps agree from states with two fields at their ends, or a field and the clock",
        catches="rules that meet: two things that must hold at once, an end by the rules in the last step of the clock",
    ),
    SubCheck(
        name="rollouts",
        check="differential",
        level=3,
        claim="whole episodes agree, row by row and step by step",
        catches="rules that depend on what happened long before; clocks, ends and draws of later episodes",
    ),
    SubCheck(
        name="illegal_actions",
        check="differential",
        level=2,
        claim="actions just outside the space are refused by name in the midst of a rollout, and nothing moves",
        catches="actions that are accepted, clamped, or refused after something has moved",
    ),
    SubCheck(
        name="mutated_replays",
        check="differential",
        level=3,
        claim="recorded episodes with changed, missing and repeated actions agree, in every autoreset mode",
        catches="ends by rules and clock in the same step, episodes of one step, boundaries beside odd actions",
    ),
    SubCheck(
        name="novelty",
        check="differential",
        level=3,
        claim="from rarely visited states, loaded into both twins, episodes go on alike",
        catches="rules that matter only where random play seldom comes",
    ),
    SubCheck(
        name="given_policy",
        check="differential",
        level=3,
        claim="episodes that a given policy plays agree (only with `--policy`)",
        catches="rules that matter only where a good player comes",
    ),
    SubCheck(
        name="native_states",
        check="differential",
        level=3,
        claim="from all those states, the native form steps as the eager one",
        catches="code that the compiler of the native form makes wrong for values that rollouts do not meet",
    ),
    SubCheck(
        name="sometimes",
        check="differential",
        level=3,
        claim="all that must happen sometimes has: ends of each kind, resets, modes, actions, the author's own",
        catches="a comparison that says nothing about an event, because it never came up",
    ),
    SubCheck(
        name="coverage",
        check="differential",
        level=3,
        claim="every rule, branch, condition and draw of the reference came up in the runs above",
        catches="a comparison that says nothing about a rule, because no run ever got there",
    ),
    *RELATIONS,
)

SUB_CHECKS_OF: dict[str, tuple[str, ...]] = {
    check.name: tuple(one.name for one in SUB_CHECKS if one.check == check.name) for check in CHECKS
}
SUB_CHECK_PATHS: tuple[str, ...] = tuple(one.path for one in SUB_CHECKS)
LEVELS = {1: "rules", 2: "interactions of rules", 3: "rollouts"}


def of_level(level: int, names: Sequence[str] | None = None) -> list[str]:
    """What runs at a level: names of checks, or of their sub-checks where only some are of this level or a lower one.

    Args:
        level: 1 rules, 2 interactions of rules as well, 3 rollouts as well.
        names: checks and sub-checks to choose from; all by default.
    """
    found: list[str] = []
    for check in CHECKS:
        parts = [one for one in SUB_CHECKS if one.check == check.name]
        if names is not None and check.name not in names:
            parts = [one for one in parts if one.path in names]
            if not parts:
                continue
        low = [one.path for one in parts if one.level <= level]
        whole = check.level <= level and len(low) == len(SUB_CHECKS_OF[check.name])
        found += [check.name] if whole else low
    return found
