"""What the user must fix, as exceptions; what a workbook got wrong is a result, never an exception.

XlcheckError
├── UsageError              arguments, paths: exit 2
│   ├── RubricError         a rubric file, with line and key
│   ├── VerdictError        a verdict file, with item and line
│   ├── OverrideError       a file of overrides, with line and key
│   └── BindingError        a binding file
├── SubmissionError         the submission cannot be graded: exit 3
│   └── WorkerLostError     its worker process overran a limit or died
├── WithheldError           a source that must not be seen yet: exit 3
├── EngineError             an engine broke where no other could speak: exit 5
└── WorkerBrokeError        a fault of xlcheck inside a worker process: exit 5
"""

from __future__ import annotations

import re

_ENDLESS = re.compile(r"\S{301,}")


class XlcheckError(Exception):
    """Base of all errors raised on purpose; its text is one sentence for the user.

    Words of more than 300 characters, which only a file's fault makes, are shortened in it.
    """

    exit_code = 5

    def __init__(self, message: str) -> None:
        super().__init__(_ENDLESS.sub(lambda word: f"{word[0][:200]}…{word[0][-60:]}", shown(message)))


def shown(name: str) -> str:
    """Return a file's name, or a sentence with one, as text that can be written, odd bytes spelled out."""
    return name.encode("utf-8", "backslashreplace").decode()


class UsageError(XlcheckError):
    """An argument, path or file of the grader's own cannot be used."""

    exit_code = 2


class RubricError(UsageError):
    """A rubric file is not valid; the text names file, line and key."""


class VerdictError(UsageError):
    """A verdict file is not valid; the text names file, item and line."""


class OverrideError(UsageError):
    """A file of overrides is not valid; the text names file, line and key."""


class BindingError(UsageError):
    """A binding file is not valid; the text names file, role and cell."""


class SubmissionError(XlcheckError):
    """The submission cannot be opened or exceeds the limits."""

    exit_code = 3


class WithheldError(XlcheckError):
    """A source was asked for that was published after the cutoff, or whose date is not known."""

    exit_code = 3


class EngineError(XlcheckError):
    """A recalculation engine failed in a way that no `Unsolved` cell can express."""

    exit_code = 5


class WorkerLostError(SubmissionError):
    """A worker process overran a limit or died; the text says which, and names no file."""

    def __init__(self, message: str, killed_by: int | None = None) -> None:
        super().__init__(message)
        self.killed_by = killed_by
        """Signal that ended the worker from outside; None where a limit did."""


class WorkerBrokeError(XlcheckError):
    """The work in a worker process raised an error that is no user's: a fault of xlcheck."""
