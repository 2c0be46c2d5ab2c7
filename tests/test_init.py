"""`import simulacrum`: quick, light, registers ids, and hands names on when they are used."""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys

import pytest

import simulacrum


def run(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# After a user's own lines: whether the built-in ids are there, and which of the libraries came along.
TELL = (
    "\nimport sys\n"
    "heavy = {'torch', 'numpy', 'gymnasium', 'jsonschema', 'pytest', 'rich', 'typer', 'matplotlib'}\n"
    "print(sorted(heavy & set(sys.modules)))\n"
    "import gymnasium\n"
    "print({'simulacrum/toywalk-v0', 'simulacrum/forager-v0'} <= set(gymnasium.registry))"
)


def test_it_imports_no_library_and_registers_ids_when_gymnasium_comes() -> None:
    assert run("import simulacrum" + TELL).split() == ["[]", "True"]


def test_it_imports_nothing_of_itself_but_what_waits_for_gymnasium() -> None:
    code = "import sys, simulacrum; print(*sorted(name for name in sys.modules if name.startswith('simulacrum')))"
    assert run(code).split() == ["simulacrum", "simulacrum.imports"]


@pytest.mark.parametrize(
    "lines",
    [
        "import gymnasium, simulacrum",
        "import simulacrum, gymnasium.spaces",
        "import simulacrum.registry",
        "import simulacrum.contract.spaces",
        "from simulacrum import register_envs; register_envs()",
        "import simulacrum.engine.single",
        "import importlib.util, simulacrum; importlib.util.find_spec('gymnasium')",
    ],
)
def test_ids_are_registered_whoever_imports_gymnasium_first(lines: str) -> None:
    assert run(lines + TELL).splitlines()[-1] == "True"


def test_making_needs_no_more_than_both_imports() -> None:
    code = (
        "import simulacrum, gymnasium\n"
        "print(gymnasium.make('simulacrum/toywalk-v0').unwrapped.spec.id)\n"
        "try:\n    gymnasium.make_vec('simulacrum/forager-v0', num_envs=2)\n"
        "except simulacrum.errors.GateError:\n    pass  # nobody need have validated it here\n"
        "print('made')"
    )
    assert run(code).split() == ["simulacrum/toywalk-v0", "made"]


def test_it_adds_little_to_gymnasium() -> None:
    """Counted in processor time of the import itself, which other work on the machine hardly changes."""
    code = (
        "import gymnasium, time\nbegin = time.process_time()\nimport simulacrum\n"
        "print(time.process_time() - begin)"
    )
    assert min(float(run(code)) for _ in range(3)) < 0.15


def test_every_public_name_is_there() -> None:
    for name in simulacrum.__all__:
        assert getattr(simulacrum, name) is not None, name
        assert name in dir(simulacrum), name
    namespace: dict[str, object] = {}
    exec("from simulacrum import *", namespace)
    assert set(simulacrum.__all__) <= set(namespace)


def test_names_are_those_of_their_rooms() -> None:
    from simulacrum.engine.vector import SimulacrumVectorEnv
    from simulacrum.harness import require_fresh_report
    from simulacrum.twin.batched import BatchedEnv

    assert simulacrum.SimulacrumVectorEnv is SimulacrumVectorEnv
    assert simulacrum.BatchedEnv is BatchedEnv
    assert simulacrum.require_fresh_report is require_fresh_report


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'make'"):
        simulacrum.make  # noqa: B018  # the access is the test


def test_the_version_is_the_distribution_s() -> None:
    assert simulacrum.__version__ == importlib.metadata.version("simulacrum")


def test_the_scalar_rooms_work_where_numpy_and_gymnasium_are_missing() -> None:
    code = (
        "import sys\n"
        "for name in ('numpy', 'gymnasium', 'torch'):\n    sys.modules[name] = None\n"
        "import simulacrum\n"
        "from simulacrum.portable.scalar import Float32\n"
        "from simulacrum.rng.scalar import threefry2x32\n"
        "print(Float32(0.1) + 1, len(threefry2x32((1, 2), (3, 4))))"
    )
    assert run(code).strip().endswith("2")


@pytest.mark.skipif(os.name != "posix", reason="reads the environment of a fresh process")
def test_warnings_as_errors_do_not_break_the_import() -> None:
    assert (
        run("import simulacrum; print(simulacrum.register_envs() == simulacrum.register_envs())") == "True\n"
    )
