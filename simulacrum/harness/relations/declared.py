"""M13, M14, M15 and M18: what the author declares in `relations.py`, tried on visited moments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from simulacrum.errors import PackageError, TwinError
from simulacrum.harness.bench import Bench, Outcome, failed, inconclusive, passed, skipped
from simulacrum.harness.frames import frame_fields
from simulacrum.harness.relations.moments import Moments, Shown, constants, named
from simulacrum.harness.relations.spliced import Noted
from simulacrum.harness.relations.told import apart
from simulacrum.trace.divergence import Divergence
from simulacrum.twin.relations import Dead, Derived, NoOp, Relation, Symmetry

Found = tuple[Divergence | None, int, str]  # (divergence, transitions compared, what was not exercised)


def declared(bench: Bench) -> list[Relation]:
    """The package's RELATIONS. Raises PackageError where there is something else in it, or an unknown field."""
    module = bench.package.relations()
    listed: Sequence[Any] = getattr(module, "RELATIONS", ())
    known = frame_fields(bench.schema)
    for one in listed:
        where = bench.package.folder / "relations.py"
        if not isinstance(one, Relation):
            raise PackageError(
                "RELATIONS holds something that is no relation", expected="Symmetry, NoOp, Dead or Derived",
                found=repr(one), where=where, next_step="import them from simulacrum.twin.relations",
            )
        unknown = [name for name in _fields_of(one) if name not in known]
        if unknown:
            raise PackageError(
                f"a relation names the field {unknown[0]}, which the schema does not declare",
                expected=", ".join(known), found=unknown[0], where=where, next_step="correct the name",
            )
    return list(listed)


def _fields_of(one: Relation) -> list[str]:
    """The fields that a relation names, as frames name them."""
    if isinstance(one, Derived):
        return [one.field]
    names = one.fields if isinstance(one, Dead) else one.clocks if isinstance(one, NoOp) else ()
    return [f"state.{name}" for name in names]


def judged(bench: Bench, at: Callable[[], Moments], kind: type[Any], attempt: Callable[..., Found]) -> Outcome:
    """The outcome of all declared relations of a kind; the first that fails ends it."""
    ones = [one for one in declared(bench) if isinstance(one, kind)]
    if not ones:
        lacking = "relations.py declares none" if bench.package.relations() else "the package has no relations.py"
        return skipped(f"no {kind.__name__} to try: {lacking}")
    compared: dict[str, int] = {}
    for one in ones:
        found, transitions, lacking = attempt(bench, at(), one)
        compared[one.name] = transitions
        if found is not None:
            return failed(f"{one.name}: {found.difference.path}; {found.hints[-1]}", found, compared=compared)
        if lacking:
            return inconclusive(f"{one.name}: {lacking}", compared=compared)
    total = sum(compared.values())
    return passed(f"{', '.join(compared)}: {total:,} transitions", compared_transitions=total, compared=compared)


def symmetry(bench: Bench, at: Moments, one: Symmetry) -> Found:
    """M14: change and step against step and change, and the same of an episode's start."""
    at = at if one.when is None else at.only(one.when(at.state.env))
    if not len(at):
        return None, 0, "it holds in no visited state"
    notes = (f"the symmetry {one.name!r} is broken" + (f": {one.why}" if one.why else ""),)
    side, other = "the plain world, changed after the step", at.instead(state=one.state(at.state.env))
    other = other.instead(action=one.action(at.action))
    found, idle = _through(bench, at, other, one, "step", side=side, notes=notes)
    compared = len(at)
    if found is None and one.reset:
        (found, _), compared = _through(bench, at, at, one, "reset", side=side, notes=notes), 2 * compared
    return found, compared, "it changes no visited state, action or draw" if idle else ""


def _through(
    bench: Bench, at: Moments, other: Moments, one: Symmetry, phase: str, *, side: str, notes: tuple[str, ...]
) -> tuple[Divergence | None, bool]:
    """(the first difference of a step or start in the changed world from what is expected there, no change at all)."""
    drawn = Noted(at.draw(phase), at.env.core.layout)
    _, shown = at.go(phase, drawn)
    turned = _turned(one, drawn.values)
    forced = {**drawn.values, **turned}
    _, again = other.go(phase, other.draw(phase, override=forced))
    expected = zeroed(_changed(bench, one, at, shown))
    found = apart(bench, other, expected, zeroed(again), side=side, notes=notes, reset=phase == "reset", forced=forced,
                  kinds=("K20", "K03", "K22"))
    idle = _equal(other.state.env, at.state.env) and _equal(other.action, at.action) and _equal(turned, drawn.values)
    return found, idle


