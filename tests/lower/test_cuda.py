"""CUDA text: its shape, what NVRTC makes of it, and its arithmetic, the kernels being run row by row on the CPU.

Nothing here runs on a device. What a kernel computes is C++ but for a few names of CUDA; with these defined for the CPU
it is compiled, with traps for all that C++ leaves undefined, and stepped beside eager torch.
"""

from __future__ import annotations

import ctypes
import re
import subprocess
from typing import Any

import numpy as np
import pytest
import torch
from gymnasium.vector import AutoresetMode
from kit import package
from kit.lowering import FLOATS, INTEGERS, ROWS, Case, Loaded, different, lowered, pairs
from torch.utils import _pytree as pytree

from simulacrum.contract.spaces import single_action_space
from simulacrum.engine.actions import to_tensors
from simulacrum.engine.boundary import Core, core_of
from simulacrum.engine.native.binary import FORMAT, described, load, said
from simulacrum.engine.native.graphs import functions
from simulacrum.engine.params import batch_params
from simulacrum.errors import CompileError
from simulacrum.lower import nvrtc
from simulacrum.lower.compiler import processor, zig_compiler
from simulacrum.lower.cuda import cuda_source
from simulacrum.lower.library import make_library
from simulacrum.rng.batched import split_seed

pytestmark = [pytest.mark.long, pytest.mark.nightly]

ENVS = 257
STEPS = 201  # the step after an episode of 200 that only the clock ends
NAMES = ("toywalk", "forager", "cartpole", "pendulum", "canvas")

ON_CPU = """\
#include <math.h>
#include <string.h>
#define __global__
#define __device__
static struct { long long x; } blockIdx, blockDim = {1}, threadIdx;
#define ROUNDED(f, T) \\
  static inline T __##f##add_rn(T x, T y) { return x + y; } \\
  static inline T __##f##sub_rn(T x, T y) { return x - y; } \\
  static inline T __##f##mul_rn(T x, T y) { return x * y; } \\
  static inline T __##f##div_rn(T x, T y) { return x / y; }
ROUNDED(f, float)
ROUNDED(d, double)
#define __fsqrt_rn sqrtf
#define __dsqrt_rn sqrt
#define __fmaf_rn fmaf
#define __fma_rn fma
template <class T, class S> static inline T as(S x) { T y; memcpy(&y, &x, sizeof y); return y; }
#define __float_as_int as<int, float>
#define __int_as_float as<float, int>
#define __double_as_longlong as<long long, double>
#define __longlong_as_double as<double, long long>
static inline void atomicOr(int *to, int bits) { *to |= bits; }
"""
CALLS = """
extern "C" void {name}_all(char *const *p, int64_t lo, int64_t hi)
{{
  for (int64_t i = lo; i < hi; i++) {{ blockIdx.x = i - lo; {name}(p, lo, hi); }}
}}
"""
CHECKS = """
extern "C" int64_t {name}_refused(char *const *p, int64_t lo, int64_t hi)
{{
  int refused = 0;
  for (int64_t i = lo; i < hi; i++) {{ blockIdx.x = i - lo; {name}_check(p, lo, hi, &refused); }}
  return refused;
}}
"""


@pytest.fixture(scope="module")
def sources() -> Any:
    """The captured functions, the library and the CUDA text of a package, made once."""
    made: dict[str, Any] = {}

    def source(name: str) -> Any:
        if name not in made:
            found = package(name)
            captured = functions(core_of(found, found.schema.max_episode_steps))
            library = make_library(captured)
            made[name] = captured, library, cuda_source(library, captured)
        return made[name]

    return source


# --- the text --------------------------------------------------------------------------------------------------------


def test_each_function_is_a_kernel_and_has_its_check(sources):
    *_, text = sources("toywalk")
    kernels = re.findall(r'extern "C" __global__ void (\w+)\(', text)
    assert sorted(kernels) == ["next_step", "next_step_check", "reset", "same_step", "same_step_check"]
    assert text.count("atomicOr(refused, any)") == 2


