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
from simulacrum.harness.page.story import story_of
from simulacrum.harness.page.timeline import BEFORE, timeline
from simulacrum.trace.case import Case, Line, Shrunk
from simulacrum.trace.divergence import Divergence, Likely

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
    assert len(made.columns) <= BEFORE + 1
    assert made.here == len(made.columns) - 1
    for row in made.rows:
        assert not any(cell.differs for cell in row.cells[:-1] if cell is not None)
    assert {f"{row.group}.{row.name}" for row in made.rows if row.differs} == {
        "state.position", ".observation", "info.distance"
    }  # fmt: skip
    assert not made.columns[-1].drawn_alike
    assert "R5" in made.columns[-1].rules
    assert [pair.slot for pair in made.columns[-1].draws] == ["slip"]


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
        "episode 0, state put in", "episode 0, step t=0", "episode 0, step t=1"
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
