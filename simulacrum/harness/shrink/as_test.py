"""A shrunken case as a pytest file that needs nothing but simulacrum and the package."""

from __future__ import annotations

import pprint
import re
import textwrap
from typing import Any

from simulacrum.contract.package import EnvPackage
from simulacrum.harness.case import keywords
from simulacrum.harness.small.config import read_small
from simulacrum.trace.case import Shrunk
from simulacrum.trace.divergence import Divergence

_WIDTH = 100


def as_test(package: EnvPackage, record: Divergence, shrunk: Shrunk) -> str:
    """The text of the file: one test, everything in it as literals."""
    env = str(package.folder) if package.origin.startswith("path") else package.env_id
    small = shrunk.case.small
    given = keywords(shrunk.case, env, _limit(package, shrunk))
    if small is not None:
        given["small"] = True if read_small(package) == dict(small) else dict(small)
    name = re.sub(r"\W+", "_", shrunk.difference.path).strip("_").lower()
    arguments = "\n".join(f"        {_argument(key, value)}," for key, value in given.items())
    return (
        f'"""{_docstring(record, shrunk)}"""\n\n'
        "from simulacrum.harness.case import assert_twins_agree\n\n\n"
        f"def test_{name}() -> None:\n    assert_twins_agree(\n{arguments}\n    )\n"
    )


def _limit(package: EnvPackage, shrunk: Shrunk) -> int | None:
    small = dict(shrunk.case.small or {})
    return small.get("max_episode_steps", package.schema.max_episode_steps)


def _docstring(record: Divergence, shrunk: Shrunk) -> str:
    one = shrunk.difference
    values = f"{one.reference.decimal} there, {one.batched.decimal} here"
    parts = [
        f"{one.path} of {record.env_id} differs between the twins: {values} ({record.check}).",
        "",
        *textwrap.wrap(f"The smallest case found: {shrunk.summary}. It passes as soon as both sides agree.", _WIDTH),
    ]
    if record.rule is not None:
        parts += textwrap.wrap(f"{record.rule.id}: {' '.join(record.rule.text.split())}", _WIDTH)
    parts += [line for likely in record.diagnosis[:1]
              for line in textwrap.wrap(f"It looks like {likely.title}: {likely.why}.", _WIDTH)]
    return "\n".join(parts).replace("\\", "\\\\").replace('"""', "'''") + ("\n" if len(parts) > 1 else "")


def _argument(name: str, value: Any) -> str:
    text = pprint.pformat(value, width=_WIDTH - 10 - len(name), sort_dicts=False, compact=True)
    return f"{name}=" + text.replace("\n", "\n" + " " * (9 + len(name)))
