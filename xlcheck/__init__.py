"""xlcheck: recompute, check and score valuation workbooks.

The public names are imported on first use, so that ``import xlcheck`` and the command line start at once.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from xlcheck.pipeline import audit, grade, locate
    from xlcheck.recompute import recompute
    from xlcheck.report.document import Report
    from xlcheck.workbook import load

    __version__: str

__all__ = ["Report", "__version__", "audit", "grade", "load", "locate", "recompute"]

_HOMES = {
    "Report": "xlcheck.report.document",
    "audit": "xlcheck.pipeline",
    "grade": "xlcheck.pipeline",
    "load": "xlcheck.workbook",
    "locate": "xlcheck.pipeline",
    "recompute": "xlcheck.recompute",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - each public name has its own type, declared above
    if name == "__version__":
        from importlib.metadata import version

        return version("xlcheck")
    if name not in _HOMES:
        raise AttributeError(f"module 'xlcheck' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)


class _Package(ModuleType):
    """Keeps ``xlcheck.recompute`` the function: importing the module of that name would put itself there."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name == "recompute" and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
