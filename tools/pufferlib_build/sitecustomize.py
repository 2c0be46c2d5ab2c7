"""Lets PufferLib 3.0.0 be built as it is published; on the path of that build alone (see library_env.py).

- With NO_OCEAN, which leaves out its own games and the downloads that they need, its setup.py still reads
  `c_extension_paths`, the list of their folders, without having set it.
- It builds for CUDA wherever a program called nvcc is found, and torch refuses that if it has no CUDA itself.
"""

import builtins
import shutil

builtins.c_extension_paths = []
_which = shutil.which


def _without_nvcc(name, *args, **kwargs):
    return None if name == "nvcc" else _which(name, *args, **kwargs)


shutil.which = _without_nvcc
