"""The files of a package written from a Gymnasium environment: what was found, put into the templates."""

from __future__ import annotations

import inspect
import json
import re
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import jinja2

from simulacrum.scaffold.gym_draws import Answer, SlotGuess
from simulacrum.scaffold.gym_fields import Guess, oddities
from simulacrum.scaffold.gym_libm import Libm
from simulacrum.scaffold.gym_observe import Observer, reward_leaf
from simulacrum.scaffold.gym_python import constructed, imports_of, invariant_of, rebound, writes_of
from simulacrum.scaffold.gym_returns import Measured
from simulacrum.scaffold.gym_runs import Runs
from simulacrum.scaffold.gym_source import Source, distributions
from simulacrum.scaffold.gym_spaces import Space
from simulacrum.scaffold.gym_values import spelled

FILES = ("spec.md", "schema.json", "__init__.py", "reference.py", "fast.py", "probes.py", "render.py")


@dataclass(frozen=True)
class Findings:
    """Everything that is known and guessed of an environment."""

    name: str
    origin: str
    source: Source
    runs: Runs
    action: Space
    observation: Space
    fields: tuple[Guess, ...]
    slots: tuple[SlotGuess, ...]
    answers: tuple[Answer, ...]
    libm: Libm
    observer: Observer
    probes: tuple[Measured, ...]

    @property
    def all_fields(self) -> tuple[Guess, ...]:
        """The fields of the state, and the observation where it has to be carried along."""
        return (*self.fields, *self.observer.carried)

    @property
    def limit(self) -> int | None:
        return self.source.spec.max_episode_steps


def written_texts(found: Findings, env_id: str) -> dict[str, str]:
    """The text of each file by its name."""
    facts = _facts(found)
    texts = {file: _filled(file, facts) for file in FILES if file != "schema.json"}
    texts["schema.json"] = _json(schema_of(found, env_id, texts["reference.py"])) + "\n"
    return {file: texts[file] for file in FILES}


def schema_of(found: Findings, env_id: str, reference: str) -> dict[str, Any]:
    """schema.json as an object; NumPy is among the outside programs where the reference imports it."""
    outside = {*distributions(found.source), *(["numpy"] if "import numpy" in reference else [])}
    draws = [
        {
            "name": slot.name, "phase": slot.phase, "distribution": slot.distribution, "dtype": slot.dtype,
            "count": slot.count, "rule": "R2" if slot.phase == "reset" else "R3", "description": slot.told,
        }
        for slot in found.slots
    ]  # fmt: skip
    fields = {field.name: field.leaf() for field in found.all_fields}
    state = {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}
    parts = {
        "state": state,
        "action": found.action.schema(f"{found.source.env.action_space}"),
        "observation": _with_oddities(found, found.observation.schema(f"{found.source.env.observation_space}")),
        "reward": reward_leaf(found.runs)[0],
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": env_id,
        "$comment": f"simulacrum new --from {found.origin}",
        "title": found.name,
        "description": f"{found.source.id.rpartition(':')[2]}, as {found.source.kind.__module__} has it.",
        "type": "object",
        **({"x-max-episode-steps": found.limit} if found.limit else {}),
        **({"x-outside": sorted(outside)} if outside else {}),
        **({"x-draws": draws} if draws else {}),
        "properties": parts,
        "required": list(parts),
    }


def guesses(found: Findings) -> tuple[str, ...]:
    """What was guessed and may be wrong, and what was left out, one sentence each."""
    told: list[str] = []
    if found.runs.unread:
        names = ", ".join(f"`{name}`" for name in found.runs.unread)
        told.append(
            f"Seen to change, and of no effect on {found.runs.trials} steps with another moment's value put in: "
            f"{names}. GUESSED to be no state."
        )
    if found.runs.clock:
        told.append(f"`{found.runs.clock}` counts the steps as the engine's `t` does: GUESSED to be no state.")
    for what, space in (("observation", found.observation), ("action", found.action)):
        told += [f"Left out of the {what}: `{name}`, {why}." for name, why in space.left_out]
    if found.runs.infos:
        told.append(f"What `info` tells is not declared: {', '.join(sorted(found.runs.infos))}.")
    wrappers = [wrapper.name for wrapper in found.source.spec.additional_wrappers]
    if wrappers:
        told.append(f"The registration puts wrappers around it, which are not in the reference: {', '.join(wrappers)}.")
    if found.observer.how == "carried":
        told.append(
            "No method gives the observation of a state, and no field is it: the last observation is carried along in "
            "the state. GUESSED; a field that is computed anew is better."
        )
    for slot in (slot for slot in found.slots if slot.varies):
        told.append(
            f"`{slot.name}` was asked for {slot.least} to {slot.most} values at once; {slot.count} are declared."
            " GUESSED. Where that is a loop that tries until a place is free, declare one draw among the free ones."
        )
    if found.libm:
        told.append(
            f"Both twins take {', '.join(found.libm.names)} from simulacrum's portable functions, whose bits are the"
            " same everywhere, in place of the C library's: last bits may differ from the untouched program's."
        )
    if found.libm.foreign:
        told.append(f"Without a portable form, so that bits may differ: {'; '.join(found.libm.foreign)}.")
    return tuple(told)