def test_thread_that_begins_an_episode_does_so_behind_a_branch(sources):
    _, library, text = sources("toywalk")
    assert library.split == {"reset": True, "next_step": True, "same_step": True}
    for name in library.split:
        assert re.search(rf"if \(\(\(const uint8_t \*\)p\[\d+\]\)\[i\]\) {name}_restart\(p, i\);", text)


def test_nothing_of_another_compiler_is_left(sources):
    for name in NAMES:
        *_, text = sources(name)
        assert re.findall(r"__builtin_\w+|_Pragma|LOOP_OVER\w+", text) == []


def test_same_functions_give_the_same_text(sources):
    captured, _, text = sources("toywalk")
    assert cuda_source(make_library(captured), captured) == text


# --- PTX -------------------------------------------------------------------------------------------------------------

needs_nvrtc = pytest.mark.skipif(nvrtc.find_nvrtc() is None, reason="NVRTC is not installed")


@needs_nvrtc
@pytest.mark.parametrize("name", NAMES)
def test_compiles_to_ptx_without_contraction(name, sources):
    *_, text = sources(name)
    ptx = nvrtc.compile_ptx(text)
    assert len(re.findall(r"^\.visible \.entry", ptx, re.MULTILINE)) == 5
    assert ".target sm_80" in ptx
    assert ".ftz" not in ptx
    assert len(re.findall(r"\bfma\.", ptx)) <= len(re.findall(r"__fmaf?_rn", text)), "a product and a sum in one"
    assert not re.search(r"\b(div|sqrt)\.(full|approx)", ptx), "a quotient that is not rounded"


@needs_nvrtc
def test_text_that_nvrtc_refuses_is_told():
    with pytest.raises(CompileError, match="NVRTC refused the text") as caught:
        nvrtc.compile_ptx("__global__ void broken(")
    assert "simulacrum.cu(1)" in str(caught.value.found)


def test_missing_nvrtc_is_told(monkeypatch):
    monkeypatch.setattr(nvrtc, "find_nvrtc", lambda: None)
    with pytest.raises(CompileError, match="PTX needs NVRTC"):
        nvrtc.compile_ptx("")


def test_file_that_is_no_nvrtc_is_told(monkeypatch, tmp_path):
    (tmp_path / "libnvrtc.so").write_text("no library")
    monkeypatch.setenv(nvrtc.CHOICE, str(tmp_path / "libnvrtc.so"))
    with pytest.raises(CompileError, match="NVRTC cannot be loaded"):
        nvrtc.compile_ptx("")


# --- the arithmetic, on the CPU --------------------------------------------------------------------------------------


