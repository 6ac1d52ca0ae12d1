"""Progress on standard error for what takes longer than a second; silent unless the command line asks for it.

A loop or a stage says what it does, whoever called it::

    for answer in watched(answers, "Grading known-quality answers"):
    with stage("Recomputing model.xlsx"):

Stages inside a loop stand below its bar. Nothing shows in a library, in a worker process or before the first second.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

T = TypeVar("T")
DELAY = 1.0
"""Seconds of work before anything shows."""


class _Task:
    """One running loop or stage; `total` is None where nobody knows how long it takes."""

    def __init__(self, says: str, total: int | None) -> None:
        self.says, self.total, self.done = says, total, 0
        self.row: TaskID | None = None

    @property
    def count(self) -> str:
        return "" if self.total is None else f"{self.done}/{self.total}"


class _Display:
    """The running tasks of this process, and the bars once they show."""

    def __init__(self) -> None:
        self.process: int | None = None
        self.lock = threading.Lock()
        self.tasks: list[_Task] = []
        self.timer: threading.Timer | None = None
        self.bars: Progress | None = None

    def enter(self, task: _Task) -> None:
        with self.lock:
            self.tasks.append(task)
            if self.bars is not None:
                self._draw(task)
            elif self.timer is None:
                self.timer = threading.Timer(DELAY, self._show)
                self.timer.daemon = True
                self.timer.start()

    def advance(self, task: _Task) -> None:
        with self.lock:
            task.done += 1
            if self.bars is not None and task.row is not None:
                self.bars.update(task.row, completed=task.done, count=task.count)

    def leave(self, task: _Task) -> None:
        with self.lock:
            self.tasks.remove(task)
            if self.bars is not None and task.row is not None:
                self.bars.remove_task(task.row)
            if not self.tasks:
                self._hide()

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

        with self.lock:
            if not self.tasks or self.bars is not None:
                return
            says, count = (TextColumn(form, markup=False) for form in ("{task.description}", "{task.fields[count]}"))
            bar = BarColumn(bar_width=30)
            self.bars = Progress(SpinnerColumn(), says, bar, count, console=Console(stderr=True), transient=True)
            for task in self.tasks:
                self._draw(task)
            self.bars.start()

    def _draw(self, task: _Task) -> None:
        assert self.bars is not None
        task.row = self.bars.add_task(task.says, total=task.total, completed=task.done, count=task.count)

    def _hide(self) -> None:
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None
        if self.bars is not None:
            self.bars.stop()
            self.bars = None


_display = _Display()


def let_progress_show(shown: bool) -> None:
    """Let loops and stages of this process show, or be silent again; worker processes stay silent."""
    _display.process = os.getpid() if shown else None


@contextmanager
def stage(says: str) -> Iterator[None]:
    """Show a spinner with these words while the block runs."""
    with _shown(_Task(says, None)):
        yield


def watched(items: Iterable[T], says: str, total: int | None = None) -> Iterator[T]:
    """Yield the items and show how many are done, of their number or of `total`."""
    task = _Task(says, len(items) if isinstance(items, Collection) else total)
    with _shown(task):
        for item in items:
            yield item
            if _display.process == os.getpid():
                _display.advance(task)


@contextmanager
def _shown(task: _Task) -> Iterator[None]:
    if _display.process != os.getpid():
        yield
        return
    _display.enter(task)
    try:
        yield
    finally:
        _display.leave(task)
