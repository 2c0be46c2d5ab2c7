"""For tests: both twins of an environment, held against each other over one small case.

    from simulacrum.harness.case import assert_twins_agree

    def test_left_wall():
        assert_twins_agree("simulacrum/toywalk-v0", start={"position": -4}, actions=[0])

The test files beside failure records call this one function with everything inline.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from simulacrum.contract.package import EnvPackage, load_package
from simulacrum.engine.vector import FROM_SCHEMA
from simulacrum.errors import UsageError
from simulacrum.harness.casework import Casework, Found
from simulacrum.harness.small.config import read_small, small_package
from simulacrum.trace.case import RESET, WAIT, Case, Line
from simulacrum.trace.difference import Shown
from simulacrum.trace.jsonio import BadValue, dotted

_MOST = 8  # differences told


def assert_twins_agree(
    env: str | Path | EnvPackage,
    *,
    start: Mapping[str, Any] | None = None,
    actions: Sequence[Any] = (),
    seed: int = 0,
    episode: int = 0,
    t: int = 0,
    ended: bool = False,
    params: Mapping[str, Any] | None = None,
    num_envs: int = 1,
    row: int = 0,
    companions: Mapping[int, Mapping[str, Any]] | None = None,
    forced: Mapping[str, Any] | None = None,
    form: str = "eager",
    device: str = "cpu",
    autoreset_mode: str = "next_step",
    max_episode_steps: Any = FROM_SCHEMA,
    against: str = "reference",
    small: Mapping[str, Any] | bool = False,
) -> None:
    """Put a batch where it says, take the actions, and compare every bit that one row shows with the reference twin.

    Looked at after the start and after each step: state, observation, reward, flags, info, mask and clock, and what
    the schema and the invariants allow.

    Args:
        env: an environment's id or folder, or its package.
        start: the row's state as JSON (`env.dump_states()` gives it); None: a reset.
        actions: one a step. `"<reset>"` resets the row by hand, `{"<reset>": seed}` with a new seed.
        seed, episode, t: what the draws are keyed on.
        ended: the row's episode has just ended in `start`, so that the next step resets it.
        params: parameters by name; defaults for the rest.
        num_envs, row: the batch, and the row in it that is looked at.
        companions: rows that differ from the looked-at one: row -> its own start, actions, seed, episode, t, ended,
            params, as far as they differ. All other rows are copies of the looked-at one.
        forced: draw slot -> the value that both twins take in place of drawing (the eager form only).
        form, device, autoreset_mode, max_episode_steps: how the batch is built, as in `gymnasium.make_vec`.
        against: "reference"; or "eager", the eager form of the same batch; or "alone", the row in a batch of its own.
        small: True for the small model that the package's small.json makes of it, or the content of such a file.

    Raises:
        AssertionError: a value differs; the message names the field and shows both values.
        SimulacrumError: the case cannot be run.
    """
    first = Line(row, seed, start, episode, t, ended, dict(params or {}), tuple(actions))
    lines = (first, *(_companion(first, place, given) for place, given in (companions or {}).items()))
    whole = env if isinstance(env, EnvPackage) else load_package(str(env))
    content = read_small(whole) if small is True else dict(small) if small else None
    with small_package(whole, content) as package:
        limit = package.schema.max_episode_steps if max_episode_steps is FROM_SCHEMA else max_episode_steps
        case = Case(form, device, autoreset_mode, limit, num_envs, lines, against, dict(forced or {}), content)
        try:
            found = list(Casework(package).each_step(case))
        except BadValue as error:
            raise UsageError(
                f"the case does not fit {whole.env_id}: {error.message}", expected=error.expected, found=error.found,
                where=dotted(error.path) or "start or actions",
            ) from None  # fmt: skip
    if found:
        raise AssertionError(told(whole, case, found))


def _companion(first: Line, row: int, given: Mapping[str, Any]) -> Line:
    own: dict[str, Any] = {**given, "row": row}
    if "actions" in own:
        own["actions"] = tuple(own["actions"])
    return replace(first, **own)


def told(package: EnvPackage, case: Case, found: Sequence[Found]) -> str:
    """What a case showed, in words: where it parts first, the field, both values, and what else differs."""
    step, one = found[0].step, found[0].differences[0]
    row = "" if case.num_envs == 1 else f", row {case.line.row} of {case.num_envs}"
    lines = [f"{package.env_id}: the twins part in {one.path} {_moment(case, step)}{row}"]
    lines += [f"  {case.against:<10} {_value(one.reference)}", f"  {case.form:<10} {_value(one.batched)}"]
    if step >= 0:
        lines.append(f"  action     {case.line.actions[step]!r}")
    others = [(each.step, other) for each in found for other in each.differences if other is not one]
    lines += [
        f"  also       {other.path} {_moment(case, step)}: {other.reference.decimal} | {other.batched.decimal}"
        for step, other in others[:_MOST]
    ]
    return "\n".join(lines)


def _moment(case: Case, step: int) -> str:
    return "at the start" if step < 0 else f"after step {step + 1} of {case.steps}"


def _value(value: Shown) -> str:
    return " ".join(part for part in (value.decimal, value.bits, value.dtype) if part)


def keywords(case: Case, env: str, declared_limit: int | None) -> dict[str, Any]:
    """The keyword arguments of `assert_twins_agree` that are this case, without those that are the default.

    declared_limit: the time limit of the schema, made small where the case is of the small model.
    """
    defaults: dict[str, Any] = {"seed": 0, "episode": 0, "t": 0, "ended": False, "start": None}
    defaults.update(actions=[], params={})
    line, settings = case.line, [
        ("forced", dict(case.forced), {}), ("form", case.form, "eager"), ("device", case.device, "cpu"),
        ("autoreset_mode", case.autoreset_mode, "next_step"), ("against", case.against, "reference"),
        ("max_episode_steps", case.max_episode_steps, declared_limit),
    ]  # fmt: skip
    own = _plain(line)
    given: dict[str, Any] = {"env": env}
    given.update({name: value for name, value in own.items() if value != defaults[name]})
    if case.num_envs > 1:
        given.update(num_envs=case.num_envs, row=line.row)
        others = {one.row: {n: v for n, v in _plain(one).items() if v != own[n]} for one in case.lines[1:]}
        given.update({"companions": others} if others else {})
    given.update({name: value for name, value, default in settings if value != default})
    return given


def _plain(line: Line) -> dict[str, Any]:
    return {
        "start": None if line.start is None else dict(line.start), "actions": list(line.actions), "seed": line.seed,
        "episode": line.episode, "t": line.t, "ended": line.ended, "params": dict(line.params),
    }  # fmt: skip


__all__ = ["RESET", "WAIT", "assert_twins_agree", "keywords", "told"]
