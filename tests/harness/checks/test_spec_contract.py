from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from kit import NAMES, package

from simulacrum.contract.fields import Field
from simulacrum.contract.package import EnvPackage
from simulacrum.harness.bench import Bench, Outcome
from simulacrum.harness.checks.spec_contract import lint_twin
from simulacrum.harness.extremes import ends
from simulacrum.harness.purity import impurities

Check = Callable[..., Outcome]
Changed = Callable[..., EnvPackage]
STEP = "move = self._move(action, slips)  # R4: int32 [N]"


@pytest.mark.parametrize("name", [*NAMES, "toywalk", "forager"])
def test_sound_packages_pass_and_say_what_was_read(check: Check, name: str) -> None:
    outcome = check("spec_contract", name)
    assert outcome.status == "passed", outcome.message
    assert outcome.evidence["rules"] >= 7
    assert outcome.evidence["states_loaded_and_dumped"] > 30
    assert outcome.evidence["invariants"]
    assert outcome.evidence["draw_words"]["reset"] > 0


def test_every_contradiction_is_listed_with_its_place_and_mend(check: Check, changed: Changed) -> None:
    package = changed(
        "toywalk",
        ("__init__.py", "GOAL_REWARD = 10.0", "GOAL_REWARD = 11.0"),
        ("spec.md", "| position | int32 | [] | -5 | 5 |", "| position | int32 | [] | -6 | 5 |"),
        ("fast.py", '@invariant("the walker is on the line", rule="R11")', '@invariant("on the line", rule="R11")'),
    )
    outcome = check("spec_contract", package)
    assert outcome.status == "failed"
    problems = outcome.evidence["problems"]
    assert any(one.startswith("__init__.py") and "GOAL_REWARD" in one for one in problems)
    assert any(one.startswith("spec.md:") and "position" in one for one in problems)
    assert any(one.startswith("fast.py:") and "on_the_line" in one for one in problems)
    assert outcome.message.startswith(f"{len(problems)} problems")
    assert all(one in outcome.message for one in problems)


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (("schema.json", '"x-dtype": "int64"', '"x-dtype": "int65"'), "int65"),
        (("schema.json", '"x-max-episode-steps": 60,', '"x-max-episode-steps": 0,'), "$.x-max-episode-steps"),
        (("spec.md", "## Invariants", "## Truths"), "Invariants"),
        (("fast.py", "def observe(self", "def observe(self,,"), "fast.py"),
        (("reference.py", "class ToyWalk(ReferenceEnv):", "class ToyWalk:"), "ReferenceEnv"),
        (("fast.py", "import torch\n", "import torch\nimport no_such_library\n"), "no_such_library"),
        (("fast.py", "import torch\n", "import torch\nfrom . import reference\n"), "reference"),
        (("fast.py", 'ctx.draw.integers("start"', 'ctx.draw.integers("begin"'), "begin"),
    ],
)
def test_a_broken_package_gets_a_message(check: Check, changed: Changed, edit: tuple[str, str, str], said: str) -> None:
    outcome = check("spec_contract", changed("toywalk", edit))
    assert outcome.status == "failed"
    assert said in outcome.message
    assert "Traceback" not in outcome.message


def test_an_operation_off_the_list_is_named_by_line(check: Check, changed: Changed) -> None:
    edit = ("fast.py", "/ GOAL  # R9", "/ GOAL + ctx.t.to(torch.float32).sin()  # R9")
    outcome = check("spec_contract", changed("toywalk", edit))
    assert outcome.status == "failed"
    assert "fast.py:" in outcome.message
    assert "sin" in outcome.message


def test_what_fast_imports_is_read_as_well(check: Check, changed: Changed) -> None:
    edits = (
        ("__init__.py", "GOAL_REWARD = 10.0", "GOAL_REWARD = 10.0\n\n\ndef bent(x):\n    return x + x.sin() * 0.0\n"),
        ("fast.py", "from . import ", "from . import bent, "),
        ("fast.py", "where = state.position.to(torch.float32) / GOAL", "where = bent(state.position) / GOAL"),
    )
    outcome = check("spec_contract", changed("toywalk", *edits))
    assert outcome.status == "failed"
    assert "__init__.py:" in outcome.message
    assert ".sin()" in outcome.message


def test_a_file_that_twins_share_is_no_finding_but_what_it_does_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shared_by_twins.py").write_text("import torch\n\n\ndef bent(x):\n    return torch.sin(x)\n")
    folder = tmp_path / "shown"
    folder.mkdir()
    (folder / "fast.py").write_text("from shared_by_twins import bent\nimport simplejson_of_nobody\n")
    found = [(Path(finding.file).name, finding.line, finding.operation) for finding in lint_twin(folder)]
    assert found == [("fast.py", 2, "import simplejson_of_nobody"), ("shared_by_twins.py", 5, "torch.sin")]


