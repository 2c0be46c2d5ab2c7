"""The page of a failure: whole, without a network, and saying what the record says."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from mutants.mutant import Edit, copy_env

from simulacrum.contract.package import EnvPackage, load_package
from simulacrum.harness import drivers
from simulacrum.harness.bench import Bench, seeds_for
from simulacrum.harness.explain import explain
from simulacrum.harness.lockstep import Lockstep
from simulacrum.harness.page import page_html, write_page
from simulacrum.harness.page.afterwards import afterwards
from simulacrum.harness.page.story import story_of
from simulacrum.harness.page.timeline import AFTER, BEFORE, GOING_ON, timeline
from simulacrum.trace.case import Case, Line, Shrunk
from simulacrum.trace.divergence import Divergence, Likely
from simulacrum.trace.trajectory import Step

LATE_WALL = ("(state.position + move).clamp(LEFT_END, GOAL)", "(state.position + move).clamp(LEFT_END + 1, GOAL)")
VOID = {"meta", "img", "input", "br"}


class Reader(HTMLParser):
    """Checks that tags are balanced, and gathers links and text."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.sources: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.ids += [given["id"]] if given.get("id") else []
        self.links += [given["href"]] if given.get("href") else []
        self.sources += [given["src"]] if given.get("src") else []
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def read(html: str) -> Reader:
    reader = Reader()
    reader.feed(html)
    assert reader.open == []
    return reader


def words(reader: Reader) -> str:
    return " ".join(" ".join(reader.text).split())


@pytest.fixture(scope="module")
def failure(tmp_path_factory: pytest.TempPathFactory) -> tuple[EnvPackage, Divergence]:
    folder = tmp_path_factory.mktemp("page")
    package = load_package(copy_env("toywalk", folder, [Edit("fast.py", *LATE_WALL)]))
    bench = Bench(package, failures=folder / "failures", check="differential")
    lock = Lockstep(bench, bench.env(9, params=bench.row_params(9, 1)))
    found = lock.run(drivers.standard(bench.schema, 9, 4), seeds_for(9, 4), episodes=3, most=200)
    assert found is not None
    return package, found


def test_both_twins_stand_side_by_side(failure: tuple[EnvPackage, Divergence], tmp_path: Path) -> None:
    package, record = failure
    path = write_page(explain(record, package), package, tmp_path / "page.html")
    html = path.read_text("utf-8")
    reader = read(html)
    said = words(reader)
    assert "state.position differs in step t=" in said
    assert "0xfffffffb" in said  # -5
    assert "0xfffffffc" in said  # -4
    assert "First value that differs on the way" in said
    assert "spec.md:" in said
    assert LATE_WALL[1] in said
    assert html.count('colspan="2" data-at=') == len(timeline(record, package, Path(record.files["record"])).columns)


def test_the_page_needs_no_network_and_its_links_lead_somewhere(failure: tuple[EnvPackage, Divergence]) -> None:
    package, record = failure
    html = page_html(explain(record, package), package)
    reader = read(html)
    assert not re.search(r"https?://|@import|url\(", html)
    assert all(source.startswith("data:image/png;base64,") for source in reader.sources)
    assert len(set(reader.ids)) == len(reader.ids)
    assert {link[1:] for link in reader.links} <= set(reader.ids)


def test_moments_before_the_divergence_agree(failure: tuple[EnvPackage, Divergence]) -> None:
    package, record = failure
    made = timeline(record, package, Path(record.files["record"]))
    here = made.here
    assert here <= BEFORE
    for row in made.rows:
        assert not any(cell.differs for cell in row.cells[:here] if cell is not None)
    differing = {f"{row.group}.{row.name}" for row in made.rows if row.cells[here] and row.cells[here].differs}
    assert differing == {"state.position", ".observation", "info.distance"}
    assert not made.columns[here].drawn_alike
    assert "R5" in made.columns[here].rules
    assert [pair.slot for pair in made.columns[here].draws] == ["slip"]


def test_moments_after_the_divergence_are_those_of_each_side_alone(failure: tuple[EnvPackage, Divergence]) -> None:
    """toywalk with a wall one cell too far: pushed on against it, both stand still, one at -5 and one at -4."""
    package, record = failure
    made = timeline(record, package, Path(record.files["record"]))
    after = made.columns[made.here + 1 :]
    assert len(after) == AFTER
    assert GOING_ON in made.note
    t = int(made.columns[made.here].title.rpartition("=")[2])
    assert [column.title for column in after] == [f"episode {record.episode}, step t={t + k}" for k in range(1, 5)]
    assert not any(column.here for column in after)
    assert all("R5" in column.rules for column in after)
    position = next(row for row in made.rows if row.name == "position")
    action = next(row for row in made.rows if row.group == "action" or row.name == "action")
    assert len({cell.items for cell in action.cells[made.here :] if cell is not None}) == 1
    assert any(cell.differs for cell in position.cells[made.here + 1 :] if cell is not None)


def test_nothing_follows_the_end_of_an_episode(failure: tuple[EnvPackage, Divergence]) -> None:
    package, record = failure
    story = story_of(record, package, Path(record.files["record"]))
    assert story is not None
    last = story.pairs()[-1]
    assert isinstance(last.reference, Step)
    assert len(afterwards(story, package, last, 3)) == 3
    ended = replace(last, reference=replace(last.reference, truncated=True))
    assert [pair.reference for pair in afterwards(story, package, ended, 3)] == [None] * 3
    both = replace(ended, batched=replace(last.batched, truncated=True))
    assert afterwards(story, package, both, 3) == []
    assert afterwards(story, package, story.pairs()[0], 3) == []  # a start: no action was given there


def test_without_trajectories_the_smallest_case_is_played_again(failure: tuple[EnvPackage, Divergence]) -> None:
    package, record = failure
    alone = replace(record, files={})
    story = story_of(alone, package, None)
    assert story is not None
    assert (story.recorded, story.injected, len(story.pairs())) == (False, True, 2)
    line = Line(0, 7, {"position": -4}, actions=(0, 0), params={"slip": 0.0})
    case = Case("eager", "cpu", "disabled", 40, 1, (line,))
    small = replace(alone, shrunk=Shrunk(case, record.difference, 0, True, 3))
    made = timeline(small, package, None)
    assert [column.title for column in made.columns] == [
        "episode 0, state put in", *(f"episode 0, step t={t}" for t in range(5))
    ]  # fmt: skip
    assert made.here == 1
    said = words(read(page_html(explain(small, package), package)))
    assert "Smallest case one row, from an injected state, 2 actions, eager" in said
    assert "its smallest case, played again" in said


def test_a_diagnosis_is_told_and_everything_is_escaped(failure: tuple[EnvPackage, Divergence]) -> None:
    package, record = failure
    likely = Likely("K01", "a <script>alert(1)</script> bound", "only & at the wall")
    html = page_html(explain(replace(record, diagnosis=(likely,)), package), package)
    assert "<script>alert" not in html
    assert "Looks like a <script>alert(1)</script> bound K01" in words(read(html))


def test_a_record_that_nothing_is_left_of_still_has_a_page(failure: tuple[EnvPackage, Divergence]) -> None:
    package, record = failure
    bare = replace(record, previous_state={"gone": 1}, files={}, command=None)
    said = words(read(page_html(explain(bare, package), package)))
    assert "its step could not be played again" in said
    assert "All 3 fields that differ in this step" in said
