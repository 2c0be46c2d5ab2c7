"""`new --from` by its words: which program is meant, and what is said where none is. Nothing is ever left behind."""

from __future__ import annotations

import gymnasium
import pytest

from simulacrum.errors import PackageError, UnknownEnvError, UsageError
from simulacrum.scaffold import ORIGINS, write_from

STRANGE = "gym:kit.strange_envs:strange/"


def refused(tmp_path, origin, kind):
    with pytest.raises(kind) as caught:
        write_from(origin, "someone", tmp_path)
    assert list(tmp_path.iterdir()) == []
    error = caught.value
    assert all((error.message, error.expected, error.found, error.next_step))
    return error


@pytest.mark.parametrize("origin", ["CartPole-v1", "gmy:CartPole-v1", "gym:", "gym"])
def test_words_that_name_no_program(tmp_path, origin):
    error = refused(tmp_path, origin, UsageError)
    assert "gym:" in error.next_step


def test_each_prefix_says_an_example_of_its_own():
    assert all(example.startswith(f"{prefix}:") for prefix, (_, example) in ORIGINS.items())


@pytest.mark.parametrize(
    ("origin", "nearest"), [("gym:CartPoll-v1", "CartPole-v1"), ("gym:Taxi-v3", "Taxi-v4"), ("gym:Taxi-v9", "Taxi-v4")]
)
def test_unknown_id_and_the_nearest(tmp_path, origin, nearest):
    error = refused(tmp_path, origin, UnknownEnvError)
    assert f"did you mean gym:{nearest}?" in error.next_step


def test_missing_module_is_named(tmp_path):
    error = refused(tmp_path, "gym:no_such_module:Foo-v0", PackageError)
    assert "no_such_module" in error.message
    assert "PYTHONPATH" in error.next_step


def test_missing_package_says_what_to_install(tmp_path, monkeypatch):
    def lacking():
        raise gymnasium.error.DependencyNotInstalled("No wings, run `pip install wings`")

    gymnasium.register("strange/Wings-v0", entry_point=lacking)
    try:
        error = refused(tmp_path, "gym:strange/Wings-v0", PackageError)
    finally:
        del gymnasium.registry["strange/Wings-v0"]
    assert error.next_step == "pip install wings"


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("Words-v2", "Text"),
        ("Lists-v2", "Sequence"),
        ("Secret-v2", "after"),
        ("Waiting-v2", "exponential"),
        ("Objects-v2", "held"),
        ("Failing-v2", "no wind"),
        ("Function-v0", "what=<built-in function len>"),
    ],
)
def test_what_no_package_can_be_made_of(tmp_path, name, found):
    error = refused(tmp_path, STRANGE + name, PackageError)
    assert found in error.found


def test_class_in_main_or_in_a_function(tmp_path, monkeypatch):
    from kit.strange_envs import Base

    class Local(Base):
        pass

    gymnasium.register("strange/Local-v0", entry_point=Local)
    try:
        error = refused(tmp_path, "gym:strange/Local-v0", PackageError)
        assert "has no name" in error.found
        monkeypatch.setattr(Local, "__module__", "__main__")
        error = refused(tmp_path, "gym:strange/Local-v0", PackageError)
        assert "__main__" in error.found
    finally:
        del gymnasium.registry["strange/Local-v0"]
    assert "gym:MODULE:ID" in error.next_step


def test_names_and_places_are_held_to_the_same_rules(tmp_path):
    with pytest.raises(UsageError, match="did you mean 'cart_pole'"):
        write_from("gym:CartPole-v1", "CartPole", tmp_path)
    (tmp_path / "mine").mkdir()
    with pytest.raises(PackageError, match="nothing was touched"):
        write_from("gym:CartPole-v1", "mine", tmp_path, env_id="lab/mine-v3")