def test_a_waived_operation_passes_and_is_reported(check: Check, changed: Changed) -> None:
    line = "where = state.position.to(torch.float32) / GOAL  # R9: float32 [N]"
    waived = "where = state.position.to(torch.float32) / GOAL + ctx.t.sin() * 0.0  # R9 # portable: times zero"
    outcome = check("spec_contract", changed("toywalk", ("fast.py", line, waived)))
    assert outcome.status == "passed", outcome.message
    assert any("times zero" in one for one in outcome.evidence["lint_waivers"])
    assert "waived" in outcome.message


REFERENCE_STEP = "move = self._move(action, slips)  # R4"


@pytest.mark.parametrize(
    ("file", "lines", "said"),
    [
        ("fast.py", "self.last = slips", "fast.py: self.last changes while stepping"),
        ("fast.py", "type(self).count = getattr(type(self), 'count', 0) + 1", "fast.py: ToyWalk.count changes"),
        ("fast.py", "SEEN.append(1)", "fast.py: fast.SEEN changes"),
        ("fast.py", "state.position.clamp_(max=0)", "that a method was given are changed"),
        ("fast.py", "torch.rand(3)", "global generator"),
        ("fast.py", "SEEN.append(1)\n        move = move * (len(SEEN) % 2)", "the same step taken twice"),
        ("reference.py", "self.last = move", "reference.py: self.last changes"),
        ("reference.py", "import random\n        random.random()", "global generator"),
        ("reference.py", "SEEN.append(1)\n        move = move * (len(SEEN) % 2)", "reference.py: the same step"),
    ],
)
def test_twins_that_keep_something_are_found(changed: Changed, file: str, lines: str, said: str) -> None:
    """Asked of the running twins: most of this is also seen by reading, which comes first in the check."""
    old = STEP if file == "fast.py" else REFERENCE_STEP
    edits = [(file, old, f"{old}\n        {lines}")]
    if "SEEN" in lines:
        base = "BatchedEnv" if file == "fast.py" else "ReferenceEnv"
        head = f"class ToyWalk({base}):"
        edits.append((file, head, f"SEEN: list[int] = []\n\n\n{head}"))
    problems = impurities(Bench(changed("toywalk", *edits)))
    assert any(said in problem for problem in problems), problems


@pytest.mark.parametrize("name", [*NAMES, "toywalk", "forager"])
def test_sound_twins_keep_nothing(name: str) -> None:
    assert impurities(Bench(package(name))) == []


def test_a_returned_tensor_that_a_later_step_changes_is_found(changed: Changed) -> None:
    edits = [
        ("fast.py", "reward = self._reward(at_goal)  # R6: float32 [N]",
         "reward = HELD.setdefault(len(action), self._reward(at_goal))\n        reward.copy_(self._reward(at_goal))"),
        ("fast.py", "class ToyWalk(BatchedEnv):", "HELD: dict = {}\n\n\nclass ToyWalk(BatchedEnv):"),
    ]  # fmt: skip
    problems = impurities(Bench(changed("toywalk", *edits)))
    assert any("changed by a later step" in problem or "HELD" in problem for problem in problems), problems


def test_a_state_of_the_wrong_dtype_is_named(check: Check, changed: Changed) -> None:
    edit = ("fast.py", "return self.State(position=position)", "return self.State(position=position.to(torch.int64))")
    outcome = check("spec_contract", changed("toywalk", edit))
    assert outcome.status == "failed"
    assert "state.position" in outcome.message
    assert "torch.int64" in outcome.message


def test_a_reference_that_leaves_its_bounds_is_named(check: Check, changed: Changed) -> None:
    edit = ("reference.py", "return LEFT_END\n", "return LEFT_END - 1\n")
    outcome = check("invariant_sweep", changed("toywalk", edit))
    assert outcome.status == "failed"
    assert "state.position" in outcome.message


@pytest.mark.parametrize(
    ("field", "wanted"),
    [
        (Field("f", "f", "bool", ()), [False, True]),
        (Field("f", "f", "int8", (), low=-3), [-3, 127, -2, 126]),
        (Field("f", "f", "uint8", (2,)), [[0, 0], [255, 255], [1, 1], [254, 254]]),
        (Field("f", "f", "int64", ()), [-(2**63), 2**63 - 1]),
        (Field("f", "f", "int32", (2,), low=(0, 5), high=(1, 5)), [[0, 5], [1, 5]]),
        (Field("f", "f", "float32", (), low=0.0, high=1.0), [0.0, 1.0, 1.401298464324817e-45, 1.1754943508222875e-38]),
        (Field("f", "f", "float64", (), low=-1.0, high=1.0), [-5e-324, 5e-324, -1.0, 1.0]),
        (Field("f", "f", "float32", ()), [3.4028234663852886e38, -3.4028234663852886e38]),
    ],
)
def test_the_ends_of_a_field_are_tried(field: Field, wanted: list[object]) -> None:
    tried = [repr(value) for value in ends(field)]
    assert {repr(value) for value in wanted} <= set(tried)
    assert not any("-0.0" in text for text in tried)


def test_what_a_field_allows_is_tried_too() -> None:
    tried = [repr(value) for value in ends(Field("f", "f", "float32", (), allow=frozenset({"nan", "-0.0", "inf"})))]
    assert {"nan", "inf", "-0.0"} <= set(tried)
