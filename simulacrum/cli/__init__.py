"""The command line: new, list, validate, doctor, record, replay, render, export-pack, bench, build-wasm.

Each command's file parses, calls another room and prints; nothing is decided here.
"""

from __future__ import annotations

from simulacrum.cli.app import main

__all__ = ["main"]
