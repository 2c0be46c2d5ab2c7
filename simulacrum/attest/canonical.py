"""JSON in one canonical form, and the hash of it."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any, cast

from simulacrum.errors import ReportError


def canonical(value: Any) -> bytes:
    """The bytes that are hashed: sorted keys, no spaces, and each float as its hexadecimal text.

    Decimal text of floats depends on who prints it; `float.hex` does not. NaN and the infinities become
    their names.
    """
    text = json.dumps(
        _hexed(value), sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
    )
    return text.encode("ascii")


def seal_of(body: Mapping[str, Any]) -> str:
    """The seal that belongs to a report's JSON object; a seal already in it is left out of the hash.

    So is the mutation score: it is measured after the run and decides nothing, and a checkpoint that names the report
    by its seal should still find it.
    """
    sealed = {key: value for key, value in body.items() if key not in ("seal", "mutation_score")}
    return hashlib.sha256(canonical(sealed)).hexdigest()


def plain(value: Any, where: str) -> Any:
    """`value` in types that JSON has: tuples as lists, keys as text, NaN and infinities by name.

    A failing check may well have NaN in its evidence, and its report must still be written.

    Raises:
        ReportError: a value of another type (a tensor, say); `where` leads to it.
    """
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else str(float(value))
    if isinstance(value, Mapping):
        items = cast("Mapping[Any, Any]", value).items()
        return {str(key): plain(item, f"{where}.{key}") for key, item in items}
    if isinstance(value, (list, tuple)):
        listed = cast("list[Any] | tuple[Any, ...]", value)
        return [plain(item, f"{where}[{index}]") for index, item in enumerate(listed)]
    raise ReportError(
        "a report holds JSON values only",
        expected="None, bool, int, float, text, lists or mappings of them",
        found=f"{type(value).__module__}.{type(value).__qualname__}",
        where=where,
    )


def _hexed(value: Any) -> Any:
    if isinstance(value, float):
        return f"float:{value.hex()}"
    if isinstance(value, Mapping):
        return {key: _hexed(item) for key, item in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, (list, tuple)):
        return [_hexed(item) for item in cast("list[Any]", value)]
    return value
