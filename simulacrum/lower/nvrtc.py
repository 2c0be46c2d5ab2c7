"""CUDA text to PTX with NVRTC, the compiler of the package nvidia-cuda-nvrtc. No device and no toolkit are needed."""

from __future__ import annotations

import ctypes
import ctypes.util
import importlib.util
import os
from pathlib import Path
from typing import Any

from simulacrum.errors import CompileError

# No contraction to fused multiply-add, no flushing of subnormals, roots and quotients rounded: what keeps the bits.
FLAGS = ("--fmad=false", "--ftz=false", "--prec-div=true", "--prec-sqrt=true", "--std=c++17")
CHOICE = "SIMULACRUM_NVRTC"  # names the library's file


def find_nvrtc() -> Path | str | None:
    """The NVRTC library: what the variable SIMULACRUM_NVRTC names, that of an installed package, or the system's."""
    if os.environ.get(CHOICE):
        return Path(os.environ[CHOICE])
    spec = importlib.util.find_spec("nvidia")
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        found = sorted(Path(folder).glob("*/lib/libnvrtc.so.*"))
        if found:
            return found[-1]
    return ctypes.util.find_library("nvrtc")


def compile_ptx(text: str, architecture: str = "compute_80") -> str:
    """The PTX of CUDA text for devices of an architecture and its successors.

    Raises:
        CompileError: NVRTC is not there, or refuses the text.
    """
    place = find_nvrtc()
    if place is None:
        raise CompileError(
            "PTX needs NVRTC",
            expected=f"the package nvidia-cuda-nvrtc, or a library named in {CHOICE}",
            found="neither",
            next_step="pip install nvidia-cuda-nvrtc",
        )
    try:
        nvrtc = ctypes.CDLL(str(place))
    except OSError as error:
        raise CompileError("NVRTC cannot be loaded", found=str(error), where=str(place)) from error
    program = ctypes.c_void_p()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"simulacrum.cu", 0, None, None)
    options = [*FLAGS, f"--gpu-architecture={architecture}"]
    given = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
    code = nvrtc.nvrtcCompileProgram(program, len(options), given)
    try:
        if code:
            raise CompileError(
                "NVRTC refused the text",
                expected="PTX",
                found=_text(nvrtc, program, "ProgramLog").strip()[:400] or f"code {code}",
                where=str(place),
                next_step="report this message",
            )
        return _text(nvrtc, program, "PTX")
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))


def _text(nvrtc: Any, program: ctypes.c_void_p, what: str) -> str:
    size = ctypes.c_size_t()
    getattr(nvrtc, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
    buffer = ctypes.create_string_buffer(size.value)
    getattr(nvrtc, f"nvrtcGet{what}")(program, buffer)
    return buffer.value.decode(errors="replace")
