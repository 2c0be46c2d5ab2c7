"""Functions of the C library, read from an environment's source."""

from __future__ import annotations

from gymnasium.envs.classic_control.acrobot import AcrobotEnv
from gymnasium.envs.classic_control.mountain_car import MountainCarEnv
from gymnasium.envs.toy_text.frozen_lake import FrozenLakeEnv

from simulacrum.portable import scalar
from simulacrum.scaffold.gym_libm import FOREIGN, PORTABLE, read_libm, unpacked_names


def test_every_portable_name_is_there_and_none_is_foreign():
    assert set(PORTABLE.values()) <= set(scalar.__all__)
    assert not FOREIGN & set(PORTABLE)
    assert not FOREIGN & set(scalar.__all__)


def test_what_a_step_reaches_and_no_more():
    """MountainCar's NumPy sine is for drawing alone."""
    found = read_libm(MountainCarEnv)
    assert (found.modules, found.plain, found.names) == ({"math": ("cos",)}, {}, ("cos",))


def test_names_that_were_imported_from_numpy():
    found = read_libm(AcrobotEnv)
    assert (found.plain, found.arrays, found.modules) == ({"cos": "cos", "sin": "sin"}, {"cos", "sin"}, {})


def test_none():
    assert not read_libm(FrozenLakeEnv)


def test_names_of_fields_from_the_source():
    assert unpacked_names(MountainCarEnv)["state"] == ["position", "velocity"]
