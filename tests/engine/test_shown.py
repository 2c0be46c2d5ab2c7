"""The five values from a pure step's struct and from a flat tuple of tensors, as tensors and as NumPy arrays."""

from __future__ import annotations

import numpy as np
import torch

from simulacrum.engine.shown import Assembly, Shown, on_host

NAMES = ("out.observation", "out.reward", "out.terminated", "out.truncated", "out.info.distance",
         "out.info.episode.r", "out.info.episode.l", "out.info._episode", "out.info.autoreset")  # fmt: skip
TENSORS = tuple(torch.full((2,), number) for number in range(len(NAMES)))


def test_a_flat_tuple_becomes_the_five_values() -> None:
    shown = Assembly(NAMES).step(TENSORS)
    assert [int(part[0]) for part in shown[:4]] == [0, 1, 2, 3]
    assert {key: int(value[0]) for key, value in shown.info.items() if key != "episode"} == {
        "distance": 4, "_episode": 7, "autoreset": 8,
    }  # fmt: skip
    assert {key: int(value[0]) for key, value in shown.info["episode"].items()} == {"r": 5, "l": 6}


def test_keys_are_left_out() -> None:
    shown = Assembly(NAMES, ["episode", "_episode", "autoreset"]).step(TENSORS)
    assert list(shown.info) == ["distance"]


def test_a_dict_of_observations_and_an_info_without_fields() -> None:
    names = ("out.observation.near", "out.observation.far", "out.reward", "out.terminated", "out.truncated",
             "out.info.final_obs.near", "out.info._final_info")  # fmt: skip
    shown = Assembly(names).step(TENSORS[: len(names)])
    assert list(shown.observation) == ["near", "far"]
    assert shown.info["final_info"] == {}


def test_handed_out_again_the_dicts_are_others() -> None:
    made = Assembly(NAMES)
    first = made.step(TENSORS)
    again = made.again(first)
    again.info["mine"] = again.info["episode"]["mine"] = 1
    assert "mine" not in first.info
    assert "mine" not in first.info["episode"]
    assert again.observation is first.observation


def test_on_the_host_what_ends_an_episode_is_there_when_one_ended() -> None:
    def shown(done: torch.Tensor) -> Shown:
        info = {"steps": torch.ones(2), "final_obs": torch.arange(2.0), "_final_obs": done, "final_info": {},
                "_final_info": done, "episode": {"r": torch.zeros(2)}, "_episode": done}  # fmt: skip
        return Shown(torch.zeros(2), torch.zeros(2), done, done, info)

    assert list(on_host(shown(torch.tensor([False, False]))).info) == ["steps"]
    info = on_host(shown(torch.tensor([False, True]))).info
    assert set(info) == {"steps", "final_obs", "_final_obs", "final_info", "_final_info", "episode", "_episode"}
    assert info["final_obs"].tolist() == [None, 1.0]
    assert isinstance(info["episode"]["r"], np.ndarray)
