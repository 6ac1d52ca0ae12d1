"""The raw answers of a judge's run, one JSON line each, written as they come: the run goes on where it stopped."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

from xlcheck.cells import Frozen
from xlcheck.errors import UsageError


class Kept(Frozen):
    """One question that was asked, and what came of it."""

    run: str
    """Fingerprint of packet, model, settings, judge and run: only answers to the same question count."""
    items: tuple[str, ...]
    raw: str | None
    """The body as received; None where nothing came."""
    problem: str | None = None
    """Why nothing came."""


class Store:
    """The file of answers. A line that was cut off by a kill is dropped; every line is on the disk before the next."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            whole = path.read_bytes() if path.exists() else b""
            kept = whole[: whole.rfind(b"\n") + 1]
            if kept != whole:
                path.write_bytes(kept)
        except OSError as error:
            raise UsageError(f"{path}: answers cannot be kept there: {error.strerror or error}") from None
        self._lines = [self._read(number, line) for number, line in enumerate(kept.splitlines(), 1)]

    def of(self, run: str) -> Sequence[Kept]:
        """Return what was asked in a run, in order."""
        return [kept for kept in self._lines if kept.run == run]

    def keep(self, kept: Kept) -> None:
        """Add a line and have it written to the disk."""
        with self.path.open("ab") as file:
            file.write(json.dumps(kept.model_dump(mode="json"), ensure_ascii=False).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        self._lines.append(kept)

    def _read(self, number: int, line: bytes) -> Kept:
        try:
            return Kept.model_validate_json(line)
        except ValueError:
            raise UsageError(f"{self.path}:{number}: this is no answer kept by xlcheck; name another folder") from None
