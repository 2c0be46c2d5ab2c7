"""The clock: episodes, time limits, auto-reset, statistics, and the Gymnasium faces of both twins.

`boundary` is the only code that knows episodes; `runner` is its scalar counterpart.
"""

from __future__ import annotations
