"""The named parts of checks that hold runs of the batched twin against each other, and the other parts of those checks.

Listed by check in the order in which they run. `attest.catalog` has the whole list.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SubCheck:
    """One named part of a check.

    level: 1 rules, 2 interactions of rules, 3 rollouts, 4 transfer of a policy. relation: "M1" to "M18" where it is a
    metamorphic relation: a truth between several runs of the batched twin that needs no reference. claim: what a pass
    shows. catches: the kinds of fault that it is there for.
    """

    name: str
    check: str
    level: int
    claim: str
    catches: str
    relation: str = ""

    @property
    def path(self) -> str:
        """As it is chosen and shown: `differential.rollouts`."""
        return f"{self.check}.{self.name}"


RELATIONS: tuple[SubCheck, ...] = (
    SubCheck(
        "rows_alone", "batch_independence", 3, "rows of the widest batch are as they are alone",
        "neighbours that leak into a row, values broadcast over the batch",
    ),
    SubCheck(
        "batch_sizes", "batch_independence", 3, "batches of many sizes give the same rows",
        "operations that round or branch by the size of the batch, tails of vectors", "M5",
    ),
    SubCheck(
        "permuted_rows", "batch_independence", 3, "the same rows in another order give the same values in that order",
        "rows looked at through a place that is not their own", "M1",
    ),
    SubCheck(
        "split_and_joined", "batch_independence", 3, "a batch, its parts and its parts among strangers give the same",
        "reductions over the batch, early exits that look at all rows", "M2",
    ),
    SubCheck(
        "copies_of_one_row", "batch_independence", 3, "copies of one row stay copies",
        "results that depend on the place in the batch", "M4",
    ),
    SubCheck(
        "shifted_seeds", "batch_independence", 3, "a row's chance depends on its own seed and on no row number",
        "draws keyed on the place in the batch, seeds counted on wrongly", "M7",
    ),
    SubCheck(
        "padded_with_dead_rows", "batch_independence", 2, "rows that have ended or hold extreme values change no other",
        "NaN, overflow or waiting rows that reach a neighbour through a factor of zero", "M3",
    ),
    SubCheck(
        "whole_episodes", "batch_independence", 3, "whole episodes in SAME_STEP are as they are alone",
        "leaks through the reset inside a step, or late in an episode",
    ),
    SubCheck(
        "stated_truths", "invariant_sweep", 3, "invariants and the schema's limits hold at every moment",
        "values outside their bounds, NaN, -0.0, broken accounts; mistakes that both twins share",
    ),
    SubCheck(
        "illegal_actions", "invariant_sweep", 1, "an action outside the space changes nothing",
        "clipped, wrapped or partly executed actions",
    ),
    SubCheck(
        "dead_operands", "invariant_sweep", 2, "values that no rule looks at may be anything",
        "masks applied too late or as factors, slots read after they were emptied", "M13",
    ),
    SubCheck(
        "symmetries", "invariant_sweep", 2, "the declared changes of the world go through a step unchanged",
        "signs, axes and directions treated unlike each other, in both twins alike too", "M14",
    ),
    SubCheck(
        "no_op", "invariant_sweep", 1, "an action declared to do nothing does nothing",
        "permuted actions, counters that move too often", "M15",
    ),
    SubCheck(
        "derived_fields", "invariant_sweep", 1, "values that follow from others are what they should follow to",
        "accounts and caches updated twice or not at all", "M18",
    ),
    SubCheck(
        "unused_draws", "invariant_sweep", 2, "a draw changes what it feeds and nothing else",
        "draws used twice, for another thing, or where the rules draw nothing", "M16",
    ),
    SubCheck(
        "fresh_memory", "invariant_sweep", 3, "memory that nobody has written yet is not read",
        "torch.empty and its kind, read in rows that a mask leaves out", "M13",
    ),
    SubCheck(
        "partial_reset", "auto_reset", 2, "rows reset by hand start their next episode and the others do not notice",
        "resets that reach too far or not far enough, fields carried over, wrong episode keys", "M12",
    ),
    SubCheck(
        "episode_boundary", "auto_reset", 3, "both twins agree over the boundary in every mode and all four cases",
        "counters, flags, final values and first states of later episodes",
    ),
    SubCheck(
        "longer_horizon", "auto_reset", 3, "a longer time limit changes nothing up to the first cut",
        "rules that look at the time limit, truncation by rules, off-by-one horizons", "M17",
    ),
    SubCheck(
        "run_again", "determinism", 3, "a rollout gives the same bits again, after another one, and with other luck",
        "state outside the state, global generators",
    ),
    SubCheck(
        "interleaved_envs", "determinism", 3, "two envs stepped in turn are as if alone",
        "state shared between envs: attributes of a class, caches, buffers", "M9",
    ),
    SubCheck(
        "looking_changes_nothing", "determinism", 3, "reading twice, not at all or with a pen changes nothing",
        "observe() with effects, live buffers handed out, views edited later", "M10",
    ),
    SubCheck(
        "action_forms", "determinism", 3, "the same actions in other dtypes, layouts and containers are the same",
        "narrowing casts, strides and aliases of the caller's array", "M8",
    ),
    SubCheck(
        "threads_and_chunks", "determinism", 3, "1, 2 and many threads, one batch or pieces of it: the same bits",
        "reductions shared among threads, loops that depend on the size of the batch", "M6",
    ),
    SubCheck(
        "snapshot_and_restore", "determinism", 3, "from a saved state all goes on the same, here and in a new process",
        "state that a snapshot misses, draws keyed on how often a twin was called", "M11",
    ),
    SubCheck(
        "fresh_process", "determinism", 3, "another process with other settings has the same bits",
        "hash order, thread counts, process numbers, inherited globals",
    ),
)
