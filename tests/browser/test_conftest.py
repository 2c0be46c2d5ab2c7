"""The browser of these tests sees what is wrong: each guard of conftest.py is shown a page with one fault."""

from __future__ import annotations

import pytest

WHOLE = "<!doctype html><html lang=en><title>t</title><main><h1>Head</h1>{}</main></html>"
FAULTS = {
    "console": "<script>console.error('written to the console')</script>",
    "page error": "<script>throw new Error('thrown by the page')</script>",
    "network": "<script>fetch('https://example.invalid/x').catch(() => 0)</script>",
}


@pytest.fixture
def address(tmp_path):
    """Return a function that writes a page with the body given and returns its address."""

    def write(body: str) -> str:
        file = tmp_path / "page.html"
        file.write_text(WHOLE.format(body), encoding="utf-8")
        return file.as_uri()

    return write


def test_a_page_without_faults_passes(page, address, axe):
    page.goto(address("<p>Plain text.</p>"))
    assert page.locator("h1").inner_text() == "Head"
    axe(page)


@pytest.mark.parametrize("kind", FAULTS)
def test_what_goes_wrong_on_a_page_fails_the_test(kind, pages, address):
    with pytest.raises(pytest.fail.Exception, match=kind):
        visit(pages, address(FAULTS[kind]))


def visit(pages, where: str) -> None:
    with pages() as new_page:
        page = new_page()
        page.goto(where)
        page.wait_for_timeout(200)


def test_text_of_too_little_contrast_fails(page, address, axe):
    page.goto(address("<p style='color:#bbb;background:#fff'>Hard to read.</p>"))
    with pytest.raises(pytest.fail.Exception, match="color-contrast"):
        axe(page)
