"""Environments as WebAssembly modules: stepped in node beside eager torch, bit for bit."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from kit import NAMES, package
from kit.lowering import different
from kit.tools import vector

from simulacrum.engine.boundary import core_of
from simulacrum.engine.native.graphs import functions
from simulacrum.engine.native.web import EXPORTS, Module, build_module
from simulacrum.errors import CompileError
from simulacrum.lower import wasm
from simulacrum.lower.compiler import zig_compiler
from simulacrum.lower.library import make_library

pytestmark = [pytest.mark.long, pytest.mark.nightly]

ROWS = 257  # four blocks and a row
STEPS = 300
DRIVER = Path(__file__).with_name("play.mjs")
OPTIONS: dict[str, dict[str, Any]] = {
    "toywalk": {"params": {"slip": np.linspace(0, 1, ROWS).astype(np.float32).tolist()}, "maxEpisodeSteps": 23},
    "counter": {"params": {"goal": 9, "spread": 1}, "maxEpisodeSteps": 40},
}
BUILT_IN = ("toywalk", "forager", "cartpole", "pendulum")
CASES = [(name, mode) for name in BUILT_IN for mode in ("next_step", "same_step", "disabled")]
CASES += [(name, "same_step") for name in NAMES if name != "rivals"]


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Builds each package once."""
    if zig_compiler() is None:
        pytest.skip("the package ziglang is not installed")
    folder, built = tmp_path_factory.mktemp("wasm"), dict[str, Module]()

    def module(name: str) -> Module:
        if name not in built:
            found = package(name)
            built[name] = build_module(core_of(found, found.schema.max_episode_steps), folder)
        return built[name]

    return module


@pytest.fixture(scope="module")
def node() -> str:
    """The program."""
    found = shutil.which("node")
    if found is None:
        pytest.skip("node is not installed")
    major = int(subprocess.run([found, "--version"], capture_output=True, text=True).stdout[1:].partition(".")[0])
    if major < 20:
        pytest.skip(f"node {major} is too old, 20 is needed")
    return found


# --- the bits --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "mode"), CASES)
def test_module_has_the_bits_of_eager_torch(name, mode, modules, node, tmp_path):
    module = modules(name)
    options = {"numEnvs": ROWS, "autoresetMode": mode, **OPTIONS.get(name, {})}
    seeds = [(number * 0x9E3779B97F4A7C15) % 2**64 for number in range(ROWS)]
    env = eager(name, options)
    env.action_space.seed(5)
    actions = [env.action_space.sample() for _ in range(STEPS)]
    play(node, tmp_path, module, options, seeds, actions)
    shown, state = played_by_torch(env, seeds, actions)
    assert {path.name for path in tmp_path.glob("*.*")} >= {*shown, *state}, "something that torch shows is missing"
    lines = [
        f"{key}: {line}"
        for key, expected in {**shown, **state}.items()
        for line in different(expected, read(tmp_path / key, expected))
    ]
    assert lines == []
    assert bool(shown["step.terminated"].any() | shown["step.truncated"].any()), "no episode ended"


def eager(name, options):
    limit = {"max_episode_steps": options["maxEpisodeSteps"]} if "maxEpisodeSteps" in options else {}
    return vector(name, ROWS, autoreset_mode=options["autoresetMode"], params=options.get("params"), **limit)


