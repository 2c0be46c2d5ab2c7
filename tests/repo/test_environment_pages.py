"""tools/environment_pages: a page says what is so, links its rules, and is silent about what was not measured."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from simulacrum.contract.package import EnvPackage, load_package

TOOLS = Path(__file__).resolve().parents[2] / "tools"

SPEC = """# game

## Purpose

A game, ended by R2.

## Step

- **R1** The piece moves; `R2` in code is no mention, and R9 is no rule.

```text
R1 in a block stays as it is
## and so does this
```

## Episode end

- **R2** It ends after R1.
"""


@pytest.fixture(scope="module")
def pages() -> Iterator[ModuleType]:
    pytest.importorskip("PIL")
    sys.path.insert(0, str(TOOLS))
    import environment_pages.facts
    import environment_pages.gallery
    import environment_pages.page
    import environment_pages.pictures
    import environment_pages.rules
    import environment_pages.words

    yield environment_pages
    sys.path.remove(str(TOOLS))


@pytest.fixture(scope="module")
def toywalk() -> EnvPackage:
    return load_package("toywalk")


def measured(pages: ModuleType, package: EnvPackage, **parts: Any) -> Any:
    none = dict.fromkeys(pages.facts.PARTS)
    return pages.facts.Facts(package, **{**none, **parts})


def part(pages: ModuleType, package: EnvPackage, **more: Any) -> dict[str, Any]:
    return {"package": pages.facts.digests(package)[0], "made": "2026-01-02", "with": "torch 9", **more}


def throughput(pages: ModuleType, package: EnvPackage) -> dict[str, Any]:
    native = {"name": "native", "kind": "form", "version": "v", "settings": "a loop"}
    peer = {"name": "Other", "kind": "peer", "version": "other 1", "settings": "as it comes"}
    rows = [
        {**native, "rates": {"64": 2e6, "8192": 3e7}, "native_is": {}},
        {**peer, "rates": {"64": 1e5}, "native_is": {"64": 20.0}},
    ]
    return part(pages, package, sizes=[64, 8192], rows=rows, machine={"cores": 2}, load=1.5)


def test_rules_have_anchors_and_mentions_of_them_are_links(pages: ModuleType) -> None:
    text = pages.rules.rules(SPEC)
    assert "- [**R1**](#r1){ #r1 .env-rule } The piece moves" in text
    assert "It ends after [R1](#r1)." in text
    assert "`R2` in code is no mention, and R9 is no rule" in text
    assert "R1 in a block stays as it is\n## and so does this" in text
    assert "### Step" in text
    assert "### Episode end" in text
    assert "Purpose" not in text
    assert pages.rules.purpose(SPEC) == "A game, ended by [R2](#r2)."


def test_every_rule_of_every_environment_is_linked_to_itself(pages: ModuleType) -> None:
    for name in ("toywalk", "cartpole"):
        package = load_package(name)
        text = pages.page.page(measured(pages, package), None)
        for rule in package.spec.rules:
            assert text.count(f"#{rule.lower()} .env-rule") == 1, (name, rule)


def test_what_was_not_measured_is_not_told(pages: ModuleType, toywalk: EnvPackage) -> None:
    facts = measured(pages, toywalk)
    text = pages.page.page(facts, None)
    for words in ("## Speed", "## Training", "small model", "Mutation score", "env-tiles", "<img"):
        assert words not in text
    assert "No field has a tolerance" in text
    assert pages.gallery.figures(facts) == []


def test_what_was_measured_is_told(pages: ModuleType, toywalk: EnvPackage) -> None:
    runs = [{"seed": seed, "steps": 1000, "seconds": 2.5, "return": 0.5 + seed / 10, "standard_error": 0.01}
            for seed in (1, 2)]  # fmt: skip
    training = part(pages, toywalk, algorithm="PQN", runs=runs, level=0.7, source="a paper", link="", reached=False)
    training |= {"return": 0.65, "command": "train it --with " + "9" * 60 + " --and " + "8" * 60}
    small = {"states": 1234, "transitions": 5678, "complete": True}
    score = {"killed": 60, "counted": 61, "planted": 200, "sampled": 80}
    validation = part(pages, toywalk, transitions=99_999, forms=["eager", "native"], small_model=small, score=score)
    facts = measured(
        pages, toywalk, throughput=throughput(pages, toywalk), training=training, validation=validation
    )
    assert pages.page.headlines(facts) == [
        ("30 M", "steps a second on one core, 8,192 rows"),
        ("20 x", "as fast as Other, 64 rows"),
        ("0.6 to 0.7", "return that PQN learns"),
        ("1,234", "states of the small model, each of them compared"),
        ("60 of 61", "planted faults found"),
    ]
    text = pages.page.page(facts, None)
    assert "| Other | 100 k <small>20 x</small> | - |" in text
    assert f"```bash\ntrain it --with {'9' * 60} \\\n  --and {'8' * 60}\n```" in text
    assert "It was **not** reached, with a mean of 0.65." in text
    assert "60 of 61 wrong twins found, of 200 that were planted" in text
    assert "edited since" not in text
    assert "processes wanted" not in text
    busy = measured(pages, toywalk, throughput={**throughput(pages, toywalk), "load": 7.0})
    assert "Up to 7 processes wanted its 2 cores meanwhile." in pages.page.page(busy, None)
    told = ["30 M steps/s, 20 x Other", "PQN learns 0.6 to 0.7", "small model: all 1,234 states"]
    assert pages.gallery.figures(facts) == told


def test_the_original_one_by_one_is_compared_beside_the_fastest_peer(pages: ModuleType, toywalk: EnvPackage) -> None:
    sync = {"name": "Gymnasium SyncVectorEnv", "kind": "peer", "version": "1", "settings": ""}
    part = throughput(pages, toywalk)
    part["rows"].append({**sync, "rates": {"64": 1e4}, "native_is": {"1": 3.0, "64": 200.0}})
    told = [large for large, _ in pages.page.headlines(measured(pages, toywalk, throughput=part))]
    assert told == ["30 M", "20 x", "200 x"]


def test_a_figure_of_an_earlier_state_of_the_package_says_so(pages: ModuleType, toywalk: EnvPackage) -> None:
    old = {**throughput(pages, toywalk), "package": "another"}
    assert "The package was edited since." in pages.page.page(measured(pages, toywalk, throughput=old), None)


def test_bounds_are_told_as_a_person_would(pages: ModuleType) -> None:
    between = pages.words.between
    assert between(0, 3) == "0 to 3"
    assert between(1.0, 1.0) == "1"
    assert between((-4.8, None), (4.8, 2.0)) == "-inf to 4.8"
    assert between(-(2**63), 2**63 - 1) == "-2^63 to 2^63 - 1"


def test_pictures_are_kept_until_the_package_changes(
    pages: ModuleType, toywalk: EnvPackage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = pages.pictures.pictures(toywalk, tmp_path)
    assert made.still.startswith(b"\x89PNG")
    assert made.film[:4] + made.film[8:12] == b"RIFFWEBP"
    assert made.width >= pages.pictures.WIDTH
    assert "`always_right`" in made.caption
    monkeypatch.setattr(pages.pictures, "_episode", lambda *given: pytest.fail("it was played again"))
    assert pages.pictures.pictures(toywalk, tmp_path) == made


def test_an_environment_without_probes_has_a_page_without_a_picture(pages: ModuleType) -> None:
    counter = load_package(Path(__file__).resolve().parents[1] / "kit" / "counter")
    assert pages.pictures.pictures(counter, None) is None
    assert "# counter" in pages.page.page(measured(pages, counter), None)


def test_cards_of_driven_environments_come_first_and_name_the_version(pages: ModuleType, toywalk: EnvPackage) -> None:
    cartpole = load_package("cartpole")
    text = pages.gallery.gallery([(measured(pages, toywalk), None), (measured(pages, cartpole), None)])
    order = ["## Rules carried out by gymnasium", "cartpole.html", "## Rules of our own", "toywalk.html"]
    places = [text.index(words) for words in order]
    assert places == sorted(places)
    (driven,) = pages.facts.outside(cartpole)
    assert f"<span>{driven.name} {driven.installed}</span>" in text
    assert driven.asked.startswith(">=1.2")
    assert pages.facts.comparisons(cartpole)[0][0] == "tests/envs/test_cartpole_gymnasium.py"
    assert pages.facts.comparisons(toywalk) == []


@pytest.mark.parametrize(("name", "original"), [("pong", "pufferlib"), ("game_2048", "gymnasium_2048")])
def test_pages_name_the_test_beside_an_original_that_no_reference_drives(
    pages: ModuleType, name: str, original: str
) -> None:
    ((path, told),) = pages.facts.comparisons(load_package(name))
    assert path == f"tests/envs/test_{name}_{original}.py"
    assert path in pages.page.page(measured(pages, load_package(name)), None)
    assert told.startswith(name)
