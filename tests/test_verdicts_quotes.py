"""Quotes are looked up in what was handed in: twenty real ones are found, twenty others are not."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memo_files import pdf

from xlcheck.cells import CellRef, Scalar
from xlcheck.memo import read_memo
from xlcheck.quotes import Passages, displayed, memo_passages, normalised, verify, workbook_passages
from xlcheck.verdicts import Quote, Verdict
from xlcheck.workbook import Book, Cell, Sheet

HANDED_IN = Passages(
    (
        "Fleet capex of 1,250 thousand in 2026, then “steady” growth – at 2.5% a year.\n"
        "Net debt falls to -310 by 2031;\n"
        "the port's fee stays at 9.73 %. The order book 2025-2030 covers eleven hulls.",
        "毛利率 提高至 ３５．５％，资本开支为12.5亿元。管理层预计“稳健增长”。",
        "Der Umsatz steigt auf 1.250,5 Mio. EUR, die WACC beträgt 8,25 %.",
        "| Beta | **1.15** |\n| Terminal growth | 2.0% |",
        "=B5*(1+$C$2)",
        "WACC 9.73% 9.41%",
    ),
    {"DCF!C40": 42.3512, "DCF!C41": 0.09731, "DCF!C42": -310.0},
)
REAL = [
    ("Fleet capex of 1,250 thousand in 2026", "", "exact"),
    ("Fleet capex of 1250 thousand", "", "normalised"),
    ("Fleet capex of 1 250 thousand", "", "normalised"),
    ("capex of 1’250 thousand in 2026", "", "normalised"),
    ('then "steady" growth - at 2.5% a year', "", "normalised"),
    ("then “steady” growth", "", "exact"),
    ("by 2031; the port's fee", "", "normalised"),
    ("the port’s fee stays at 9.73%", "", "normalised"),
    ("falls to \u2212310 by 2031", "", "normalised"),
    ("2025\u20132030 covers", "", "normalised"),
    ("covers eleven hulls", "", "exact"),
    ("毛利率提高至35.5%", "", "normalised"),
    ("资本开支为12.5亿元", "", "exact"),
    ("资本开支为１２．５亿元", "", "normalised"),
    ("管理层预计「稳健增长」", "", "normalised"),
    ("auf 1.250,5 Mio. EUR", "", "exact"),
    ("auf 1250.5 Mio. EUR", "", "normalised"),
    ("die WACC beträgt 8.25%", "", "normalised"),
    ("Beta 1.15", "", "normalised"),
    ("42.35", "DCF!C40", "normalised"),
    ("9.73%", "'DCF'!$C$41", "exact"),
    ("(310)", "DCF!C42", "normalised"),
    ("=B5*(1+$C$2)", "DCF!C6", "exact"),
    ("“Der Umsatz steigt auf 1.250,5 Mio. EUR.”", "", "normalised"),
]
ALTERED = [
    ("Fleet capex of 1,260 thousand in 2026", ""),
    ("Fleet capex of 1,25", ""),
    ("Fleet capex of 12,50 thousand", ""),
    ("Fleet capex of 1,250 thousand in 2027", ""),
    ("then “stable” growth", ""),
    ("falls to 310 by 2031", ""),
    ("310 by 2031", ""),
    ("the port's fee stays at 9.7", ""),
    ("毛利率提高至35.6%", ""),
    ("资本开支为12.5万元", ""),
    ("auf 1.250,6 Mio. EUR", ""),
    ("Beta 1.5", ""),
    ("42.36", "DCF!C40"),
    ("42.35", "DCF!C41"),
    ("310", "DCF!C42"),
    ("=B6*(1+$C$2)", "DCF!C6"),
    ("covers eleven hull", ""),
]
INVENTED = [
    "management guides to a margin of 18%",
    "per the annual report, page 41",
    "公司预计出口翻倍",
    "churn falls",
    "an independent valuer confirms",
    "WACC 8.11%",
    "the regulator has agreed",
    "9.41% 9.73%",
    "ferries",
    "8",
    "thousand\n\u241e\n毛利率",
]


def _found(text: str, where: str = "") -> str | None:
    verdict = Verdict(item="J01", verdict="pass", quotes=(Quote(text=text, where=where),))
    return verify([verdict], HANDED_IN)[0].quotes[0].found


@pytest.mark.parametrize(("text", "where", "how"), REAL)
def test_real_quotes_are_found_in_any_typography(text: str, where: str, how: str) -> None:
    assert _found(text, where) == how


@pytest.mark.parametrize(("text", "where"), ALTERED)
def test_a_quote_altered_by_a_digit_a_sign_or_a_word_is_not_found(text: str, where: str) -> None:
    assert _found(text, where) == "not_found"


@pytest.mark.parametrize("text", INVENTED)
def test_an_invented_quote_is_not_found(text: str) -> None:
    assert _found(text) == "not_found"


@pytest.mark.parametrize(
    ("value", "number_format", "shown"),
    [
        (1234.5, "#,##0", "1,235"),
        (0.09731, "0.0%", "9.7%"),
        (-2.25, "0.0;(0.0)", "(2.3)"),
        (-2.25, "0.0", "-2.3"),
        (-0.04, "0.0", "0.0"),
        (1250.0, "[$€-407] #,##0.00", "€ 1,250.00"),
        (46112.0, 'yyyy"年"m"月"', "2026-03-31"),
        (7.0, '[Red]"no. "0;0', "no. 7"),
        (1250000.0, "#,##0.0,", "1,250.0"),
        (46112.0, "yyyy-mm-dd", "2026-03-31"),
        (3.5, "General", "3.5"),
        (12.0, '0.0"x"', "12.0x"),
        (True, "General", "TRUE"),
        ("north", "@", "north"),
        (None, "0.0", ""),
    ],
)
def test_values_are_displayed_by_their_number_format(value: object, number_format: str, shown: str) -> None:
    assert displayed(value, number_format) == shown  # type: ignore[arg-type]


FORMATS = [
    "General",
    "0.0000000000000000%",
    "#,##0.00",
    "0,,",
    "yyyy",
    "[Red]0.0;(0)",
    '"EUR" 0',
    "@",
    "# ?/?",
    "0.00E+00",
]


@given(value=st.floats(allow_nan=False, allow_infinity=False), number_format=st.sampled_from(FORMATS))
def test_any_number_can_be_displayed(value: float, number_format: str) -> None:
    assert displayed(value, number_format)


@given(text=st.text(alphabet=st.sampled_from("0123456789.,-()% ab年"), max_size=40), value=st.floats(-1e30, 1e30))
def test_any_quote_can_be_looked_up(text: str, value: float) -> None:
    """And a text that was handed in whole is found."""
    quote = Quote(text=text, where="A!B2")
    verdict = verify([Verdict(item="J", quotes=(quote,))], Passages((text, "other"), {"A!B2": value}))[0]
    assert verdict.quotes[0].found == ("exact" if text.strip() else "not_found")


def test_a_list_of_years_is_no_number_with_thousands_separators() -> None:
    assert normalised("2025 300 hulls") == "2025 300 hulls"


def _workbook() -> Passages:
    """A sheet whose one formula is stored stale (41.00) and recomputes to 42.3512."""
    cells = [
        Cell(CellRef("DCF", 1, 1), None, "Value per share"),
        Cell(CellRef("DCF", 1, 2), "=B7/B8", 41.0, "0.00"),
        Cell(CellRef("DCF", 2, 1), None, "WACC"),
        Cell(CellRef("DCF", 2, 2), None, 0.09731, "0.00%"),
        Cell(CellRef("DCF", 3, 1), None, "Balance date"),
        Cell(CellRef("DCF", 3, 2), None, 46112.0, "dd/mm/yyyy"),
    ]
    sheet = Sheet(
        "DCF", "visible", {(cell.ref.row, cell.ref.column): cell for cell in cells}, comments={(2, 2): "peers"}
    )
    book = Book("ferry.xlsx", "0" * 64, (sheet,))
    values = {CellRef("DCF", 1, 2): 42.3512}

    class Recomputed:
        """Only what quoting asks of a recalculation."""

        @staticmethod
        def value(ref: CellRef) -> Scalar:
            cell = book.get(ref)
            return values.get(ref, cell.stored if cell else None)

    return workbook_passages(book, Recomputed())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "where", "how"),
    [
        ("Value per share 42.35", "", "exact"),
        ("42.351", "DCF!B1", "normalised"),
        ("41.00", "DCF!B1", "not_found"),
        ("WACC 9.73%", "", "exact"),
        ("0.09731", "", "exact"),
        ("=B7/B8", "", "exact"),
        ("peers", "", "exact"),
        ("31.03.2026", "", "exact"),
        ("2026-03-31", "", "exact"),
        ("31.03.2027", "", "not_found"),
        ("WACC 42.35", "", "not_found"),
    ],
)
def test_workbooks_are_quoted_by_recomputed_and_displayed_values(text: str, where: str, how: str) -> None:
    verdict = verify([Verdict(item="J", quotes=(Quote(text=text, where=where),))], _workbook())[0]
    assert verdict.quotes[0].found == how


def test_memo_text_is_read_by_suffix(tmp_path: Path) -> None:
    (tmp_path / "memo.md").write_text("Growth is argued.", encoding="utf-8")
    (tmp_path / "old.txt").write_bytes("毛利率提高".encode("gb18030"))
    (tmp_path / "picture.png").write_bytes(b"\x89PNG")
    passages = memo_passages(map(read_memo, sorted(tmp_path.iterdir())))
    assert passages.texts == ("Growth is argued.", "毛利率提高")


def test_a_memo_that_cannot_be_read_leaves_quotes_open_not_refuted(tmp_path: Path) -> None:
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.7 cut off")
    (tmp_path / "broken.docx").write_bytes(b"PK\x03\x04 cut off")
    passages = memo_passages(map(read_memo, sorted(tmp_path.iterdir()))) + Passages(("Growth is argued.",))
    assert [sentence.partition(":")[0] for sentence in passages.unread] == ["broken.docx", "broken.pdf"]
    quotes = (Quote(text="Growth is argued"), Quote(text="perhaps in the PDF"))
    verdict = verify([Verdict(item="J01", verdict="pass", quotes=quotes)], passages)[0]
    assert [quote.found for quote in verdict.quotes] == ["exact", None]


def test_word_memos_are_read_with_their_tables(tmp_path: Path) -> None:
    docx = pytest.importorskip("docx")
    document = docx.Document()
    document.add_paragraph("Fleet growth is argued from berth capacity.")
    cells = document.add_table(rows=1, cols=2).rows[0].cells
    cells[0].text, cells[1].text = "WACC", "8.4%"
    document.save(str(tmp_path / "memo.docx"))
    passages = memo_passages([read_memo(tmp_path / "memo.docx")])
    assert passages.unread == ()
    quotes = (Quote(text="argued from berth capacity"), Quote(text="WACC 8.4%"), Quote(text="WACC 8.5%"))
    verdict = verify([Verdict(item="J01", verdict="pass", quotes=quotes)], passages)[0]
    assert [quote.found for quote in verdict.quotes] == ["exact", "normalised", "not_found"]


def test_pdf_memos_are_read_across_lines_and_hyphens(tmp_path: Path) -> None:
    pytest.importorskip("pypdf")
    (tmp_path / "memo.pdf").write_bytes(pdf(["The fleet is argued from berth capa-", "city and ticket prices."]))
    passages = memo_passages([read_memo(tmp_path / "memo.pdf")])
    assert passages.unread == ()
    quotes = (Quote(text="berth capacity and ticket prices"), Quote(text="berth capacity and fares"))
    verdict = verify([Verdict(item="J01", verdict="pass", quotes=quotes)], passages)[0]
    assert [quote.found for quote in verdict.quotes] == ["exact", "not_found"]


def test_half_characters_of_a_pdf_are_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pypdf = pytest.importorskip("pypdf")
    monkeypatch.setattr(pypdf.PageObject, "extract_text", lambda _: "Kilns \ud83d last")
    (tmp_path / "memo.pdf").write_bytes(pdf(["x"]))
    assert read_memo(tmp_path / "memo.pdf").texts[0] == "Kilns ? last"


def test_text_of_another_encoding_is_read(tmp_path: Path) -> None:
    (tmp_path / "memo.txt").write_bytes("Growth is argued.".encode("utf-16"))
    assert memo_passages([read_memo(tmp_path / "memo.txt")]).texts == ("Growth is argued.",)
