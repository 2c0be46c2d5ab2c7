"""An eager step's time by rule: every operation is booked, on a rule of fast.py or on the engine."""

from __future__ import annotations

import json

from simulacrum.cli.profile import ENGINE, by_rule
from simulacrum.contract.package import load_package


def test_every_rule_that_computes_is_there():
    shares = by_rule(load_package("toywalk"))
    assert {"R3", "R4", "R5", "R6", "R9", ENGINE} <= {share.rule for share in shares}
    assert all(share.seconds > 0 and share.operations > 0 for share in shares)
    assert shares == sorted(shares, key=lambda share: -share.seconds)


def test_the_command_shows_it(cli):
    words = ("bench", "toywalk", "--num-envs", "8", "--compile", "eager", "--seconds", 0.07, "--profile")
    text, document = cli(*words), cli(*words, "--json")
    assert text.code == document.code == 0
    (environment,) = json.loads(document.out)["environments"]
    rules = [share["rule"] for share in environment["profile"]]
    assert "R5" in rules
    assert all(rule in text.out for rule in rules)
