"""What the rules stand on: a run with ends, modes as they are offered, and how much a seed changes."""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from kit.track import Track

from simulacrum.conformance.rule import NotJudged
from simulacrum.conformance.runner import judge
from simulacrum.conformance.subject import SHORT, Subject
from simulacrum.conformance.variety import alike, share, share_of_starts, starts_vary, steps_to_tell


class Endless(Track):
    """Ends by the time limit alone, which is far away by default."""

    def __init__(self, num_envs=1, *, max_episode_steps=10_000, **kwargs):
        super().__init__(num_envs, max_episode_steps=max_episode_steps, **kwargs)

    def flags(self, live):
        terminated, truncated = super().flags(live)
        return np.zeros_like(terminated), truncated


class Fixed(Track):
    """Nothing in it is random."""

    def begin(self, mask):
        self.at[mask], self.t[mask], self.mark[mask] = 3, 0, 0

    def move(self, live, actions):
        self.at[live] += actions[live]
        self.t[live] += 1


class Rare(Fixed):
    """One start in 30 is another one."""

    def begin(self, mask):
        super().begin(mask)
        for row in np.flatnonzero(mask):
            self.mark[row] = int(self.generators[row].integers(30) == 0)


def test_a_limit_is_asked_for_where_no_episode_ends():
    subject = Subject(Endless, steps=40)
    assert subject.course.extra == {"max_episode_steps": SHORT}
    assert len(subject.tape_with_ends().ends()) > 4
    assert Subject(Track).course.extra == {}


def test_no_end_at_all_is_nothing_to_judge():
    subject = Subject(lambda num_envs: Endless(num_envs), steps=40)
    assert subject.course.ends == 0
    with pytest.raises(NotJudged, match="no episode ended in"):
        subject.tape_with_ends()


def test_modes_as_they_are_offered():
    subject = Subject(Track)
    assert subject.declared is AutoresetMode.NEXT_STEP
    assert subject.offered(AutoresetMode.DISABLED) == {"autoreset_mode": AutoresetMode.DISABLED}
    with pytest.raises(NotJudged, match="does not offer SAME_STEP"):
        Subject(lambda num_envs: Track(num_envs)).offered(AutoresetMode.SAME_STEP)


def test_share_is_that_of_the_commonest():
    runs = [np.array([1]), np.array([2]), np.array([1]), np.array([1])]
    assert share(runs) == 0.75
    assert not alike(runs)
    assert alike(runs[2:])


def test_nothing_random_is_nothing_to_judge():
    subject = Subject(Fixed)
    with pytest.raises(NotJudged, match="nothing in it depends on the seed"):
        steps_to_tell(subject, 15)
    assert steps_to_tell(Subject(Track), 15) == 0


def test_alike_by_chance_is_held_against_nobody():
    subject = Subject(Rare)
    assert share_of_starts(subject) > 0.8
    with pytest.raises(NotJudged, match="may be chance"):
        starts_vary(subject, 12)
    from simulacrum.conformance.catalog import RULES

    for name in ("seeding.rows_differ", "seeding.unseeded_rows_differ", "seeding.episodes_differ"):
        assert judge(subject, RULES[name], 30).status != "failed"


def test_infos_and_starts_on_the_tape():
    tape = Subject(Track).tape()
    row = tape.ends()[0][1]
    starts = tape.first_observations(row)
    assert len(starts) == 1 + sum(one == row for number, one in tape.ends() if number + 1 < len(tape.steps))
    assert all(start[1] == 0 for start in starts)
