"""The viewer as a person uses it: what the page shows is what Python computed, by mouse, by keys, on a phone, at night.

The film is toywalk with a fault that shows at t=7: the batched walker takes one step too many.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from mutants.mutant import Edit, copy_env

from simulacrum.cli.players import repeat
from simulacrum.cli.recording import play_episodes
from simulacrum.contract.package import load_package
from simulacrum.trace import checked
from simulacrum.view import film_of, twins, write_folder, write_page

FAULT = Edit(
    "fast.py",
    "(state.position + move).clamp(LEFT_END, GOAL)",
    "(state.position + move + (ctx.t == 7)).clamp(LEFT_END, GOAL)",
)
HERE = 8  # the moment of the difference: the start, then t = 0 to 7


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """(package, reference, batched): two episodes of toywalk with the fault."""
    package = load_package(copy_env("toywalk", tmp_path_factory.mktemp("viewer"), [FAULT]))
    reference = play_episodes(package, "dither", seed=3, episodes=2, most=20)
    return package, reference, checked(repeat(package, reference, "eager"), package.schema)


@pytest.fixture(scope="module")
def moments(played):
    """Of both sides every start and step, in order."""
    return [[one for start, steps in side.episodes() for one in (start, *steps)] for side in played[1:]]


@pytest.fixture(scope="module")
def film(played):
    story, found = twins(*played)
    return film_of(story, played[0], found=found, facts=[("seed", "3"), ("policy", "dither")])


@pytest.fixture(scope="module")
def address(film, tmp_path_factory) -> str:
    return write_page(film, tmp_path_factory.mktemp("page") / "toywalk.html").as_uri()


@pytest.fixture
def viewer(page, address):
    page.goto(address)
    return page


def at(page, moment: int) -> None:
    """Wait until the page shows a moment."""
    page.locator(f"html[data-moment='{moment}']").wait_for(state="attached")


def go(page, moment: int) -> None:
    page.keyboard.press("Home")
    at(page, 0)
    for number in range(moment):
        page.keyboard.press("ArrowRight")
        at(page, number + 1)


def value(page, field: str) -> str:
    return page.locator(f".row[data-field='{field}'] .value").inner_text().replace("\n", " ").strip()


def pictures(page) -> list[str]:
    return page.locator(".twins img").evaluate_all("images => images.map(image => image.src)")


def test_it_opens_at_the_difference_and_says_what_python_found(viewer, film):
    at(viewer, HERE)
    found = film.found.difference
    verdict = viewer.locator(".verdict").inner_text()
    assert f"in episode 0, step t={film.found.t}" in verdict
    for text in (found.path, found.reference.decimal, found.batched.decimal, found.reference.bits, found.batched.bits):
        assert text in verdict
    assert viewer.locator("#alike").inner_text().startswith("≠ first difference: state.position")
    assert "first" in viewer.locator("#stage").get_attribute("class")


@pytest.mark.parametrize("moment", [0, 1, 5, 7, HERE, 11])
def test_values_at_a_moment_are_those_that_python_computed(viewer, moments, film, moment):
    go(viewer, moment)
    ours, theirs = moments[0][moment], moments[1][moment]
    position, distance = value(viewer, "state.position"), value(viewer, "info.distance")
    if moment < HERE:
        assert position == str(ours.state["position"])
        assert distance == str(ours.info["distance"])
        assert viewer.locator("#alike").inner_text() == "✓ all values equal"
    else:
        assert position == f"{ours.state['position']}≠{theirs.state['position']}"
        assert distance == f"{ours.info['distance']}≠{theirs.info['distance']}"
    if moment:
        assert value(viewer, "action") == str(ours.action)
        assert value(viewer, "reward") == f"{ours.reward:.1f}"
        assert viewer.locator(".now").inner_text().startswith(f"episode 0, step t={ours.t}")
    left, right = pictures(viewer)
    wanted = [film.drawings[place].src for place in film.moments[moment].drawings]
    assert [left, right] == wanted
    assert (left == right) == (moment < HERE)


def test_rules_draws_and_lines_are_those_of_the_moment(viewer, film):
    for moment in (0, 3):
        go(viewer, moment)
        instant = film.moments[moment]
        assert viewer.locator("#rules li b").all_inner_texts() == list(instant.rules)
        rule = instant.rules[0]
        first = " ".join(film.rules[rule][1].replace("`", "").split())
        assert " ".join(viewer.locator("#rules li").first.inner_text().split()) == f"{rule} {first}"
        (draw,) = instant.draws
        row = viewer.locator("#draws tr").inner_text()
        assert draw.slot in row
        assert f"{draw.reference[0]:08x}" in row
        assert "equal" in row
        assert viewer.locator("#ran").inner_text() == f"{len(instant.ran)} lines of reference.py ran"
    viewer.locator("#ran").click()
    lines = viewer.locator("#lines li .line").all_inner_texts()
    assert lines == [str(line) for line, _ in film.moments[3].ran]


def test_the_mouse_goes_through_the_whole_story(viewer, film):
    last = len(film.moments) - 1
    viewer.get_by_role("button", name="to the first moment").click()
    at(viewer, 0)
    viewer.get_by_role("button", name="one moment on").click()
    at(viewer, 1)
    viewer.get_by_role("button", name="to the last moment").click()
    at(viewer, last)
    viewer.get_by_role("button", name="one moment back").click()
    at(viewer, last - 1)
    viewer.get_by_role("button", name="Go to the difference").click()
    at(viewer, HERE)
    plot = viewer.locator(".row[data-field='reward'] .plot")
    box = plot.bounding_box()

    def x(moment: int) -> float:
        return box["x"] + box["width"] * (moment + 0.5) / len(film.moments)

    viewer.mouse.click(x(4), box["y"] + 10)
    at(viewer, 4)
    viewer.mouse.move(x(4), box["y"] + 10)
    viewer.mouse.down()
    for moment in (5, 6, 12):  # a drag
        viewer.mouse.move(x(moment), box["y"] + 10)
        at(viewer, moment)
    viewer.mouse.up()
    viewer.mouse.move(x(2), box["y"] + 10)
    viewer.wait_for_timeout(100)
    at(viewer, 12)
    viewer.get_by_role("slider", name="moment").fill("3")
    at(viewer, 3)


def test_play_goes_on_by_itself_and_stops_at_the_end(viewer, film):
    viewer.get_by_label("moments a second").select_option("32")
    viewer.get_by_role("button", name="to the first moment").click()
    viewer.get_by_role("button", name="play", exact=True).click()
    assert viewer.locator("#play").get_attribute("aria-label") == "pause"
    at(viewer, len(film.moments) - 1)
    viewer.get_by_role("button", name="play", exact=True).wait_for()
    viewer.keyboard.press("Space")  # from the end it begins again
    viewer.wait_for_function("Number(document.documentElement.dataset.moment) < 10")
    viewer.keyboard.press("Space")
    viewer.get_by_role("button", name="play", exact=True).wait_for()
    stopped = viewer.locator("html").get_attribute("data-moment")
    viewer.wait_for_timeout(200)
    assert viewer.locator("html").get_attribute("data-moment") == stopped


def test_the_keyboard_alone_does_it(viewer, film):
    last = len(film.moments) - 1
    second = next(number for number, one in enumerate(film.moments) if one.episode == 1)
    for key, moment in [
        ("Home", 0), ("ArrowRight", 1), ("Shift+ArrowRight", 11), ("ArrowLeft", 10), ("Shift+ArrowLeft", 0),
        ("End", last), ("d", HERE), ("n", second), ("p", 0), ("ArrowLeft", 0),
    ]:  # fmt: skip
        viewer.keyboard.press(key)
        at(viewer, moment)
    viewer.keyboard.press("?")
    viewer.get_by_role("dialog", name="Keys").wait_for()
    viewer.keyboard.press("ArrowRight")  # belongs to the dialog now
    viewer.keyboard.press("Escape")
    viewer.get_by_role("dialog", name="Keys").wait_for(state="hidden")
    at(viewer, 0)
    names = []
    for _ in range(14):
        viewer.keyboard.press("Tab")
        names.append(viewer.evaluate("document.activeElement.id"))
    wanted = ["jump", "only", "first", "back", "play", "on", "last", "time", "speed", "help"]
    assert [name for name in dict.fromkeys(names) if name in wanted] == wanted  # and from the last on to the first
    viewer.locator("#on").focus()
    viewer.keyboard.press("Enter")
    at(viewer, 1)
    viewer.locator("#play").focus()
    viewer.keyboard.press("Space")
    viewer.get_by_role("button", name="pause").wait_for()


def test_only_what_differs_stays(viewer, film):
    rows = viewer.locator(".row[data-field]:visible")
    apart = {".".join(filter(None, (one.group, one.name))) for one in film.series if one.apart}
    assert rows.count() > len(apart)
    viewer.keyboard.press("o")
    assert set(rows.evaluate_all("rows => rows.map(row => row.dataset.field)")) == apart
    viewer.get_by_label("only what differs").uncheck()
    assert rows.count() > len(apart)


def test_charts_draw_both_sides_where_they_part(viewer, film):
    row = viewer.locator(".row[data-field='state.position']")
    assert row.locator("path.left").count() == row.locator("path.right").count() == 1
    assert row.locator("path.left").get_attribute("d") != row.locator("path.right").get_attribute("d")
    viewer_reward = viewer.locator(".row[data-field='action']")
    assert viewer_reward.locator("path.both").count() == 1
    mark = viewer.locator(".row[data-field='reward'] .here-line").bounding_box()
    plot = viewer.locator(".row[data-field='reward'] .plot").bounding_box()
    share = (mark["x"] + mark["width"] / 2 - plot["x"]) / plot["width"]
    assert share == pytest.approx((HERE + 0.5) / len(film.moments), abs=0.01)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390], ids=["desk", "phone"])
def test_everybody_can_read_it(new_page, address, axe, width, dark):
    page = new_page(width=width, height=844, dark=dark)
    page.goto(address)
    for key in ("Home", "d"):
        page.keyboard.press(key)
        axe(page)
    page.keyboard.press("?")
    axe(page)
    page.keyboard.press("Escape")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    back = page.evaluate("getComputedStyle(document.body).backgroundColor")
    bright = sum(map(int, re.findall(r"\d+", back)[:3])) / 3
    assert (bright < 80) == dark
    drawing = page.locator(".twins img").first.bounding_box()
    assert drawing["width"] > 0.3 * min(width, 900)


def test_a_finger_does_it_on_a_phone(new_page, address, film):
    page = new_page(width=390, height=844, has_touch=True, is_mobile=True)
    page.goto(address)
    page.get_by_role("button", name="to the first moment").tap()
    at(page, 0)
    page.get_by_role("button", name="one moment on").tap()
    at(page, 1)
    page.get_by_role("button", name="Go to the difference").tap()
    at(page, HERE)
    for button in page.locator(".transport button").all():
        box = button.bounding_box()
        assert box["height"] >= 24, button
        assert box["width"] >= 24, button  # WCAG 2.2, target size


def test_the_folder_shows_the_same(page, film, tmp_path, moments):
    index: Path = write_folder(film, tmp_path / "shown")
    page.goto(index.as_uri())
    at(page, HERE)
    ours, theirs = moments[0][HERE], moments[1][HERE]
    assert value(page, "state.position") == f"{ours.state['position']}≠{theirs.state['position']}"
    loaded = page.locator(".twins img").evaluate_all("all => all.map(one => [one.naturalWidth, one.naturalHeight])")
    assert loaded == [[352, 160], [352, 160]]


def test_an_address_opens_its_moment(page, address):
    page.goto(f"{address}#5")
    at(page, 5)
    page.keyboard.press("ArrowRight")
    at(page, 6)
    page.wait_for_function("location.hash === '#6'")


def test_twins_that_agree_say_so(page, tmp_path):
    package = load_package("toywalk")
    reference = play_episodes(package, "random", seed=1, most=8)
    story, found = twins(package, reference, checked(repeat(package, reference, "eager"), package.schema))
    film = film_of(story, package, found=found)
    page.goto(write_page(film, tmp_path / "equal.html").as_uri())
    at(page, 0)
    assert f"Both twins agree to the bit: {film.compared} values in {len(film.moments)} moments" in (
        page.locator(".verdict").inner_text()
    )
    page.keyboard.press("d")  # goes nowhere
    at(page, 0)
    assert page.locator("#jump").count() == 0
    assert page.locator(".here-line:visible").count() == 0
    assert page.get_by_label("only what differs").is_hidden()


def test_what_is_tolerated_is_shown_as_such(page, axe, tmp_path):
    """The observation's second number is 3 ulp off at t=2, of 4 that its field declares."""
    edits = [
        Edit("schema.json", '"x-low": [-1, 0]', '"x-low": [-1, 0], "x-ulp": 4, "x-tolerance-reason": "a test"'),
        Edit(
            "fast.py",
            "torch.stack([where, elapsed]",
            "torch.stack([where, (elapsed.view(torch.int32) + 3 * (ctx.t == 3).int()).view(torch.float32)]",
        ),
    ]
    package = load_package(copy_env("toywalk", tmp_path, edits))
    reference = play_episodes(package, "dither", seed=3, most=8)
    story, found = twins(package, reference, checked(repeat(package, reference, "eager"), package.schema))
    film = film_of(story, package, found=found)
    assert film.here is None
    assert film.tolerated == 1
    page.goto(write_page(film, tmp_path / "near.html").as_uri())
    at(page, 0)
    assert "1 within a declared tolerance" in page.locator(".verdict").inner_text()
    assert "all values equal" in page.locator("#alike").inner_text()
    go(page, 3)
    (series,) = [one for one in film.series if one.apart]
    (apart,) = series.apart[3]
    assert page.locator("#alike").inner_text() == "≈ within the declared tolerance: observation"
    row = page.locator(".row[data-field='observation']")
    told = row.locator(".value").inner_text()
    assert f"{apart.reference}≈{apart.batched}" in told.replace("\n", "")
    assert "tolerated" in told
    assert "≈ 4 ulp" in row.locator(".label").inner_text()
    assert row.evaluate("row => [...row.classList]") == ["row", "near"]
    assert page.locator(".unequal:visible, .here-line:visible, #jump").count() == 0
    axe(page)
