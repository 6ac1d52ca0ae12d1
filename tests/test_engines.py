"""The seam: three engines behind one protocol, and all that they may say or raise mapped."""

import cellrune
import formualizer
import pytest
from handmade import area, ref

from xlcheck import engines
from xlcheck.cells import CellError, CellRef
from xlcheck.engines import BLOCKED, ENGINES, Clock, Unsolved, engine, is_panic
from xlcheck.engines import cellrune as primary
from xlcheck.engines import formualizer as second
from xlcheck.engines import formulas as third
from xlcheck.engines.fake import FakeEngine
from xlcheck.engines.package import Draft, Formula, read_package, write_package
from xlcheck.errors import EngineError, UsageError
from xlcheck.workbook import DefinedName

CELLS = {
    (1, 1): 2.0,
    (2, 1): Formula("=A1*3"),
    (3, 1): Formula("=A2+1"),
    (4, 1): "it's <text> & \x0b _x0041_",
    (5, 1): Formula('=A4&"!"'),
    (6, 1): True,
    (7, 1): Formula("=IF(A6,1,2)"),
    (8, 1): CellError(error="#N/A"),
    (9, 1): Formula("=A8+1"),
    (10, 1): Formula("=1/0"),
    (11, 1): "",
    (12, 1): Formula('=A11=""'),
}
PACKAGE = write_package(Draft({"M": CELLS}))
EXPECTED = {
    ref("A2"): 6.0,
    ref("A3"): 7.0,
    ref("A5"): "it's <text> & \x0b _x0041_!",
    ref("A7"): 1.0,
    ref("A9"): CellError(error="#N/A"),
    ref("A10"): CellError(error="#DIV/0!"),
    ref("A12"): True,
}


@pytest.mark.parametrize("name", ENGINES)
def test_every_engine_calculates_the_same_simple_book(name):
    values = engine(name).open(PACKAGE, Clock()).recalculate()
    assert {one: values[one] for one in EXPECTED} == EXPECTED


@pytest.mark.parametrize("name", ENGINES)
def test_every_engine_answers_what_if_and_stays_as_it_was(name):
    session = engine(name).open(PACKAGE, Clock())
    assert session.what_if({ref("A1"): 10.0}, [ref("A3")]) == {ref("A3"): 31.0}
    assert session.what_if({ref("A2"): 10.0}, [ref("A3")]) == {ref("A3"): 11.0}
    assert session.what_if({}, [ref("A3"), ref("A1")]) == {ref("A3"): 7.0, ref("A1"): 2.0}


@pytest.mark.parametrize("name", ["cellrune", "formualizer"])
def test_clock_is_pinned(name):
    package = write_package(Draft({"M": {(1, 1): Formula("=TODAY()"), (2, 1): Formula("=NOW()")}}))
    values = engine(name).open(package, Clock(45000.0, 45000.25)).recalculate()
    assert values[ref("A1")] == 45000.0
    assert values[ref("A2")] == pytest.approx(45000.25, abs=1e-6)


@pytest.mark.parametrize("name", ENGINES)
def test_clock_that_is_not_pinned_is_unsolved(name):
    package = write_package(Draft({"M": {(1, 1): Formula("=TODAY()")}}))
    assert isinstance(engine(name).open(package, Clock()).recalculate()[ref("A1")], Unsolved)


@pytest.mark.parametrize("name", ENGINES)
def test_what_an_engine_does_not_know_is_unsolved(name):
    cells = {(1, 1): Formula("=NOSUCHFUNCTION(1)"), (2, 1): Formula("=1+"), (3, 1): Formula("=5")}
    values = engine(name).open(write_package(Draft({"M": cells})), Clock()).recalculate()
    assert isinstance(values[ref("A1")], Unsolved)
    assert isinstance(values[ref("A2")], Unsolved)
    assert values[ref("A3")] == 5.0


@pytest.mark.parametrize("name", ENGINES)
def test_circular_references_are_unsolved(name):
    cells = {(1, 1): Formula("=A2+1"), (2, 1): Formula("=A1*2"), (3, 1): Formula("=A1")}
    values = engine(name).open(write_package(Draft({"M": cells})), Clock()).recalculate()
    assert isinstance(values[ref("A1")], Unsolved)
    assert not isinstance(values[ref("A3")], float)


def test_one_bad_formula_does_not_spoil_the_second_opinion():
    cells = {(1, 1): Formula("=[1]X!A1"), (2, 1): Formula("=NOSUCHNAME"), (3, 1): Formula("=2*3")}
    values = second.ENGINE.open(write_package(Draft({"M": cells})), Clock()).recalculate()
    assert values[ref("A3")] == 6.0
    assert isinstance(values[ref("A1")], Unsolved)


def test_unknown_engine_is_refused_with_the_choices():
    with pytest.raises(UsageError, match="cellrune, formualizer, formulas"):
        engine("excel")


def test_every_issue_code_of_the_primary_engine_is_mapped():
    codes = {
        "missing_formula_text parse_error unsupported_function unsupported_name unsupported_sheet_range "
        "unsupported_structured_reference unsupported_expression resource_limit_exceeded volatile_input_missing "
        "circular_reference blocked_by_upstream"
    }
    assert set(primary.ISSUES) == {f"calculation.{code}" for text in codes for code in text.split()}
    for code in primary.ISSUES:
        assert primary.issue(code, "detail", "message").kind in engines.UnsolvedKind.__args__


def test_a_code_of_a_later_version_is_an_engine_failure():
    assert primary.issue("calculation.something_new", None, "message").kind == "engine_failure"


