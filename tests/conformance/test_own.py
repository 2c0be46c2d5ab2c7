"""Our own vector environments hold every rule, in each mode, as tensors and as arrays."""

from __future__ import annotations

import pytest
from kit.tools import MODES, vector

from simulacrum.conformance.catalog import RULES
from simulacrum.conformance.runner import judge
from simulacrum.conformance.subject import Subject

# What an output or a mode could break; all rules in the test that takes longer.
QUICK = ("observations", "step.r", "step.flags", "step.library", "same_step.final", "final", "aliasing.infos", "info")


def failures(name, chosen=("",), **kwargs):
    subject = Subject(lambda num_envs, **more: vector(name, num_envs, **more), kwargs=kwargs, num_envs=3)
    results = [judge(subject, rule, 60) for rule in RULES.values() if rule.name.startswith(chosen)]
    assert sum(one.status == "passed" for one in results) > 10
    return [f"{one.rule}: {one.text()}" for one in results if one.status == "failed"]


@pytest.mark.parametrize("output", ["torch", "numpy"])
@pytest.mark.parametrize("mode", MODES)
def test_counter(mode, output):
    assert failures("counter", autoreset_mode=mode, output=output, max_episode_steps=4, chosen=QUICK) == []


@pytest.mark.long
@pytest.mark.parametrize("name", ["counter", "toywalk", "dials", "canvas", "rivals"])
def test_every_rule(name):
    assert failures(name, output="numpy") == []
