"""`x-outside`: what it lets reference.py import and nobody else, and that its versions enter the digest."""

from __future__ import annotations

import importlib.metadata
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from simulacrum.contract import loader, outside
from simulacrum.contract.agreement import check_agreement
from simulacrum.contract.digest import compare, compute_digest
from simulacrum.contract.imports import check_imports
from simulacrum.contract.package import EnvPackage, load_package
from simulacrum.contract.problem import Problem
from simulacrum.contract.schema import parse_schema
from simulacrum.errors import SchemaError

Write = Callable[..., Path]
DRIVES = "from gymnasium.envs.classic_control.cartpole import CartPoleEnv\n"


@pytest.fixture
def judge(tmp_path: Path, write_lamp: Write) -> Callable[..., list[Problem]]:
    """The import problems of the lamp with lines put before its modules and `names` as its x-outside."""

    def run(names: tuple[str, ...], before: dict[str, str], **files: str) -> list[Problem]:
        folder = write_lamp(tmp_path / "lamp", **files)
        for name, line in before.items():
            path = folder / f"{name}.py"
            path.write_text(line + path.read_text())
        return check_imports(folder, names)

    return run


@pytest.fixture
def driven(tmp_path: Path, write_lamp: Write, raw: dict[str, Any]) -> Iterator[EnvPackage]:
    """The lamp with a reference that imports Gymnasium, and says so."""
    raw["x-outside"] = ["gymnasium"]
    folder = write_lamp(tmp_path / "lamp", schema=json.dumps(raw))
    reference = folder / "reference.py"
    reference.write_text(DRIVES + reference.read_text())
    package = EnvPackage.open(folder, "path")
    yield package
    loader.forget(package.import_name)


def test_without_it_the_import_is_refused(judge: Callable[..., list[Problem]]) -> None:
    (problem,) = judge((), {"reference": DRIVES})
    assert (problem.file, problem.line) == ("reference.py", 1)
    assert "gymnasium is not part of the digest" in problem.message
    assert "x-outside" in problem.mend


def test_with_it_the_reference_may_also_by_a_helper(judge: Callable[..., list[Problem]]) -> None:
    assert judge(("gymnasium",), {"reference": DRIVES}) == []
    assert judge(("gymnasium",), {"reference": "from . import helper\n"}, helper=DRIVES) == []


@pytest.mark.parametrize("by_helper", [False, True])
def test_the_fast_twin_never_may(judge: Callable[..., list[Problem]], by_helper: bool) -> None:
    fast = "from . import helper\n" if by_helper else DRIVES
    files = {"helper": DRIVES} if by_helper else {}
    (problem,) = judge(("gymnasium",), {"reference": DRIVES, "fast": fast}, **files)
    assert problem.file == ("helper.py" if by_helper else "fast.py")
    assert "gymnasium is what the reference drives" in problem.message
    assert "x-outside" not in problem.mend


def test_it_opens_for_what_it_names_alone(judge: Callable[..., list[Problem]]) -> None:
    (problem,) = judge(("gymnasium",), {"reference": DRIVES + "import numpy\n"})
    assert "numpy is not part of the digest" in problem.message
    (problem,) = judge(("gymnasium",), {"reference": DRIVES + "import torch\n"})
    assert "readable without torch" in problem.message


def test_what_is_named_must_be_installed_and_driven(judge: Callable[..., list[Problem]]) -> None:
    problems = judge(("gymnasium", "no-such-simulator"), {})
    assert [problem.clause for problem in problems] == ["$.x-outside"] * 2
    assert "imports nothing of gymnasium" in problems[0].message
    assert "no-such-simulator is not installed here" in problems[1].message
    assert "pip install no-such-simulator" in problems[1].mend


def test_agreement_hands_the_names_on(driven: EnvPackage) -> None:
    assert [problem for problem in check_agreement(driven) if "gymnasium" in problem.message] == []
    schema = driven.folder / "schema.json"
    schema.write_text(schema.read_text().replace('"x-outside": ["gymnasium"]', '"title": "lamp"'))
    driven.reload()
    assert any("gymnasium is not part of" in problem.message for problem in check_agreement(driven))


def test_modules_by_distribution() -> None:
    assert outside.modules_of("gymnasium") >= {"gymnasium"}
    assert outside.modules_of("numpy") >= {"numpy"}
    assert outside.modules_of("PyYAML") >= {"yaml"}
    assert outside.modules_of("no-such-simulator") == frozenset()


REFUSED: dict[str, tuple[Any, str, str]] = {
    "not a list": ("gymnasium", "$.x-outside", "JSON array"),
    "empty": ([], "$.x-outside", "names no distribution"),
    "with a version": (["gymnasium==1.4.0"], "$.x-outside[0]", "plain name"),
    "in capitals": (["MinAtar"], "$.x-outside[0]", "plain name"),
    "a number": ([1], "$.x-outside[0]", "must be text"),
    "twice": (["gymnasium", "gymnasium"], "$.x-outside[1]", "named twice"),
    "torch": (["torch"], "$.x-outside[0]", "torch is nothing outside"),
    "simulacrum": (["simulacrum"], "$.x-outside[0]", "simulacrum is nothing outside"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refuses(name: str, raw: dict[str, Any]) -> None:
    raw["x-outside"], place, words = REFUSED[name]
    with pytest.raises(SchemaError) as error:
        parse_schema(raw, "lamp")
    assert words in str(error.value)
    assert place in str(error.value)


def test_most_packages_drive_nothing(raw: dict[str, Any]) -> None:
    assert parse_schema(raw, "lamp").outside == ()
    assert load_package("cartpole").schema.outside == ("gymnasium",)


def test_versions_are_in_the_digest(driven: EnvPackage, monkeypatch: pytest.MonkeyPatch) -> None:
    before = compute_digest(driven)
    here = importlib.metadata.version("gymnasium")
    assert before.environment["outside gymnasium"] == here
    monkeypatch.setattr(outside.importlib.metadata, "version", lambda name: "9.9.9")
    after = compute_digest(driven)
    assert f"outside gymnasium {here} -> 9.9.9" in compare(before, after)
    assert before.whole != after.whole


def test_a_digest_without_it_names_nothing_outside(lamp: EnvPackage) -> None:
    assert not [key for key in compute_digest(lamp).environment if key.startswith("outside")]


def test_a_distribution_that_is_gone_is_absent() -> None:
    assert outside.outside_versions(["no-such-simulator"]) == {"outside no-such-simulator": "absent"}
    assert outside.versions_like({"outside no-such-simulator": "1.0", "torch": "2"}) == {
        "outside no-such-simulator": "absent"
    }
