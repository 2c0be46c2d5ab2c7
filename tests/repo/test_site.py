"""The documentation site: it builds without a warning and asks nothing of the network when it is read."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

# What a browser loads by itself. A link that a reader may click is not of that kind.
LOADED = re.compile(
    r"""<(?:script|img|iframe|source)\b[^>]*?\bsrc=["']?(?P<source>(?:https?:)?//[^"'\s>]+)"""
    r"""|<link\b(?=[^>]*\brel=["']?(?:stylesheet|preload|preconnect|icon))[^>]*?\bhref=["']?(?P<link>(?:https?:)?//[^"'\s>]+)""",
    re.IGNORECASE,
)


@pytest.fixture(scope="module")
def site(root, tmp_path_factory):
    pytest.importorskip("material")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "true"}
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.mark.long
@pytest.mark.nightly
def test_pages_load_nothing_from_elsewhere(site):
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 5
    loaded = [(page.name, found.group()) for page in pages for found in LOADED.finditer(page.read_text("utf-8"))]
    assert loaded == []


@pytest.mark.long
@pytest.mark.nightly
def test_search_index_is_in_the_site(site):
    index = (site / "search" / "search_index.json").read_text("utf-8")
    assert "reference" in index


@pytest.mark.long
@pytest.mark.nightly
def test_search_needs_no_server(site):
    """Over file:// no index can be fetched and no worker started: both have to be scripts of the site."""
    assert "reference" in (site / "search" / "search_index.js").read_text("utf-8")
    for page in ("index.html", "environments/index.html"):
        assert "assets/iframe-worker.js" in (site / page).read_text("utf-8")
    assert "IFrameWorker" in (site / "assets" / "iframe-worker.js").read_text("utf-8")


@pytest.mark.long
@pytest.mark.nightly
def test_every_environment_has_a_page_and_a_card_with_its_pictures(site, root):
    gallery = (site / "environments" / "index.html").read_text("utf-8")
    names = [path.parent.name for path in (root / "envs").glob("*/schema.json")]
    assert {"toywalk", "cartpole"} <= set(names)
    for name in names:
        assert f'href="{name}.html"' in gallery
        assert (site / "environments" / f"{name}.html").is_file()
    for page in (site / "environments").glob("*.html"):
        shown = re.findall(r'src="\.\./(assets/environments/[^"]+)"', page.read_text("utf-8"))
        assert shown, page
        assert all((site / path).is_file() for path in shown), page


@pytest.mark.parametrize(
    "tag",
    [
        '<script src="https://example.org/a.js">',
        "<link href=//example.org/a.css rel=stylesheet>",
        '<link rel="stylesheet" href="https://example.org/fonts">',
        '<img alt="x" src="http://example.org/a.png">',
    ],
)
def test_loaded_finds(tag):
    assert LOADED.search(tag)


def test_loaded_leaves_links_alone():
    assert not LOADED.search('<a href="https://example.org">x</a><link rel="canonical" href="https://example.org">')
