"""spec.md, schema.json and both twins against each other: the lamp agrees, and each bend is named."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from simulacrum.contract.agreement import check_agreement, require_agreement
from simulacrum.contract.package import EnvPackage, load_package
from simulacrum.errors import AgreementError

Write = Callable[..., Path]
FILES = {"spec": "spec.md", "schema": "schema.json", "init": "__init__.py"}


@pytest.fixture
def bend(tmp_path: Path, write_lamp: Write) -> Callable[..., EnvPackage]:
    """The lamp with one replacement in one of its files."""

    def bent(file: str, old: str, new: str) -> EnvPackage:
        folder = write_lamp(tmp_path / "bent")
        path = folder / FILES.get(file, f"{file}.py")
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))
        return EnvPackage.open(folder, "path")

    return bent


def test_the_lamp_agrees(lamp: EnvPackage) -> None:
    assert check_agreement(lamp) == []
    require_agreement(lamp)


@pytest.mark.parametrize("name", ["toywalk", "forager"])
def test_the_built_in_packages_agree(name: str) -> None:
    assert check_agreement(load_package(name)) == []


# file, what is replaced by what; then the problem's file, clause, and words.
BENT: dict[str, tuple[str, str, str, str, str, str]] = {
    "field dtype": (
        "spec",
        "level | int32",
        "level | int64",
        "spec.md",
        "State.level.dtype",
        "schema.json says int32",
    ),
    "field shape": ("spec", "float32 | [2]", "float32 | [3]", "spec.md", "State.warmth.shape", "says [2]"),
    "field low": ("spec", "[] | 0 | LEVELS", "[] | 1 | LEVELS", "spec.md", "State.level.low", "says 1"),
    "field high": ("spec", "| 0.3 |", "| 0.4 |", "spec.md", "State.warmth.high", "schema.json says 0.3"),
    "no bound": ("spec", "| 0.3 |", "| - |", "spec.md", "State.warmth.high", "spec.md says -"),
    "unreadable bound": ("spec", "| 0.3 |", "| some |", "spec.md", "State.warmth.high", "spec.md says some"),
    "bound by constant": (
        "schema",
        '"maximum": 4',
        '"maximum": 5',
        "spec.md",
        "State.level.high",
        "says LEVELS",
    ),
    "field only in spec": ("spec", "| lit |", "| lot |", "spec.md", "State.lot", "not in schema.json"),
    "field only in schema": ("spec", "| lit |", "| lot |", "spec.md", "State.lit", "not in spec.md"),
    "field twice": ("spec", "| lit |", "| level |", "spec.md", "State.level", "listed twice"),
    "parameter default": (
        "spec",
        "| 0.1 | 0 | 1",
        "| 0.2 | 0 | 1",
        "spec.md",
        "flicker.default",
        "json says 0.1",
    ),
    "parameter bound": (
        "spec",
        "| 0.1 | 0 | 1",
        "| 0.1 | 0 | 2",
        "spec.md",
        "Parameters.flicker.high",
        "json says 1",
    ),
    "draw phase": ("spec", "first | reset", "first | step", "spec.md", "Draws.first.phase", "says reset"),
    "draw distribution": (
        "spec",
        "| integers",
        "| uniform",
        "spec.md",
        "Draws.first.distribution",
        "says integers",
    ),
    "draw dtype": (
        "spec",
        "bernoulli | float32",
        "bernoulli | float64",
        "spec.md",
        "Draws.flicker.dtype",
        "float32",
    ),
    "draw count": (
        "spec",
        "float32 | 2 | R3",
        "float32 | 3 | R3",
        "spec.md",
        "Draws.flicker.count",
        "json says 2",
    ),
    "draw without count": (
        "spec",
        "float32 | 2 | R3",
        "float32 | - | R3",
        "spec.md",
        "Draws.flicker.count",
        "says 2",
    ),
    "draw rule": ("spec", "| 2 | R3", "| 2 | R4", "spec.md", "Draws.flicker.rule", "says R3"),
    "draw missing": (
        "spec",
        "| first | reset | integers | int32 | - | R2 |\n",
        "",
        "spec.md",
        "Draws.first",
        "not in spec",
    ),
    "draw of no rule": ("schema", '"R3"', '"R12"', "schema.json", "$.x-draws[1].rule", "does not state"),
    "time limit": (
        "schema",
        '"x-max-episode-steps": 20',
        '"x-max-episode-steps": 30',
        "spec.md",
        "Constants.MAX_EPISODE_STEPS",
        "spec.md says 20, schema.json says 30",
    ),
    "time limit not in spec": (
        "spec",
        "MAX_EPISODE_STEPS",
        "LONGEST",
        "spec.md",
        "Constants.max_episode_steps",
        "not in spec.md",
    ),
    "no time limit in schema": (
        "schema",
        ' "x-max-episode-steps": 20,\n',
        "",
        "spec.md",
        "Constants.MAX_EPISODE_STEPS",
        "says -",
    ),
    "constant's value": ("init", "LEVELS = 4", "LEVELS = 5", "__init__.py", "Constants.LEVELS", "says 4"),
    "constant's type": ("init", "LEVELS = 4", "LEVELS = 4.0", "__init__.py", "Constants.LEVELS", "says 4.0"),
    "constant only in spec": ("init", "GLOW = 0.1\n", "", "spec.md", "Constants.GLOW", "not in __init__.py"),
    "constant only in code": (
        "init",
        "GLOW = 0.1",
        "GLOW = 0.1\nHUM = 2",
        "__init__.py",
        "Constants.HUM",
        "not in spec",
    ),
    "logic in __init__": (
        "init",
        "GLOW = 0.1",
        "GLOW = 0.1\ndef glow(): return 1",
        "__init__.py",
        "constants only",
        "def glow()",
    ),
    "lower-case name": (
        "init",
        "GLOW = 0.1",
        "GLOW = 0.1\nhum = 2",
        "__init__.py",
        "constants only",
        "hum = 2",
    ),
    "import in __init__": (
        "init",
        "LEVELS = 4",
        "from .fast import Lamp\nLEVELS = 4",
        "__init__.py",
        "constants only",
        "from .fast",
    ),
    "__init__ fails": ("init", "GLOW = 0.1", "GLOW = 0.1 / 0", "__init__.py", "line", "ZeroDivisionError"),
    "rule not tagged": ("fast", "  # R4", "", "fast.py", "R4", "never named"),
    "unknown tag": ("reference", "# R4", "# R4, R44", "reference.py", "R44", "stated nowhere"),
    "unknown rule in prose": (
        "spec",
        "A lamp that",
        "As in R31, a lamp that",
        "spec.md",
        "R31",
        "stated nowhere",
    ),
    "invariant missing": (
        "fast",
        '    @invariant("the level is not negative", rule="R7")\n',
        "",
        "fast.py",
        "R7",
        "no invariant of fast.py",
    ),
    "invariant in one twin": (
        "fast",
        "def not_negative",
        "def negative",
        "fast.py",
        "invariant negative",
        "reference.py has no invariant",
    ),
    "invariant's words": (
        "fast",
        "the level is not",
        "the level is never",
        "fast.py",
        "invariant not_negative",
        "reference.py:",
    ),
    "invariant of another heading": (
        "fast",
        'rule="R7"',
        'rule="R4"',
        "fast.py",
        "invariant not_negative",
        "under Observation",
    ),
    "invariant of no rule": ("fast", 'rule="R7"', 'rule="R70"', "fast.py", "R70", "stated nowhere"),
    "invariant's rule computed": (
        "fast",
        'rule="R7"',
        'rule="R" + "7"',
        "fast.py",
        "invariant not_negative",
        "its rule is no literal",
    ),
    "sometimes of no rule": (
        "reference",
        "    def observe",
        '    @sometimes("it is dark", rule="R70")\n    def dark(self, *given):\n        return True\n\n    def observe',
        "reference.py",
        "R70",
        "stated nowhere",
    ),
    "sometimes in the batched twin": (
        "fast",
        "    def observe",
        '    @sometimes("it is dark", rule="R4")\n    def dark(self, *given):\n        return True\n\n    def observe',
        "fast.py",
        "sometimes dark",
        "only the reference",
    ),
    "sometimes without words": (
        "reference",
        "    def observe",
        '    @sometimes(WORDS, rule="R4")\n    def dark(self, *given):\n        return True\n\n    def observe',
        "reference.py",
        "sometimes dark",
        "its text is no literal",
    ),
    "no observe": ("fast", "def observe", "def look", "fast.py", "observe", "has no observe"),
    "undeclared mask": (
        "fast",
        "def observe",
        "def action_mask(self, state, ctx): ...\n\n    def observe",
        "fast.py",
        "action_mask",
        "declares none",
    ),
    "declared info": (
        "schema",
        '"reward": {',
        '"info": {"type": "object", "properties": {"on": {"type": "boolean", '
        '"x-dtype": "bool", "x-shape": []}}, "required": ["on"], "additionalProperties": false},\n'
        '  "reward": {',
        "reference.py",
        "info",
        "reference.py has none",
    ),
    "no class": ("fast", "class Lamp(BatchedEnv)", "class Lamp", "fast.py", "BatchedEnv", "found none"),
    "undeclared draw": ("fast", '"first"', '"frist"', "fast.py", "draw frist", "not declared"),
    "forgotten draw": (
        "fast",
        '"first"',
        '"flicker"',
        "fast.py",
        "$.x-draws[0]",
        "never draws the slot first",
    ),
    "other distribution": (
        "fast",
        "draw.integers",
        "draw.normal",
        "fast.py",
        "draw first",
        "declared as integers",
    ),
    "broken spec": ("spec", "## Reward\n", "", "spec.md", "line", "missing heading: Reward"),
    "broken twin": (
        "fast",
        "def reset(self, ctx):",
        "def reset(self, ctx)",
        "fast.py",
        "line",
        "is not Python",
    ),
}


@pytest.mark.parametrize("name", BENT)
def test_names_what_disagrees(name: str, bend: Callable[..., EnvPackage]) -> None:
    file, old, new, where, clause, words = BENT[name]
    problems = check_agreement(bend(file, old, new))
    found = [problem for problem in problems if problem.file == where and clause in problem.clause]
    assert any(words in problem.message for problem in found), "\n".join(map(str, problems))
    assert all(problem.mend for problem in problems)


def test_broken_schema_keeps_the_id_and_names_the_path(bend: Callable[..., EnvPackage]) -> None:
    problems = check_agreement(bend("schema", '"x-dtype": "int32"', '"x-dtype": "int31"'))
    assert [problem.clause for problem in problems] == ["$.properties.state.properties.level.x-dtype"]
    assert "did you mean 'int32'" in problems[0].mend


def test_lines_lead_to_the_place(bend: Callable[..., EnvPackage]) -> None:
    package = bend("fast", '"first"', '"frist"')
    problem = next(problem for problem in check_agreement(package) if problem.clause == "draw frist")
    assert problem.line is not None
    assert "frist" in (package.folder / "fast.py").read_text().splitlines()[problem.line - 1]
    assert str(problem).startswith(f"fast.py:{problem.line}: draw frist: ")


def test_no_init_is_fine_without_constants(tmp_path: Path, write_lamp: Write, spec_text: str) -> None:
    rows = "| LEVELS | 4 | brightness levels |\n| GLOW | 0.1 | light for each level |\n"
    spec = spec_text.replace(rows, "").replace("| 0 | LEVELS |", "| 0 | 4 |")
    twins = {
        name: (write_lamp(tmp_path / "lamp") / f"{name}.py").read_text().replace("from . import LEVELS\n", "")
        for name in ("reference", "fast")
    }
    package = EnvPackage.open(write_lamp(tmp_path / "bare", spec=spec, init=None, **twins), "path")
    (tmp_path / "bare" / "__init__.py").unlink(missing_ok=True)
    assert check_agreement(package) == []


def test_a_table_of_the_observation_is_compared(bend: Callable[..., EnvPackage]) -> None:
    header = "| field | dtype | shape | low | high | meaning |\n|---|---|---|---|---|---|\n"
    table = header + "| observation | int32 | [] | 0 | 4 | x |"
    problems = check_agreement(bend("spec", "- **R4**", f"{table}\n\n- **R4**"))
    clauses = {problem.clause for problem in problems}
    assert clauses == {"Observation.observation.dtype"}


def test_a_rounding_float_type_is_compared_after_rounding(bend: Callable[..., EnvPackage]) -> None:
    new = "from simulacrum.portable.scalar import Float32\nGLOW = Float32(0.1)"
    assert check_agreement(bend("init", "GLOW = 0.1", new)) == []


def test_require_lists_every_problem(bend: Callable[..., EnvPackage]) -> None:
    package = bend("spec", "level | int32 | []", "level | int64 | [7]")
    with pytest.raises(AgreementError) as caught:
        require_agreement(package)
    assert "in 2 place(s)" in str(caught.value)
    assert "State.level.dtype" in str(caught.value)
    assert "State.level.shape" in str(caught.value)


def test_a_schema_of_another_id_is_read(tmp_path: Path, write_lamp: Write, raw: dict[str, Any]) -> None:
    raw["$id"] = "simulacrum/lamp-v0"
    package = EnvPackage.open(write_lamp(tmp_path / "other", schema=json.dumps(raw)), "path")
    assert (package.env_id, check_agreement(package)) == ("simulacrum/lamp-v0", [])


def test_a_draw_under_another_handle_is_not_forgotten(bend: Callable[..., EnvPackage]) -> None:
    old = 'ctx.draw.integers("first", LEVELS)'
    assert (
        check_agreement(bend("fast", old, f"(lambda handle: {old.replace('ctx.draw', 'handle')})(ctx.draw)"))
        == []
    )
