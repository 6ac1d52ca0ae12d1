"""The grader's word on where a role stands, above all that is inferred."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xlcheck.cells import CellRef, RangeRef
from xlcheck.errors import BindingError
from xlcheck.roles import Located, LocatedSeries
from xlcheck.roles.layout import Layout
from xlcheck.roles.vocabulary import SCALAR_ROLES, SERIES_ROLES


@dataclass(frozen=True)
class Given:
    """What a binding file names."""

    scalars: Mapping[str, Located]
    series: Mapping[str, LocatedSeries]


def bound_by_grader(binding: Mapping[str, str], layout: Layout) -> Given:
    """Bind what the grader names; BindingError names the role and the cell that the workbook does not have."""
    scalars: dict[str, Located] = {}
    series: dict[str, LocatedSeries] = {}
    for role, text in binding.items():
        cells = _cells(role, text, layout)
        if role in SCALAR_ROLES:
            value = layout.value(cells[0])
            unit = SCALAR_ROLES[role]
            points = (
                unit == "rate" and value is not None and abs(value) > 1 and role not in ("debt_to_equity", "upside")
            )
            scalars[role] = Located(
                role=role, cell=cells[0], value=value, unit=unit, factor=0.01 if points else 1.0, confidence=1.0,
                how="binding", evidence=("named by the grader",),
            )  # fmt: skip
        else:
            series[role] = LocatedSeries(
                role=role, cells=cells, values=tuple(layout.value(cell) for cell in cells), unit=SERIES_ROLES[role],
                confidence=1.0, how="binding", evidence=("named by the grader",),
            )  # fmt: skip
    return Given(scalars, series)


def _cells(role: str, text: str, layout: Layout) -> tuple[CellRef, ...]:
    if role not in SCALAR_ROLES and role not in SERIES_ROLES:
        raise BindingError(f"{role!r} is no role; the roles are listed in docs/roles.md")
    try:
        place = RangeRef.parse(text)
    except ValueError as error:
        raise BindingError(f"{role}: {error}") from None
    sheet = layout.book.sheet(place.sheet)
    if sheet is None:
        names = ", ".join(one.name for one in layout.book.sheets)
        raise BindingError(f"{role}: {text}: the workbook has no sheet {place.sheet!r}; its sheets are {names}")
    if place.size > 1 and role not in SERIES_ROLES:
        raise BindingError(f"{role}: {text}: one cell is expected, a range was given")
    return tuple(place._replace(sheet=sheet.name).cells())
