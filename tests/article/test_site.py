"""What the page is put together from: no address of another machine, nothing that asks for one."""

from __future__ import annotations

import base64
import gzip
import json
import re
from html.parser import HTMLParser

import pytest
from builder.faults import ENV, ROOT
from builder.python import PAGE
from builder.site import HERE, beside, check_place, payload, plain

from simulacrum.contract.package import load_package
from simulacrum.errors import SimulacrumError

SOURCES = sorted(path for path in PAGE.iterdir() if path.suffix in (".html", ".css", ".js", ".py"))
ALLOWED = {"http://www.w3.org/2000/svg", "https://nowhere.invalid/"}  # a name of elements, and no address at all


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


@pytest.fixture
def tags():
    parser = Tags()
    parser.feed((PAGE / "index.html").read_text("utf-8"))
    return parser.found


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_sources_name_no_other_machine(path):
    addresses = set(re.findall(r"https?://[^\s\"'`)]*", path.read_text("utf-8")))
    assert addresses <= ALLOWED


def test_page_forbids_every_connection(tags):
    (policy,) = [one["content"] for tag, one in tags if one.get("http-equiv") == "Content-Security-Policy"]
    rules = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["connect-src"] == "'none'"
    assert "unsafe-eval'" not in rules["script-src"].replace("wasm-unsafe-eval'", "")
    assert all("http" not in allowed for allowed in rules.values())


def test_every_id_that_a_script_asks_for_is_in_the_page(tags):
    ids = {one["id"] for _, one in tags if "id" in one}
    asked = set()
    for path in SOURCES:
        if path.suffix == ".js":
            asked |= set(re.findall(r'byId\("([\w-]+)"\)', path.read_text("utf-8")))
    assert asked <= ids
    assert len(asked) > 20


def test_every_control_of_the_page_has_a_name(tags):
    labels = sum(tag == "label" for tag, _ in tags)
    assert labels == sum(tag in ("select", "input") for tag, _ in tags)
    assert all(one.get("type") in ("button", "submit") for tag, one in tags if tag == "button")


def test_payload_comes_back():
    data = bytes(range(256)) * 9
    text = re.fullmatch(r'articlePayload\("a.bin","([^"]*)"\);\n', payload("a.bin", data))
    assert text is not None
    assert gzip.decompress(base64.b64decode(text[1])) == data


def test_versions_of_npm_packages_are_pinned():
    wanted = json.loads((HERE / "package.json").read_text("utf-8"))["devDependencies"]
    locked = json.loads((HERE / "package-lock.json").read_text("utf-8"))["packages"]
    assert wanted == {name: locked[f"node_modules/{name}"]["version"] for name in wanted}
    assert all(one.get("integrity") for name, one in locked.items() if name)


def test_rules_of_the_page_are_those_of_the_spec():
    rules = load_package(ROOT / "envs" / ENV).spec.rules
    assert plain("`a` and\n  b") == "a and b"
    assert [rule.id for rule in rules.values()] == [f"R{k}" for k in range(1, 13)]


def test_a_whole_article_takes_the_place_of_the_one_before(tmp_path):
    out = tmp_path / "article"
    for text in ("one", "two"):
        check_place(out)
        with beside(out) as partial:
            (partial / "article.js").write_text(text)
            (partial / text).touch()
    assert (out / "article.js").read_text() == "two"
    assert sorted(path.name for path in out.iterdir()) == ["article.js", "two"]
    assert list(tmp_path.iterdir()) == [out]


def interrupted(out):
    with beside(out) as partial:
        (partial / "article.js").write_text("half")
        raise KeyboardInterrupt


def test_what_stops_half_way_leaves_what_stood_there(tmp_path):
    out = tmp_path / "article"
    with beside(out) as partial:
        (partial / "article.js").write_text("whole")
    with pytest.raises(KeyboardInterrupt):
        interrupted(out)
    assert (out / "article.js").read_text() == "whole"
    assert list(tmp_path.iterdir()) == [out]


def test_nobody_elses_folder_is_replaced(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(SimulacrumError, match="something else stands where the article would go"):
        check_place(tmp_path)
    check_place(tmp_path / "new")
