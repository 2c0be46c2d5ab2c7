"""The reference twin's draws: known answers, golden vectors, seeds, ledger, override, errors."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from simulacrum.errors import DrawError
from simulacrum.portable.scalar import Float32
from simulacrum.rng import golden, scalar
from simulacrum.rng.layout import Layout, Slot
from simulacrum.rng.scalar import ScalarDraw, episode_key, split_seed, threefry2x32

ONES = 0xFFFFFFFF
# From kat_vectors of Random123, the authors' own library. (rounds, key, counter, words)
KNOWN_ANSWERS = [
    (13, (0, 0), (0, 0), (0x9D1C5EC6, 0x8BD50731)),
    (13, (ONES, ONES), (ONES, ONES), (0xFD36D048, 0x2D17272C)),
    (13, (0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3), (0xBA3E4725, 0xF27D669E)),
    (20, (0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
    (20, (ONES, ONES), (ONES, ONES), (0x1CB996FC, 0xBB002BE7)),
    (20, (0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3), (0xC4923A9C, 0x483DF7A0)),
]
LAYOUT = Layout(
    [
        Slot("speed", "step", "uniform", "float32"),
        Slot("angle", "step", "uniform", "float64", 2),
        Slot("kind", "step", "integers", "int32", 3),
        Slot("wide", "step", "integers", "int64"),
        Slot("gust", "step", "bernoulli", "float32"),
        Slot("which", "step", "choice", "float32"),
        Slot("noise", "step", "normal", "float32"),
        Slot("order", "step", "permutation", "int32", 4),
        Slot("start", "reset", "uniform", "float32"),
    ]
)


def at(phase: str = "step", seed: int = 7, episode: int = 0, t: int = 0, **modes: Any) -> ScalarDraw:
    return ScalarDraw(LAYOUT, phase, episode_key(seed, episode), t, **modes)


@pytest.mark.parametrize(("rounds", "key", "counter", "words"), KNOWN_ANSWERS)
def test_known_answers_of_the_publication(
    rounds: int, key: tuple[int, int], counter: tuple[int, int], words: tuple[int, int]
) -> None:
    assert threefry2x32(key, counter, rounds) == words


def test_known_answers_notice_a_wrong_rotation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scalar, "ROTATIONS", (13, 15, 26, 6, 17, 29, 24, 16))
    assert [threefry2x32(k, c, r) == words for r, k, c, words in KNOWN_ANSWERS] == [False] * 6


def test_golden_vectors_are_what_the_code_draws_now() -> None:
    stored = json.loads(golden.PATH.read_text(encoding="utf-8"))
    assert stored == json.loads(json.dumps(golden.build())), "rerun: python -m simulacrum.rng.golden"


@pytest.mark.parametrize("fault", [{"RESET_BLOCKS": 0}, {"EPISODE_BLOCK": 0}, {"ROUNDS": 20}])
def test_golden_vectors_notice_another_addressing(
    fault: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in fault.items():
        monkeypatch.setattr(scalar, name, value)
    if "ROUNDS" in fault:
        monkeypatch.setattr(threefry2x32, "__defaults__", (20,))
    stored = json.loads(golden.PATH.read_text(encoding="utf-8"))
    assert stored != json.loads(json.dumps(golden.build()))


def test_neither_torch_nor_numpy_is_needed() -> None:
    code = (
        "import sys; sys.modules['torch'] = sys.modules['numpy'] = None\n"
        "from simulacrum.rng import golden; print(len(golden.build()['draws']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("10\n", "")


def test_a_seed_splits_into_low_and_high_word() -> None:
    assert split_seed(2**32 + 5) == (5, 1)
    assert split_seed(2**64 - 1) == (ONES, ONES)


@pytest.mark.parametrize("seed", [-1, 2**64, 1.5, "3", None, True])
def test_what_is_no_seed(seed: Any) -> None:
    with pytest.raises(DrawError, match=r"not a seed\n  expected: an integer 0\.\.2\*\*64-1"):
        split_seed(seed)


@pytest.mark.parametrize("episode", [-1, 2**31])
def test_what_is_no_episode(episode: int) -> None:
    with pytest.raises(DrawError, match="not an episode number"):
        episode_key(0, episode)


def test_what_is_no_phase() -> None:
    with pytest.raises(DrawError, match="unknown phase of draws"):
        at("middle")


def test_what_is_no_step() -> None:
    with pytest.raises(DrawError, match="not a step number"):
        at(t=-1)


def test_types_of_the_values() -> None:
    draw = at()
    assert type(draw.uniform("speed")) is Float32
    assert type(draw.normal("noise")) is Float32
    assert [type(value) for value in draw.uniform("angle")] == [float, float]
    assert type(draw.uniform("angle", index=1)) is float
    assert type(draw.integers("kind", 9, index=0)) is int
    assert type(draw.bernoulli("gust", 0.5)) is bool
    assert type(draw.choice("which", (1, 2))) is int
    assert sorted(draw.permutation("order")) == [0, 1, 2, 3]


def test_neither_order_nor_repetition_nor_other_draws_change_a_draw() -> None:
    first = at()
    a = [first.integers("kind", 100), first.uniform("speed"), first.integers("kind", 100, index=1)]
    second = at()
    b = [second.uniform("speed"), second.uniform("speed"), second.integers("kind", 100, index=1)]
    assert a[1] == b[0] == b[1]
    assert a[2] == b[2] == a[0][1]


@pytest.mark.parametrize("change", [{"seed": 8}, {"episode": 1}, {"t": 1}])
def test_every_coordinate_matters(change: dict[str, int]) -> None:
    assert at().integers("wide", 2**31) != at(**change).integers("wide", 2**31)


def test_used_holds_the_slots_asked_for() -> None:
    draw = at()
    draw.integers("kind", 3, index=2)
    draw.permutation("order")
    assert draw.used == {"kind", "order"}


def test_the_ledger_has_every_word_with_slot_and_index() -> None:
    ledger: list[tuple[str, int | None, tuple[int, ...]]] = []
    draw = at(ledger=ledger)
    speed, kind = draw.uniform("speed"), draw.integers("kind", 2**16)
    draw.uniform("angle", index=1)
    draw.permutation("order")
    places = [(slot, index, len(words)) for slot, index, words in ledger]
    assert places == [
        ("speed", None, 1),
        ("kind", 0, 1),
        ("kind", 1, 1),
        ("kind", 2, 1),
        ("angle", 1, 2),
        ("order", None, 4),
    ]
    assert ledger[0][2][0] >> 8 == speed * 2**24
    assert tuple(words[0] >> 16 for _, _, words in ledger[1:4]) == kind


def test_override_returns_the_value_in_the_slots_type_and_reads_no_word() -> None:
    ledger: list[Any] = []
    override = {"speed": 0.1, "kind": [4, 5, 6], "angle": 2, "gust": 1, "order": [3, 2, 1, 0], "start": 9.0}
    draw = at(override=override, ledger=ledger)
    assert type(draw.uniform("speed")) is Float32
    assert draw.uniform("speed") == Float32(0.1)
    assert draw.integers("kind", 100) == (4, 5, 6)
    assert draw.integers("kind", 100, index=1) == 5
    assert draw.uniform("angle") == (2.0, 2.0)
    assert draw.bernoulli("gust", 0.0) is True
    assert draw.permutation("order") == (3, 2, 1, 0)
    assert not ledger
    assert draw.used == {"speed", "kind", "angle", "gust", "order"}


def test_override_of_a_slot_that_nobody_declared() -> None:
    with pytest.raises(DrawError, match=r"'sped' is not declared(.|\n)*mean 'speed'"):
        at(override={"sped": 1})


def test_equal_bounds_give_the_bound() -> None:
    assert at().uniform("speed", 0.1, 0.1) == Float32(0.1)
    assert str(at().uniform("speed", -0.0, 0.0)) == str(Float32(0.0))
