"""Cell addresses and the comparison of numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, TypeAdapter, ValidationError

from xlcheck.cells import (
    CellError,
    CellRef,
    Frozen,
    RangeRef,
    Scalar,
    Tolerance,
    column_letters,
    column_number,
    is_number,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("DCF!B7", ("DCF", 7, 2)),
        ("'Cash flow'!$AA$10", ("Cash flow", 10, 27)),
        ("'Bob''s'!A1", ("Bob's", 1, 1)),
        ("trailing !XFD1048576", ("trailing ", 1_048_576, 16_384)),
        ("a!b!C3", ("a!b", 3, 3)),
    ],
)
def test_address_is_read_with_and_without_quotes(text: str, expected: tuple[str, int, int]) -> None:
    assert CellRef.parse(text) == expected


@pytest.mark.parametrize("text", ["B7", "!B7", "S!XFE1", "S!A0", "S!A1048577", "S!7B", "S!", "S!A1:B2"])
def test_address_outside_the_grid_or_malformed_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"grid|address|sheet"):
        CellRef.parse(text)


@given(st.integers(1, 16_384))
def test_column_letters_and_numbers_are_inverse(column: int) -> None:
    assert column_number(column_letters(column)) == column


def test_column_letters_at_the_known_corners() -> None:
    assert [column_letters(n) for n in (1, 26, 27, 702, 703, 16_384)] == ["A", "Z", "AA", "ZZ", "AAA", "XFD"]


@given(st.text(min_size=1).filter(lambda s: "'" not in s), st.integers(1, 1_048_576), st.integers(1, 16_384))
def test_address_survives_its_text_form(sheet: str, row: int, column: int) -> None:
    ref = CellRef(sheet, row, column)
    assert CellRef.parse(str(ref)) == ref


def test_range_is_read_normalised_and_knows_its_cells() -> None:
    area = RangeRef.parse("S!C3:A1")
    assert (str(area), area.size) == ("S!A1:C3", 9)
    assert CellRef("S", 2, 2) in area
    assert CellRef("T", 2, 2) not in area
    assert [str(ref) for ref in RangeRef.parse("S!A1:B2").cells()] == ["S!A1", "S!B1", "S!A2", "S!B2"]


def test_addresses_travel_through_json_also_as_keys() -> None:
    class Doc(Frozen):
        at: CellRef
        values: dict[CellRef, float]

    doc = Doc(at=CellRef("My sheet", 7, 2), values={CellRef("S", 1, 1): 2.0})
    assert doc.model_dump_json() == '{"at":"My sheet!B7","values":{"S!A1":2.0}}'
    assert Doc.model_validate_json(doc.model_dump_json()) == doc


def test_error_value_is_not_read_back_as_text() -> None:
    adapter: TypeAdapter[Scalar] = TypeAdapter(Scalar)
    for value in (CellError(error="#REF!"), "#REF!", True, 1.5, None):
        back = adapter.validate_json(adapter.dump_json(value))
        assert back == value
        assert type(back) is type(value)


def test_records_refuse_unknown_fields_and_nan() -> None:
    class Record(Frozen):
        value: float

    for bad in ({"value": float("nan")}, {"value": 1.0, "more": 1}):
        with pytest.raises(ValidationError):
            Record.model_validate(bad)
    assert issubclass(Record, BaseModel)


def test_tolerance_uses_the_scale_of_the_largest_term() -> None:
    tolerance = Tolerance(relative=1e-6)
    assert tolerance.allows(0.0005, 0.0, scale=1000.0)
    assert not tolerance.allows(0.0015, 0.0, scale=1000.0)
    assert Tolerance(relative=0.0, absolute=0.005).allows(23.82, 23.8248)


@pytest.mark.parametrize(("value", "expected"), [(1, True), (0.0, True), (True, False), ("1", False), (None, False)])
def test_numbers_are_told_from_booleans_and_text(value: object, expected: bool) -> None:
    assert is_number(value) is expected
    assert not is_number(float("inf"))
