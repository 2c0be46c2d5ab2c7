"""A difference within the tolerance that a field declares is shown as one, and is not where the twins part."""

from __future__ import annotations

import dataclasses
import io

import pytest
from mutants.mutant import Edit
from rich.console import Console

from simulacrum.cli.viewing import summary
from simulacrum.contract.fields import Tolerance
from simulacrum.view import film_of, page_html, twins
from simulacrum.view.player import Player
from simulacrum.view.series import all_series
from simulacrum.view.tolerance import forgiven_all, told, tolerates

from .conftest import FAULT, filmed

MOVED = 3  # the moment after the step t=2


def observed(film):
    (found,) = [one for one in film.series if one.name == "observation" or one.group == "observation"]
    return found


def screen(film, moment):
    console = Console(width=120, height=40, record=True, file=io.StringIO())
    player = Player(film)
    player.at = moment
    console.print(player.screen(120, 40))
    return console.export_text()


def test_what_is_tolerated_is_no_difference_and_is_told(tolerant):
    package, reference, batched = tolerant(3)
    film = filmed((package, reference, batched))
    assert film.here is None
    assert film.found is None
    (apart,) = observed(film).apart[MOVED]
    assert (apart.item, apart.ulp, apart.tolerated) == (1, 3, True)
    assert apart.reference != apart.batched
    assert not observed(film).parts
    assert (observed(film).tolerance, observed(film).reason) == ("4 ulp", "a test")
    assert film.tolerated == sum(len(one) for one in observed(film).apart.values()) > 0
    assert summary(film).endswith(f"{film.tolerated} of them within a declared tolerance")
    html = page_html(film)
    assert "agree to the bit" not in html
    assert f"{film.tolerated} within a declared tolerance" in html
    text = screen(film, MOVED)
    assert "within tolerance" in text
    assert f"{apart.reference} ≈ {apart.batched}" in text
    assert "within tolerance" not in screen(film, MOVED + 1)


def test_one_ulp_more_than_tolerated_is_the_first_difference(tolerant):
    film = filmed(tolerant(5))
    assert film.here == MOVED
    assert film.found.difference.path == "observation[1]"
    assert film.found.difference.ulp == 5
    (apart,) = observed(film).apart[MOVED]
    assert not apart.tolerated
    assert observed(film).differs(MOVED)
    assert not observed(film).differs(MOVED + 1)
    assert "≠" in screen(film, MOVED)


def test_the_first_difference_is_behind_the_tolerated_one(tolerant):
    film = filmed(tolerant(3, Edit("fast.py", *FAULT)))
    assert film.here == 8
    assert film.found.difference.path == "state.position"
    assert not observed(film).differs(MOVED)
    assert film.tolerated > 0


def test_between_two_forms_of_one_twin_nothing_is_tolerated(tolerant):
    package, reference, batched = tolerant(3)
    story, _ = twins(package, reference, batched)
    film = film_of(story, package, exact=True)
    assert film.tolerated == 0
    assert observed(film).differs(MOVED)


def test_values_that_are_tolerated_and_no_others_are_put_right(tolerant):
    package, reference, batched = tolerant(3)
    steps = list(batched.steps)
    number = next(number for number, one in enumerate(steps) if one.t == 2)
    steps[number] = dataclasses.replace(steps[number], reward=-0.5)
    kept = forgiven_all(reference, dataclasses.replace(batched, steps=tuple(steps)), package.schema)
    assert kept.steps[number].observation == reference.steps[number].observation
    assert batched.steps[number].observation != reference.steps[number].observation
    assert kept.steps[number].reward == -0.5


def test_of_several_items_only_those_outside_differ(tolerant):
    package, reference, batched = tolerant(3)
    story, _ = twins(package, reference, batched)
    pairs = story.pairs()
    there = pairs[MOVED].batched
    moved = dataclasses.replace(there, observation=[there.observation[0] + 0.25, there.observation[1]])
    pairs[MOVED] = dataclasses.replace(pairs[MOVED], batched=moved)
    (observation,) = [one for one in all_series(pairs, package.schema) if one.name == "observation"]
    assert [(one.item, one.tolerated) for one in observation.apart[MOVED]] == [(0, False), (1, True)]


def test_a_schema_without_tolerances_is_left_alone(sound):
    package, reference, batched = sound
    assert not tolerates(package.schema)
    assert forgiven_all(reference, batched, package.schema) is batched


@pytest.mark.parametrize(
    ("tolerance", "text"),
    [
        (None, ""),
        (Tolerance(0.0, 0.0, 4, "why"), "4 ulp"),
        (Tolerance(1e-6, 1e-5, 0, "why"), "1e-06 + 1e-05 of it"),
        (Tolerance(1e-6, 0.0, 2, "why"), "2 ulp or 1e-06"),
    ],
)
def test_a_tolerance_in_words(tolerance, text):
    assert told(tolerance) == text