def play(node, folder, module, options, seeds, actions):
    """Play in node; leaves a file for each array in the folder."""
    for name, values in by_name(actions).items():
        (folder / f"actions.{name}").write_bytes(values.tobytes())
    task = {
        "module": str(module.wasm),
        "loader": str(module.loader),
        "options": options,
        "seeds": list(map(str, seeds)),
        "steps": len(actions),
    }
    (folder / "task.json").write_text(json.dumps(task))
    done = subprocess.run([node, str(DRIVER), str(folder)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "played\n"


def by_name(actions):
    if isinstance(actions[0], dict):
        return {f"action.{key}": np.stack([one[key] for one in actions]) for key in actions[0]}
    return {"action": np.stack(actions)}


def played_by_torch(env, seeds, actions):
    """What eager torch shows, by file: every call's tensor stacked; and the state at the end."""
    noted: dict[str, list[torch.Tensor]] = {}

    def note(part, tree, path=""):
        if isinstance(tree, dict):
            for key, value in tree.items():
                note(part, value, f"{path}.{key}")
        elif path not in (".info.episode.t", ".info._reset_mask"):
            noted.setdefault(f"{part}{path}", []).append(tree)

    def start(part, **kwargs):
        observation, info = env.reset(**kwargs)
        note(part, {"observation": observation, "info": {key: info[key] for key in info if key[0] != "_"}})

    start("reset", seed=seeds)
    for action in actions:
        ended = env._rows.ended()
        if env.autoreset_mode.name == "DISABLED" and bool(ended.any()):
            start("again", options={"reset_mask": ended})
        observation, reward, terminated, truncated, info = env.step(action)
        note("step", {"observation": observation, "reward": reward, "terminated": terminated})
        note("step", {"truncated": truncated, "info": info})
    rows = env._rows.state
    state = dict(zip(env.schema.state.fields, rows.env, strict=True))
    kept = {f"state.state.{key}": value for key, value in state.items()}
    kept.update({f"state.{key}": getattr(rows, key) for key in ("seed", "episode", "key", "t", "returns", "ended")})
    return {key: torch.stack(tensors) for key, tensors in noted.items()}, kept


def read(path, like):
    data = torch.frombuffer(bytearray(path.read_bytes()), dtype=like.dtype)
    return data.reshape(like.shape) if data.numel() == like.numel() else data


# --- the module ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BUILT_IN)
def test_module_is_small(name, modules):
    size = modules(name).wasm.stat().st_size
    assert size < 64_000, f"{size} bytes"


def test_module_needs_nothing_and_its_stack_lies_first(modules, node):
    module = modules("toywalk")
    code = (
        "const module = new WebAssembly.Module(require('fs').readFileSync(process.argv[1]));"
        "const { exports } = new WebAssembly.Instance(module);"
        "console.log(JSON.stringify([WebAssembly.Module.imports(module), Object.keys(exports).sort(),"
        " exports.simulacrum_about.value, exports.__heap_base.value]))"
    )
    done = subprocess.run([node, "-e", code, str(module.wasm)], capture_output=True, text=True, timeout=60)
    imports, exports, about, heap = json.loads(done.stdout)
    assert imports == []
    assert exports == sorted([*EXPORTS, "__heap_base", "memory"])
    found = package("toywalk")
    library = make_library(functions(core_of(found, found.schema.max_episode_steps)))
    assert wasm.stack_bytes(library) <= about < heap, "data below the stack would be written over"


def test_same_package_gives_the_same_bytes(modules, tmp_path):
    found = package("toywalk")
    again = build_module(core_of(found, found.schema.max_episode_steps), tmp_path)
    assert again.wasm.read_bytes() == modules("toywalk").wasm.read_bytes()
    assert again.loader.read_bytes() == modules("toywalk").loader.read_bytes()


def test_text_that_does_not_compile_is_told(tmp_path):
    if zig_compiler() is None:
        pytest.skip("the package ziglang is not installed")
    with pytest.raises(CompileError, match="the C compiler failed") as caught:
        wasm.compile_module("int broken(", tmp_path / "broken.wasm", exports=[], stack=65_536)
    assert "expected" in str(caught.value.found)
    assert not (tmp_path / "broken.wasm").exists()


def test_missing_compiler_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(wasm, "zig_compiler", lambda: None)
    with pytest.raises(CompileError, match="needs the compiler of the package ziglang"):
        wasm.compile_module("", tmp_path / "none.wasm", exports=[], stack=65_536)
