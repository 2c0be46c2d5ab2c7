"""The built site in a browser, from a folder, as a reader without a network has it.

Every page is opened over file://, light and dark and at the width of a phone; an error in the console, a file that is
missing and a request to anywhere fail the test (conftest.py). `SIMULACRUM_SITE=FOLDER` names a site that was built.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MADE = ["article", "environments/index"]  # by the hooks in tools/, beside a page for each environment
PAGES = sorted(
    [path.relative_to(ROOT / "docs").with_suffix("").as_posix() for path in (ROOT / "docs").glob("*.md")]
    + [f"environments/{path.parent.name}" for path in (ROOT / "envs").glob("*/schema.json")]
    + MADE
)
# Pages of environments are alike: axe-core, which takes seconds a page, looks at some of them.
ALIKE = {name for name in PAGES if name.startswith("environments/")}
EXAMPLES = {"environments/index", "environments/cartpole", "environments/toywalk"}
# What axe-core reads for every change, and in the dark as well.
IN_THE_DARK = {"index", "checks", "quickstart", *EXAMPLES}
READ = [
    pytest.param(name, marks=() if name in IN_THE_DARK else pytest.mark.nightly)
    for name in PAGES
    if name not in ALIKE - EXAMPLES
]
PHONE = 360


@pytest.fixture(scope="session")
def site(tmp_path_factory) -> Path:
    built = os.environ.get("SIMULACRUM_SITE")
    if built:
        return Path(built).resolve()
    pytest.importorskip("material")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "true"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture
def address(site):
    """Return `address("checks")`, the file:// address of a page."""
    return lambda name: (site / f"{name}.html").as_uri()


def shortened(page):
    """Keep the first two modules of an API page, whose many are of one template and take axe-core minutes."""
    page.evaluate("document.querySelectorAll('.doc-module').forEach((one, n) => n > 1 && one.remove())")


def unscrolled(page):
    """Scroll the navigation back: the theme brings the page's own entry into view, and others then lie half under the
    heading that stays, until one scrolls.
    """
    page.evaluate("document.querySelectorAll('.md-sidebar__scrollwrap').forEach(one => { one.scrollTop = 0 })")


def opened(page, address):
    page.set_default_timeout(60_000)  # some pages are long, and other tests may run beside
    page.goto(address)
    return page


def test_these_are_the_pages_of_the_site(site):
    built = {path.relative_to(site).with_suffix("").as_posix() for path in site.rglob("*.html")}
    # 404.html is for servers: its links begin at the root of one.
    assert {name for name in built if not name.startswith("article/")} - {"404"} == set(PAGES)


@pytest.mark.parametrize("name", PAGES)
def test_page_loads_what_it_needs(name, new_page, address):
    page = opened(new_page(), address(name))
    assert page.locator("article h1").count() == 1
    broken = page.evaluate("Array.from(document.images).filter(i => i.complete && !i.naturalWidth).map(i => i.src)")
    assert broken == []


@pytest.mark.parametrize("name", READ)
def test_page_can_be_read(name, new_page, address, axe):
    page = opened(new_page(), address(name))
    shortened(page)
    unscrolled(page)
    axe(page)


@pytest.mark.parametrize("name", PAGES)
def test_page_on_a_phone_in_the_dark(name, new_page, address, axe):
    page = opened(new_page(width=PHONE, height=740, dark=True), address(name))
    assert page.evaluate("document.body.dataset.mdColorScheme") == "slate"
    wide = page.evaluate("document.scrollingElement.scrollWidth")
    assert wide <= PHONE, f"{wide} pixels wide: {page.evaluate(TOO_WIDE)}"
    if name in IN_THE_DARK:
        axe(page)


# What sticks out to the right and is not inside something that scrolls by itself.
TOO_WIDE = """() => {
  const scrolls = e => e && e !== document.body
    && (['auto', 'scroll', 'hidden'].includes(getComputedStyle(e).overflowX) || scrolls(e.parentElement))
  return Array.from(document.querySelectorAll('article *'))
    .filter(e => e.getBoundingClientRect().right > innerWidth + 1 && !scrolls(e.parentElement))
    .slice(0, 5).map(e => e.outerHTML.slice(0, 120))
}"""


def test_search_finds_a_word_without_a_network(page, address):
    page.goto(address("index"))
    page.keyboard.press("/")
    page.keyboard.type("Threefry")
    found = page.locator(".md-search-result__link[href*='draws.html']").first
    found.wait_for()
    found.click()
    page.wait_for_url("**/draws.html*")
    page.locator("article h1", has_text="Draws").wait_for()


def test_a_search_for_nothing_finds_nothing(page, address):
    page.goto(address("index"))
    page.keyboard.press("/")
    page.keyboard.type("xyzzyplugh")
    page.get_by_text("No matching documents").first.wait_for()


def test_keyboard_reaches_content_navigation_and_search(page, address):
    page.goto(address("checks"))
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.matches('.md-skip')")
    page.keyboard.press("Enter")  # past the navigation
    assert page.evaluate("location.hash") != ""
    page.goto(address("checks"))
    reached = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.tagName + ' ' + (document.activeElement.href ?? '')"))
    assert any("writing-an-environment.html" in one for one in reached), reached  # a tab
    assert any("draws.html" in one for one in reached), reached  # a neighbour
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.matches('.md-search__input')")


def test_focus_is_seen(page, address):
    """A focused link has an outline; the theme leaves it to the browser and must not take it away."""
    page.goto(address("quickstart"))
    link = page.locator("article p a").first
    link.focus()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    style = link.evaluate("e => { const s = getComputedStyle(e); return s.outlineStyle + ' ' + s.outlineWidth }")
    assert not style.startswith("none"), style
    assert not style.endswith(" 0px"), style