def _facts(found: Findings) -> dict[str, Any]:
    kind, rule = found.source.kind, "R8" if found.limit else "R7"
    resets, steps = ([slot.name for slot in found.slots if slot.phase == phase] for phase in ("reset", "step"))
    reward, dtype = reward_leaf(found.runs)
    names = ", ".join(field.name for field in found.all_fields)
    own = "".join(part[:1].upper() + part[1:] for part in found.name.split("_"))
    name = found.source.name_beside(own)
    facts: dict[str, Any] = {
        "name": found.name,
        "Class": own,
        "kind": name,
        "module": kind.__module__,
        "origin": found.origin,
        "moments": len(found.runs.moments),
        "limit": found.limit,
        "purpose": _purpose(found),
        "source_file": _where(kind),
        "notes": guesses(found),
        "draws": [{**vars(slot), "asked": slot.asked, "tensor": _tensor(slot)} for slot in found.slots],
        "reset_names": resets,
        "step_names": steps,
        "reset_told": ", ".join(f"`{name}`" for name in resets),
        "step_told": ", ".join(f"`{name}`" for name in steps),
        "fields": [_row(field) for field in found.all_fields],
        "names_told": names if len(names) < 70 else f"{len(found.all_fields)} fields",
        "shapes_told": ", ".join(f"`{one.name}` {one.dtype} {list(one.shape)}" for one in found.all_fields),
        "action_words": f"`{found.source.env.action_space}`",
        "observe_words": found.observer.words,
        "observe_shape": ", ".join(
            f"{one.name} {one.dtype} {list(one.shape)}".strip() for one in found.observation.parts
        ),
        "observe_fast": found.observer.fast,
        "reward_dtype": dtype,
        "reward_seen": f" ({reward['description'].removeprefix('GUESSED; ')})",
        "truncation": _truncation(found),
        "invariant": invariant_of(found.all_fields, rule),
        "probes": [{**vars(probe), "why_lines": _wrapped(probe.why)} for probe in found.probes],
        "answers": found.answers,
        "counted": any("_next" in line for answer in found.answers for line in answer.body),
        "shapes": any("_shape" in line for answer in found.answers for line in answer.body),
        "construct": constructed(found.source, "Driven" if found.libm else name),
        "libm": rebound(found.libm),
        "copied": sorted(found.runs.in_place | {field.path[0][1] for field in found.fields if _inside_object(field)}),
        "writes": writes_of(found.fields, found.runs),
        "action": found.action.write("action"),
        "reward": "Float32(reward) + 0.0" if dtype == "float32" else "float(reward) + 0.0",
        "observe": found.observer.python,
        "observe_first": found.observer.first,
    }
    facts["needs_torch"] = "torch." in found.observer.fast or not facts["invariant"].fast
    facts["each"], facts["double"] = "_each," in facts["libm"], "_double," in facts["libm"]
    facts["imports"] = imports_of(facts, found.source, found.libm, found.fields)
    return facts


def _purpose(found: Findings) -> str:
    pairs = ", ".join(f"{key}={value!r}" for key, value in found.source.kwargs.items())
    wanted = f" (with {pairs})" if pairs else ""
    return (
        f"These are the rules of `{found.source.id}` in Gymnasium's registry{wanted}, and the reference is its own"
        f" class, `{found.source.kind.__module__}.{found.source.kind.__qualname__}`."
    )


def _where(kind: type[Any]) -> str:
    file = Path(inspect.getfile(kind))
    top = kind.__module__.count(".") + (1 if file.name == "__init__.py" else 0)
    line = inspect.getsourcelines(kind.step)[1]
    return f"{'/'.join(file.parts[-1 - top :])}, `step` in line {line}"


def _truncation(found: Findings) -> str:
    if any(moment.truncated for moment in found.runs.moments):
        return "TODO: the rules truncate it exactly when (they were seen to)."
    return "The rules were never seen to truncate it: GUESSED."


def _inside_object(field: Guess) -> bool:
    return any(step == "attr" for step, _ in field.path[1:])


def _tensor(slot: SlotGuess) -> str:
    dtype = "int32" if slot.distribution in ("choice", "permutation") else slot.dtype
    return f"{dtype} [N, {slot.count}]"


def _row(field: Guess) -> dict[str, Any]:
    low, high = ("-" if bound is None else bound for bound in (field.low, field.high))
    plain = {"shown_shape": list(field.shape), "shown_low": low, "shown_high": high, "place": spelled(field.path)}
    return {**vars(field), **plain, "why": field.why.replace("|", "\\|")}


def _wrapped(text: str, width: int = 95) -> list[str]:
    lines = [""]
    for word in text.split(" "):
        if len(lines[-1]) + len(word) > width:
            lines.append("")
        lines[-1] += word + " "
    return [*lines[:-1], lines[-1].rstrip()]


def _with_oddities(found: Findings, leaf: dict[str, Any]) -> dict[str, Any]:
    """What occurs in an observation of floats and is otherwise refused."""
    for part in found.observation.parts:
        if part.dtype.startswith("float"):
            plain = [found.observation.plain(moment.shown) for moment in found.runs.moments]
            values = [one if found.observation.single else one[part.name] for one in plain]
            odd = oddities(values)
            place = leaf if found.observation.single else leaf["properties"][part.name]
            place.update({"x-allow": odd} if odd else {})
    return leaf


def _json(value: Any) -> str:
    """Indented, with lists of plain values on one line."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    return re.sub(r"\[\s+([^\[\]{}]*?)\s+\]", lambda m: "[" + re.sub(r"\s*\n\s*", " ", m[1]) + "]", text)


def _filled(file: str, facts: dict[str, Any]) -> str:
    template = files("simulacrum.scaffold").joinpath("template/gym").joinpath(f"{file}.template").read_text("utf-8")
    environment = jinja2.Environment(trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True, autoescape=False)
    return environment.from_string(template).render(**facts)
