"""The index of the environments: a card for each."""

from __future__ import annotations

from collections.abc import Sequence

from environment_pages.facts import Facts, ahead, fastest, outside, trained
from environment_pages.pictures import Pictures
from environment_pages.words import escaped, short, times

INTRODUCTION = """---
hide:
  - toc
---

# Environments

Each is written twice from one spec, and both ways are held to the same bits. Where the rules are somebody else's
program, that program itself is the reference, driven state by state; the batched twin is written anew from the spec.
Pictures are drawn by the packages; figures are there where they were measured.
"""


Shown = tuple[Facts, Pictures | None]


def grouped(shown: Sequence[Shown]) -> dict[str, list[Shown]]:
    """The environments by the program that carries out their rules, "" for rules of our own, which come last."""
    groups: dict[str, list[Shown]] = {}
    for one in sorted(shown, key=lambda one: (not one[0].package.schema.outside, one[0].package.schema.outside[:1])):
        driven = outside(one[0].package)
        groups.setdefault(driven[0].name if driven else "", []).append(one)
    return groups


def gallery(shown: Sequence[Shown]) -> str:
    """The page, as Markdown with blocks of HTML. Those that other programs carry out come first."""
    parts = [INTRODUCTION]
    for program, some in grouped(shown).items():
        cards = "".join(card(facts, pictures) for facts, pictures in some)
        parts.append(f"## Rules carried out by {program}\n" if program else "## Rules of our own\n")
        parts.append(f'<div class="env-gallery">{cards}</div>\n')
    return "\n".join(parts)


def card(facts: Facts, pictures: Pictures | None) -> str:
    """One card: picture, name, what it is, whose rules, figures."""
    name, schema = facts.name, facts.package.schema
    image = ""
    if pictures is not None:
        still, film = (f"../assets/environments/{name}.{kind}" for kind in ("png", "webp"))
        # The film is loaded and shown only where a pointer rests on the card.
        image = (
            f'<img class="still" alt="{escaped(name)}" src="{still}" loading="lazy">'
            f'<img class="film" alt="" src="{film}" loading="lazy">'
        )
    driven = [one for one in outside(facts.package) if one.name != "numpy"]  # which many use and none is about
    tags = "".join(f"<span>{escaped(f'{one.name} {one.installed}')}</span>" for one in driven)
    told = "".join(f"<li>{escaped(line)}</li>" for line in figures(facts))
    return (
        f'<a class="env-card" href="{name}.html"><div class="env-shot">{image}</div>'
        f"<h3>{escaped(name)}</h3><code>{escaped(schema.id)}</code><p>{escaped(schema.description)}</p>"
        + (f'<div class="env-tags">{tags}</div>' if tags else "")
        + (f"<ul>{told}</ul>" if told else "")
        + "</a>"
    )


def figures(facts: Facts) -> list[str]:
    """The card's lines of figures; none where nothing was measured."""
    lines = []
    if facts.throughput is not None and (best := fastest(facts.throughput)) is not None:
        lead = ahead(facts.throughput)
        more = f", {times(lead[0])} x {lead[1]}" if lead is not None else ""
        lines.append(f"{short(best[0])} steps/s{more}")
    if facts.training is not None:
        lines.append(f"{facts.training['algorithm']} learns {trained(facts.training)}")
    if facts.validation is not None and (small := facts.validation.get("small_model")) and small["complete"]:
        lines.append(f"small model: all {small['states']:,} states")
    return lines
