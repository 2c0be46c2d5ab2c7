"""Both twins through time, to be looked at: a page, a folder, a film, a terminal.

story = twins(package, reference, batched)
write_page(film_of(story, package), "toywalk.html")
"""

from __future__ import annotations

from simulacrum.view.film import Film, film_of
from simulacrum.view.page import page_html, write_folder, write_page
from simulacrum.view.twins import twins

__all__ = ["Film", "film_of", "page_html", "twins", "write_folder", "write_page"]
