"""What the engine refuses of a hostile model is left unsolved; the rest of the workbook is graded."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest
from handmade import area, ref
from hostile.cases import CASES, Case

from xlcheck.engines import Clock, Unsolved
from xlcheck.engines import cellrune as primary
from xlcheck.engines.package import Draft, Formula, write_package
from xlcheck.intake import check_package
from xlcheck.reading.book import read_book
from xlcheck.recompute import recompute
from xlcheck.workbook import Book, Table


def case_of(name: str) -> Case:
    (case,) = (case for case in CASES if case.name == name)
    return case


def book_of(name: str) -> Book:
    return read_book(check_package(case_of(name).build(), f"{name}.xlsx"))


@pytest.mark.parametrize("name", ["blank-format", "hidden-columns"])
def test_what_a_file_says_again_and_again_is_worked_out_once(name):
    begun = time.process_time()
    assert book_of(name).sheets
    assert time.process_time() - begun < 5  # half a second here; minutes where each is worked out


@pytest.mark.parametrize("name", ["table-header", "table-at-the-edge"])
def test_a_change_that_the_engine_refuses_is_no_end_of_the_run(name):
    recalc = recompute(book_of(name))
    assert any(isinstance(value, Unsolved) for value in recalc.values.values())


def test_a_refused_change_leaves_the_outputs_unsolved_and_the_session_as_it_was():
    cells = {(1, 1): "a", (2, 1): 2.0, (3, 1): Formula("=A2*2")}
    table = Table("T", area("A1:A2"), ("a",), 1, 0)
    session = primary.CellruneSession(write_package(Draft({"M": cells}, tables=(table,))), Clock())
    refused = session.what_if({ref("A1"): 1.0}, [ref("A3")])[ref("A3")]
    assert isinstance(refused, Unsolved)
    assert "header" in (refused.detail or "")
    assert session.what_if({ref("A2"): 5.0}, [ref("A3")]) == {ref("A3"): 10.0}


def test_calls_nested_beyond_any_recursion_are_recomputed_or_left_open():
    assert len(recompute(book_of("nested-lambdas")).values) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="the command line has no worker there")
def test_what_native_code_prints_before_it_gives_up_stays_off_the_terminal(tmp_path):
    book = tmp_path / "swelling.xlsx"
    book.write_bytes(case_of("swelling-text").build())
    told = [sys.executable, "-m", "xlcheck.cli", "recalc", str(book), "--max-memory", "600"]
    run = subprocess.run(told, capture_output=True, text=True, check=False)
    assert run.returncode == 3
    assert run.stderr.startswith(f"xlcheck: {book}: it needed more than 600 MiB of memory")
    assert run.stderr.count("\n") == 1