def _turned(one: Symmetry, drawn: dict[str, Tensor]) -> dict[str, Tensor]:
    """The draws that are others in the changed world. Raises TwinError where one was never drawn."""
    try:
        return {slot: value for slot, value in one.draws(dict(drawn)).items() if slot in drawn}
    except KeyError as error:
        raise TwinError(
            f"the symmetry {one.name!r} asks for a draw that was not drawn", expected=str(error),
            found=", ".join(drawn) or "no draws", where="relations.py",
        ) from None


def _changed(bench: Bench, one: Symmetry, at: Moments, shown: Shown) -> Shown:
    """What the changed world should show where the plain one shows `shown`."""
    schema = bench.schema
    state = at.state.env._replace(**{name: shown[f"state.{name}"] for name in schema.state.fields})
    expected = {**shown, **{f"state.{k}": v for k, v in one.state(state)._asdict().items()}}
    single, names = schema.observation.single, schema.observation.fields
    observation = shown["observation"] if single else {key: shown[f"observation.{key}"] for key in names}
    expected.update(named("observation", schema.observation, one.observation(observation)))
    info = one.info({name: shown[f"info.{name}"] for name in schema.info.fields})
    expected.update({f"info.{name}": value for name, value in info.items()})
    for name, change in (("reward", one.reward), ("action_mask", one.action_mask)):
        if name in shown:
            expected[name] = change(shown[name])
    return expected


def zeroed(shown: Shown) -> Shown:
    """-0.0 as 0.0: a sum that cancels is 0.0 on both sides of a mirror."""
    return {name: value + 0.0 if value.dtype.is_floating_point else value for name, value in shown.items()}


def _equal(one: Any, other: Any) -> bool:
    """Whether two trees of tensors, or those parts of two dicts that both have, are equal."""
    if isinstance(one, Tensor):
        return torch.equal(one, other)
    if isinstance(one, dict):
        return all(_equal(one[key], other[key]) for key in one)
    return all(_equal(a, b) for a, b in zip(one, other, strict=True))


def no_op(bench: Bench, at: Moments, one: NoOp) -> Found:
    """M15: the state after the action is the state before it."""
    at = at if one.when is None else at.only(one.when(at.state.env))
    if not len(at):
        return None, 0, "it does nothing in no visited state"
    action = constants(one.action, at.action, bench.schema.action, len(at))
    at = at.instead(action=action)
    _, shown = at.step(at.draw("step", override=one.draws))
    quiet = torch.zeros_like(at.state.ended)
    expected: Shown = {f"state.{name}": value for name, value in at.state.env._asdict().items()}
    expected.update(terminated=quiet, truncated=quiet)
    if one.reward is not None:
        expected["reward"] = torch.full_like(shown["reward"], one.reward)
    for name in one.clocks:
        del expected[f"state.{name}"]
    notes = (f"the action is declared to do nothing ({one.name})" + (f": {one.why}" if one.why else ""),)
    forced = {slot: _wide(bench, at, slot, value) for slot, value in one.draws.items()}
    found = apart(bench, at, expected, shown, side="the state before the step", notes=notes, forced=forced,
                  kinds=("K21", "K06", "K17"))
    return found, len(at), ""


def _wide(bench: Bench, at: Moments, slot: str, value: Any) -> Tensor:
    """A value for all rows, `[M]`, or `[M, K]` where the slot has a count."""
    count = next((draw.count for draw in bench.schema.draws if draw.name == slot), None)
    one = torch.as_tensor(value)
    if count is not None:
        one = one.expand(count)
    return one.expand(len(at), *one.shape)


def derived(bench: Bench, at: Moments, one: Derived) -> Found:
    """M18: the value computed again, in states before and after a step."""
    drawn = at.draw("step")
    after, _ = at.step(drawn)
    for state, t in ((at.state.env, at.state.t), (after, at.state.t + 1)):
        shown = at.seen(state, t)
        again = {one.field: one.value(state, at.context(t))}
        notes = ("the value does not follow from the others" + (f": {one.why}" if one.why else ""),)
        found = apart(bench, at, again, shown, side="the value of relations.py", notes=notes, kinds=("K24", "K20"))
        if found is not None:
            return found, len(at), ""
    return None, 2 * len(at), ""
