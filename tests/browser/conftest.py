"""A browser for tests: headless Chromium, driven by playwright, and axe-core for what people need to read a page.

`page` and `new_page` fail the test at its end if a page logged an error, raised one, or asked for anything that is
not on this machine. Where Chromium, playwright or npm is missing the tests are skipped and say what to install;
`SIMULACRUM_BROWSER=1`, which `make test-browser` sets, makes a missing piece a failure.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn
from urllib.parse import urlsplit

import pytest

HERE = Path(__file__).resolve().parent
AXE = "axe-core@4.10.3"
BUILT = HERE.parents[1] / "build" / "browser"
STANDARD = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
ON_THIS_MACHINE = {"localhost", "127.0.0.1", "::1"}
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark what is in this folder `browser`: it runs by `make test-browser` and not by `make test`."""
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.browser)


def missing(what: str, mend: str) -> NoReturn:
    """Skip, or fail where the environment demands a browser."""
    text = f"{what}; `make test-browser` installs it, or: {mend}"
    if os.environ.get("SIMULACRUM_BROWSER") == "1":
        pytest.fail(text, pytrace=False)
    pytest.skip(text)


def chromium_path() -> str:
    names = ("chromium", "chromium-browser", "google-chrome")
    found = next((path for path in map(shutil.which, names) if path), None)
    return found or missing("no Chromium on the PATH", "apt-get install chromium")


@pytest.fixture(scope="session")
def browser():
    """One Chromium for all tests of the session; each page gets a context of its own."""
    if importlib.util.find_spec("playwright") is None:
        missing("playwright is not installed", "pip install -e '.[browser]'")
    from playwright.sync_api import sync_playwright

    executable = chromium_path()
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=executable, args=QUIET)
        yield running
        running.close()


@pytest.fixture(scope="session")
def pages(browser):
    """Return `pages()`, a context that gives `new_page` and, when it ends, fails if any of its pages went wrong."""
    return lambda: watched_pages(browser)


@contextmanager
def watched_pages(browser):
    contexts, wrong = [], []

    def open_one(width: int = 1280, height: int = 900, dark: bool = False, **options):
        scheme = "dark" if dark else "light"
        context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme, **options)
        context.set_default_timeout(10_000)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: message.type == "error" and wrong.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: wrong.append(f"page error: {error}"))
        page.route("**/*", lambda route: stay_here(route, wrong))
        return page

    try:
        yield open_one
    finally:
        for context in contexts:
            context.close()
    if wrong:
        pytest.fail("the page went wrong:\n  " + "\n  ".join(wrong), pytrace=False)


@pytest.fixture
def new_page(pages):
    """Return `new_page(width=1280, height=900, dark=False, **options)`, which opens a page in a context of its own.

    `options` go to playwright's `new_context`. What went wrong on any of the pages fails the test when it is over.
    """
    with pages() as open_one:
        yield open_one


def stay_here(route, wrong) -> None:
    """Let requests to this machine pass, and note and stop all others."""
    address = urlsplit(route.request.url)
    if address.scheme in ("file", "data", "blob") or address.hostname in ON_THIS_MACHINE:
        route.continue_()
        return
    wrong.append(f"network: {route.request.url}")
    route.abort()


@pytest.fixture
def page(new_page):
    """A page 1280 pixels wide, light."""
    return new_page()


@pytest.fixture(scope="session")
def axe_source() -> str:
    """The text of axe-core, installed once into build/browser."""
    script = BUILT / AXE.replace("@", "-") / "node_modules" / "axe-core" / "axe.min.js"
    if not script.is_file():
        install_axe(script.parents[2])
    return script.read_text(encoding="utf-8")


def install_axe(folder: Path) -> None:
    if shutil.which("npm") is None:
        missing("axe-core comes from npm, and there is no npm on the PATH", "apt-get install npm")
    BUILT.mkdir(parents=True, exist_ok=True)
    # Beside its place first, so that an interrupted installation leaves nothing that looks whole.
    with tempfile.TemporaryDirectory(dir=BUILT) as made:
        command = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", made, AXE]
        done = subprocess.run(command, capture_output=True, text=True, timeout=180)
        if done.returncode != 0:
            missing(f"npm could not install {AXE}: {done.stderr.strip() or done.stdout.strip()}", " ".join(command))
        shutil.copytree(made, folder, dirs_exist_ok=True)


@pytest.fixture
def axe(axe_source):
    """Return `axe(page, within=None)`, which fails on violations of WCAG 2.2 A and AA. within: a CSS selector."""

    def check(page, within: str | None = None) -> None:
        page.evaluate(axe_source)  # not a script element, which a page's own security policy may forbid
        result = page.evaluate(
            "([within, tags]) => axe.run(within ?? document, {runOnly: {type: 'tag', values: tags}, preload: false})",
            [within, STANDARD],
        )
        assert result["passes"], "axe-core checked nothing: is the page empty?"
        found = [told(violation) for violation in result["violations"]]
        if found:
            pytest.fail(f"{len(found)} violations of WCAG 2.2 AA on {page.url}\n" + "\n".join(found), pytrace=False)

    return check


def told(violation) -> str:
    lines = [f"{violation['id']} ({violation['impact']}): {violation['help']}"]
    for node in violation["nodes"][:5]:
        reasons = "; ".join(one["message"] for kind in ("any", "all", "none") for one in node[kind])
        lines += [f"  {' '.join(map(str, node['target']))}: {node['html'][:160]}", f"    {reasons[:300]}"]
    return "\n".join(lines)
