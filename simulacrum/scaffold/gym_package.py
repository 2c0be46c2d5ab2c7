"""`new NAME --from gym:ID`: a package whose reference is the environment behind an id of Gymnasium's registry."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

from simulacrum.scaffold.gym_draws import guess_answers, guess_slots
from simulacrum.scaffold.gym_fields import guess_fields
from simulacrum.scaffold.gym_libm import read_libm, unpacked_names
from simulacrum.scaffold.gym_observe import find_observer
from simulacrum.scaffold.gym_returns import measure_constant_actions
from simulacrum.scaffold.gym_runs import look_at
from simulacrum.scaffold.gym_shown import with_bounds_of
from simulacrum.scaffold.gym_source import open_source
from simulacrum.scaffold.gym_spaces import read_space
from simulacrum.scaffold.gym_texts import Findings, guesses, written_texts
from simulacrum.scaffold.new import check_free, check_id, check_name, write_texts
from simulacrum.scaffold.origin import Imported


def write_gym_package(name: str, gym_id: str, into: str | Path, env_id: str | None) -> Imported:
    """Write a package called `name` from Gymnasium's environment `gym_id`, whole or not at all.

    Raises:
        UsageError: the name or the id cannot be used.
        UnknownEnvError: there is no such environment.
        PackageError: its spaces, state or draws are nothing that a schema can hold, or the place is taken.
    """
    check_name(name)
    target = Path(into).expanduser() / name
    if env_id is not None:
        check_id(env_id, name)
        check_free(env_id, target)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = _findings(name, gym_id)
    chosen = env_id or f"simulacrum/{name}-v{found.source.version}"
    check_free(chosen, target)
    texts = written_texts(found, chosen)
    write_texts(target, texts)
    folder = Path(os.path.abspath(target))
    return Imported(chosen, folder, tuple(texts), found.origin, _told(found), guesses(found), TODO)


# What is left, in the order in which it goes well; the first words are the file.
TODO = (
    ("reference.py", "look at every GUESSED: which attributes are state, which draws are made"),
    ("schema.json", "bounds, names and descriptions; the order of x-draws is fixed from the first report on"),
    ("spec.md", "say the rules in words, read from the program's source; leave no TODO"),
    ("__init__.py", "the constants of the spec"),
    ("fast.py", "the rules again, from the spec, on tensors [N]"),
    ("probes.py", "policies that come to what constant actions do not"),
    ("render.py", "a drawing that people like to look at"),
)


def _findings(name: str, gym_id: str) -> Findings:
    source = open_source(gym_id)
    action = read_space(source.env.action_space, "action", gym_id)
    observation = read_space(source.env.observation_space, "observation", gym_id)
    runs = look_at(source)
    fields = with_bounds_of(observation, runs, guess_fields(source, runs, unpacked_names(source.kind)))
    slots = guess_slots(source, runs)
    return Findings(
        name=name,
        origin=f"gym:{gym_id}",
        source=source,
        runs=runs,
        action=action,
        observation=observation,
        fields=tuple(fields),
        slots=tuple(slots),
        answers=tuple(guess_answers(slots, runs)),
        libm=read_libm(source.kind),
        observer=find_observer(observation, runs, fields),
        probes=tuple(measure_constant_actions(source, action)),
    )


def _told(found: Findings) -> tuple[tuple[str, str], ...]:
    """What was found, for people: label and text."""
    fields = ", ".join(f"{field.name} {field.dtype} {list(field.shape)}" for field in found.all_fields)
    draws = ", ".join(f"{slot.name} ({slot.distribution}, {slot.count} at a {slot.phase})" for slot in found.slots)
    ways = {"method": "by its own method", "fields": "read from the fields", "carried": "carried in the state"}
    return (
        ("program", f"{found.source.kind.__module__}.{found.source.kind.__qualname__}"),
        ("state", fields),
        ("draws", draws or "none"),
        ("observation", ways[found.observer.how]),
        ("portable", ", ".join(found.libm.names) or "no function of the C library"),
    )
