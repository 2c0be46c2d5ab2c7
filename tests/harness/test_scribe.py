"""What the scribe gives back is what it keeps, and standing at a recorded start goes on as the recording did."""

from __future__ import annotations

from simulacrum.contract.package import load_package
from simulacrum.harness.scribe import Scribe
from simulacrum.trace.trajectory import Start


def test_what_is_returned_is_what_is_written() -> None:
    package = load_package("toywalk")
    scribe = Scribe(package, seed=11, params=None, limit=3)
    start = scribe.start(2)
    steps = [scribe.step(1) for _ in range(3)]
    assert (start.episode, start.t, set(start.draws)) == (2, 0, {"start"})
    assert [step.t for step in steps] == [0, 1, 2]
    assert steps[-1].truncated
    assert scribe.starts == [start]
    assert scribe.steps == steps
    assert scribe.returns == [sum(float(step.reward) for step in steps)]
    made = scribe.written()
    assert (made.form, made.seed, made.max_episode_steps) == ("reference", 11, 3)
    assert (made.starts, made.steps) == ((start,), tuple(steps))


def test_standing_at_a_step_takes_the_same_steps_without_words_of_a_reset() -> None:
    package = load_package("toywalk")
    whole = Scribe(package, seed=11, params=None, limit=9)
    whole.start(0)
    steps = [whole.step(1) for _ in range(4)]
    given = Start(episode=0, state=steps[1].state, observation=None, t=2)

    later = Scribe(package, seed=11, params=None, limit=9)
    begun = later.stand(given)
    assert (begun.t, begun.draws, begun.observation) == (2, {}, steps[1].observation)
    assert [later.step(1) for _ in range(2)] == steps[2:]
