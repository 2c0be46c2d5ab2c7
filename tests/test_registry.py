"""Ids, gated constructors, and specs that survive JSON and another process."""

from __future__ import annotations

import copy
import json
import pickle
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium.envs.registration import EnvSpec
from gymnasium.vector import AutoresetMode

from simulacrum.attest.catalog import CHECK_NAMES
from simulacrum.attest.report import CheckResult, Configuration, Report, write_report
from simulacrum.contract.digest import compute_digest
from simulacrum.contract.package import EnvPackage, load_package
from simulacrum.engine.boundary import core_of
from simulacrum.engine.forms import CompilerWarning
from simulacrum.engine.single import SimulacrumEnv
from simulacrum.engine.vector import SimulacrumVectorEnv
from simulacrum.errors import DeviceError, GateError, PackageError, SchemaError, UnknownEnvError, UsageError
from simulacrum.registry import make_single, make_vector, register_envs

ENVS = Path(__file__).resolve().parents[1] / "envs"
MINE = "simulacrum/toywalk-v0"


@pytest.fixture(autouse=True)
def clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A state directory of its own, and Gymnasium's registry put back afterwards."""
    monkeypatch.setenv("SIMULACRUM_STATE_DIR", str(tmp_path / "state"))
    before = dict(gym.registry)
    yield
    gym.registry.clear()
    gym.registry.update(before)


@pytest.fixture
def package(tmp_path: Path) -> EnvPackage:
    folder = tmp_path / "work" / "toywalk"
    ignored = shutil.ignore_patterns("__pycache__", "validation_report.json")
    shutil.copytree(ENVS / "toywalk", folder, ignore=ignored)
    return load_package(folder)


def pass_the_gate(package: EnvPackage, *configurations: Configuration, binary: Any = None) -> Path:
    """Write the report that a passing full run would have written, with the true digest."""
    digest = compute_digest(package)
    ranges = {name: (param.field.low, param.field.high) for name, param in package.schema.params.items()}
    report = Report(
        package=package.name,
        env_id=package.env_id,
        full=True,
        started="2025-01-01T10:00:00+00:00",
        finished="2025-01-01T10:00:30+00:00",
        subjects=digest.subjects,
        environment=digest.environment,
        whole=digest.whole,
        checks={name: CheckResult("passed") for name in CHECK_NAMES},
        configurations=configurations or (Configuration(params=ranges),),
    )
    return write_report(package, report, binary)


@pytest.fixture
def validated(package: EnvPackage) -> EnvPackage:
    """The copy of toywalk with a passing report, registered under toywalk's id."""
    pass_the_gate(package)
    assert register_envs(package.folder) == [MINE]
    return package


def test_built_in_environments_are_registered_as_text_and_numbers() -> None:
    for env_id in ("simulacrum/forager-v0", MINE):
        spec = gym.spec(env_id)
        schema = load_package(env_id).schema
        assert spec.entry_point == "simulacrum.registry:make_single"
        assert spec.vector_entry_point == "simulacrum.registry:make_vector"
        assert spec.kwargs == {"package": env_id}
        assert spec.max_episode_steps == schema.max_episode_steps
        assert EnvSpec.from_json(spec.to_json()) == spec


def test_registering_again_changes_nothing() -> None:
    before = {key: copy.deepcopy(spec) for key, spec in gym.registry.items()}
    ids = register_envs()
    assert {"simulacrum/forager-v0", MINE} <= set(ids)
    assert dict(gym.registry) == before


def test_a_path_takes_the_id_over_and_keeps_it(package: EnvPackage) -> None:
    assert register_envs(package.folder) == [MINE]
    assert gym.spec(MINE).kwargs == {"package": str(package.folder)}
    assert register_envs(package.folder) == [MINE]
    register_envs()
    assert gym.spec(MINE).kwargs == {"package": str(package.folder)}


def test_a_folder_of_packages(package: EnvPackage) -> None:
    assert register_envs(package.folder.parent) == [MINE]


def test_a_path_without_a_package_or_with_a_broken_one(tmp_path: Path, package: EnvPackage) -> None:
    with pytest.raises(PackageError, match="no environment package here"):
        register_envs(tmp_path / "nowhere")
    (package.folder / "schema.json").write_text("{")
    with pytest.raises(SchemaError, match=r"schema\.json"):
        register_envs(package.folder)


