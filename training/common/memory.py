"""What the C library does with memory that is given back."""

from __future__ import annotations

import ctypes

# Of glibc's malloc.h. A parameter that is set no longer adapts itself.
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
KEPT, LARGEST = 1 << 30, 32 << 20  # bytes; the second is the most that glibc takes


def keep_memory() -> bool:
    """Have glibc keep what is freed for the next tensors, up to 1 GiB; returns whether it did.

    Else a loop that makes and frees some megabytes in turns gets them from the system as zeroed pages each time, one
    fault for each. Other C libraries are left as they are.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return False
    return bool(mallopt(M_MMAP_THRESHOLD, LARGEST) and mallopt(M_TRIM_THRESHOLD, KEPT))
