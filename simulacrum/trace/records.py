"""Trajectories and their parts between memory and JSON values, checked against the schema on the way in.

The canonical document of a trajectory (version 1), which `digest` is taken over:

    {"env_id", "schema_digest", "form", "seed", "params": {...}, "max_episode_steps",
     "episodes": [{"episode", "t", "state", "observation", "info", "action_mask", "draws",
                   "steps": [{"t", "action", "reward", "terminated", "truncated",
                              "observation", "state", "info", "action_mask", "draws"}, ...]}, ...]}

`info` is {} and `action_mask` null where the schema declares none. `draws` maps slots to their words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from simulacrum.errors import TraceError
from simulacrum.trace.jsonio import BadValue, Keys, canonical, dotted, sha256, short
from simulacrum.trace.trajectory import Order, Start, Step, Trajectory, Words, schema_digest
from simulacrum.trace.values import read_group, read_object, read_value, spell, spell_group

if TYPE_CHECKING:
    from simulacrum.contract.schema import Schema

HEADER = ("env_id", "schema_digest", "form", "seed", "params", "max_episode_steps")
_START = ("episode", "t", "state", "observation", "info", "action_mask", "draws")
_STEP = (
    *("episode", "t", "action", "reward", "terminated", "truncated"),
    *("observation", "state", "info", "action_mask", "draws"),
)


def checked(trajectory: Trajectory, schema: Schema, *, bounds: bool = False) -> Trajectory:
    """The trajectory with every value in its form in memory. Raises TraceError naming the field where
    something does not fit the schema (with `bounds`: also its limits) or the order of episodes and steps
    is impossible."""
    try:
        return _checked(trajectory, schema, bounds)
    except BadValue as error:
        raise fault(error, f"trajectory of {trajectory.env_id}, seed {trajectory.seed}") from None


def _checked(trajectory: Trajectory, schema: Schema, bounds: bool) -> Trajectory:
    header = read_header({name: getattr(trajectory, name) for name in HEADER}, schema)
    starts = [
        read_start(_fields(start, _START), schema, bounds, ("starts", index))
        for index, start in enumerate(trajectory.starts)
    ]
    steps = [
        read_step(_fields(step, _STEP), schema, bounds, ("steps", index))
        for index, step in enumerate(trajectory.steps)
    ]
    result = replace(header, starts=tuple(starts), steps=tuple(steps))
    Order().whole(result)
    return result


def _fields(value: Any, names: Sequence[str]) -> dict[str, Any]:
    return {name: getattr(value, name) for name in names}


def fault(error: BadValue, where: str) -> TraceError:
    """The error of a reader: what was wrong, in which file (and line), at which field."""
    place = f"{where}, {dotted(error.path)}" if error.path else where
    return TraceError(error.message, expected=error.expected, found=error.found, where=place)


def read_header(raw: Any, schema: Schema, path: Keys = ()) -> Trajectory:
    """A trajectory without starts and steps from its header's JSON object. Raises BadValue."""
    items = read_object(raw, HEADER, path)
    digest = schema_digest(schema)
    if items["schema_digest"] != digest:
        raise BadValue(
            "recorded under another schema",
            path=(*path, "schema_digest"),
            expected=f"{digest[:16]}... ({schema.id})",
            found=f"{short(items['schema_digest'])[1:17]}... ({items['env_id']})",
        )
    for name in ("env_id", "form"):
        if not isinstance(items[name], str) or not items[name]:
            raise BadValue("not a name", path=(*path, name), expected="a text", found=short(items[name]))
    seed = _whole(items["seed"], (*path, "seed"), 2**64 - 1)
    limit = items["max_episode_steps"]
    limit = None if limit is None else _whole(limit, (*path, "max_episode_steps"), 2**31 - 1)
    given = read_object(items["params"], tuple(schema.params), (*path, "params"))
    params = {
        name: read_value(param.field, given[name], path=(*path, "params", name))
        for name, param in schema.params.items()
    }
    return Trajectory(items["env_id"], digest, items["form"], seed, params, limit)


def read_start(raw: Any, schema: Schema, bounds: bool = False, path: Keys = ()) -> Start:
    """A start from its JSON object (or the values of a dataclass). Raises BadValue."""
    items = read_object(raw, _START, path)
    return Start(**_numbers(items, path), **_seen(items, schema, bounds, path, "reset"))


def read_step(raw: Any, schema: Schema, bounds: bool = False, path: Keys = ()) -> Step:
    """A step from its JSON object (or the values of a dataclass). Raises BadValue."""
    items = read_object(raw, _STEP, path)
    for name in ("terminated", "truncated"):
        if not isinstance(items[name], bool):
            raise BadValue(
                "not a boolean", path=(*path, name), expected="true or false", found=short(items[name])
            )
    return Step(
        **_numbers(items, path),
        action=read_group(schema.action, items["action"], bounds=bounds, path=(*path, "action")),
        reward=read_value(schema.reward, items["reward"], bounds=bounds, path=(*path, "reward")),
        terminated=items["terminated"],
        truncated=items["truncated"],
        **_seen(items, schema, bounds, path, "step"),
    )


