"""A failure as one HTML page that needs no network: both twins side by side through time, source, rules, draws.

    told = explain(record, package, path=path)
    write_page(told, package, "failure.html")
"""

from __future__ import annotations

from simulacrum.harness.page.page import page_html, write_page

__all__ = ["page_html", "write_page"]
