"""What an import costs and what it drags in, each asked of a fresh interpreter."""

from __future__ import annotations

import pytest

EXTRAS = (
    "PIL",
    "cv2",
    "hypothesis",
    "matplotlib",
    "mkdocs",
    "moviepy",
    "pytest",
    "scipy",
    "stable_baselines3",
    "tensorboard",
    "tyro",
    "ziglang",
)

# Makes NAME look as if it were not installed: no finder finds it. The names are the process's arguments.
BLOCK = """
import importlib, pkgutil, sys
class Without:
    def __init__(self, finder, names): self.finder, self.names = finder, names
    def __getattr__(self, name): return getattr(self.finder, name)
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in self.names:
            return self.finder.find_spec(name, path, target)
def block(names): sys.meta_path[:] = [Without(finder, names) for finder in sys.meta_path]
"""

# Rooms that a program without torch can use: a viewer of packs, a browser page, a report reader.
WITHOUT_TORCH = (
    "simulacrum", "simulacrum.errors", "simulacrum.registry", "simulacrum.contract", "simulacrum.trace",
    "simulacrum.attest", "simulacrum.rng.scalar", "simulacrum.rng.layout", "simulacrum.portable",
    "simulacrum.portable.scalar", "simulacrum.twin.reference",
)  # fmt: skip


def test_import_simulacrum_brings_no_torch_and_no_training_library(run_python):
    code = "import sys, simulacrum; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    done = run_python(code)
    assert done.returncode == 0, done.stderr
    assert not {"torch", *EXTRAS} & set(done.stdout.split())


def test_import_simulacrum_is_quick(run_python):
    # Processor time, not the clock: other work on the machine does not count. Files are warm by the third.
    code = "import time; began = time.process_time(); import simulacrum; print(time.process_time() - began)"
    seconds = [float(run_python(code).stdout) for _ in range(3)]
    assert min(seconds) < 0.5, seconds


@pytest.mark.parametrize("module", WITHOUT_TORCH)
def test_module_needs_no_torch(run_python, module):
    code = f"{BLOCK}\nblock(sys.argv[2:])\nimportlib.import_module(sys.argv[1])"
    done = run_python(code, module, "torch")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("module", ["simulacrum.rng.scalar", "simulacrum.portable.scalar"])
def test_scalar_rooms_need_the_standard_library_only(run_python, module):
    code = f"{BLOCK}\nblock(sys.argv[2:])\nimportlib.import_module(sys.argv[1])"
    done = run_python(
        code, module, "torch", "numpy", "gymnasium", "jsonschema", "platformdirs", "rich", "typer"
    )
    assert done.returncode == 0, done.stderr


def test_every_room_imports_without_the_extras(run_python):
    code = f"""{BLOCK}
block(sys.argv[1:])
import simulacrum
count = 0
for found in pkgutil.walk_packages(simulacrum.__path__, "simulacrum."):
    # An adapter is the one file that its library is imported in. `-m` modules are for the command line.
    if not found.name.startswith(("simulacrum.adapters.", "simulacrum.scaffold.template")):
        importlib.import_module(found.name)
        count += 1
print(count)
"""
    done = run_python(code, *EXTRAS)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 10


def test_blocked_module_is_not_found(run_python):
    done = run_python(f"{BLOCK}\nblock(['wave'])\nimport wave")
    assert "No module named 'wave'" in done.stderr
