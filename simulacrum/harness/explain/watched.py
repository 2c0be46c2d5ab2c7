"""One step of each twin, run again line by line: which lines ran, which rules they carry out, what they computed.

The reference runs as in every check. The batched twin runs eagerly as a batch of one row, so that its values can be
shown beside those of the reference. A fault that needs other rows, or a compiled form, does not show here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from simulacrum.contract.package import EnvPackage
from simulacrum.contract.source import read_source
from simulacrum.engine.runner import ReferenceRunner
from simulacrum.engine.single import scalar_action
from simulacrum.errors import SimulacrumError
from simulacrum.harness.explain.line_watcher import Given, RanLine, Watcher
from simulacrum.harness.explain.standing import Standing, for_rows
from simulacrum.harness.explain.syntax import line_of_part
from simulacrum.trace.trajectory import Words, words_by_slot

Name = tuple[str, str]  # of a function, and of a name in it


@dataclass(frozen=True)
class Watched:
    """The lines that ran in one step of one twin, in order.

    given: the values that names were given, in the order in which they were known: what a method gives back comes
    before the line that called it is done. raised: what the twin raised, None for nothing.
    """

    lines: tuple[RanLine, ...] = ()
    given: tuple[Given, ...] = ()
    words: Words = field(default_factory=dict[str, "Any"])
    raised: str | None = None

    @property
    def rules(self) -> tuple[str, ...]:
        """The rules that ran, each where it ran first."""
        return tuple(dict.fromkeys(name for line in self.lines for name in line.rules))

    def values(self) -> dict[Name, list[Given]]:
        """The values by function and name."""
        found: dict[Name, list[Given]] = {}
        for one in self.given:
            found.setdefault((one.function, one.name), []).append(one)
        return found


@dataclass(frozen=True)
class Parting:
    """The first name that both twins give a value, and different ones; of nested values the first item that differs."""

    function: str
    name: str
    reference: Any
    fast: Any
    reference_line: int
    fast_line: int
    index: tuple[int, ...] = ()

    @property
    def spoken(self) -> str:
        """The name in words, code in backticks: `x` in `step`, or what `step` gives back."""
        head, _, rest = self.name.partition(".")
        item = "".join(f"[{number}]" for number in self.index)
        if head == "return":
            back = f"what `{self.function}` gives back"
            return f"`{rest}{item}` of {back}" if rest or item else back
        return f"`{self.name}{item}` in `{self.function}`"


def watch_reference(package: EnvPackage, at: Standing, watcher: Watcher | None = None) -> Watched:
    """The step in the reference, with the words that it draws.

    watcher: `reference_watcher(package)`, which takes longer to make than a step to watch, for who watches many.
    """
    watcher = watcher or reference_watcher(package)
    watcher.forget()
    runner = ReferenceRunner(package, params=at.params, max_episode_steps=at.limit, ledger=True)
    runner.override = dict(at.forced) or None
    raised = None
    try:
        if at.state is not None:
            runner.load(at.state, t=at.t, seed=at.seed, episode=at.episode)
        with watcher.watching():
            if at.state is None:
                runner.reset(at.seed, at.episode)
                _ = runner.info(), runner.action_mask()
            else:
                runner.step(scalar_action(package.schema.action, at.action))
    except Exception as error:  # a twin under judgement may raise anything; what ran until then is what is asked for
        raised = _told(error)
    counts = {slot.name: slot.words for slot in runner.layout.slots}
    given = tuple(one for _, one in watcher.given)
    return Watched(tuple(watcher.ran), given, words_by_slot(runner.draws, counts), raised)


def reference_watcher(package: EnvPackage) -> Watcher:
    """What `watch_reference` watches with."""
    return Watcher(package.folder / "reference.py", reference_value)


def watch_fast(package: EnvPackage, at: Standing) -> Watched:
    """The step in the batched twin, eagerly, as a batch of one row on the CPU."""
    watcher, raised = Watcher(package.folder / "fast.py", row_value), None
    try:
        env, action = _one_row(package, at)
        with watcher.watching():
            env.step(action)
    except Exception as error:  # as above
        raised = _told(error)
    return Watched(*watcher.seen("step" if at.state is None else "reset"), {}, raised)


def first_parting(
    reference: Watched, fast: Watched, alike: Mapping[Name, bool] | None = None
) -> Parting | None:
    """The first name of the reference, in the order of its run, that has another value in the batched twin.

    Only names are compared that both functions of one name give a value equally often, and values of one shape.
    alike: names that earlier, agreeing steps have compared; one that differed there means two things, and is skipped.
    """
    for one, two in _pairs(reference, fast):
        same = (alike or {}).get((one.function, one.name), True)
        if same and spelled(one.value) != spelled(two.value):
            index, left, right = _first_item(one.value, two.value)
            return Parting(one.function, one.name, left, right, one.line, two.line, index)
    return None


def comparable(reference: Watched, fast: Watched) -> dict[Name, bool]:
    """Of a step in which the twins agree: whether each name that both have means the same in both."""
    result: dict[Name, bool] = {}
    for one, two in _pairs(reference, fast):
        key = (one.function, one.name)
        result[key] = result.get(key, True) and spelled(one.value) == spelled(two.value)
    return result


def _pairs(reference: Watched, fast: Watched) -> Iterator[tuple[Given, Given]]:
    """Values of the same names on both sides, in the order of the reference's run."""
    ours, theirs, seen = reference.values(), fast.values(), dict[Name, int]()
    for one in reference.given:
        key = (one.function, one.name)
        number, others = seen.get(key, 0), theirs.get(key, [])
        seen[key] = number + 1
        if len(ours[key]) == len(others) and _shape(one.value) == _shape(others[number].value):
            yield one, others[number]


