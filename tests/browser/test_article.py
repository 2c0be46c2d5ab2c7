"""The interactive article in a browser, through its whole story, held to what Python computes here.

`SIMULACRUM_ARTICLE=FOLDER` names one that was built; otherwise it is built first, which takes a minute or two.
"""

from __future__ import annotations

import functools
import hashlib
import http.server
import os
import shutil
import sys
import threading
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ARTICLE = ROOT / "docs" / "article"
PATIENCE = 240_000  # ms; CPython starts in the page, and other tests may run beside
FIELDS = ("observation", "reward", "terminated", "truncated")

# The checks that see a fault; no other may, and none may mind the true module.
CAUGHT = {
    "none": set(),
    "leak": {"mean", "alone", "single", "lockstep", "ends"},
    "clamp": {"bounds", "single", "lockstep", "ends"},
    "late": {"unit", "single", "lockstep", "ends"},
    "final": {"ends"},
    "wrap": {"mean", "single", "lockstep", "ends"},
}


@pytest.fixture(scope="session")
def article(tmp_path_factory) -> Path:
    built = os.environ.get("SIMULACRUM_ARTICLE")
    if built:
        return Path(built).resolve()
    if shutil.which("npm") is None:
        text = "the article is built with packages of npm, and there is no npm on the PATH: apt-get install npm"
        if os.environ.get("SIMULACRUM_BROWSER") == "1":
            pytest.fail(text, pytrace=False)
        pytest.skip(text)
    sys.path.append(str(ARTICLE))
    from builder.site import build

    return build(tmp_path_factory.mktemp("article") / "article", say=lambda _: None)


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture(scope="session")
def address(article):
    """The article served from its folder, as `python -m http.server` does it."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(article)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/index.html"
    server.shutdown()
    server.server_close()


def opened(page, address, *, ready=True):
    page.set_default_timeout(PATIENCE)
    page.goto(address)
    if ready:
        page.locator("#status.ready, #status.failed").wait_for()
        assert page.locator("#status").get_attribute("class") == "status ready", page.locator("#status").inner_text()
    return page


@pytest.fixture(scope="module")
def reader(pages, address):
    """One page with Python running, for the tests that go through the story."""
    with pages() as open_one:
        yield opened(open_one(reduced_motion="reduce"), address)


def done(page, button):
    page.locator(f"{button}:not([disabled]):not([aria-disabled])").wait_for()


def compared(page):
    """Press "Play both"; what the page then says, and what it played."""
    page.locator("#compare button").click()
    page.locator("#verdict").wait_for()
    done(page, "#compare button")
    told = page.evaluate("({...article.compared, actions: Array.from(article.compared.actions, Number)})")
    assert told["hashes"] == [page.locator(f"#hash-{name}").inner_text() for name in ("reference", "batched")]
    return told


# --- what Python computes -------------------------------------------------------------------------------------------


def by_torch(told) -> str:
    """The hash of what eager torch shows of the same rows."""
    import torch
    from gymnasium.vector import AutoresetMode

    from simulacrum.contract.package import load_package
    from simulacrum.engine.boundary import core_of
    from simulacrum.engine.params import batch_params
    from simulacrum.rng.batched import split_seed

    package = load_package(ROOT / "envs" / "toywalk")
    core = core_of(package, package.schema.max_episode_steps)
    params = batch_params(core.schema, None, told["kept"], torch.device("cpu"))
    state = core.fresh(split_seed(told["seeds"]), torch.zeros(told["kept"], dtype=torch.int32), params)
    shown: dict[str, list[torch.Tensor]] = {name: [] for name in FIELDS}
    for action in torch.tensor(told["actions"]).reshape(told["steps"], told["kept"]):
        state, out = core.step(AutoresetMode.NEXT_STEP, state, action, params)
        for name in FIELDS:
            shown[name].append(getattr(out, name))
    return digest(torch.stack(shown[name]).numpy().tobytes() for name in FIELDS)


def by_cpython(told, tmp_path, source=None) -> str:
    """The hash of what the reference shows in this CPython."""
    sys.path.append(str(ARTICLE / "page"))
    from rows import Play

    play = Play(str(ROOT / "envs" / "toywalk"), source, str(tmp_path))
    shown = play.rows(told["seeds"], told["actions"], told["steps"])
    return digest(shown[name] for name in FIELDS)


def digest(parts) -> str:
    return hashlib.sha256(b"".join(parts)).hexdigest()


# --- the story ------------------------------------------------------------------------------------------------------


def test_first_screen_does_not_wait_for_python(new_page, address):
    page, held = new_page(), []
    page.route("**/pyodide.asm.wasm.js", lambda route: held.append(route))  # never answered
    opened(page, address, ready=False)
    page.locator("#crowd-told:not(:empty)").wait_for()
    assert "transitions" in page.locator("#crowd-told").inner_text()
    assert page.locator("#compare button").is_disabled()
    for _ in range(100):  # the script is asked for after the first screen
        if held:
            break
        page.wait_for_timeout(100)
    assert held
    assert page.locator("#status.ready").count() == 0


def test_reference_and_batch_have_the_bits_of_python_here(reader, tmp_path):
    told = compared(reader)
    assert told["count"] == 0
    assert "not one bit differs" in reader.locator("#verdict").inner_text()
    assert told["hashes"] == [by_cpython(told, tmp_path), by_torch(told)]


def test_edited_reference_parts_and_is_found(reader, tmp_path):
    reader.locator("#suggestions button", has_text="the wall one cell early").click()
    reader.locator("#editor-state", has_text="your text").wait_for()
    told = compared(reader)
    assert told["count"] > 0
    assert "reference" in reader.locator("#first-wrong").inner_text()
    source = (ROOT / "envs" / "toywalk" / "reference.py").read_text("utf-8")
    source = source.replace("return LEFT_END\n", "return LEFT_END + 1\n")
    assert told["hashes"] == [by_cpython(told, tmp_path, source), by_torch(told)]


def test_text_that_is_no_python_is_told_and_can_be_restored(reader):
    reader.locator("#editor .cm-content").click()
    reader.keyboard.press("Control+Home")
    reader.keyboard.type("def broken(:\n")
    reader.locator("#use").click()
    error = reader.locator("#editor-error:not([hidden])")
    error.wait_for()
    assert "SyntaxError" in error.inner_text()
    assert "reference.py" in error.inner_text()
    reader.locator("#restore").click()
    reader.locator("#editor-state", has_text="as in the repository").wait_for()
    assert reader.locator("#editor-error").is_hidden()
    assert compared(reader)["count"] == 0


def test_every_check_catches_what_it_can_and_nothing_else(reader):
    reader.locator("#check-all").click()
    reader.locator("#check-progress", has_text="Checks that caught it").wait_for()
    checked = reader.evaluate("article.checked")
    found = {
        fault: {key.split()[0] for key, caught in checked.items() if caught and key.endswith(f" {fault}")}
        for fault in CAUGHT
    }
    assert found == CAUGHT
    assert len(checked) == 9 * len(CAUGHT)
    shown = reader.locator("#matrix tbody button.caught").count()
    assert shown == sum(map(len, CAUGHT.values()))
    reader.locator("#matrix tbody button.caught").last.click()
    assert "Caught." in reader.locator("#check-told").inner_text()


def test_policy_of_a_wrong_environment_fails_in_the_right_one(reader):
    reader.locator("#learn-in").select_option("wrap")
    reader.locator("#learn-run").click()
    reader.locator("#policies").wait_for()
    done(reader, "#learn-run")
    learned = reader.evaluate("article.learned")
    assert learned["policy"] == [0] * 5 + [1] * 5
    assert learned["there"]["goals"] == 1
    assert learned["here"]["goals"] < 0.75
    assert learned["there"]["average"] > learned["here"]["average"] + 10
    reader.locator("#learn-in").select_option("none")
    reader.locator("#learn-run").click()
    reader.locator("#learn-result", has_text="both curves are one").wait_for()
    right = reader.evaluate("article.learned")
    assert right["there"] == right["here"]
    assert right["here"]["goals"] == 1


def test_speed_is_measured_here(reader):
    reader.locator("#measure").click()
    done(reader, "#measure")
    reader.locator("#speed-chart tbody tr").nth(5).wait_for()
    rates = {one["name"]: one["rate"] for one in reader.evaluate("article.measured")}
    assert rates["batched, 4,096 rows"] > 20 * rates["reference, Python"]
    assert rates["reference, Python"] > 10


# --- everybody ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dark", [False, True])
def test_filled_page_is_accessible(reader, axe, dark):
    reader.emulate_media(color_scheme="dark" if dark else "light")
    reader.set_viewport_size({"width": 390 if dark else 1280, "height": 844})
    reader.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    axe(reader)


@pytest.mark.parametrize("width", [390, 320])
def test_nothing_is_wider_than_a_phone(reader, width):
    reader.set_viewport_size({"width": width, "height": 844})
    assert reader.evaluate("document.documentElement.scrollWidth") <= width


def test_keyboard_alone(new_page, address):
    page = opened(new_page(reduced_motion="reduce"), address)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    reached = []
    for _ in range(60):
        page.keyboard.press("Tab")
        name = page.evaluate("(({id, name, className}) => id || name || String(className))(document.activeElement)")
        if name in reached[-1:]:
            page.keyboard.press("Escape")
        reached.append(name)
        if name == "right":
            page.keyboard.press("Enter")
            page.locator("#walk tbody", has_text="t = 1").wait_for()
        if name == "fault":
            page.keyboard.press("ArrowDown")
            assert page.locator("#fault-told").inner_text().startswith("The two operations")
        if name == "check-one":
            page.keyboard.press("Space")
            page.locator("#check-told", has_text="Caught.").wait_for()
            assert page.evaluate("document.activeElement.id") == "check-one", "the focus was lost"
        if name == "learn-run":
            break
    controls = {"theme", "crowd-run", "use", "restore", "left", "right", "again", "walk-seed", "compare-rows", "fault"}
    assert {*controls, "compare-steps", "compare-seed", "check-one", "check-all", "measure", "learn-in"} <= set(reached)


def test_theme_button_goes_to_the_other_and_back(reader):
    reader.emulate_media(color_scheme="light")
    light = reader.evaluate("getComputedStyle(document.body).backgroundColor")
    reader.locator("#theme").click()
    assert reader.evaluate("getComputedStyle(document.body).backgroundColor") != light
    reader.locator("#theme").click()
    assert reader.evaluate("getComputedStyle(document.body).backgroundColor") == light


def test_works_from_a_folder_without_a_server(new_page, article):
    page = opened(new_page(reduced_motion="reduce"), (article / "index.html").as_uri())
    assert compared(page)["count"] == 0


def test_page_weighs_less_than_twenty_megabytes(article):
    assert sum(path.stat().st_size for path in article.rglob("*") if path.is_file()) < 20e6


def test_browser_refuses_every_connection(browser, address):
    context = browser.new_context()  # unwatched: what is refused here is an error in the console
    page = context.new_page()
    page.goto(address)
    assert page.evaluate("fetch('payload/wrap.wasm.js').then(() => 'let through', () => 'refused')") == "refused"
    context.close()


def test_the_page_begins_at_its_head_and_the_editor_at_the_step(page, address):
    opened(page, address, ready=False)
    line = page.locator("#editor .cm-line", has_text="def step(").first
    line.wait_for()
    page.wait_for_timeout(500)  # whatever scrolls has done so by then
    assert page.evaluate("scrollY") == 0
    shown, box = line.bounding_box(), page.locator("#editor").bounding_box()
    assert box["y"] <= shown["y"] <= box["y"] + box["height"] / 3
