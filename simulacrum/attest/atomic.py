"""Replacing one file so that a reader meets the old content or the new, and never a part of either."""

from __future__ import annotations

import contextlib
import os
import re
import uuid
from collections.abc import Generator
from pathlib import Path

from simulacrum.errors import ReportError


def replace_file(path: Path, data: bytes) -> None:
    """Put `data` at `path` in one move; the folder must exist.

    The bytes go to a hidden file beside the target, reach the disk, and only then take the target's name. A
    process killed at any moment leaves the old file or the new one, and at worst the hidden file, which the
    next write removes.

    Raises:
        PermissionError, or OSError with EROFS: the folder cannot be written; nothing has changed.
        ReportError: anything else (a full disk, say); the old file is as it was and no hidden file is left.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{uuid.uuid4().hex[:8]}.tmp")
    try:
        _write_through(temporary, data)
        os.replace(temporary, path)
    except OSError as error:
        _forget(temporary)
        if _is_read_only(error):
            raise
        raise ReportError(
            f"the file could not be written: {error.strerror or error}",
            where=path,
            next_step="free space or mend the folder, then run it again; the old file is untouched",
        ) from error
    except BaseException:
        _forget(temporary)
        raise
    _sync_folder(path.parent)
    _remove_litter(path)


def cannot_write(error: OSError) -> bool:
    """True where the folder itself refuses writing (rights, a read-only file system), unlike a full disk."""
    return _is_read_only(error)


@contextlib.contextmanager
def folder_lock(folder: Path) -> Generator[None, None, None]:
    """Hold off other writers of `folder` while the block reads, merges and writes.

    Advisory, without a lock file; where the system offers none (Windows, some network file systems) the
    block runs unguarded, and the worst that two simultaneous runs can do is to forget a configuration that
    one of them validated.
    """
    try:
        import fcntl

        handle = os.open(folder, os.O_RDONLY)
    except (ImportError, OSError):
        yield
        return
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _write_through(path: Path, data: bytes) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(handle, view) :]
        os.fsync(handle)
    finally:
        os.close(handle)


def _sync_folder(folder: Path) -> None:
    # The new name is already in place; a file system that cannot sync a folder (Windows, some network ones)
    # loses nothing but the promise across a power cut, so a refusal here is not an error.
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _forget(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()


def _is_read_only(error: OSError) -> bool:
    import errno

    return error.errno in (errno.EACCES, errno.EPERM, errno.EROFS)


def _remove_litter(path: Path) -> None:
    """Remove hidden files of writers that were killed; those of living processes are in use and stay."""
    pattern = re.compile(re.escape(f".{path.name}.") + r"(\d+)-[0-9a-f]{8}\.tmp")
    for other in path.parent.glob(f".{path.name}.*.tmp"):
        found = pattern.fullmatch(other.name)
        if found and not _alive(int(found[1])):
            _forget(other)


def _alive(process: int) -> bool:
    if os.name != "posix":
        return True  # asking by signal 0 would end the process on Windows
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
