"""From a command line's words to an environment: ids, makers, and what is told where there is nothing."""

from __future__ import annotations

import pytest
from kit.track import ID, Track

from simulacrum.conformance.rule import NotJudged
from simulacrum.conformance.target import subject_of
from simulacrum.errors import UsageError

MAKER = "from kit.track import Track\n\ndef make(num_envs, bonus=0, **kwargs):\n    return Track(num_envs, **kwargs)\n"


def test_id_with_its_module():
    subject = subject_of(f"kit.track:{ID}", num_envs=3)
    with subject.env() as env:
        assert type(env) is Track
        assert env.num_envs == 3
    assert subject.single is not None
    assert subject.env_id == f"kit.track:{ID}"


def test_class_and_file_as_makers(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(MAKER, encoding="utf-8")
    for target, kwargs in (("kit.track:Track", {}), (f"{file}:make", {"bonus": 3})):
        subject = subject_of(target, kwargs=kwargs)
        assert subject.class_name == "Track"
        assert subject.single is None


@pytest.mark.parametrize(
    ("target", "told"),
    [
        ("no_such_module:Env-v0", "cannot be imported"),
        ("NoSuchEnv-v0", "it cannot be made: NameNotFound"),
        ("kit.track:nothing", "it cannot be made"),
        ("no/such/file.py:make", "no such file"),
        ("kit.track:GOAL", "it cannot be made"),
    ],
)
def test_what_is_not_there_is_told(target, told):
    with pytest.raises(UsageError, match=told):
        subject_of(target)


def test_wrong_keyword_is_told_once():
    with pytest.raises(UsageError, match="unexpected keyword argument 'nonsense'"):
        subject_of("kit.track:Track", kwargs={"nonsense": 1})


def test_sync_offers_its_modes_by_vector_kwargs():
    from gymnasium.vector import AutoresetMode

    subject = subject_of("CartPole-v1", vectorization_mode="sync")
    assert subject.offered(AutoresetMode.SAME_STEP) == {"vector_kwargs": {"autoreset_mode": AutoresetMode.SAME_STEP}}
    with pytest.raises(NotJudged, match="does not offer DISABLED"):
        subject_of("CartPole-v1").offered(AutoresetMode.DISABLED)
