"""Rewrites change no bit, and nothing that a reader of the source would mind."""

from __future__ import annotations

from pathlib import Path

import pytest
from kit import package
from mutate.rolling import rolled, text_of

from simulacrum.contract.source import read_source
from simulacrum.mutate.mutant import rewrites
from simulacrum.mutate.operators import REWRITES
from simulacrum.portable.lint import lint_fast


@pytest.mark.parametrize("name", ["toywalk", "forager", "cartpole", "pendulum"])
def test_equal_bits(name: str) -> None:
    found = rewrites(package(name))
    assert len(found) >= 30
    assert {each.kind for each in found} == {"same"}
    plain = rolled(package(name), text_of(package(name)), 7, 12)
    for rewrite in found[:: len(found) // 12]:
        assert rolled(package(name), rewrite.source, 7, 12) == plain, rewrite.diff


@pytest.mark.parametrize("name", ["toywalk", "forager", "cartpole", "pendulum"])
def test_the_lint_and_the_tags_stand(name: str, tmp_path: Path) -> None:
    file = tmp_path / "fast.py"
    tags = set(read_source(package(name).folder / "fast.py").tags())
    for rewrite in rewrites(package(name))[::11]:
        file.write_text(rewrite.source)
        assert lint_fast(file) == [], rewrite.diff
        assert set(read_source(file).tags()) == tags


def test_a_beginning_holds_many_operators() -> None:
    assert len({each.operator for each in rewrites(package("forager"))[:30]}) >= 15
    assert len(REWRITES) >= 18
