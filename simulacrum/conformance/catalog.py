"""All rules, in the order in which they run."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Sequence

from simulacrum.conformance.rule import RULES
from simulacrum.errors import UsageError

FILES = ("spaces", "calls", "autoreset", "finals", "seeding", "aliasing", "rows", "infos", "wrappers", "lifecycle")
for _file in FILES:
    importlib.import_module(f"simulacrum.conformance.rules.{_file}")  # which enters its rules

GROUPS: tuple[str, ...] = tuple(dict.fromkeys(name.partition(".")[0] for name in RULES))


def chosen(names: Sequence[str] | None) -> list[str]:
    """Names of rules in their order, all for None; a group's name chooses its rules.

    Raises:
        UsageError: an unknown name.
    """
    for name in names or ():
        if name not in RULES and name not in GROUPS:
            near = difflib.get_close_matches(name, [*RULES, *GROUPS], n=1)
            raise UsageError(f"unknown rule {name!r}", expected=f"a rule, or a group: {', '.join(GROUPS)}", found=name,
                             next_step=f"did you mean {near[0]!r}?" if near else None)  # fmt: skip
    wanted = set(names or RULES)
    return [name for name in RULES if name in wanted or name.partition(".")[0] in wanted]


__all__ = ["GROUPS", "RULES", "chosen"]
