"""The recording generator: NumPy's own values, and a note of each."""

from __future__ import annotations

import numpy as np
import pytest

from simulacrum.scaffold.gym_recorder import Recorder


@pytest.mark.parametrize(
    "call",
    [
        lambda g: g.random(),
        lambda g: g.uniform(-1.0, 2.0, size=(2, 3)),
        lambda g: g.uniform(np.array([0.0, 5.0]), np.array([1.0, 6.0])),
        lambda g: g.integers(3, 9),
        lambda g: g.integers(4, size=5),
        lambda g: g.normal(1.0, 2.0),
        lambda g: g.choice([4, 5, 6]),
        lambda g: g.choice(3, p=[0.2, 0.3, 0.5]),
    ],
)
def test_values_are_numpys_and_are_noted(call):
    recorder = Recorder(5)
    value = call(recorder)
    assert np.array_equal(value, call(np.random.default_rng(5)))
    (noted,) = recorder.calls
    assert len(noted.values) == np.size(value)
    assert noted.sized == bool(np.shape(value))


def test_orders_are_kept_whole():
    recorder = Recorder(0)
    items = list("abcd")
    recorder.shuffle(items)
    taken = recorder.permutation(np.arange(10, 13))
    assert "".join(items) == "".join("abcd"[i] for i in recorder.calls[0].values[0])
    assert taken.tolist() == [10 + i for i in recorder.calls[1].values[0]]
    two = recorder.choice(5, size=2, replace=False)
    assert two.tolist() == list(recorder.calls[2].values[0][:2])


def test_what_no_draw_answers_is_named():
    recorder = Recorder(0)
    recorder.exponential(2.0)
    assert (recorder.calls, recorder.unknown) == ([], ["exponential"])
