"""The kit's packages are proper ones."""

from __future__ import annotations

import pytest

from kit import NAMES, package
from simulacrum.contract.agreement import check_agreement


@pytest.mark.parametrize("name", NAMES)
def test_spec_schema_and_code_agree(name: str) -> None:
    assert check_agreement(package(name)) == []
