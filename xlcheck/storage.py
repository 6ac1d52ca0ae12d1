"""Files by path or URL: the local disk, or whatever fsspec reaches, such as ``s3://bucket/folder``."""

from __future__ import annotations

import hashlib
import os
import platform
import time
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

from xlcheck.errors import UsageError

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

_PARTIAL = ".partial"
_HOST = hashlib.sha256(platform.node().encode()).hexdigest()[:8]
_HOUR = 3_600.0


def read(place: str) -> bytes | None:
    """Return the content of a file, None where there is none; UsageError where it cannot be read."""
    files, path = _opened(place)
    try:
        with files.open(path, "rb") as file:
            content: bytes = file.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UsageError(f"{place} cannot be read: {error}") from None
    return content


def write(place: str, content: bytes) -> None:
    """Write a file whole or not at all, with its folders; UsageError where it cannot be.

    Object stores show a file when it is complete. On a disk it is written beside and renamed.
    """
    files, path = _opened(place)
    try:
        files.makedirs(files._parent(path), exist_ok=True)
        if is_url(place):
            with files.open(path, "wb") as file:
                file.write(content)
        else:
            try:
                _write_beside(Path(path), content)
            except FileNotFoundError:  # swept away by a run that took the writer for dead: hosts may share a name
                _write_beside(Path(path), content)
    except OSError as error:
        raise UsageError(f"{place} cannot be written: {error}") from None


def _write_beside(path: Path, content: bytes) -> None:
    """Write a file under a name of its own, which tells whose it is, and rename it."""
    partial = path.with_name(f"{path.name}.{_HOST}-{os.getpid()}-{token_hex(3)}{_PARTIAL}")
    try:
        partial.write_bytes(content)
        partial.replace(path)
    except OSError:
        with suppress(OSError):  # of a disk that is full or gone
            partial.unlink()
        raise


def sweep(folder: str) -> None:
    """Take away what killed runs have left half written in a folder on the local disk.

    A file goes if its writer ran on this machine and does so no more, or if it is an hour old: none takes so long.
    """
    if is_url(folder):
        return
    for partial in Path(_opened(folder)[1]).glob(f"*{_PARTIAL}"):
        with suppress(OSError):  # another run may sweep too
            if _is_left_over(partial):
                partial.unlink()


def _is_left_over(partial: Path) -> bool:
    host, _, rest = partial.name.removesuffix(_PARTIAL).rpartition(".")[2].partition("-")
    process = rest.partition("-")[0]
    if host == _HOST and process.isdecimal() and not _runs(int(process)):
        return True
    return time.time() - partial.stat().st_mtime > _HOUR


def _runs(process: int) -> bool:
    if os.name != "posix":  # there the signal 0 would end it
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def fetch(place: str, folder: str) -> str:
    """Return a local path to a file or folder, copied into ``folder`` if remote; UsageError if it cannot be."""
    if not is_url(place):
        return place
    files, path = _opened(place)
    name = os.path.join(folder, path.rstrip("/").rsplit("/", 1)[-1])  # noqa: PTH118
    try:
        files.get(path, name, recursive=True)
    except OSError as error:
        raise UsageError(f"{place} cannot be fetched: {error}") from None
    return name


def entries(place: str) -> list[tuple[str, bool]] | None:
    """Return (place, is a folder) of everything directly in a folder, sorted; None where there is no such folder."""
    files, path = _opened(place)
    if not files.isdir(path):
        return None
    listed = files.ls(path, detail=True)
    return sorted((_like(place, str(entry["name"])), entry["type"] == "directory") for entry in listed)


def exists(place: str) -> bool:
    """Tell whether there is a file or folder."""
    files, path = _opened(place)
    return bool(files.exists(path))


def matching(pattern: str) -> list[str]:
    """Return the places that a pattern with ``*`` or ``?`` matches, sorted."""
    files, path = _opened(pattern)
    return sorted(_like(pattern, str(name)) for name in files.glob(path))


def join(folder: str, *names: str) -> str:
    """Return the place of a name in a folder."""
    return "/".join([folder.rstrip("/"), *names])


def lies_in(place: str, folder: str) -> bool:
    """Tell whether a place is a folder or lies in it; links are followed."""
    one, other = _whole(place), _whole(folder)
    return one == other or one.startswith(other + "/")


def _whole(place: str) -> str:
    return place.rstrip("/") if is_url(place) else os.path.realpath(place).replace("\\", "/")


def is_url(place: str) -> bool:
    """Tell whether a place is somewhere else than on the local disk."""
    return "://" in place and not place.startswith("file://")


def _like(place: str, path: str) -> str:
    return f"{place.partition('://')[0]}://{path}" if is_url(place) and "://" not in path else path


def _opened(place: str) -> tuple[AbstractFileSystem, str]:
    from fsspec.core import url_to_fs

    try:
        files, path = url_to_fs(place)
    except (ValueError, ImportError) as error:
        raise UsageError(f"{place} cannot be reached: {error}") from None
    return files, str(path)
