from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simulacrum.contract.fields import Field, Tolerance
from simulacrum.harness.compare import BITS, Used, bits, checksum, compare_field, differences, ulps

LARGEST = np.iinfo(np.int64).max


def spec(dtype: str, shape: tuple[int, ...] = (), tolerance: Tolerance | None = None) -> Field:
    return Field(path="f", name="f", dtype=dtype, shape=shape, tolerance=tolerance)


def within(atol: float = 0.0, rtol: float = 0.0, ulp: int = 0) -> Tolerance:
    return Tolerance(atol, rtol, ulp, "a reason")


def column(values: Any, dtype: str) -> Any:
    return np.array(values, dtype=dtype)


def floats(words: list[int], dtype: str) -> Any:
    return np.array(words, dtype="u4" if dtype == "float32" else "u8").view(dtype)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int16", "int32", "int64", "float32", "float64"])
def test_equal_bits_are_no_difference(dtype: str) -> None:
    values = column([0, 1, 1, 0], dtype)
    assert compare_field("f", values, values.copy(), spec(dtype)) is None


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_zero_is_not_minus_zero(dtype: str) -> None:
    found = compare_field("f", column([1, 0.0], dtype), column([1, -0.0], dtype), spec(dtype))
    assert found is not None
    assert (found.rows.tolist(), found.reason) == ([1], BITS)


@pytest.mark.parametrize(
    ("dtype", "one", "other"),
    [("float32", 0x7FC00000, 0x7FC00001), ("float32", 0x7FC00000, 0xFFC00000),
     ("float64", 0x7FF8000000000000, 0x7FF8000000000001), ("float64", 0x7FF8000000000000, 0xFFF8000000000000)],
)  # fmt: skip
def test_a_nan_equals_only_the_nan_of_its_bits(dtype: str, one: int, other: int) -> None:
    same = floats([one], dtype)
    assert compare_field("f", same, same.copy(), spec(dtype)) is None
    assert compare_field("f", same, floats([other], dtype), spec(dtype)) is not None


def test_nans_of_other_bits_differ_under_any_tolerance() -> None:
    generous = spec("float32", tolerance=within(1e9, 1.0, 2**40))
    assert compare_field("f", floats([0x7FC00000], "float32"), floats([0x7FC00001], "float32"), generous) is not None
    assert compare_field("f", column([np.nan], "float32"), column([1.0], "float32"), generous) is not None


@pytest.mark.parametrize(
    ("reference", "batched", "declared", "said"),
    [
        (column([1], "int32"), column([1], "int64"), spec("int32"), "batched gives int64"),
        (column([1], "int64"), column([1], "int32"), spec("int32"), "reference gives int64"),
        (column([1], "float32"), column([1], "float64"), spec("float32"), "batched gives float64"),
        (column([1], "bool"), column([1], "uint8"), spec("bool"), "batched gives uint8"),
        (column([1], "int32"), column([1], "uint32"), spec("int32"), "batched gives uint32"),
        (column([[1, 2]], "int32"), column([1], "int32"), spec("int32", (2,)), "declared int32 [2]"),
        (column([[1, 2]], "int32"), column([[1], [2]], "int32"), spec("int32", (2,)), "batched gives int32 [1]"),
        (column([1, 2], "int32"), column([1], "int32"), spec("int32"), "2 rows against 1"),
    ],
)
def test_dtype_and_shape_come_before_values(reference: Any, batched: Any, declared: Field, said: str) -> None:
    found = compare_field("f", reference, batched, declared)
    assert found is not None
    assert said in found.reason


def test_a_missing_name_is_a_difference_on_either_side() -> None:
    here = {"f": column([1], "int32")}
    assert "missing on the batched twin" in differences(here, {}, {"f": spec("int32")})[0].reason
    assert "missing on the reference" in differences({}, here, {"f": spec("int32")})[0].reason


def test_a_name_too_many_is_a_difference() -> None:
    frame = {"f": column([1], "int32")}
    found = differences(frame, {**frame, "g": column([1], "int32")}, {"f": spec("int32")})
    assert [(one.name, one.reason) for one in found] == [("g", "not declared in the schema")]
    assert differences(frame, {**frame, "g": frame["f"]}, {"f": spec("int32")}, names=["f"]) == []


def test_the_first_row_and_place_are_named_in_the_order_of_the_fields() -> None:
    one = {"a": np.zeros((4, 2, 3), np.int16), "b": np.zeros(4, np.bool_)}
    two = {name: value.copy() for name, value in one.items()}
    two["a"][2, 1, 2] = two["a"][3, 0, 0] = 7
    two["b"][1] = True
    found = differences(one, two, {"a": spec("int16", (2, 3)), "b": spec("bool")})
    assert [(d.name, d.rows.tolist(), d.index) for d in found] == [("a", [2, 3], (1, 2)), ("b", [1], ())]


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "float32", "float64"])
def test_one_bit_anywhere_is_found(dtype: str) -> None:
    values = column([3] * 5, dtype)
    for bit in range(values.dtype.itemsize * 8):
        other = values.copy()
        other.view(f"u{values.dtype.itemsize}")[4] ^= np.array(1 << bit).astype(f"u{values.dtype.itemsize}")
        found = compare_field("f", values, other, spec(dtype))
        assert found is not None
        assert found.rows.tolist() == [4]


