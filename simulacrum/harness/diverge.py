"""From "these arrays differ" to one row, one step, one field, with everything needed to see why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from simulacrum.contract.fields import Field
from simulacrum.contract.package import EnvPackage
from simulacrum.contract.schema import Schema
from simulacrum.engine.boundary import Core, EngineState
from simulacrum.engine.params import row_params
from simulacrum.engine.runner import ReferenceRunner
from simulacrum.engine.vector import SimulacrumVectorEnv
from simulacrum.errors import SimulacrumError
from simulacrum.harness.bench import Bench
from simulacrum.harness.compare import BITS, FieldDifference, bits, first_place
from simulacrum.harness.frames import Frame, row_action
from simulacrum.harness.recorder import Restart, recorded
from simulacrum.rng.scalar import episode_key
from simulacrum.trace.divergence import (
    Configuration,
    Counts,
    Difference,
    Divergence,
    RuleText,
    Shown,
    difference,
    pair_draws,
)
from simulacrum.trace.failures import write_failure
from simulacrum.trace.trajectory import words_by_slot
from simulacrum.trace.values import spell_group
from simulacrum.twin.batched import dump_state


@dataclass
class Moment:
    """The step at which two sides parted, as the lockstep saw it."""

    bench: Bench
    env: SimulacrumVectorEnv
    row: int  # in the batch
    place: int  # among the compared rows
    step: int  # calls of step before this one; -1: the reset
    before: EngineState | None
    actions: list[Any]
    frames: list[tuple[Frame, Frame]]
    runner: ReferenceRunner
    sampled: bool
    transitions: int
    reference_form: str = "reference"  # what stands on the reference's side
    notes: tuple[str, ...] = ()  # said in the record's hints

    @property
    def restart(self) -> Restart | None:
        """The reset by hand that this moment is, or None for a step or the first reset."""
        last = self.actions[-1] if self.actions else None
        return last if isinstance(last, Restart) else None

    @property
    def resetting(self) -> bool:
        """Whether the row starts an episode in this moment."""
        if self.before is None or self.restart is not None:
            return self.restart is None or bool(self.restart.rows[self.row])
        return self.env.autoreset_mode.name == "NEXT_STEP" and bool(self.before.ended[self.row])


def diverged(
    moment: Moment, found: list[FieldDifference], reference: Frame, batched: Frame, fields: Mapping[str, Field]
) -> Divergence:
    """The divergence record of the first differing row, written to the failures folder with both trajectories."""
    here = [d for d in found if moment.place in d.rows or d.reason != BITS]
    shown = [shown_difference(d, moment.place, reference, batched, fields) for d in here]
    counts = Counts(
        len({row for d in found for row in d.rows.tolist()}), len(reference["t"]), len(found), moment.transitions
    )
    return told(moment, shown, rule=rule_for(moment, shown[0]), counts=counts,
                hints=tuple(d.reason for d in here if d.reason != BITS))


def told(
    moment: Moment, shown: list[Difference], *, rule: RuleText | None, counts: Counts, hints: tuple[str, ...] = ()
) -> Divergence:
    """The record of a moment with these differences, the first of them the one that is blamed; written to files."""
    previous, action, seed, episode, t = _context(moment)
    record = Divergence(
        check=moment.bench.check,
        env_id=moment.bench.schema.id,
        configuration=configuration(moment.env, moment.row),
        seed=seed,
        row=moment.row,
        episode=episode,
        t=t,
        step=moment.step,
        difference=shown[0],
        others=tuple(shown[1:]),
        previous_state=previous,
        action=action,
        draws=_draws(moment, seed, episode, t),
        rule=rule,
        counts=counts,
        hints=(*hints, *moment.notes),
    )
    return _written(moment, record)


def _written(moment: Moment, record: Divergence) -> Divergence:
    schema = moment.bench.schema
    sides = [recorded(moment, side) for side in ("reference", "batched")]
    failures, env = moment.bench.failures, moment.bench.told_env
    files = write_failure(record, sides[0], sides[1], failures, schema=schema, env=env)
    moment.bench.moments = {files.divergence.id: moment}
    return files.divergence


def shown_difference(
    d: FieldDifference, place: int, reference: Frame, batched: Frame, fields: Mapping[str, Field]
) -> Difference:
    """A field's difference at one of the compared rows, as records hold it."""
    kind, _, name = d.name.partition(".")
    if kind in ("info", "final_info"):
        kind, name = d.name, ""
    if d.reason != BITS:
        said = Shown("as declared", None, fields[d.name].dtype if d.name in fields else "undeclared")
        return Difference(kind, name, (), said, Shown(d.reason, None, said.dtype))
    index = d.index
    a, b = reference[d.name][place], batched[d.name][place]
    if fields[d.name].shape and place != d.rows[0]:
        index = first_place(bits(a) != bits(b))
    return difference(kind, name, index, a[index] if index else a, b[index] if index else b, fields[d.name].dtype)