def _numbers(items: Mapping[str, Any], path: Keys) -> dict[str, int]:
    return {name: _whole(items[name], (*path, name), 2**31 - 1) for name in ("episode", "t")}


def _whole(value: Any, path: Keys, high: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= high:
        raise BadValue("not a whole number in range", path=path, expected=f"0..{high}", found=short(value))
    return int(value)


def _seen(items: Mapping[str, Any], schema: Schema, bounds: bool, path: Keys, phase: str) -> dict[str, Any]:
    """What starts and steps have in common: state, observation, info, mask and draws."""
    mask = items["action_mask"]
    if schema.action_mask is not None:
        mask = read_value(schema.action_mask, mask, path=(*path, "action_mask"))
    elif mask is not None:
        raise BadValue(
            "the schema declares no mask", path=(*path, "action_mask"), expected="null", found=short(mask)
        )
    groups = {"state": schema.state, "observation": schema.observation, "info": schema.info}
    read = {
        name: read_group(group, items[name], bounds=bounds, path=(*path, name))
        for name, group in groups.items()
    }
    return {
        **read,
        "action_mask": mask,
        "draws": _read_draws(items["draws"], schema, (*path, "draws"), phase),
    }


def _read_draws(raw: Any, schema: Schema, path: Keys, phase: str) -> Words:
    if not isinstance(raw, Mapping):
        raise BadValue("not an object", path=path, expected="slot -> words", found=short(raw))
    slots = [draw.name for draw in schema.draws if draw.phase == phase]
    result: dict[str, list[int | None]] = {}
    for slot, words in cast("Mapping[str, Any]", raw).items():
        if slot not in slots:
            raise BadValue(
                f"no such draw at {phase}",
                path=path,
                expected=", ".join(slots) or "no draws",
                found=short(slot),
            )
        if hasattr(words, "tolist"):
            words = words.tolist()
        if not isinstance(words, (list, tuple)):
            raise BadValue("not a list of words", path=(*path, slot), found=short(words))
        items = enumerate(cast("Sequence[Any]", words))
        result[slot] = [None if w is None else _whole(w, (*path, slot, i), 2**32 - 1) for i, w in items]
    return result


def spell_header(trajectory: Trajectory, schema: Schema) -> dict[str, Any]:
    params = {name: spell(param.field, trajectory.params[name]) for name, param in schema.params.items()}
    return {**_fields(trajectory, HEADER), "params": params}


def spell_start(start: Start, schema: Schema) -> dict[str, Any]:
    return {"episode": start.episode, "t": start.t, **_spell_seen(start, schema)}


def spell_step(step: Step, schema: Schema) -> dict[str, Any]:
    return {
        "episode": step.episode,
        "t": step.t,
        "action": spell_group(schema.action, step.action),
        "reward": spell(schema.reward, step.reward),
        "terminated": step.terminated,
        "truncated": step.truncated,
        **_spell_seen(step, schema),
    }


def _spell_seen(item: Start | Step, schema: Schema) -> dict[str, Any]:
    mask = schema.action_mask
    return {
        "observation": spell_group(schema.observation, item.observation),
        "state": spell_group(schema.state, item.state),
        "info": spell_group(schema.info, item.info),
        "action_mask": None if mask is None else spell(mask, item.action_mask),
        "draws": {slot: list(words) for slot, words in item.draws.items()},
    }


def to_document(trajectory: Trajectory, schema: Schema) -> dict[str, Any]:
    """The canonical document of a checked trajectory."""
    episodes: list[dict[str, Any]] = []
    for start, steps in trajectory.episodes():
        spelled = [spell_step(step, schema) for step in steps]
        for step in spelled:
            del step["episode"]
        episodes.append({**spell_start(start, schema), "steps": spelled})
    return {**spell_header(trajectory, schema), "episodes": episodes}


def from_document(raw: Any, schema: Schema, *, bounds: bool = False) -> Trajectory:
    """A trajectory from its document. Raises BadValue with the path of the field."""
    items = read_object(raw, (*HEADER, "episodes"), ())
    header = read_header({name: items[name] for name in HEADER}, schema)
    order, starts, steps = Order(), list[Start](), list[Step]()
    for number, entry in enumerate(_list(items["episodes"], ("episodes",))):
        path: Keys = ("episodes", number)
        parts = dict(read_object(entry, (*_START, "steps"), path))
        inner = _list(parts.pop("steps"), (*path, "steps"))
        start = read_start(parts, schema, bounds, path)
        order.start(start, path)
        starts.append(start)
        for index, part in enumerate(inner):
            place: Keys = (*path, "steps", index)
            read_object(part, tuple(name for name in _STEP if name != "episode"), place)
            step = read_step({**part, "episode": start.episode}, schema, bounds, place)
            order.step(step, place)
            steps.append(step)
    return replace(header, starts=tuple(starts), steps=tuple(steps))


def _list(value: Any, path: Keys) -> list[Any]:
    if not isinstance(value, list):
        raise BadValue("not a list", path=path, expected="a JSON array", found=short(value))
    return cast("list[Any]", value)


def digest(trajectory: Trajectory, schema: Schema) -> str:
    """SHA-256 (hex) of a checked trajectory's canonical document: equal exactly where all bits are equal."""
    return sha256(canonical(to_document(trajectory, schema)))