def test_a_broken_installed_package_stops_nobody_and_speaks_when_asked(
    package: EnvPackage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another distribution brings two packages by its entry point, one of them broken."""
    site = tmp_path / "site"
    home = site / "their_envs"
    for name in ("goodwalk", "badwalk"):
        shutil.copytree(package.folder, home / name)
        schema = json.loads((home / name / "schema.json").read_text())
        schema["$id"] = f"theirs/{name}-v0"
        (home / name / "schema.json").write_text(json.dumps(schema))
    (home / "__init__.py").write_text("")
    (home / "badwalk" / "fast.py").unlink()
    info = site / "their_envs-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their-envs\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[simulacrum.envs]\ntheirs = their_envs\n")
    monkeypatch.syspath_prepend(str(site))
    ids = register_envs()
    assert "theirs/goodwalk-v0" in ids
    assert MINE in ids
    assert gym.make("theirs/goodwalk-v0").unwrapped.package.name == "goodwalk"
    with pytest.raises(PackageError, match=r"lacks fast\.py"):
        gym.make("simulacrum/badwalk-v0")


def test_an_unknown_id_names_the_nearest() -> None:
    with pytest.raises(gym.error.NameNotFound, match="toywalk"):
        gym.make("simulacrum/toywlk-v0")
    with pytest.raises(UnknownEnvError, match="toywalk"):
        make_single("toywlk")


def test_make_gives_the_reference_without_a_report(package: EnvPackage) -> None:
    register_envs(package.folder)
    env = gym.make(MINE)
    assert isinstance(env.unwrapped, SimulacrumEnv)
    assert env.unwrapped.package.folder == package.folder
    observation, _ = env.reset(seed=3)
    assert env.observation_space.contains(observation)
    assert env.spec is not None
    assert env.spec.max_episode_steps == 60
    assert gym.make(EnvSpec.from_json(env.spec.to_json())).unwrapped.package.folder == package.folder


def test_make_vec_is_closed_until_the_report_is_there(package: EnvPackage) -> None:
    register_envs(package.folder)
    with pytest.raises(GateError, match=r"(?s)missing.*python -m simulacrum.validate"):
        gym.make_vec(MINE, num_envs=4)
    pass_the_gate(package)
    env = gym.make_vec(MINE, num_envs=4)
    assert isinstance(env, SimulacrumVectorEnv)
    observation, _ = env.reset(seed=3)
    assert isinstance(observation, torch.Tensor)
    assert len(observation) == 4
    with (package.folder / "fast.py").open("a") as code:
        code.write("\n# one more line\n")
    with pytest.raises(GateError, match=r"(?s)stale.*fast\.py"):
        gym.make_vec(MINE, num_envs=4)


@pytest.mark.parametrize(
    "word", ["strict", "force", "gate", "validate", "check", "configuration", "skip_gate"]
)
def test_no_argument_opens_the_gate(package: EnvPackage, word: str) -> None:
    register_envs(package.folder)
    with pytest.raises(UsageError, match=f"no keyword '{word}'"):
        gym.make_vec(MINE, num_envs=4, **{word: False})


def test_an_unknown_keyword_names_the_nearest(validated: EnvPackage) -> None:
    with pytest.raises(UsageError, match=r"(?s)autoreset_mod'.*did you mean 'autoreset_mode'"):
        gym.make_vec(MINE, num_envs=2, autoreset_mod="disabled")
    with pytest.raises(UsageError, match=r"(?s)no keyword 'param'.*did you mean 'params'"):
        gym.make(MINE, param={"slip": 0.1})


def test_keywords_arrive_and_the_caller_wins(validated: EnvPackage) -> None:
    """Case B40: each keyword by the call, by the registered spec, and both."""
    given: dict[str, Any] = {
        "autoreset_mode": "same_step",
        "output": "numpy",
        "max_episode_steps": 9,
        "render_mode": "ansi",
        "params": {"slip": 0.25},
    }
    plain = gym.make_vec(MINE, num_envs=3, **given)
    spec = copy.deepcopy(gym.spec(MINE))
    spec.kwargs.update(given, num_envs=3)
    registered = gym.make_vec(spec)
    assert plain.spec is not None
    for env in (plain, registered, gym.make_vec(plain.spec)):
        assert isinstance(env, SimulacrumVectorEnv)
        assert env.autoreset_mode is AutoresetMode.SAME_STEP
        assert (env.num_envs, env.output, env.max_episode_steps) == (3, "numpy", 9)
        assert env.render_mode == "ansi"
        assert env.get_attr("slip") == (0.25, 0.25, 0.25)
        assert env.spec is not None
        assert env.spec.kwargs["output"] == "numpy"
    over = gym.make_vec(spec, output="torch", max_episode_steps=7)
    assert (over.output, over.max_episode_steps, over.autoreset_mode) == ("torch", 7, AutoresetMode.SAME_STEP)


@pytest.mark.parametrize("steps", [9, 90])
def test_one_owner_of_the_time_limit(validated: EnvPackage, steps: int) -> None:
    """Case B10: the registered limit (60) gives way to the caller's, shorter or longer, in both forms."""
    single = gym.make(MINE, max_episode_steps=steps, params={"slip": 0.0})
    batch = gym.make_vec(
        MINE,
        num_envs=2,
        max_episode_steps=steps,
        output="numpy",
        params={"slip": 0.0},
        autoreset_mode="disabled",
    )
    assert isinstance(batch, SimulacrumVectorEnv)
    assert batch.max_episode_steps == steps
    single.reset(seed=1)
    batch.reset(seed=1)
    for step in range(1, steps + 1):
        action = step % 2  # to and fro, so that no episode ends by its rules
        _, _, ended, cut, _ = single.step(action)
        _, _, ends, cuts, _ = batch.step(np.full(2, action))
        assert (ended, cut) == (bool(ends[0]), bool(cuts[0])) == (False, step == steps)


def rollout(env: Any, steps: int = 80) -> list[Any]:
    """Observations, rewards and flags under fixed actions, as bytes."""
    env.reset(seed=11)
    return continue_rollout(env, steps)


def continue_rollout(env: Any, steps: int) -> list[Any]:
    generator = torch.Generator().manual_seed(5)
    found: list[Any] = []
    for _ in range(steps):
        actions = torch.randint(0, 2, (env.num_envs,), generator=generator)
        found += [value.numpy().tobytes() for value in env.step(actions)[:4]]
    return found


def test_specs_rebuild_the_same_environment(validated: EnvPackage) -> None:
    env = gym.make_vec(MINE, num_envs=5, params={"slip": 0.5})
    assert env.spec is not None
    expected = rollout(env)
    assert rollout(gym.make_vec(env.spec)) == expected
    again = gym.make_vec(EnvSpec.from_json(env.spec.to_json()))
    assert again.spec == env.spec
    assert rollout(again) == expected


def test_copies_go_through_the_gate(validated: EnvPackage) -> None:
    env = gym.make_vec(MINE, num_envs=3)
    rollout(env, 7)
    packed = pickle.dumps(env)
    expected = continue_rollout(copy.deepcopy(env), 30)
    assert continue_rollout(pickle.loads(packed), 30) == expected
    (validated.folder / "validation_report.json").unlink()
    with pytest.raises(GateError, match="missing"):
        pickle.loads(packed)


def test_another_process_builds_it_from_the_id_and_from_json(validated: EnvPackage, tmp_path: Path) -> None:
    env = gym.make_vec(MINE, num_envs=2)
    assert env.spec is not None
    env.reset(seed=4)
    observation = env.step(torch.zeros(2, dtype=torch.int64))[0]
    code = (
        "import sys, torch, gymnasium as gym\n"
        "from gymnasium.envs.registration import EnvSpec\n"
        "env = gym.make_vec(EnvSpec.from_json(sys.argv[1]))\n"
        "env.reset(seed=4)\n"
        "print(env.step(torch.zeros(2, dtype=torch.int64))[0].numpy().tobytes().hex())\n"
        "print(gym.make('simulacrum:simulacrum/forager-v0').spec.id)\n"
    )
    command = [sys.executable, "-W", "error", "-c", code, env.spec.to_json()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=tmp_path)
    assert done.stdout.split() == [observation.numpy().tobytes().hex(), "simulacrum/forager-v0"], done.stderr


def test_what_is_built_must_be_what_was_validated(package: EnvPackage) -> None:
    register_envs(package.folder)
    pass_the_gate(package, Configuration(params={"slip": (0.0, 0.5)}))
    make_vector(package, 2, params={"slip": [0.1, 0.5]})
    with pytest.raises(
        GateError, match=r"(?s)other configuration.*slip: validated 0\.0 to 0\.5, asked for 0\.1 to 0\.6"
    ):
        make_vector(package, 2, params={"slip": [0.1, 0.6]})
    with pytest.raises(GateError, match=r"(?s)asked for inductor on cpu.*--compile inductor"):
        gym.make_vec(MINE, num_envs=2, compile="inductor")
    with pytest.raises(UsageError, match="unknown form"):
        gym.make_vec(MINE, num_envs=2, compile="magic")
    if not torch.cuda.is_available():
        with pytest.raises(DeviceError):
            gym.make_vec(MINE, num_envs=2, device="cuda")


@pytest.fixture
def native(package: EnvPackage) -> Path:
    """The copy of toywalk with a report that names its native form; the file of it."""
    core = core_of(package, package.schema.max_episode_steps)
    binary = core.native()
    core.kept.clear()  # as in another process, which has built nothing
    ranges = {name: (param.field.low, param.field.high) for name, param in package.schema.params.items()}
    both = [Configuration(compile=form, params=ranges) for form in ("eager", "native")]
    path = pass_the_gate(package, *both, binary=binary)
    return next(path.parent.glob("native-*"))


def test_the_validated_library_is_loaded_and_nothing_is_built(
    package: EnvPackage, native: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from simulacrum.engine.native import binary

    def forbidden(*_: Any) -> Any:
        raise AssertionError("make_vec builds nothing")

    monkeypatch.setattr(binary, "make_library", forbidden)
    monkeypatch.setattr(binary, "functions", forbidden)
    env = make_vector(package, 5)
    assert env.form == "native"
    assert env.core.native().path == native
    env.reset(seed=0)
    env.step(torch.zeros(5, dtype=torch.int64))
    assert pickle.loads(pickle.dumps(env)).form == "native"
    assert make_vector(package, 5, compile=False).form == "eager"


def test_a_damaged_library_is_refused(package: EnvPackage, native: Path) -> None:
    data = bytearray(native.read_bytes())
    data[len(data) // 2] ^= 1
    native.write_bytes(bytes(data))
    for asked in ({}, {"compile": "native"}):
        with pytest.raises(GateError, match="not the file that was validated"):
            make_vector(package, 5, **asked)
    assert make_vector(package, 5, compile=False).form == "eager"  # which was validated as well


def test_what_could_not_be_lowered_is_said_once(package: EnvPackage) -> None:
    ranges = {name: (param.field.low, param.field.high) for name, param in package.schema.params.items()}
    failed = Configuration(compile="native", outcome="failed", details={"reason": "sum: a float sum (fast.py:3)"})
    pass_the_gate(package, Configuration(params=ranges), failed)
    with pytest.warns(CompilerWarning, match=r"no native form, so the eager form.*a float sum") as caught:
        env = make_vector(package, 2)
    assert env.form == "eager"
    assert len(caught) == 1


def test_without_a_compiler_the_eager_form_is_asked_about(
    package: EnvPackage, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What is built then is the eager form, so its validation is the one that counts."""
    from simulacrum.engine import forms

    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    forms.cpp_compiler.cache_clear()
    try:
        pass_the_gate(package)
        with pytest.warns(forms.CompilerWarning, match="eager form is used"):
            env = make_vector(package, 2, compile="inductor")
        assert env.form == "eager"
    finally:
        forms.cpp_compiler.cache_clear()


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_gymnasiums_own_vectors_run_the_reference(validated: EnvPackage, mode: str) -> None:
    envs = gym.make_vec(MINE, num_envs=2, vectorization_mode=mode)
    fast = gym.make_vec(MINE, num_envs=2, output="numpy")
    try:
        expected, _ = fast.reset(seed=5)
        found, _ = envs.reset(seed=5)
        assert found.dtype == expected.dtype
        assert found.tobytes() == expected.tobytes()
    finally:
        envs.close()