def _first_item(one: Any, two: Any) -> tuple[tuple[int, ...], Any, Any]:
    """The place of the first item that differs in two nested lists of one shape, and both items."""
    if not isinstance(one, list):
        return (), one, two
    pairs: list[tuple[Any, Any]] = list(zip(one, two, strict=True))
    number = next(i for i, (left, right) in enumerate(pairs) if spelled(left) != spelled(right))
    index, left, right = _first_item(*pairs[number])
    return (number, *index), left, right


def _shape(value: Any) -> Any:
    return [_shape(item) for item in value] if isinstance(value, list) else type(value)


def spelled(value: Any) -> str:
    """A value as text that differs where its bits do (but for the payload of a NaN)."""
    return repr(value)


def at_its_part(parting: Parting, package: EnvPackage) -> Parting:
    """The value with the lines where its part is written, of a `return` that takes several lines."""
    path = parting.name.removeprefix("return.")
    one, two = (
        line_of_part(read_source(package.folder / file).tree, line, path)
        for file, line in (("reference.py", parting.reference_line), ("fast.py", parting.fast_line))
    )
    return replace(parting, reference_line=one, fast_line=two)


def reference_value(value: Any) -> Any:
    """Plain bool, int, float or nested lists of them; None for anything else."""
    if isinstance(value, bool):
        return value
    if isinstance(value, (int, float)):
        return int(value) if isinstance(value, int) else float(value)
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        items = [reference_value(item) for item in value]
        return items if items and all(item is not None for item in items) else None
    return None


def row_value(value: Any, row: int = 0, rows: int = 1) -> Any:
    """A row of a tensor `[rows, ...]` or of a list of such tensors, plain; None for anything else."""
    if hasattr(value, "ndim") and hasattr(value, "tolist"):
        return value[row].tolist() if value.ndim and value.shape[0] == rows else None
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        items = [row_value(item, row, rows) for item in value]
        return items if items and all(item is not None for item in items) else None
    return None


def _one_row(package: EnvPackage, at: Standing) -> tuple[Any, Any]:
    """The batched twin as one row that stands there, and the action as a batch."""
    import numpy as np
    import torch
    from gymnasium.vector import AutoresetMode

    from simulacrum.engine.vector import SimulacrumVectorEnv
    from simulacrum.harness.drivers import Random
    from simulacrum.harness.rerun import put_action
    from simulacrum.rng.batched import episode_key, split_seed
    from simulacrum.twin.batched import load_states

    schema, fresh = package.schema, at.state is None
    params = {name: np.array([at.params[name]], schema.params[name].field.dtype) for name in at.params}
    # A reset is run as the step in which NEXT_STEP resets a row: so it can be of any episode.
    mode = AutoresetMode.NEXT_STEP if fresh else AutoresetMode.DISABLED
    env = SimulacrumVectorEnv(
        package, 1, autoreset_mode=mode, compile="eager", max_episode_steps=at.limit, params=params
    )
    env.reset(seed=[at.seed])
    data, episode = env.state_dict(), torch.tensor([at.episode - int(fresh)], dtype=torch.int32)
    data["clock"] |= {
        "episode": episode, "key": episode_key(split_seed([at.seed]), episode),
        "t": torch.tensor([at.t], dtype=torch.int32), "ended": torch.tensor([fresh]),
    }  # fmt: skip
    if at.state is not None:
        state = load_states(schema, [at.state])
        data["env"] |= dict(zip(state._fields, state, strict=True))
    env.load_state_dict(data)
    env.core.override = for_rows(at.forced)
    action = Random(schema, 1, 0).actions({}, 0)
    if at.action is not None:
        put_action(schema, action, 0, at.action)
    return env, action


def _told(error: Exception) -> str:
    return error.message if isinstance(error, SimulacrumError) else f"{type(error).__name__}: {error}"