def test_views_and_strides_are_compared_by_content() -> None:
    wide = np.arange(12, dtype=np.int32).reshape(3, 4)
    assert compare_field("f", wide[:, ::2], np.ascontiguousarray(wide[:, ::2]), spec("int32", (2,))) is None
    assert bits(wide[:, ::2]).tolist() == wide[:, ::2].tolist()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_ulps_are_exact_and_cross_zero(dtype: str) -> None:
    kind = np.dtype(dtype).type
    one = kind(1.0)
    for steps, value in ((0, one), (1, np.nextafter(one, kind(2))), (1, np.nextafter(one, kind(0)))):
        assert ulps(np.array([one]), np.array([value], dtype)).tolist() == [steps]
    tiny = np.finfo(kind).smallest_subnormal
    assert ulps(np.array([kind(0.0)]), np.array([kind(-0.0)])).tolist() == [1]
    assert ulps(np.array([tiny]), np.array([-tiny])).tolist() == [3]
    assert ulps(np.array([np.finfo(kind).max]), np.array([kind(np.inf)])).tolist() == [1]
    assert ulps(np.array([kind(np.nan)]), np.array([one])).tolist() == [LARGEST]
    far = ulps(np.array([np.finfo(kind).max]), np.array([np.finfo(kind).min]))
    assert far.tolist() == [4278190079 if dtype == "float32" else LARGEST]


def test_a_tolerance_in_ulp_counts_single_steps_of_float64() -> None:
    values = column([1e300, 1e300], "float64")
    near = np.array([np.nextafter(1e300, np.inf), 1e300])
    for _ in range(2):
        near[1] = np.nextafter(near[1], np.inf)
    found = compare_field("f", values, near, spec("float64", tolerance=within(ulp=1)))
    assert found is not None
    assert found.rows.tolist() == [1]


def test_how_much_of_a_tolerance_was_used_is_kept() -> None:
    used, declared = Used(), spec("float64", tolerance=within(atol=0.5))
    assert used.idle({"f": declared}) == ["f"]
    assert compare_field("f", column([1.0, 2.0], "float64"), column([1.0, 2.125], "float64"), declared, used) is None
    assert used.share == {"f": 0.25}
    assert compare_field("f", column([1.0], "float64"), column([1.4], "float64"), declared, used) is None
    assert used.share["f"] == pytest.approx(0.8)
    assert used.idle({"f": declared}) == []


def test_the_kinder_measure_of_a_tolerance_counts_as_its_use() -> None:
    used, declared = Used(), spec("float32", tolerance=within(atol=1.0, ulp=1))
    near = np.nextafter(np.float32(3), np.float32(4), dtype=np.float32)
    assert compare_field("f", column([3], "float32"), np.array([near]), declared, used) is None
    assert used.share["f"] < 1e-6
    assert used.ulp == {"f": 1}


def test_a_tolerance_nobody_needed_stays_idle() -> None:
    used, declared = Used(), spec("float64", tolerance=within(atol=0.5))
    values = column([1.0, np.nan], "float64")
    assert compare_field("f", values, values.copy(), declared, used) is None
    assert compare_field("f", column([1.0], "float64"), column([9.0], "float64"), declared, used) is not None
    assert used.idle({"f": declared}) == ["f"]


def test_infinities_are_never_near_anything_else() -> None:
    declared = spec("float64", tolerance=within(rtol=0.5))
    for other in (-np.inf, 1e308, np.nan):
        assert compare_field("f", column([np.inf], "float64"), column([other], "float64"), declared) is not None


def test_large_integers_are_not_compared_as_floats() -> None:
    declared = spec("int64", tolerance=within(atol=1))
    base = 2**62
    assert compare_field("f", column([base], "int64"), column([base + 1], "int64"), declared) is None
    assert compare_field("f", column([base], "int64"), column([base + 2], "int64"), declared) is not None


def test_equal_rollouts_have_equal_sums_and_one_bit_changes_them() -> None:
    frames = [{"a": np.zeros(3, np.float32), "b": np.arange(3)} for _ in range(2)]
    first = checksum(frames)
    assert first == checksum([dict(reversed(frame.items())) for frame in frames])
    frames[1]["a"][2] = -0.0
    assert checksum(frames) != first
    assert checksum(frames[:1]) != first
