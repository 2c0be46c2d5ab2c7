"""The torch operations that are measured for portability: how each is called, and what the right bits are.

Inputs are a dict of tensors with a leading `[N]`: `a`, `b`, `c` float32 over many magnitudes, `p`
positive, `u` in 0..1, `small` within float32 casts to integers, `i`, `j` int32 (`j` never 0), `k` int32
0..3, `m`, `n` bool, `rows` float32 [N, 12], `grid` int32 [N, 12], `flags` bool [N, 12], `order` int64 [N,
12] a permutation a row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

Values = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """One operation: its spellings in code, a call of it on torch inputs, and the right answer by NumPy."""

    name: str
    group: str
    spelled: tuple[str, ...]
    call: Callable[[Values], Any]
    right: Callable[[Values], Any] | None = None
    needs: tuple[str, ...] = ()
    reason: str = ""
    instead: str = ""


def make_inputs(count: int, seed: int = 0) -> Values:
    """Inputs for `count` rows; row r is the same for every count."""
    draw = np.random.default_rng(seed)
    size = max(count, 4097)

    def wide(*shape: int) -> np.ndarray:
        return (draw.standard_normal(shape) * 2.0 ** draw.integers(-12, 13, shape)).astype(np.float32)

    values = {
        "a": wide(size),
        "b": wide(size),
        "c": wide(size),
        "p": np.abs(wide(size)) + np.float32(1e-6),
        "u": draw.random(size, dtype=np.float32),
        "small": (draw.standard_normal(size) * 50).astype(np.float32).clip(-120, 120),
        "i": draw.integers(-(2**31), 2**31, size).astype(np.int32),
        "j": (draw.integers(1, 1000, size) * draw.choice([-1, 1], size)).astype(np.int32),
        "k": draw.integers(0, 4, size).astype(np.int32),
        "m": draw.random(size) < 0.5,
        "n": draw.random(size) < 0.5,
        "rows": wide(size, 12),
        "ties": draw.integers(0, 3, (size, 12)).astype(np.float32),
        "grid": draw.integers(-1000, 1000, (size, 12)).astype(np.int32),
        "flags": draw.random((size, 12)) < 0.3,
        "order": np.argsort(draw.random((size, 12)), axis=1),
    }
    # Halves decide roundings; infinities and zeros must come through arithmetic.
    values["a"][:8] = [0.5, 1.5, 2.5, -0.5, 0.0, 1.0, -1.0, 3.4e38]
    return {name: torch.from_numpy(value[:count].copy()) for name, value in values.items()}


def _case(group: str, spelled: str, call: Any, right: Any = None, name: str = "", needs: str = "") -> Case:
    names = tuple(spelled.split())
    return Case(name or names[0], group, names, call, right, tuple(n for n in needs.split(", ") if n))


def _math(name: str, call: Any, right: Any, instead: str = "") -> Case:
    return Case(name, "elementary functions", (name,), call, right, (), "", instead or f"simulacrum.portable.{name}")


def _float_only(group: str, spelled: str, call: Any, right: Any, reason: str, instead: str, name: str = "") -> Case:
    names = tuple(spelled.split())
    return Case(name or names[0], group, names, call, right, (), reason, instead)


def _loop_sum(rows: np.ndarray) -> np.ndarray:
    total = rows[:, 0].copy()
    for column in range(1, rows.shape[1]):
        total = total + rows[:, column]
    return total


def _loop_cumsum(rows: np.ndarray) -> np.ndarray:
    columns = [rows[:, 0]]
    for column in range(1, rows.shape[1]):
        columns.append(columns[-1] + rows[:, column])
    return np.stack(columns, axis=1)


def _once(function: Callable[..., np.ndarray]) -> Callable[[np.ndarray], np.ndarray]:
    """The float64 function, rounded to float32 once: the value a portable function would aim at."""
    return lambda *arguments: function(*(a.astype(np.float64) for a in arguments)).astype(np.float32)


_WEIGHTS = torch.linspace(-1.0, 1.0, 144).reshape(12, 12)
_TRUNC = {"rounding_mode": "trunc"}
_FLOOR = {"rounding_mode": "floor"}

CASES: tuple[Case, ...] = (
    _case("arithmetic", "+ add", lambda v: v["a"] + v["b"], lambda v: v["a"] + v["b"]),
    _case("arithmetic", "- sub subtract", lambda v: v["a"] - v["b"], lambda v: v["a"] - v["b"]),
    _case("arithmetic", "* mul multiply", lambda v: v["a"] * v["b"], lambda v: v["a"] * v["b"]),
    _case("arithmetic", "/ div true_divide divide", lambda v: v["a"] / v["p"], lambda v: v["a"] / v["p"]),
    _case("arithmetic", "/", lambda v: v["a"] / 3.0, lambda v: v["a"] / np.float32(3.0), "division by a number"),
    Case("1 / tensor", "arithmetic", (), lambda v: 1.0 / v["p"], lambda v: np.float32(1.0) / v["p"]),
    _case("arithmetic", "+", lambda v: v["a"] * v["b"] + v["c"], lambda v: v["a"] * v["b"] + v["c"], "a * b + c"),
    _case(
        "arithmetic",
        "*",
        lambda v: ((v["u"] * 0.3 + 0.7) * v["u"] - 0.2) * v["u"] + v["b"],
        lambda v: ((v["u"] * np.float32(0.3) + np.float32(0.7)) * v["u"] - np.float32(0.2)) * v["u"] + v["b"],
        "a polynomial",
    ),
    _case("arithmetic", "neg negative", lambda v: -v["a"], lambda v: -v["a"]),
    _case("arithmetic", "abs absolute", lambda v: torch.abs(v["a"]), lambda v: np.abs(v["a"])),
    _case("arithmetic", "square", lambda v: torch.square(v["a"]), lambda v: v["a"] * v["a"]),
    _case("arithmetic", "reciprocal", lambda v: torch.reciprocal(v["p"]), lambda v: np.float32(1) / v["p"]),
    _case("arithmetic", "sign sgn", lambda v: torch.sign(v["a"]), lambda v: np.sign(v["a"])),
    _case("arithmetic", "minimum", lambda v: torch.minimum(v["a"], v["b"]), lambda v: np.minimum(v["a"], v["b"])),
    _case("arithmetic", "maximum", lambda v: torch.maximum(v["a"], v["b"]), lambda v: np.maximum(v["a"], v["b"])),
    _case(
        "arithmetic",
        "clamp clip clamp_min clamp_max",
        lambda v: v["a"].clamp(-1.5, 2.5),
        lambda v: np.clip(v["a"], np.float32(-1.5), np.float32(2.5)),
    ),
    _case("arithmetic", "relu", lambda v: F.relu(v["a"]), lambda v: np.maximum(v["a"], np.float32(0))),
    _case("rounding", "floor", lambda v: torch.floor(v["a"]), lambda v: np.floor(v["a"])),
    _case("rounding", "ceil", lambda v: torch.ceil(v["a"]), lambda v: np.ceil(v["a"])),
    _case("rounding", "trunc fix", lambda v: torch.trunc(v["a"]), lambda v: np.trunc(v["a"])),
    _case("rounding", "round", lambda v: torch.round(v["a"]), lambda v: np.round(v["a"]), needs="no keyword decimals"),
    _case(
        "conversion",
        "to type",
        lambda v: v["i"].to(torch.float32),
        lambda v: v["i"].astype(np.float32),
        "int32 to float32",
    ),
    _case("conversion", "float", lambda v: v["order"].float(), lambda v: v["order"].astype(np.float32)),
    _case("conversion", "double", lambda v: v["a"].double(), lambda v: v["a"].astype(np.float64)),
    _case("conversion", "int", lambda v: v["small"].int(), lambda v: v["small"].astype(np.int32)),
    _case("conversion", "long", lambda v: v["small"].long(), lambda v: v["small"].astype(np.int64)),
    _case("conversion", "bool", lambda v: v["k"].bool(), lambda v: v["k"].astype(bool)),
    _case(
        "conversion",
        "to",
        lambda v: v["small"].to(torch.int8),
        lambda v: v["small"].astype(np.int8),
        "float32 to int8 in range",
    ),
    _case(
        "conversion",
        "to",
        lambda v: (v["a"].double() * 1.1).to(torch.float32),
        lambda v: (v["a"].astype(np.float64) * 1.1).astype(np.float32),
        "float64 to float32",
    ),
    _case(
        "integers",
        "+",
        lambda v: v["i"] + v["j"] * 77777,
        lambda v: v["i"] + v["j"] * np.int32(77777),
        "int32 + *",
    ),
    _case("integers", "//", lambda v: v["i"] // v["j"], lambda v: v["i"] // v["j"], "int32 //"),
    _case("integers", "%", lambda v: v["i"] % v["j"], lambda v: v["i"] % v["j"], "int32 %"),
    _case(
        "integers",
        "div floor_divide",
        lambda v: torch.div(v["i"], v["j"], **_TRUNC) + torch.div(v["i"], v["j"], **_FLOOR),
        lambda v: (
            np.sign(v["i"]) * np.sign(v["j"]) * (np.abs(v["i"].astype(np.int64)) // np.abs(v["j"])) + v["i"] // v["j"]
        ).astype(np.int32),
        "int32 div with rounding_mode",
    ),
    _case("integers", "<< bitwise_left_shift", lambda v: v["i"] << v["k"], lambda v: v["i"] << v["k"]),
    _case("integers", ">> bitwise_right_shift", lambda v: v["i"] >> v["k"], lambda v: v["i"] >> v["k"]),
    _case("integers", "& bitwise_and", lambda v: v["i"] & v["j"], lambda v: v["i"] & v["j"]),
    _case("integers", "| bitwise_or", lambda v: v["i"] | v["j"], lambda v: v["i"] | v["j"]),
    _case("integers", "^ bitwise_xor", lambda v: v["i"] ^ v["j"], lambda v: v["i"] ^ v["j"]),
    _case("integers", "~ bitwise_not", lambda v: ~v["i"], lambda v: ~v["i"]),
    _case("comparison", "< lt less", lambda v: v["a"] < v["b"], lambda v: v["a"] < v["b"]),
    _case("comparison", "<= le less_equal", lambda v: v["a"] <= v["b"], lambda v: v["a"] <= v["b"]),
    _case("comparison", "> gt greater", lambda v: v["a"] > 0.1, lambda v: v["a"] > np.float32(0.1)),
    _case("comparison", ">= ge greater_equal", lambda v: v["a"] >= v["b"], lambda v: v["a"] >= v["b"]),
    _case("comparison", "== eq", lambda v: v["a"] == v["b"], lambda v: v["a"] == v["b"]),
    _case("comparison", "!= ne not_equal", lambda v: v["k"] != 2, lambda v: v["k"] != 2),
    _case("comparison", "isnan", lambda v: torch.isnan(v["a"]), lambda v: np.isnan(v["a"])),
    _case("comparison", "isfinite", lambda v: torch.isfinite(v["a"]), lambda v: np.isfinite(v["a"])),
    _case("comparison", "isinf", lambda v: torch.isinf(v["a"]), lambda v: np.isinf(v["a"])),
    _case("comparison", "logical_and", lambda v: torch.logical_and(v["m"], v["n"]), lambda v: v["m"] & v["n"]),
    _case("comparison", "logical_or", lambda v: torch.logical_or(v["m"], v["n"]), lambda v: v["m"] | v["n"]),
    _case("comparison", "logical_xor", lambda v: torch.logical_xor(v["m"], v["n"]), lambda v: v["m"] ^ v["n"]),
    _case("comparison", "logical_not", lambda v: torch.logical_not(v["m"]), lambda v: ~v["m"]),
    _case(
        "selection",
        "where",
        lambda v: torch.where(v["m"], v["a"], v["b"]),
        lambda v: np.where(v["m"], v["a"], v["b"]),
        needs="three arguments",
    ),
    _case(
        "selection",
        "masked_fill",
        lambda v: v["a"].masked_fill(v["m"], 2.5),
        lambda v: np.where(v["m"], np.float32(2.5), v["a"]),
    ),
    _case(
        "selection",
        "gather take_along_dim",
        lambda v: v["rows"].gather(1, v["order"]),
        lambda v: np.take_along_axis(v["rows"], v["order"], 1),
    ),
    _case(
        "selection",
        "index_select",
        lambda v: v["rows"].index_select(1, torch.tensor([3, 1])),
        lambda v: v["rows"][:, [3, 1]],
    ),
    _case(
        "selection",
        "one_hot",
        lambda v: F.one_hot(v["k"].long(), num_classes=4),
        lambda v: np.eye(4, dtype=np.int64)[v["k"]],
        needs="keyword num_classes",
    ),
    _case(
        "over items",
        "any",
        lambda v: v["flags"].any(dim=-1),
        lambda v: v["flags"].any(1),
        needs="dim",
    ),
    _case("over items", "all", lambda v: v["flags"].all(dim=-1), lambda v: v["flags"].all(1), needs="dim"),
    _case("over items", "amax", lambda v: v["rows"].amax(dim=-1), lambda v: v["rows"].max(1), needs="dim"),
    _case("over items", "amin", lambda v: v["rows"].amin(dim=-1), lambda v: v["rows"].min(1), needs="dim"),
    _case("over items", "max", lambda v: v["ties"].max(dim=-1)[1], lambda v: v["ties"].argmax(1), needs="dim"),
    _case("over items", "min", lambda v: v["ties"].min(dim=-1)[1], lambda v: v["ties"].argmin(1), needs="dim"),
    _case("over items", "argmax", lambda v: v["ties"].argmax(dim=-1), lambda v: v["ties"].argmax(1), needs="dim"),
    _case("over items", "argmin", lambda v: v["ties"].argmin(dim=-1), lambda v: v["ties"].argmin(1), needs="dim"),
    _case(
        "over items",
        "count_nonzero",
        lambda v: torch.count_nonzero(v["flags"], dim=-1),
        lambda v: v["flags"].sum(1),
        needs="dim",
    ),
    _case(
        "over items",
        "sum",
        lambda v: v["grid"].sum(dim=-1, dtype=torch.int32),
        lambda v: v["grid"].sum(1, dtype=np.int32),
        "sum of integers",
        "dim, integer dtype",
    ),
    _case(
        "over items",
        "prod",
        lambda v: v["grid"].prod(dim=-1, dtype=torch.int64),
        lambda v: v["grid"].prod(1, dtype=np.int64),
        "prod of integers",
        "dim, integer dtype",
    ),
    _case(
        "over items",
        "cumsum",
        lambda v: v["grid"].cumsum(dim=-1, dtype=torch.int32),
        lambda v: v["grid"].cumsum(1, dtype=np.int32),
        "cumsum of integers",
        "dim, integer dtype",
    ),
    _case(
        "over items",
        "argsort sort",
        lambda v: torch.argsort(v["ties"], dim=-1, stable=True),
        lambda v: np.argsort(v["ties"], axis=1, kind="stable"),
        "argsort, stable",
        "dim, keyword stable",
    ),
    _case(
        "over items",
        "+",
        lambda v: ((v["rows"][:, 0] + v["rows"][:, 1]) + v["rows"][:, 2]) + v["rows"][:, 3],
        lambda v: _loop_sum(v["rows"][:, :4]),
        "unrolled sum",
    ),
    *(
        _case("shape", spelled, call, needs="".join(needs))
        for spelled, call, *needs in (
            ("stack", lambda v: torch.stack([v["a"], v["b"]], dim=-1)),
            ("cat concat", lambda v: torch.cat([v["rows"], v["ties"]], dim=-1)),
            ("unsqueeze", lambda v: v["a"].unsqueeze(-1)),
            ("squeeze", lambda v: v["rows"][:, :1].squeeze(-1)),
            ("reshape view unflatten view_as", lambda v: v["rows"].reshape(-1, 3, 4)),
            ("flatten", lambda v: v["rows"].reshape(-1, 3, 4).flatten(1)),
            ("expand expand_as broadcast_to", lambda v: v["a"][:, None].expand(-1, 3)),
            ("permute transpose movedim swapaxes mT", lambda v: v["rows"].reshape(-1, 3, 4).transpose(1, 2)),
            ("unbind", lambda v: v["rows"].unbind(-1)[3]),
            ("select narrow", lambda v: v["rows"].select(1, 2)),
            ("split chunk", lambda v: v["rows"].split(4, dim=-1)[1]),
            ("flip", lambda v: v["rows"].flip(dims=(-1,)), "keyword dims"),
            ("roll", lambda v: v["rows"].roll(1, dims=-1), "keyword dims"),
            ("repeat tile", lambda v: v["rows"].repeat(1, 2)),
            ("pad", lambda v: F.pad(v["rows"], (1, 1))),
            ("triu tril", lambda v: v["rows"].reshape(-1, 3, 4).triu()),
            ("clone contiguous detach", lambda v: v["a"].clone()),
            ("zeros_like ones_like full_like", lambda v: torch.full_like(v["a"], 0.1)),
            ("zeros ones full new_zeros new_ones new_full", lambda v: v["a"].new_full(v["a"].shape, 0.1)),
            (
                "arange eye tensor as_tensor new_tensor",
                lambda v: v["i"][:, None] + torch.arange(4, dtype=torch.int32),
            ),
        )
    ),
    _math("sqrt", lambda v: torch.sqrt(v["p"]), lambda v: np.sqrt(v["p"])),
    _math("sin", lambda v: torch.sin(v["a"]), lambda v: _once(np.sin)(v["a"])),
    _math("cos", lambda v: torch.cos(v["a"]), lambda v: _once(np.cos)(v["a"])),
    _math("tan", lambda v: torch.tan(v["a"]), lambda v: _once(np.tan)(v["a"])),
    _math("exp", lambda v: torch.exp(v["small"]), lambda v: _once(np.exp)(v["small"])),
    _math("log", lambda v: torch.log(v["p"]), lambda v: _once(np.log)(v["p"])),
    _math("tanh", lambda v: torch.tanh(v["a"]), lambda v: _once(np.tanh)(v["a"])),
    _math("atan2", lambda v: torch.atan2(v["a"], v["b"]), lambda v: _once(np.arctan2)(v["a"], v["b"])),
    _math("pow", lambda v: torch.pow(v["p"], 1.5), lambda v: _once(lambda x: x**1.5)(v["p"])),
    _math(
        "rsqrt",
        lambda v: torch.rsqrt(v["p"]),
        lambda v: _once(lambda x: 1 / np.sqrt(x))(v["p"]),
        "1 / simulacrum.portable.sqrt(x)",
    ),
    _math(
        "sigmoid",
        lambda v: torch.sigmoid(v["a"]),
        lambda v: _once(lambda x: 1 / (1 + np.exp(-x)))(v["a"]),
        "1 / (1 + simulacrum.portable.exp(-x))",
    ),
    _math(
        "log1p",
        lambda v: torch.log1p(v["p"]),
        lambda v: _once(np.log1p)(v["p"]),
        "simulacrum.portable.log(1 + x), in float64 for small x",
    ),
    _math(
        "expm1",
        lambda v: torch.expm1(v["small"]),
        lambda v: _once(np.expm1)(v["small"]),
        "simulacrum.portable.exp(x) - 1, in float64 for small x",
    ),
    _math(
        "hypot",
        lambda v: torch.hypot(v["a"].double(), v["b"].double()),
        lambda v: np.hypot(v["a"].astype(np.float64), v["b"].astype(np.float64)),
        "simulacrum.portable.sqrt(x * x + y * y)",
    ),
    _math("softmax", lambda v: torch.softmax(v["rows"], -1), None, "simulacrum.portable.exp and ordered_sum"),
    _float_only(
        "float forms",
        "addcmul addcdiv",
        lambda v: torch.addcmul(v["c"], v["a"], v["b"]),
        lambda v: v["c"] + v["a"] * v["b"],
        "one form fuses multiply and add, the other rounds twice",
        "c + a * b",
    ),
    Case(
        "number / tensor",
        "float forms",
        (),
        lambda v: 0.1 / v["p"],
        lambda v: np.float32(0.1) / v["p"],
        (),
        "torch multiplies by the reciprocal, which rounds twice",
        "torch.full_like(x, number) / x",
    ),
    _float_only(
        "float forms",
        "lerp",
        lambda v: torch.lerp(v["a"], v["b"], v["u"]),
        lambda v: v["a"] + v["u"] * (v["b"] - v["a"]),
        "its formula changes with the weight, and multiply and add are fused in one form only",
        "a + w * (b - a)",
    ),
    _float_only(
        "float forms",
        "remainder fmod",
        lambda v: torch.remainder(v["a"], v["p"]),
        lambda v: np.mod(v["a"], v["p"]),
        "on floats the forms round differently",
        "torch.floor(x / y) for //, simulacrum.portable.remainder(x, y) for %, or integers",
        "remainder of floats",
    ),
    _float_only(
        "float sums",
        "sum",
        lambda v: v["rows"].sum(-1),
        lambda v: _loop_sum(v["rows"]),
        "the order of a float sum changes with size and form",
        "simulacrum.portable.ordered_sum(x), or dtype=torch.int32 for integers",
        "sum of floats",
    ),
    _float_only(
        "float sums",
        "mean",
        lambda v: v["rows"].mean(-1),
        lambda v: _loop_sum(v["rows"]) / np.float32(12),
        "the order of a float sum changes with size and form",
        "simulacrum.portable.ordered_sum(x) / count",
    ),
    _float_only(
        "float sums",
        "cumsum",
        lambda v: v["rows"].cumsum(-1),
        lambda v: _loop_cumsum(v["rows"]),
        "running float sums are kept wider than float32",
        "an unrolled loop of +",
        "cumsum of floats",
    ),
    _float_only(
        "float sums",
        "prod",
        lambda v: v["rows"].prod(-1),
        None,
        "the order of a float product changes with size and form",
        "an unrolled loop of *",
        "prod of floats",
    ),
    _float_only(
        "float sums",
        "norm std var logsumexp",
        lambda v: v["rows"].norm(dim=-1),
        None,
        "the order of a float sum changes with size and form",
        "simulacrum.portable.ordered_sum and sqrt",
        "norm",
    ),
    _float_only(
        "float sums",
        "@ matmul mm bmm mv dot einsum tensordot inner linear baddbmm addmm conv1d conv2d",
        lambda v: v["rows"] @ _WEIGHTS,
        None,
        "the order of the sums changes with the batch size",
        "an unrolled sum of products",
        "matmul",
    ),
    _float_only(
        "over items",
        "topk kthvalue",
        lambda v: v["ties"].topk(3, dim=-1)[1],
        lambda v: np.argsort(-v["ties"], axis=1, kind="stable")[:, :3],
        "ties come in another order than in a stable sort",
        "torch.argsort(..., stable=True)",
        "topk",
    ),
)