def test_blocked_cells_say_that_they_are_consequences():
    assert primary.issue("calculation.blocked_by_upstream", None, "message").detail.startswith(BLOCKED)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"kind": "blank"}, None),
        ({"kind": "number", "value": 1.5}, 1.5),
        ({"kind": "text", "value": "x"}, "x"),
        ({"kind": "logical", "value": True}, True),
        ({"kind": "error", "value": "#NUM!"}, CellError(error="#NUM!")),
    ],
)
def test_values_of_the_primary_engine(given, expected):
    assert primary.scalar(given) == expected


def test_value_that_the_primary_engine_cannot_export_is_unsolved():
    assert primary.scalar({"kind": "unsupported"}).kind == "engine_failure"


def test_every_error_of_the_primary_engine_becomes_an_engine_error():
    assert {name for name in dir(cellrune) if name.endswith("Error")} == {"CellRuneError"}
    with pytest.raises(EngineError, match="cellrune"):
        primary.ENGINE.open(b"no package", Clock())


def test_every_exception_of_the_second_engine_becomes_an_engine_error_or_unsolved():
    exported = [kind for name in dir(formualizer) if isinstance(kind := getattr(formualizer, name), type)]
    raised = [kind for kind in exported if issubclass(kind, BaseException)]
    assert len(raised) >= 10
    for kind in raised:
        with pytest.raises(EngineError, match=kind.__name__), second.engine_errors():
            raise kind("as the library raises it")


def test_interrupts_pass_through_the_second_engine():
    with pytest.raises(KeyboardInterrupt), second.engine_errors():
        raise KeyboardInterrupt


def test_every_error_kind_of_the_second_engine_is_mapped():
    flags = {name.removeprefix("is_") for name in dir(formualizer.ExcelError) if name.startswith("is_")}
    assert {kind.lower() for kind in second.ERRORS} == flags
    assert second.excel_error("Div", "") == CellError(error="#DIV/0!")
    assert second.excel_error("SomethingNew", "").kind == "engine_failure"


def test_every_exception_of_the_third_engine_is_unsolved():
    import formulas.errors

    kinds = [kind for name in dir(formulas.errors) if isinstance(kind := getattr(formulas.errors, name), type)]
    for kind in [kind for kind in kinds if issubclass(kind, BaseException)]:
        assert third.failure(kind("as the library raises it")).kind == "unsupported_function"
    assert third.failure(NotImplementedError()).kind == "unsupported_function"
    assert third.failure(ZeroDivisionError()).kind == "engine_failure"


def test_a_panic_is_known_by_its_name():
    panic = type("PanicException", (BaseException,), {})
    assert is_panic(panic("index out of bounds"))
    assert not is_panic(KeyboardInterrupt())


def test_package_is_read_back_as_it_was_written():
    cells = {**CELLS, (20, 3): Formula('=A1:A2&"<&>"', area("C20:C21"), dynamic=True)}
    cells |= {(30, 3): Formula("=A1:A2", area("C30:C31")), (30, 5): Formula("=SUM(A1:A2)", area("E30:E30"))}
    names = [DefinedName("rate", None, '"5%"&M!$A$1'), DefinedName("own", "It's", "'It''s'!$A$1")]
    draft = Draft({"M": cells, "It's": {(1, 1): 1e-300}}, names, date1904=True)
    again = read_package(write_package(draft))
    assert again.sheets == draft.sheets
    assert list(again.names) == names
    assert again.date1904


NA = CellError(error="#N/A")
FILLED = {
    "=A1+B1": [[6.0, 6.0, 6.0]] * 3,
    "=A1:B1*2": [[2.0, 10.0, NA]] * 3,
    "=A1:A2*2": [[2.0, 2.0, 2.0], [4.0, 4.0, 4.0], [NA, NA, NA]],
    "=A1:B2+0": [[1.0, 5.0, NA], [2.0, 7.0, NA], [NA, NA, NA]],
    "=1/0": [[CellError(error="#DIV/0!")] * 3] * 3,
}
"""Formulas entered over three rows and three columns, with what Excel and LibreOffice show."""


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize("formula", FILLED)
def test_array_formula_spreads_one_row_column_or_value_over_its_range(formula, name):
    cells = {(1, 1): 1.0, (1, 2): 5.0, (2, 1): 2.0, (2, 2): 7.0, (1, 6): Formula(formula, area("F1:H3"))}
    session = engine(name).open(write_package(Draft({"M": cells}), name), Clock())
    found = session.what_if({}, list(area("F1:H3").cells()))
    assert list(found.values()) == [value for row in FILLED[formula] for value in row]


@pytest.mark.parametrize("name", ["formualizer", "formulas"])
def test_array_of_an_unknown_function_is_unsolved_in_every_cell(name):
    cells = {(1, 1): Formula("=NOSUCHFUNCTION(1)", area("A1:A2"), dynamic=True)}
    found = engine(name).open(write_package(Draft({"M": cells})), Clock()).what_if({}, [ref("A2")])
    assert isinstance(found[ref("A2")], Unsolved)


def test_fake_engine_answers_from_its_mapping():
    session = FakeEngine({ref("A1"): 5.0}).open(b"", Clock())
    assert session.recalculate() == {ref("A1"): 5.0}
    assert session.what_if({ref("B1"): 1.0}, [ref("A1"), ref("B1"), CellRef("M", 9, 9)]) == {
        ref("A1"): 5.0,
        ref("B1"): 1.0,
        CellRef("M", 9, 9): None,
    }
