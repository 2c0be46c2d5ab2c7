"""The page and the folder are whole: balanced, without an address outside, and holding what the film holds."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from simulacrum.errors import UsageError
from simulacrum.view import page_html, write_folder, write_page


def data_of(html: str) -> dict:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL)
    assert found
    return json.loads(found[1])


def test_page_is_one_file_that_asks_for_nothing(faulty_film, tmp_path):
    html = write_page(faulty_film, tmp_path / "page.html").read_text(encoding="utf-8")
    assert html == page_html(faulty_film)
    addresses = re.findall(r'(?:src|href)="([^"]*)"', html)
    assert [one for one in addresses if not one.startswith("data:")] == []
    assert "http://www.w3.org/2000/svg" in html  # a name, not an address
    assert re.findall(r"https?://(?!www\.w3\.org/2000/svg)\S+", html) == []


def test_page_holds_the_film(faulty_film):
    data = data_of(page_html(faulty_film))
    assert len(data["moments"]) == len(faulty_film.moments)
    assert data["here"] == 8
    position = next(one for one in data["series"] if one["name"] == "position")
    assert position["apart"]["8"][0]["batched"] == faulty_film.found.difference.batched.decimal
    assert len(data["drawings"]) == len(faulty_film.drawings)
    words = data["moments"][3]["draws"][0]
    assert words[:2] == ["slip", "equal"]
    assert re.fullmatch(r"[0-9a-f]{8}", words[2][0])


def test_text_of_a_package_cannot_end_the_script(faulty_film):
    film = replace(faulty_film, note="</script><script>alert(1)</script>", facts=(("policy", "<b>"),))
    html = page_html(film)
    assert data_of(html)["note"] == film.note
    assert "<script>alert" not in html
    assert "<b>" not in html.partition("<main>")[0].replace(
        f"<b>{film.found.difference.reference.decimal}</b>", ""
    ).replace(f"<b>{film.found.difference.batched.decimal}</b>", "")


def test_folder_has_its_drawings_as_files(faulty_film, tmp_path):
    index = write_folder(faulty_film, tmp_path / "shown")
    folder = index.parent
    assert sorted(path.name for path in folder.iterdir()) == [
        "drawings",
        "film.js",
        "index.html",
        "view.css",
        "view.js",
    ]
    pictures = sorted((folder / "drawings").iterdir())
    assert len(pictures) == len(faulty_film.drawings)
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in pictures)
    film = (folder / "film.js").read_text(encoding="utf-8")
    data = json.loads(film.partition("window.film = ")[2].rstrip(";\n"))
    assert data["drawings"][0]["src"] == "drawings/00000.png"
    assert "data:image" not in film
    links = re.findall(r'(?:src|href)="([^"]*)"', index.read_text(encoding="utf-8"))
    assert all((folder / link).is_file() for link in links)


def test_folder_is_replaced_only_where_it_is_one_of_ours(faulty_film, sound_film, tmp_path):
    index = write_folder(faulty_film, tmp_path / "shown")
    write_folder(sound_film, tmp_path / "shown")
    assert "agree to the bit" in index.read_text(encoding="utf-8")
    assert list(tmp_path.iterdir()) == [tmp_path / "shown"]
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "love.txt").write_text("dear", encoding="utf-8")
    with pytest.raises(UsageError, match="nothing was touched"):
        write_folder(sound_film, tmp_path / "letters")
    assert (tmp_path / "letters" / "love.txt").read_text(encoding="utf-8") == "dear"
