"""Files by path or URL: the local disk, or whatever fsspec reaches, such as ``s3://bucket/folder``."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from xlcheck.errors import UsageError

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem


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
    local = not is_url(place)
    try:
        files.makedirs(files._parent(path), exist_ok=True)
        target = f"{path}.{os.getpid()}.partial" if local else path
        with files.open(target, "wb") as file:
            file.write(content)
        if local:
            os.replace(target, path)  # noqa: PTH105 - the path is a text here
    except OSError as error:
        raise UsageError(f"{place} cannot be written: {error}") from None


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
