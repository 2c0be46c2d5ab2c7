"""An image as a PNG file, in a few lines: so that a page has pictures where Pillow is not installed."""

from __future__ import annotations

import base64
import struct
import zlib
from typing import Any

_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def png(image: Any) -> bytes:
    """The PNG file of an image uint8 `[H, W, 3]` (PNG specification, W3C, 2003: 8 bits, RGB, no filter)."""
    height, width, _ = image.shape
    rows = b"".join(b"\x00" + image[row].tobytes() for row in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return _SIGNATURE + _chunk(b"IHDR", head) + _chunk(b"IDAT", zlib.compress(rows, 6)) + _chunk(b"IEND", b"")


def data_uri(data: bytes, kind: str) -> str:
    """Bytes of a file as an address that needs no network; kind: "image/png"."""
    return f"data:{kind};base64,{base64.b64encode(data).decode('ascii')}"


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
