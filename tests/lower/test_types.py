"""Numbers as a type holds them, and as C writes them."""

from __future__ import annotations

import ctypes
import math
from pathlib import Path

import pytest
import torch
from kit.lowering import DTYPES, INTEGERS, bits, extremes

from simulacrum.lower.compiler import compile_library
from simulacrum.lower.types import C_MEMORY, coerce, literal


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_wrap(dtype: torch.dtype) -> None:
    for value in (0, 1, -1, 127, 128, 255, 256, -129, 2**31, -(2**31) - 1, 2**63 - 1, -(2**63)):
        assert coerce(value, dtype) == torch.tensor(value).to(dtype).item()


@pytest.mark.parametrize("value", [0.1, 2.0**-149, 2.0**-150, 3.5e38, -1e300, 2**24 + 1, 2**54 + 2**30 + 1, -(2**63)])
def test_numbers_are_rounded_once(value: float) -> None:
    assert coerce(value, torch.float32) == torch.tensor(value).to(torch.float32).item()
    assert coerce(value, torch.float64) == float(value)


def test_signs_of_zero_and_what_is_not_finite_are_kept() -> None:
    for dtype in (torch.float32, torch.float64):
        assert math.copysign(1, coerce(-0.0, dtype)) == -1
        assert math.isnan(coerce(math.nan, dtype))
        assert coerce(-math.inf, dtype) == -math.inf
    assert coerce(math.nan, torch.bool) is True
    assert coerce(-0.0, torch.bool) is False


def test_a_literal_has_the_bits_of_its_number(tmp_path: Path) -> None:
    values = {dtype: extremes(dtype) for dtype in DTYPES}
    arrays: list[str] = []
    for number, (dtype, one) in enumerate(values.items()):
        texts = [literal(value, dtype) for value in one.tolist()]
        arrays.append(f"const {C_MEMORY[dtype]} t{number}[] = {{{', '.join(texts)}}};")
        # As an operand: two signs stay two.
        arrays.append(f"const {C_MEMORY[dtype]} m{number}[] = {{{', '.join(f'0 - {text}' for text in texts)}}};")
        if dtype.is_floating_point:
            arrays.append(f"const {C_MEMORY[dtype]} n{number}[] = {{{', '.join(f'-{text}' for text in texts)}}};")
    compile_library("\n".join(["#include <stdint.h>", *arrays]) + "\n", tmp_path / "literals.so")
    library = ctypes.CDLL(str(tmp_path / "literals.so"))
    for number, (dtype, wanted) in enumerate(values.items()):
        size = len(wanted) * dtype.itemsize
        data = bytearray((ctypes.c_char * size).in_dll(library, f"t{number}"))
        found = torch.frombuffer(data, dtype=dtype)
        assert bool(((bits(found) == bits(wanted)) | (wanted != wanted)).all())
