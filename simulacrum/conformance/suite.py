"""The rules as tests of pytest, one a rule, for whoever writes a vector environment:

    from simulacrum.conformance import VectorEnvConformance

    class TestMine(VectorEnvConformance):
        def make(self, num_envs, **kwargs):
            return MyVectorEnv(num_envs, **kwargs)

A rule of severity error that does not hold fails its test; a warning is an expected failure, with its text, unless
`strict` is set; a rule that has nothing to judge is skipped with the reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from simulacrum.conformance.catalog import RULES, chosen
from simulacrum.conformance.runner import judge
from simulacrum.conformance.subject import Subject
from simulacrum.conformance.target import subject_of


class VectorEnvConformance:
    """Derive from it, name the class `Test...`, and give `make`, or an id in `env_id`.

    num_envs: rows that the rules use. kwargs: what it is made with. steps: how many random steps are taken at most to
    see an episode end. seconds: how long one rule may take. rules: rules or groups to judge, all by default.
    accepted: rule -> why it does not hold here; its test is skipped with that reason. strict: a warning fails too.
    env_id, vectorization_mode: of `gymnasium.make_vec`, in place of `make`.
    """

    num_envs: ClassVar[int] = 4
    kwargs: ClassVar[Mapping[str, Any]] = {}
    steps: ClassVar[int] = 500
    seconds: ClassVar[float] = 60.0
    rules: ClassVar[Sequence[str] | None] = None
    accepted: ClassVar[Mapping[str, str]] = {}
    strict: ClassVar[bool] = False
    env_id: ClassVar[str | None] = None
    vectorization_mode: ClassVar[str | None] = None

    def make(self, num_envs: int, **kwargs: Any) -> Any:
        """A new environment of `num_envs` rows. `kwargs` holds those of the class, and what a rule asks for: a mode
        (`autoreset_mode`), a limit (`max_episode_steps`) or a `render_mode`; refuse what there is not."""
        raise NotImplementedError("give `make`, or an id in `env_id`")

    def make_single(self, **kwargs: Any) -> Any:
        """The single environment of the same rules, where there is one: final observations are held against it."""
        raise NotImplementedError

    @classmethod
    def pytest_generate_tests(cls, metafunc: Any) -> None:
        """One test a rule."""
        if "conformance_rule" in metafunc.fixturenames:
            metafunc.parametrize("conformance_rule", chosen(metafunc.cls.rules))

    def test_rule(self, conformance_rule: str) -> None:
        """Judge one rule."""
        import pytest

        __tracebackhide__ = True
        if conformance_rule in self.accepted:
            pytest.skip(f"accepted: {self.accepted[conformance_rule]}")
        rule = RULES[conformance_rule]
        result = judge(self._subject(), rule, self.seconds)
        told = f"{rule.name}: {result.text()}\n  rule: {rule.claim}\n  source: {rule.source}"
        if result.status == "skipped":
            pytest.skip(result.message)
        if result.status == "failed" and (self.strict or rule.severity == "error"):
            pytest.fail(told, pytrace=False)
        if result.status == "failed":
            pytest.xfail(told)

    def _subject(self) -> Subject:
        """The subject that the tests of one class share."""
        kept = type(self).__dict__.get("_kept_subject")
        if kept is None:
            kept = self._new_subject()
            type(self)._kept_subject = kept  # pyright: ignore[reportAttributeAccessIssue]  # a class of the user's
        return kept

    def _new_subject(self) -> Subject:
        if self.env_id is not None:
            return subject_of(self.env_id, num_envs=self.num_envs, kwargs=self.kwargs, steps=self.steps,
                              vectorization_mode=self.vectorization_mode)  # fmt: skip
        alone = type(self).make_single is not VectorEnvConformance.make_single
        return Subject(self.make, num_envs=self.num_envs, kwargs=self.kwargs, steps=self.steps,
                       single=self.make_single if alone else None)  # fmt: skip
