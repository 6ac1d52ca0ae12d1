"""Memos built to cost a grader its time: read in moments, or left unread with the reason."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from xlcheck import memo
from xlcheck.memo import read_memo, sentences

SECONDS = 3.0
"""Far above what these take, far below what they took."""


def test_a_word_table_cell_that_says_it_spans_two_milliard_columns_is_read_once(tmp_path: Path):
    docx = pytest.importorskip("docx")
    document = docx.Document()
    table = document.add_table(rows=1, cols=2)
    table.rows[0].cells[0].text, table.rows[0].cells[1].text = "WACC", "8.4%"
    table._tbl.tr_lst[0].tc_lst[0].grid_span = 2_000_000_000
    document.save(str(tmp_path / "wide.docx"))
    begun = time.process_time()
    assert read_memo(tmp_path / "wide.docx").texts == ("WACC | 8.4%",)
    assert time.process_time() - begun < SECONDS


def test_a_word_file_of_endless_paragraphs_is_left_unread(tmp_path: Path, monkeypatch):
    docx = pytest.importorskip("docx")
    monkeypatch.setattr(memo, "MAX_PARAGRAPHS", 3)
    document = docx.Document()
    for _ in range(4):
        document.add_paragraph("Growth is steady.")
    document.save(str(tmp_path / "long.docx"))
    found = read_memo(tmp_path / "long.docx")
    assert found.texts == ()
    assert found.unread == "long.docx: it has more than 3 paragraphs; fewer are read"


def test_a_memo_of_nothing_but_line_ends_is_split_in_moments():
    begun = time.process_time()
    assert [part.strip() for part in sentences("\n" * 200_000 + "WACC is 9 %." + "\n " * 200_000)] == ["WACC is 9 %."]
    assert time.process_time() - begun < SECONDS


def test_wrapped_lines_are_joined_and_bullets_rows_and_blank_lines_are_not():
    text = "Growth is\nsteady\n  \nas before\n - one\n2) two\n|a|b|\n# Head\nrest"
    found = [part.strip() for part in sentences(text)]
    assert found == ["Growth is steady", "as before", "- one", "2) two", "|a|b|", "# Head rest"]


@pytest.mark.skipif(os.name != "posix", reason="names of bytes are POSIX's")
def test_a_memo_whose_name_is_no_text_is_read_under_one_that_is(tmp_path: Path):
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/memo\xff.md"))
    path.write_text("WACC is 9 %.")
    assert read_memo(path) == memo.Memo("memo\\udcff.md", ("WACC is 9 %.",))
