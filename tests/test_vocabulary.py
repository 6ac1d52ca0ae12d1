"""A grader's own words for labels reach the locator through the command line."""

from __future__ import annotations

import json
from pathlib import Path

import openpyxl
import pytest

from xlcheck.cli import main


def odd_words(path: Path) -> Path:
    """Write a small invented equity bridge whose growth label is nobody's word."""
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "DCF"
    rows = [
        ("Year", 2026, 2027, 2028),
        ("Free cash flow", 100, 104, 108),
        ("WACC", 0.09),
        ("Evergreen drift", 0.02),
        ("PV of cash flows", "=NPV(B3,B2:D2)"),
        ("Terminal value", "=D2*(1+B4)/(B3-B4)"),
        ("PV of terminal value", "=B6/(1+B3)^3"),
        ("Enterprise value", "=B5+B7"),
        ("Net debt", 200),
        ("Equity value", "=B8-B9"),
        ("Shares outstanding (m)", 10),
        ("Value per share", "=B10/B11"),
        ("Screen print", 95.0),
    ]
    for row in rows:
        sheet.append(row)
    book.save(path)
    return path


def roles(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict:
    assert main(["roles", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)["roles"]


def test_words_of_the_grader_bind_what_the_shipped_words_do_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    workbook = odd_words(tmp_path / "model.xlsx")
    words = tmp_path / "words.yaml"
    words.write_text("current_price: {screen print: 1}\n", encoding="utf-8")
    assert "current_price" not in roles(capsys, str(workbook))
    assert roles(capsys, str(workbook), "--vocabulary", str(words))["current_price"]["cell"] == "DCF!B13"


def test_a_word_for_no_role_is_refused_in_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    workbook = odd_words(tmp_path / "model.xlsx")
    words = tmp_path / "words.yaml"
    words.write_text("hurdle: {screen print: 1}\n", encoding="utf-8")
    assert main(["roles", str(workbook), "--vocabulary", str(words)]) == 2
    assert "'hurdle' is no role" in capsys.readouterr().err