def configuration(env: SimulacrumVectorEnv, row: int) -> Configuration:
    """How the batched side was built, for the record."""
    return Configuration(
        form=env.form,
        device=str(env.device),
        num_envs=env.num_envs,
        autoreset_mode=env.autoreset_mode.name.lower(),
        params=row_params(env.params, row),
        max_episode_steps=env.max_episode_steps,
        threads=torch.get_num_threads(),
    )


def _context(moment: Moment) -> tuple[Any, Any, int, int, int]:
    """(previous state, action, seed, episode, t) of the row at the divergent step; a reset has no state before."""
    schema, runner = moment.bench.schema, moment.runner
    before = moment.before
    if before is None or moment.resetting:
        return None, None, runner.seed, runner.episode, 0
    row = moment.row
    host = type(before.env)(*(value.cpu() for value in before.env))
    previous = spell_group(schema.state, dump_state(schema, host, row))
    action = None
    if moment.restart is None:
        action = spell_group(schema.action, row_action(schema, moment.actions[-1], row))
    return previous, action, runner.seed, int(before.episode[row]), int(before.t[row])


def _draws(moment: Moment, seed: int, episode: int, t: int) -> Any:
    """Both sides' words of the divergent moment, by running just it again with the ledgers on."""
    before = moment.before
    if moment.restart is not None and not moment.resetting:
        return ()  # a row that a reset of others should have left alone draws nothing
    phase = "reset" if moment.resetting else "step"
    layout = moment.runner.layout
    counts = {slot.name: slot.words for slot in layout.slots}
    one = ReferenceRunner(
        moment.bench.package, params=row_params(moment.env.params, moment.row), ledger=True,
        max_episode_steps=moment.env.max_episode_steps,
    )
    try:
        if phase == "reset":
            one.reset(seed, episode)
        else:
            # Before a step there is a state.
            host = type(before.env)(*(value.cpu() for value in before.env))  # type: ignore[union-attr]
            one.load(dump_state(moment.bench.schema, host, moment.row), t=t, seed=seed, episode=episode)
            one.step(row_action(moment.bench.schema, moment.actions[-1], moment.row))
        reference = words_by_slot(one.draws, counts)
    except SimulacrumError:
        reference = words_by_slot(one.draws, counts)
    return pair_draws(reference, batched_words(moment, phase))


def batched_words(moment: Moment, phase: str) -> dict[str, list[int | None]]:
    """The words that the batched twin asks for, from an eager rerun of the same step on the whole batch."""
    env = moment.env
    core = Core(env.core.env, env.core.max_episode_steps)
    core.ledger = {}
    with torch.no_grad():
        if moment.before is None or moment.restart is not None:
            episode = torch.from_numpy(moment.frames[-1][1]["episode"]).to(env.device)
            core.fresh(env.state.seed, episode, env.params)
        else:
            action = _as_tensors(moment)
            core.step(env.autoreset_mode, moment.before, action, env.params)
    asked = core.ledger.get(phase, {})
    return {slot: [int(word) for word in words[moment.row].tolist()] for slot, words in asked.items()}


def _as_tensors(moment: Moment) -> Any:
    from simulacrum.engine.actions import to_tensors

    return to_tensors(moment.bench.schema.action, moment.actions[-1], moment.env.num_envs, moment.env.device)


def rule_for(moment: Moment, first: Difference) -> RuleText | None:
    """`rule_of` the package at this moment."""
    return rule_of(moment.bench.package, first, at_reset=moment.before is None)


def rule_of(package: EnvPackage, first: Difference, *, at_reset: bool) -> RuleText | None:
    """The first rule of the spec whose words name the differing field in backticks; None where no rule does."""
    schema: Schema = package.schema
    wanted = first.field if first.kind == "state" else first.kind.partition(".")[2] or first.kind
    headings = {
        "state": ("Episode start",) if at_reset else ("Step",),
        "reward": ("Reward", "Step"),
        "observation": ("Observation",),
        "terminated": ("Episode end",),
        "truncated": ("Episode end",),
    }.get(first.kind, ())
    rules = package.spec.rules.values()
    named = [rule for rule in rules if f"`{wanted}`" in rule.text or f"`{schema.name}.{wanted}`" in rule.text]
    placed = [rule for rule in named if rule.heading in headings] or named
    placed = placed or [rule for heading in headings for rule in rules if rule.heading == heading]
    return RuleText(placed[0].id, placed[0].text) if placed else None


__all__ = ["Moment", "batched_words", "configuration", "diverged", "episode_key", "rule_for", "rule_of"]
