"""The article's WebAssembly modules, played in node beside eager torch of the same changed files, bit for bit."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from builder.faults import ENV, FAULTS, ROOT
from builder.modules import build_module, build_modules, mutated_core
from gymnasium.vector import AutoresetMode

from simulacrum.contract.package import load_package
from simulacrum.engine.boundary import core_of
from simulacrum.engine.native.web import LOADER
from simulacrum.engine.params import batch_params
from simulacrum.errors import LoweringError
from simulacrum.lower.compiler import zig_compiler
from simulacrum.rng.batched import split_seed

pytestmark = [pytest.mark.long, pytest.mark.nightly]

ROWS, STEPS = 64, 130
MODES = {"next_step": AutoresetMode.NEXT_STEP, "same_step": AutoresetMode.SAME_STEP}
DRIVER = Path(__file__).with_name("play.mjs")
FAULT_OF = {name: (fault, size) for fault in FAULTS for name, size in fault.modules}
WRONG_WHERE = {  # the modes in which a fault shows itself in these steps
    "leak1": [],
    "leak8": ["next_step", "same_step"],
    "clamp": ["next_step", "same_step"],
    "late": ["next_step", "same_step"],
    "final": ["same_step"],
    "wrap": ["next_step", "same_step"],
}


@pytest.fixture(scope="module")
def modules(tmp_path_factory):
    if zig_compiler() is None:
        pytest.skip("the package ziglang is not installed")
    return build_modules(tmp_path_factory.mktemp("modules"), say=lambda _: None)


@pytest.fixture(scope="module")
def node():
    found = shutil.which("node")
    if found is None:
        pytest.skip("node is not installed")
    return found


@pytest.fixture(scope="module")
def given():
    generator = torch.Generator().manual_seed(3)
    return SimpleNamespace(
        seeds=[5 + row for row in range(ROWS)],
        actions=torch.randint(0, 2, (STEPS, ROWS), generator=generator),
    )


@pytest.fixture(scope="module")
def true_core():
    package = load_package(ROOT / "envs" / ENV)
    return core_of(package, package.schema.max_episode_steps)


def in_node(node, folder, modules, name, size, mode, given):
    task = {
        "loader": str(LOADER),
        "true": str(modules[ENV]),
        "module": str(modules[name]),
        "group": size or 1,
        "mode": mode,
        "seeds": given.seeds,
        "actions": given.actions.tolist(),
    }
    (folder / "task.json").write_text(json.dumps(task))
    done = subprocess.run([node, str(DRIVER), str(folder)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "task.json"}


def in_torch(core, size, mode, given):
    """The same, each group of rows a batch of its own."""
    size = size or ROWS
    parts = [
        by_group(core, mode, given.seeds[a : a + size], given.actions[:, a : a + size]) for a in range(0, ROWS, size)
    ]
    return {name: torch.cat([part[name] for part in parts], dim=1).contiguous() for name in parts[0]}


def by_group(core, mode, seeds, actions):
    count = len(seeds)
    params = batch_params(core.schema, None, count, torch.device("cpu"))
    state = core.fresh(split_seed(seeds), torch.zeros(count, dtype=torch.int32), params)
    shown: dict[str, list[torch.Tensor]] = {}
    for chosen in actions:
        state, out = core.step(MODES[mode], state, chosen, params)
        now = {name: getattr(out, name) for name in ("observation", "reward", "terminated", "truncated")}
        now["position"] = state.env.position
        if mode == "same_step":
            now["final"] = out.final_observation
        for name, tensor in now.items():
            shown.setdefault(name, []).append(tensor)
    return {name: torch.stack(tensors) for name, tensors in shown.items()}


def bytes_of(shown):
    return {name: tensor.numpy().tobytes() for name, tensor in shown.items()}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", [ENV, *FAULT_OF])
def test_module_has_the_bits_of_torch_on_the_same_files(name, mode, modules, node, given, true_core, tmp_path):
    fault, size = FAULT_OF.get(name, (None, 0))
    core = true_core if fault is None else mutated_core(fault, tmp_path / "twin")
    (tmp_path / "shown").mkdir()
    found = in_node(node, tmp_path / "shown", modules, name, size, mode, given)
    expected = bytes_of(in_torch(core, size, mode, given))
    assert {key for key in expected if found[key] != expected[key]} == set()
    assert found["terminated"].count(1) > 20, "few episodes ended"


@pytest.mark.parametrize("name", FAULT_OF)
def test_fault_shows_itself_where_it_should(name, modules, node, given, true_core, tmp_path):
    _, size = FAULT_OF[name]
    wrong = []
    for mode in MODES:
        folder = tmp_path / mode
        folder.mkdir()
        right = bytes_of(in_torch(true_core, 0, mode, given))
        if in_node(node, folder, modules, name, size, mode, given) != right:
            wrong.append(mode)
    assert wrong == WRONG_WHERE[name]


def test_loop_over_rows_cannot_leak(tmp_path):
    (leak,) = [fault for fault in FAULTS if fault.key == "leak"]
    with pytest.raises(LoweringError):
        build_module(leak, 0, tmp_path)
