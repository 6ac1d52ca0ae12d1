"""What-if: the model runs with cells replaced and stays as it was."""

import pytest
from handmade import array, book, data_table, ref

from xlcheck.engines import Unsolved
from xlcheck.errors import UsageError
from xlcheck.recompute import recompute

CHAIN = {"A1": 2, "A2": "=A1*3", "A3": "=A2+1"}


def test_input_is_replaced_and_put_back():
    found = recompute(book(CHAIN))
    assert found.what_if({"M!A1": 10.0}, ["M!A3"]) == {"M!A3": 31.0}
    assert found.what_if({}, ["M!A3"]) == {"M!A3": 7.0}


def test_formula_cell_can_be_overridden_and_comes_back():
    found = recompute(book(CHAIN))
    assert found.what_if({"M!A2": 100.0}, ["M!A3"]) == {"M!A3": 101.0}
    assert found.what_if({"M!A1": 3.0}, ["M!A3"]) == {"M!A3": 10.0}


def test_same_question_twice_gives_the_same_answer():
    found = recompute(book(CHAIN))
    assert found.what_if({"M!A1": 10.0}, ["M!A2"]) == found.what_if({"M!A1": 10.0}, ["M!A2"])


def test_outputs_may_be_constants_and_changed_cells():
    found = recompute(book(CHAIN))
    assert found.what_if({"M!A1": 10.0}, ["M!A1", "M!Z9"]) == {"M!A1": 10.0, "M!Z9": None}


def test_blank_text_and_logical_inputs():
    found = recompute(book({"A1": 1, "A2": '=IF(A1="yes",1,IF(A1=TRUE,2,IF(A1="",3,4)))'}))
    assert [found.what_if({"M!A1": value}, ["M!A2"])["M!A2"] for value in ("yes", True, None, 7.0)] == [1, 2, 3, 4]


def test_array_cell_can_be_overridden_and_comes_back():
    cells = {"A1": 1, "A2": 2, "B1": array("B1", "=A1:A2*10", "B1:B2"), "C1": "=SUM(B1:B2)"}
    found = recompute(book(cells))
    assert found.what_if({"M!B1": 100.0}, ["M!C1"]) == {"M!C1": 120.0}
    assert found.what_if({}, ["M!C1"]) == {"M!C1": 30.0}


def test_array_in_one_cell_can_be_overridden_and_comes_back():
    cells = {"A1": 1, "A2": 2, "B1": array("B1", "=SUM(A1:A2*A1:A2)", "B1:B1"), "C1": "=B1*2"}
    found = recompute(book(cells))
    assert found.what_if({"M!B1": 1.0}, ["M!C1"]) == {"M!C1": 2.0}
    assert found.what_if({}, ["M!C1"]) == {"M!C1": 10.0}
    assert found.what_if({"M!A1": 3.0}, ["M!C1"]) == {"M!C1": 26.0}


def test_data_table_follows_the_change():
    cells = {"A1": 5, "A2": 6, "A3": 1, "C1": "=A1*A2+A3", "D1": 1, "C2": 10, "D2": data_table("D2:D2", "A1", "A2")}
    cells["G1"] = "=D2*2"
    found = recompute(book(cells))
    assert found.what_if({"M!A3": 5.0}, ["M!D2", "M!G1"]) == {"M!D2": 15.0, "M!G1": 30.0}
    assert found.what_if({}, ["M!G1"]) == {"M!G1": 22.0}


def test_loop_settles_anew():
    found = recompute(book({"A1": 100, "A2": "=A1+A3", "A3": "=A2*0.1", "A4": "=A2*2"}, iterate=True))
    assert found.what_if({"M!A1": 200.0}, ["M!A4"])["M!A4"] == pytest.approx(4000 / 9, rel=1e-9)
    assert found.what_if({}, ["M!A4"])["M!A4"] == pytest.approx(2000 / 9, rel=1e-9)


def test_loop_is_cut_by_overriding_one_of_its_cells():
    found = recompute(book({"A1": 100, "A2": "=A1+A3", "A3": "=A2*0.1"}, iterate=True))
    assert found.what_if({"M!A3": 7.0}, ["M!A2"]) == {"M!A2": 107.0}
    assert found.what_if({"M!A2": 50.0}, ["M!A3"]) == {"M!A3": 5.0}


def test_loop_that_no_longer_settles_is_unsolved():
    found = recompute(book({"A1": 0.1, "A2": "=100+A3", "A3": "=A2*A1", "B1": "=A2", "B2": "=A1"}, iterate=True))
    answers = found.what_if({"M!A1": 3.0}, ["M!B1", "M!B2"])
    assert isinstance(answers["M!B1"], Unsolved)
    assert answers["M!B2"] == 3.0


def test_switch_brings_a_guarded_loop_to_life():
    cells = {"A1": 0, "A2": "=IF(A1=0,10,100+A3)", "A3": "=A2*0.1"}
    found = recompute(book(cells, iterate=True))
    assert found.value(ref("A2")) == 10.0
    assert found.what_if({"M!A1": 1.0}, ["M!A2"])["M!A2"] == pytest.approx(1000 / 9, rel=1e-9)


def test_unsolved_cells_stay_unsolved():
    found = recompute(book({"A1": "=NOSUCH(1)", "A2": "=A1+1", "A3": 1}))
    assert isinstance(found.what_if({"M!A3": 2.0}, ["M!A2"])["M!A2"], Unsolved)
    assert found.what_if({"M!A1": 2.0}, ["M!A2"]) == {"M!A2": 3.0}


def test_sheet_names_are_read_in_any_case():
    assert recompute(book(CHAIN)).what_if({"m!A1": 10.0}, ["m!A3"]) == {"m!A3": 31.0}


@pytest.mark.parametrize(("address", "said"), [("Nowhere!A1", "its sheets are M"), ("A1", "names no sheet")])
def test_wrong_address_is_refused_in_one_sentence(address, said):
    with pytest.raises(UsageError, match=said):
        recompute(book(CHAIN)).what_if({address: 1.0}, ["M!A3"])
