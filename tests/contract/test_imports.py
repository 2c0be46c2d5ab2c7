"""Import discipline: what each twin may reach, directly or through helper modules."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from simulacrum.contract.imports import check_imports
from simulacrum.contract.problem import Problem

Write = Callable[..., Path]


@pytest.fixture
def judge(tmp_path: Path, write_lamp: Write) -> Callable[..., list[Problem]]:
    """The import problems of the lamp with lines put before its modules, and with further files."""

    def run(before: dict[str, str], **files: str) -> list[Problem]:
        folder = write_lamp(tmp_path / "lamp", **files)
        for name, line in before.items():
            path = folder / f"{name}.py"
            path.write_text(f"{line}\n{path.read_text()}")
        return check_imports(folder)

    return run


# The module, a line of it, and the words of the problem.
REFUSED: dict[str, tuple[str, str, str]] = {
    "reference imports fast": ("reference", "from . import fast", "reference.py imports fast.py"),
    "reference imports from fast": (
        "reference",
        "from .fast import Lamp as Other",
        "reference.py imports fast.py",
    ),
    "fast imports reference": (
        "fast",
        "from .reference import Lamp as Other",
        "fast.py imports reference.py",
    ),
    "by bare name": ("fast", "import reference", "fast.py imports reference.py"),
    "in a function": ("fast", "def look():\n    from . import reference", "fast.py imports reference.py"),
    "for types only": (
        "fast",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from . import reference",
        "fast.py imports reference.py",
    ),
    "torch in the reference": ("reference", "import torch", "readable without torch"),
    "part of torch": ("reference", "from torch.nn import functional", "readable without torch"),
    "NumPy in the reference": ("reference", "import numpy as np", "numpy is not part of the digest"),
    "NumPy in the fast twin": ("fast", "import numpy", "numpy is not part of the digest"),
    "a stranger": ("fast", "import nowhere_to_be_found", "is not installed here"),
    "batched base": (
        "reference",
        "from simulacrum.twin.batched import Context",
        "simulacrum.twin.batched is not for",
    ),
    "batched room as a name": (
        "reference",
        "from simulacrum.twin import batched",
        "simulacrum.twin.batched is not for",
    ),
    "batched base by the front door": (
        "reference",
        "from simulacrum import BatchedEnv",
        "the other twin's base",
    ),
    "reference base": ("fast", "from simulacrum.twin import ReferenceEnv", "the other twin's base"),
    "tensors": (
        "reference",
        "from simulacrum.portable.tensor import sin",
        "simulacrum.portable.tensor is not for",
    ),
    "the engine": (
        "fast",
        "import simulacrum.engine.boundary",
        "simulacrum.engine.boundary is not for fast.py",
    ),
    "chance": ("fast", "import random", "random brings chance or time"),
    "a clock": ("reference", "from time import time", "time brings chance or time"),
    "importlib": ("reference", "import importlib", "importlib can import what no check reads"),
    "__import__": ("reference", "torch = __import__('torch')", "__import__() can reach code"),
    "exec": ("fast", "exec('import reference')", "exec() can reach code"),
    "leaving the folder": ("fast", "from ..other import x", "leaves the package's folder"),
    "a drawing with rules": ("render", "from .reference import Lamp", "holds no game logic"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refuses(name: str, judge: Callable[..., list[Problem]]) -> None:
    module, line, words = REFUSED[name]
    files = {"render": "import numpy\n"} if module == "render" else {}
    problems = judge({module: line}, **files)
    assert len(problems) == 1, "\n".join(map(str, problems))
    assert words in problems[0].message
    assert problems[0].file == f"{module}.py"
    assert problems[0].line == line.count("\n") + 1
    assert problems[0].mend


def test_follows_helpers(judge: Callable[..., list[Problem]]) -> None:
    files = {"helper": "from . import deeper\n", "deeper": "import torch\nfrom . import fast\n"}
    problems = judge({"reference": "from .helper import deeper"}, **files)
    assert [(problem.file, problem.line) for problem in problems] == [("deeper.py", 1), ("deeper.py", 2)]
    assert "reference.py -> helper.py -> deeper.py" in problems[0].message


def test_helpers_that_import_each_other_end(judge: Callable[..., list[Problem]]) -> None:
    assert judge({"fast": "from . import one"}, one="from . import two\n", two="from . import one\n") == []


def test_allows(judge: Callable[..., list[Problem]]) -> None:
    reference = (
        "import math, dataclasses\nfrom simulacrum.portable import Float32\nfrom simulacrum import errors"
    )
    fast = "import torch\nfrom torch import Tensor\nfrom simulacrum.portable.tensor import sin"
    numbers = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import numpy\n"
    probes = "from simulacrum.twin.probe import Probe\nimport random\nfrom .reference import Lamp\n"
    before = {"reference": reference + "\nfrom .numbers import *", "fast": fast}
    assert judge(before, numbers=numbers, render="import numpy\n", probes=probes) == []


def test_allows_project_modules_and_follows_them(
    judge: Callable[..., list[Problem]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mylib").mkdir()
    (tmp_path / "mylib" / "__init__.py").write_text("")
    (tmp_path / "mylib" / "rules.py").write_text("from . import inner\n")
    (tmp_path / "mylib" / "inner.py").write_text("import torch\n")
    monkeypatch.syspath_prepend(tmp_path)
    problems = judge({"reference": "from mylib.rules import inner"})
    assert "mylib" not in sys.modules
    assert len(problems) == 1
    assert "readable without torch (reached through" in problems[0].message
    assert problems[0].file.endswith("mylib/inner.py")


@pytest.mark.parametrize("text", ["def (", "x = '\0'", "\x00"])
def test_a_twin_that_is_no_python(text: str, judge: Callable[..., list[Problem]]) -> None:
    problems = judge({}, fast=text)
    assert [problem.file for problem in problems] == ["fast.py"]
    assert "is not Python" in problems[0].message


def test_a_file_that_both_twins_run_is_judged_by_nothing(judge: Callable[..., list[Problem]]) -> None:
    files = {"rules": "from .deeper import moved\n", "deeper": "def moved(x):\n    return x + 1\n"}
    problems = judge({"reference": "from .rules import moved", "fast": "from .deeper import moved"}, **files)
    (problem,) = problems
    assert problem.file == "deeper.py"
    assert "fast.py -> deeper.py" in problem.message
    assert "reference.py -> rules.py -> deeper.py" in problem.message


def test_each_twin_may_have_helpers_of_its_own(judge: Callable[..., list[Problem]]) -> None:
    files = {"slow_rules": "def moved(x):\n    return x + 1\n", "fast_rules": "def moved(x):\n    return x + 1\n"}
    twins = {"reference": "from .slow_rules import moved", "fast": "from .fast_rules import moved"}
    assert judge(twins, **files) == []
