"""schema.json, read strictly: the one machine-readable source of fields, spaces, draws and limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from simulacrum.contract.declared import check_name, parse_draws, parse_id, parse_params, parse_time_limit
from simulacrum.contract.fields import Draw, Field, Group, Param, elements
from simulacrum.contract.leaf import parse_leaf
from simulacrum.contract.node import Node, read_json, show
from simulacrum.contract.outside import parse_outside

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

DIALECT = "https://json-schema.org/draft/2020-12/schema"

_TOP = {
    "$schema",
    "$id",
    "$comment",
    "title",
    "description",
    "type",
    "properties",
    "required",
    "additionalProperties",
    "x-max-episode-steps",
    "x-draws",
    "x-params",
    "x-outside",
}
_PARTS = ("state", "action", "observation", "reward", "info", "action_mask")
_REQUIRED = _PARTS[:4]
_OBJECT = {"type", "properties", "required", "additionalProperties", "description", "title", "$comment"}
# A method of the state struct, which a field of that name would hide.
_TAKEN = {"replace"}


@dataclass(frozen=True)
class Schema:
    """What an environment says about itself, parsed.

    `id` is the Gymnasium id ("simulacrum/toywalk-v0") and `name` its middle ("toywalk"). `info` may be empty.
    `max_episode_steps` is None where no time limit applies. `outside` names the installed distributions that the
    reference drives, most often none. `raw` is the JSON object as it was read.
    """

    id: str
    name: str
    description: str
    state: Group
    action: Group
    observation: Group
    reward: Field
    info: Group
    action_mask: Field | None
    draws: tuple[Draw, ...]
    params: Mapping[str, Param]
    max_episode_steps: int | None
    outside: tuple[str, ...]
    raw: dict[str, Any]

    def draw(self, slot: str) -> Draw | None:
        """The declared draw of that name, or None."""
        return next((draw for draw in self.draws if draw.name == slot), None)

    def group(self, part: str) -> Group:
        """A part of the schema as a Group; reward and action_mask become groups of one tensor.

        Raises KeyError for a part that the schema does not have.
        """
        if part in ("state", "action", "observation", "info"):
            return getattr(self, part)
        if part == "params":
            return Group("params", {name: param.field for name, param in self.params.items()})
        leaf = {"reward": self.reward, "action_mask": self.action_mask}[part]
        if leaf is None:
            raise KeyError(part)
        return Group(part, {"": leaf}, single=True)

    def validator(self, part: str) -> Validator:
        """A `jsonschema` validator for the JSON value of a part ("state", "action", "params", ...).

        Bounds are those of the dtype: where the schema says 0.1 for a float32 field, float32(0.1) passes.
        """
        from simulacrum.contract.values import validator_for

        return validator_for(self.group(part))


def load_schema(path: str | Path) -> Schema:
    """The Schema in a file.

    Raises:
        SchemaError: the file is missing, unreadable or not JSON, or its content breaks a rule; the message
            names the file and the JSON path.
    """
    return parse_schema(read_json(Path(path)), str(path))


def parse_schema(raw: dict[str, Any], where: str) -> Schema:
    """The Schema in a JSON object; `where` names its source in messages. Raises SchemaError."""
    root = Node(raw, "$", where)
    _check_dialect(root)
    _check_top(root)
    env_id, name = _identity(root)
    parts = root.child("properties")
    state = _mapping(parts.child("state"), "state", minimum=1)
    for field_name, place in parts.child("state").child("properties").entries():
        if field_name in _TAKEN:
            place.fail(
                f"{field_name!r} is a method of the state struct",
                expected="another name",
                found=field_name,
                mend="rename the field",
            )
    info = parts.get("info")
    action = _group(parts.child("action"), "action")
    return Schema(
        id=env_id,
        name=name,
        description=str(raw.get("description", "")),
        state=state,
        action=action,
        observation=_group(parts.child("observation"), "observation"),
        reward=_reward(parts.child("reward")),
        info=_mapping(info, "info", minimum=0) if info else Group("info", {}),
        action_mask=_mask(parts, action),
        draws=parse_draws(root),
        params=parse_params(root),
        max_episode_steps=parse_time_limit(root),
        outside=parse_outside(root),
        raw=raw,
    )


def _identity(root: Node) -> tuple[str, str]:
    return parse_id(root.need("$id", "it is the environment's Gymnasium id"))


def _check_top(root: Node) -> None:
    players = root.get("x-players")
    if players:
        players.fail(
            "x-players is reserved for environments with several players, which are not built yet",
            expected="one player",
            found=show(players.value),
            mend="remove x-players",
        )
    root.only(_TOP, "the schema")
    dialect = root.need("$schema", "it says which JSON Schema is spoken")
    if dialect.value not in (DIALECT, DIALECT + "#"):
        dialect.fail(
            "only JSON Schema 2020-12 is understood",
            expected=DIALECT,
            found=show(dialect.value),
            mend="change it",
        )
    _object_type(root)
    parts = root.need("properties", "it holds state, action, observation and reward").as_object("properties")
    parts.only(_PARTS, "the schema's properties")
    for part in _REQUIRED:
        parts.need(part, "every environment declares it").as_object(part)
    _requires(
        root,
        [part for part in _PARTS if part in parts.value and part not in ("info", "action_mask")],
        optional=("info", "action_mask"),
    )


def _check_dialect(root: Node) -> None:
    """Hold the document, and each parameter, against the JSON Schema meta-schema."""
    from jsonschema import Draft202012Validator, exceptions

    meta: Any = Draft202012Validator(Draft202012Validator.META_SCHEMA)
    best_match: Callable[[Any], Any] = cast(Any, exceptions).best_match
    params = root.get("x-params")
    places = [root]
    if params and isinstance(params.value, dict):
        places += [node for _, node in params.entries()]
    for place in places:
        error = best_match(meta.iter_errors(place.value))
        if error is not None:
            steps = "".join(
                f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.absolute_path
            )
            Node(error.instance, place.path + steps, root.file).fail(
                f"this is not valid JSON Schema: {error.message}",
                found=show(error.instance),
                mend="see the JSON Schema 2020-12 meaning of that keyword",
            )


def _object_type(node: Node) -> None:
    kind = node.need("type", "a mapping of fields is an object")
    if kind.value != "object":
        kind.fail(
            "a mapping of fields is an object", expected='"object"', found=show(kind.value), mend="change it"
        )


def _requires(node: Node, names: list[str], optional: tuple[str, ...] = ()) -> None:
    required = node.need("required", "nothing declared may be left out").as_array("required")
    found = required.value
    missing = [name for name in names if name not in found]
    surplus = [name for name in found if name not in names and name not in optional]
    if missing or surplus or len(set(found)) != len(found):
        required.fail(
            "required does not list the declared names",
            expected=names,
            found=show(found),
            mend="list every declared name once",
        )


def _mapping(node: Node, part: str, *, minimum: int, extra: frozenset[str] = frozenset()) -> Group:
    """An object of leaves as a Group."""
    node.as_object(part)
    node.only(_OBJECT | extra, part)
    _object_type(node)
    fields: dict[str, Field] = {}
    properties = node.need("properties", "it holds the fields").as_object(f"the properties of {part}")
    for name, place in properties.entries():
        check_name(place, name, f"field of {part}")
        fields[name] = parse_leaf(place, part, f"{part}.{name}", name)
    if len(fields) < minimum:
        properties.fail(
            f"{part} has no field", expected=f"at least {minimum}", found="{}", mend="declare one"
        )
    _requires(node, list(fields))
    closed = node.need("additionalProperties", "nothing undeclared may appear")
    if closed.value is not False:
        closed.fail(
            "nothing undeclared may appear",
            expected="false",
            found=show(closed.value),
            mend="set it to false",
        )
    return Group(part, fields)


def _group(node: Node, part: str) -> Group:
    """Action or observation: one tensor, or a Dict space one level deep."""
    node.as_object(part)
    if node.value.get("type") != "object":
        return Group(part, {"": parse_leaf(node, part, part, part)}, single=True)
    space = node.need("x-space", "leaves of action and observation name their Gymnasium space")
    if space.value != "Dict":
        space.fail("an object is a Dict space", expected='"Dict"', found=show(space.value), mend="change it")
    return _mapping(node, part, minimum=1, extra=frozenset({"x-space"}))


def _reward(node: Node) -> Field:
    field = parse_leaf(node, "reward", "reward", "reward")
    if not field.is_float:
        node.child("x-dtype").fail(
            "the reward is a float", expected="float32 or float64", found=field.dtype, mend="change it"
        )
    return field


def _mask(parts: Node, action: Group) -> Field | None:
    node = parts.get("action_mask")
    if node is None:
        return None
    field = parse_leaf(node, "action_mask", "action_mask", "action_mask")
    leaf = action.leaf if action.single else None
    if leaf is not None and leaf.space == "Discrete":
        assert isinstance(leaf.low, int)
        assert isinstance(leaf.high, int)
        wanted = leaf.high - leaf.low + 1
    elif leaf is not None and leaf.space == "MultiDiscrete":
        wanted = int(sum(elements(leaf.nvec)))
    else:
        node.fail(
            "only Discrete and MultiDiscrete actions can be masked",
            found="another space",
            mend="remove action_mask",
        )
    if field.dtype != "bool" or field.shape != (wanted,):
        node.fail(
            "the mask has one boolean for each choice of the action",
            expected=f"bool [{wanted}]",
            found=f"{field.dtype} {list(field.shape)}",
            mend="mend x-dtype, x-shape and the array",
        )
    return field