def on_cpu(text, captured, folder, more=""):
    """The kernels as a library with functions NAME and NAME_check that go over rows."""
    if zig_compiler() is None:
        pytest.skip("the package ziglang is not installed")
    named = {one.name: one for one in captured}
    calls = [CALLS.format(name=name) for name in named]
    calls += [CHECKS.format(name=name) for name, one in named.items() if one.refuse is not None]
    source, target = folder / "kernels.cpp", folder / "kernels.so"
    source.write_text("\n".join([ON_CPU, text, *calls, more]))
    command = [*zig_compiler().command, "-x", "c++", "-std=c++17", "-O1", "-g0", "-shared", "-fPIC"]
    command += ["-ffp-contract=off", "-fsanitize=undefined", "-fsanitize-trap=undefined", "-Wno-everything"]
    done = subprocess.run([*command, "-o", str(target), str(source), "-lm"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:2000]
    return target


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_rows_of_the_kernels_have_the_bits_of_eager_torch(name, mode, sources, tmp_path):
    captured, library, text = sources(name)
    found = package(name)
    core = Core(found.fast(), found.schema.max_episode_steps)
    about = {"format": FORMAT, "processor": processor(), **described(core, captured, library)}
    core.use_native(OnCpu(load(on_cpu(text, captured, tmp_path, f'extern "C" {said(about)}'))))
    params = batch_params(found.schema, None, ENVS, torch.device("cpu"))
    seed, episode = split_seed(range(ENVS), torch.device("cpu")), torch.zeros(ENVS, dtype=torch.int32)
    one = two = core.fresh(seed, episode, params)
    step = core.form(mode, "native")
    space = single_action_space(found.schema)
    space.seed(3)
    for number in range(STEPS):
        drawn = [space.sample() for _ in range(ENVS)]
        batch = {key: [d[key] for d in drawn] for key in drawn[0]} if isinstance(drawn[0], dict) else drawn
        action = to_tensors(found.schema.action, batch, ENVS, torch.device("cpu"))
        one, expected = core.step(mode, one, action, params)
        two, given = step(two, action, params)
        lines = differences((one, expected), (two, given))
        assert lines == [], f"step {number}"
    assert int(one.episode.max()) > 0, "no episode began"


class OnCpu:
    """A loaded library whose functions are the kernels' under the names that the engine calls."""

    def __init__(self, binary: Any) -> None:
        self.binary = binary

    def __getattr__(self, name: str) -> Any:
        return getattr(self.binary, name)

    def function(self, name: str) -> Any:
        return self.binary.function(f"{name}_all")

    def check(self, name: str) -> Any:
        return self.binary._typed(f"{name}_refused", ctypes.c_int64)

    def checked(self, name: str) -> Any:
        return None


def differences(expected, found):
    both = zip(pytree.tree_leaves(expected), pytree.tree_leaves(found), strict=True)
    return [line for one, two in both if one is not None for line in different(one, two)]


def whole(x, y):
    divisor = torch.where(y == 0, torch.ones_like(y), y)
    return {
        "add": x + y,
        "sub": x - y,
        "mul": x * y,
        "neg": -x,
        "abs": x.abs(),
        "left": x << (y & 7),
        "right": x >> (y & 7),
        "floor": torch.div(x, divisor, rounding_mode="floor"),
        "rest": torch.remainder(x, divisor),
        "narrow": x.to(torch.int8),
        "float": x.to(torch.float32),
        "tenth": x.to(torch.float64) / 10,
        "sum": torch.stack([x, y, x], dim=-1).sum(dim=-1),
    }


def rounded(x, y):
    return {
        "add": x + y,
        "sub": x - y,
        "mul": x * y,
        "mul_add": x * y + x,
        "div": x / y,
        "sqrt": x.sqrt(),
        "floor": x.floor(),
        "ceil": x.ceil(),
        "trunc": x.trunc(),
        "round": x.round(),
        "abs": x.abs(),
        "neg": -x,
        "larger": torch.maximum(x, y),
        "smaller": torch.minimum(x, y),
        "int32": x.to(torch.int32),
        "int64": x.to(torch.int64),
        "other": x.to(torch.float64 if x.dtype == torch.float32 else torch.float32),
        "bits": x.view(torch.int32 if x.dtype == torch.float32 else torch.int64),
        "infinite": torch.where(x > y, -float("inf"), x),
    }


CASES = [Case(str(dtype), whole, pairs(dtype)) for dtype in INTEGERS]
CASES += [Case(str(dtype), rounded, pairs(dtype)) for dtype in FLOATS]


def test_operations_have_the_bits_of_torch_on_extreme_values(tmp_path):
    captured = [lowered(case, f"f{number}", blocks=number % 2 == 1) for number, case in enumerate(CASES)]
    library = make_library(captured)
    loaded = OnCpuAlone(library, on_cpu(cuda_source(library, captured), captured, tmp_path))
    lines: list[str] = []
    for case, function in zip(CASES, captured, strict=True):
        found = loaded.call(function, dict(zip(function.inputs, case.inputs, strict=True)), ROWS)
        expected = case.eager(*case.inputs)
        if "sqrt" in expected:  # torch's own is not always the nearest number
            with np.errstate(invalid="ignore"):
                expected["sqrt"] = torch.from_numpy(np.sqrt(case.inputs[0].numpy()))
        for (name, value), port in zip(expected.items(), function.outputs, strict=True):
            lines += [f"{case} {name}: {line}" for line in different(value, found[port])]
    assert lines == []


class OnCpuAlone(Loaded):
    """Kernels of functions that belong to no environment."""

    def __init__(self, library: Any, path: Any) -> None:
        self.library, self.loaded = library, ctypes.CDLL(str(path))
        self.binary = self

    def __getattr__(self, name: str) -> Any:
        return getattr(self.loaded, f"{name}_all")
