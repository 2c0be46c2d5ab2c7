"""What schema.json declares beside tensors: the id, named draws, parameters and the time limit."""

from __future__ import annotations

import keyword
import re

from simulacrum.contract.fields import DISTRIBUTIONS, PHASES, Draw, Param
from simulacrum.contract.leaf import parse_default, parse_leaf
from simulacrum.contract.node import Node, show

ID_PATTERN = re.compile(
    r"(?P<namespace>[A-Za-z0-9_-]+)/(?P<name>[A-Za-z][A-Za-z0-9_-]*)-v(?P<version>[0-9]+)"
)

_DRAW = {"name", "phase", "distribution", "dtype", "count", "rule", "description"}


def parse_id(node: Node) -> tuple[str, str]:
    """The Gymnasium id and the environment's name in a schema's `$id`."""
    match = ID_PATTERN.fullmatch(node.value) if isinstance(node.value, str) else None
    if match is None:
        node.fail(
            "$id is not a Gymnasium id",
            expected="NAMESPACE/NAME-vNUMBER, such as simulacrum/toywalk-v0",
            found=show(node.value),
            mend="write the id in that form",
        )
    return node.value, match["name"]


def parse_draws(root: Node) -> tuple[Draw, ...]:
    """The draws of `x-draws` in their order; () without it. SchemaError where one is malformed or two share a name."""
    node = root.get("x-draws")
    if node is None:
        return ()
    draws: dict[str, Draw] = {}
    for place in node.as_array("x-draws").items():
        place.as_object("a draw").only(_DRAW, "a draw")
        draw = _draw(place)
        if draw.name in draws:
            place.child("name").fail("two draws have this name", found=draw.name, mend="rename one of them")
        draws[draw.name] = draw
    return tuple(draws.values())


def _draw(node: Node) -> Draw:
    name = node.need("name", "twins ask for a draw by name")
    check_name(name, name.as_text("the name of a draw"), "draw")
    phase = node.need("phase", "a draw belongs to reset or to step").one_of(PHASES, "phase")
    distribution = node.need("distribution", "it says what is drawn").one_of(DISTRIBUTIONS, "distribution")
    dtype = node.need("dtype", "it says how many bits are drawn").one_of(
        DISTRIBUTIONS[distribution], f"dtype of {distribution}"
    )
    if distribution == "permutation":
        node.need("count", "a permutation has a length")
    count = node.get("count")
    rule = node.need("rule", "every draw is used by a rule of spec.md")
    if not isinstance(rule.value, str) or not re.fullmatch(r"R[1-9][0-9]*", rule.value):
        rule.fail(
            "this is not a rule's number",
            expected="R1, R2, ...",
            found=show(rule.value),
            mend="name the rule",
        )
    return Draw(
        name=name.value,
        phase=phase,
        distribution=distribution,
        dtype=dtype,
        count=count.as_integer("count", low=1) if count else None,
        rule=rule.value,
        description=str(node.value.get("description", "")),
    )


def parse_params(root: Node) -> dict[str, Param]:
    """The parameters of `x-params` by name; {} without it. SchemaError where a name, leaf or default is wrong."""
    node = root.get("x-params")
    if node is None:
        return {}
    params: dict[str, Param] = {}
    for name, place in node.as_object("x-params").entries():
        check_name(place, name, "parameter")
        field = parse_leaf(place, "x-params", f"params.{name}", name)
        params[name] = Param(field, parse_default(place, field))
    return params


def parse_time_limit(root: Node) -> int | None:
    """`x-max-episode-steps`; None without it. SchemaError where it is no integer from 1 to 2**31 - 1."""
    node = root.get("x-max-episode-steps")
    if node is None:
        return None
    steps = node.as_integer("x-max-episode-steps", low=1)
    if steps > 2**31 - 1:
        node.fail(
            "the step counter has 32 bits", expected="below 2**31", found=steps, mend="leave the limit out"
        )
    return steps


def check_name(node: Node, name: str, what: str) -> None:
    if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_"):
        node.fail(
            f"{name!r} cannot be the name of a {what}",
            expected="a Python name without a leading underscore",
            found=name,
            mend="rename it",
        )
