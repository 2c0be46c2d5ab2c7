"""A film says of every moment what both trajectories say, and where they part."""

from __future__ import annotations

import dataclasses

from simulacrum.harness.explain.watched import reference_watcher, watch_reference
from simulacrum.trace import summarise
from simulacrum.view import twins
from simulacrum.view.film import Film, film_of
from simulacrum.view.series import Series, all_series


def named(film: Film, name: str) -> Series:
    (found,) = [one for one in film.series if ".".join(filter(None, (one.group, one.name))) == name]
    return found


def texts(series: Series) -> list[tuple[str, ...] | None]:
    return [None if place is None else series.known[place] for place in series.at]


def test_twins_that_agree_have_no_difference(sound, sound_film):
    assert sound_film.here is None
    assert sound_film.found is None
    assert all(not one.apart for one in sound_film.series)
    moments = len(sound[1].starts) + len(sound[1].steps)
    assert len(sound_film.moments) == moments
    assert {moment.sides for moment in sound_film.moments} == {"both"}
    # A start shows position, two observed numbers and distance; a step also action, reward and both flags; the return
    # is told at both.
    assert sound_film.compared == len(sound[1].starts) * 5 + len(sound[1].steps) * 9


def test_fields_are_those_of_the_trajectory(sound, sound_film):
    moments = [moment for start, steps in sound[1].episodes() for moment in (start, *steps)]
    assert texts(named(sound_film, "state.position")) == [(str(moment.state["position"]),) for moment in moments]
    rewards = [(f"{moment.reward}",) if hasattr(moment, "reward") else None for moment in moments]
    assert texts(named(sound_film, "reward")) == rewards
    assert named(sound_film, "observation").kind == "grid"
    assert named(sound_film, "terminated").kind == "flag"
    assert named(sound_film, "action").kind == "steps"


def test_return_adds_up_to_that_of_the_episode(sound, sound_film):
    starts = [number for number, one in enumerate(sound_film.moments) if one.t is None]
    last = [number - 1 for number in [*starts[1:], len(sound_film.moments)]]
    told = [texts(named(sound_film, "return"))[number] for number in last]
    assert told == [(f"{episode.total}",) for episode in summarise([sound[1]])]


def test_first_difference_is_where_it_was_planted(faulty, faulty_film):
    assert faulty_film.here == 8  # the start, and t = 0 to 7
    moment = faulty_film.moments[8]
    assert (moment.episode, moment.t) == (0, 7)
    assert faulty_film.found is not None
    assert faulty_film.found.difference.path == "state.position"
    (apart,) = named(faulty_film, "state.position").apart[8]
    steps = [step for step in faulty[1].steps if step.t == 7], [step for step in faulty[2].steps if step.t == 7]
    assert (apart.reference, apart.batched) == tuple(str(side[0].state["position"]) for side in steps)
    assert apart.bits[0] != apart.bits[1]
    assert min(named(faulty_film, "state.position").apart) == 8


def test_states_are_drawn_on_both_sides(faulty_film):
    left, right = zip(*(moment.drawings for moment in faulty_film.moments), strict=True)
    assert left[:8] == right[:8]
    assert left[8] != right[8]
    assert all(drawing.src.startswith("data:image/png;base64,") for drawing in faulty_film.drawings)
    assert len(faulty_film.drawings) == len(set(left) | set(right))  # each once


def test_rules_and_draws_are_those_of_the_step(faulty_film):
    start, step = faulty_film.moments[0], faulty_film.moments[3]
    assert "R2" in start.rules
    assert {"R3", "R4", "R5", "R6"} <= set(step.rules)
    assert [draw.slot for draw in start.draws] == ["start"]
    assert [(draw.slot, draw.verdict) for draw in step.draws] == [("slip", "equal")]
    assert {line for line, _ in step.ran} <= set(faulty_film.lines)
    assert any(name == "position" for _, values in step.ran for name, _ in values)


def test_one_watcher_sees_what_a_new_one_sees(sound):
    story, _ = twins(*sound)
    watcher = reference_watcher(sound[0])
    for pair in story.pairs()[:6]:
        assert pair.at is not None
        assert watch_reference(sound[0], pair.at, watcher) == watch_reference(sound[0], pair.at)


def test_a_side_that_stops_early_is_told(sound):
    package, reference, batched = sound
    short = dataclasses.replace(batched, starts=batched.starts[:1], steps=batched.steps[:5])
    story, found = twins(package, reference, short, note="fast.py raised ValueError: no")
    film = film_of(story, package, found=found)
    assert film.note == "fast.py raised ValueError: no"
    assert film.here == 6
    assert [moment.sides for moment in film.moments[5:8]] == ["both", "reference", "reference"]
    assert film.moments[6].drawings[1] is None


def test_nan_and_signs_of_zero_are_told_apart_by_bits(sound):
    package, reference, batched = sound
    story, _ = twins(package, reference, batched)
    pairs = story.pairs()
    ours = dataclasses.replace(pairs[0].reference, observation=[float("nan"), 0.0])
    theirs = dataclasses.replace(pairs[0].batched, observation=[float("nan"), -0.0])
    pairs[0] = dataclasses.replace(pairs[0], reference=ours, batched=theirs)
    (observation,) = [one for one in all_series(pairs, package.schema) if one.name == "observation"]
    (apart,) = observation.apart[0]
    assert (apart.item, apart.reference, apart.batched) == (1, "0.0", "-0.0")
