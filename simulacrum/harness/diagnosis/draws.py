"""What the words tell that both sides asked for: another slot's, another step's, the reset's, or none."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import torch

from simulacrum.engine.boundary import Core
from simulacrum.engine.runner import ReferenceRunner
from simulacrum.harness.casework import batch_actions, rows_in
from simulacrum.harness.diagnosis.view import Clue, View
from simulacrum.harness.frames import row_action
from simulacrum.rng.batched import episode_key, split_seed
from simulacrum.trace.divergence import DrawPair, pair_draws
from simulacrum.trace.trajectory import words_by_slot
from simulacrum.trace.values import read_group
from simulacrum.twin.batched import load_states


def clues(view: View) -> Iterator[Clue]:
    """Slots that only one side asks for, and words that are another slot's or another moment's."""
    pairs = drawn(view)
    missing = [pair for pair in pairs if pair.verdict == "only reference"]
    extra = [pair.slot for pair in pairs if pair.verdict == "only batched"]
    for pair in missing:
        other = f" and asks for {extra[0]}" if extra else ""
        yield Clue("K10", 12, f"fast.py never asks for the draw {pair.slot}, which the reference takes{other}")
        yield Clue("K11", 6, f"fast.py never asks for the draw {pair.slot}, which the reference takes")
    for pair in pairs:
        if pair.verdict != "differ":
            continue
        twin = next((one for one in pairs if one.slot != pair.slot and one.reference == pair.batched), None)
        if twin is not None:
            yield Clue("K10", 12, f"the words of {pair.slot} are those of {twin.slot}")
        else:
            yield Clue("K11", 11, f"the words of {pair.slot} differ: another seed, episode, t or index")
            yield Clue("K10", 6, f"the words of {pair.slot} differ")
    if not missing and view.resetting and not view.case.forced:
        yield from _keys(view)
    yield from _put_in(view)


def _put_in(view: View) -> Iterator[Clue]:
    """Whether both sides agree as soon as the draws of the step are put in."""
    slots = [draw for draw in view.package.schema.draws if draw.phase == "step"]
    plain = all(draw.distribution == "bernoulli" and draw.count is None for draw in slots)
    alone = view.case.num_envs == 1 and view.case.steps == 1 and view.case.form == "eager"
    if not slots or not plain or not alone or view.case.forced or view.resetting:
        return
    for values in itertools.product((False, True), repeat=min(len(slots), 3)):
        forced = {draw.name: value for draw, value in zip(slots, values, strict=False)}
        if view.still(replace(view.case, forced=forced)):
            return
    names = ", ".join(draw.name for draw in slots)
    yield Clue("K10", 10, f"whatever is put in for {names}, both agree: it is the draw that differs")
    yield Clue("K11", 9, f"whatever is put in for {names}, both agree: it is the draw that differs")


def _keys(view: View) -> Iterator[Clue]:
    """Whether a start is that of another seed or episode."""
    line = view.line
    for seed, words in (
        (line.seed // 2, "seed // 2"), (line.seed & 0xFFFF, "seed & 0xffff"), (line.seed + 1, "seed + 1"),
        (line.seed & 0xFFFFFFFF, "the low half of the seed"), (line.seed + line.row, "seed + row"),
    ):  # fmt: skip
        if seed != line.seed and view.explains(view.other(seed=seed)):
            yield Clue("K11", 11, f"the start is that of {words}")
            return


def drawn(view: View) -> tuple[DrawPair, ...]:
    """Both sides' words in the differing step of a one-row case, without what was forced; those of the record where
    the case is no single step."""
    if view.case.num_envs == 1 and view.case.steps <= 1:
        with contextlib.suppress(Exception):
            return _again(view)
    return view.record.draws


def _again(view: View) -> tuple[DrawPair, ...]:
    line, schema = view.line, view.package.schema
    runner = ReferenceRunner(view.package, params=line.params, ledger=True, max_episode_steps=None)
    env = view.work.env(view.case, "eager", "cpu")
    core = Core(env.core.env, env.core.max_episode_steps)
    core.ledger = {}
    counts: Mapping[str, int] = {slot.name: slot.words for slot in runner.layout.slots}
    phase = "reset" if view.resetting else "step"
    seed = split_seed([line.seed])
    episode = torch.tensor([line.episode + int(line.ended)], dtype=torch.int32)
    with torch.no_grad():
        if view.resetting:
            runner.reset(line.seed, int(episode[0]))
            core.fresh(seed, episode, env.params)
        else:
            state = read_group(schema.state, line.start)
            actions = batch_actions(schema, rows_in(view.case), view.step)
            runner.load(state, t=line.t, seed=line.seed, episode=line.episode)
            runner.step(row_action(schema, actions, 0))
            _step(core, env, view, load_states(schema, [state]), episode_key(seed, episode), actions)
    asked = core.ledger.get(phase, {})
    batched = {slot: [int(word) for word in words[0].tolist()] for slot, words in asked.items()}
    return pair_draws(words_by_slot(runner.draws, counts), batched)


def _step(core: Core, env: Any, view: View, state: object, key: torch.Tensor, actions: object) -> None:
    from simulacrum.engine.actions import to_tensors
    from simulacrum.twin.batched import Context

    t = torch.tensor([view.line.t], dtype=torch.int32)
    draw = core._draw("step", key, t)  # pyright: ignore[reportPrivateUsage]  # with the ledger, as a step draws
    action = to_tensors(view.package.schema.action, actions, 1, torch.device("cpu"))
    core.env.step(state, action, Context(draw, t, env.params))
