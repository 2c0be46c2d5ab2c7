"""The command line. `simulacrum --help` lists the commands.

Each command's file parses, calls another room and prints; nothing is decided here.
"""

from __future__ import annotations

from simulacrum.cli.app import main

__all__ = ["main"]
