"""The page in a browser: silent, offline, and working when clicked."""

from functools import cache
from pathlib import Path

import pytest
import sample_reports as sample
from browser import Visit, chromium
from openpyxl import Workbook, load_workbook

from xlcheck.pipeline import audit_with_papers, grade_with_papers
from xlcheck.report.html import report_html, report_page
from xlcheck.verdicts import Quote

pytestmark = pytest.mark.slow

TASK = Path(__file__).parents[1] / "fixtures" / "sic-epitaxy-dcf"
ANSWERS = ("reference", "flawed", "growth-above-wacc", "provisional")


@cache
def page_of(answer, language="en"):
    """Return the page of a bundled answer; ``provisional`` is the reference without a judge's verdicts."""
    folder = TASK / ("reference" if answer == "provisional" else answer)
    verdicts = None if answer == "provisional" else folder / "verdicts.json"
    report, paper = grade_with_papers(folder, "sic-epitaxy-dcf", verdicts)[:2]
    return report_page(report, paper, language)


@pytest.fixture(scope="module")
def browser():
    with chromium() as running:
        yield running


@pytest.fixture
def visit(browser, tmp_path):
    """Open a page given as text."""
    opened = []

    def open_page(text, width=1440):
        path = tmp_path / f"report-{len(opened)}.html"
        path.write_text(text, encoding="utf-8")
        opened.append(Visit(browser, path, width))
        return opened[-1]

    yield open_page
    for one in opened:
        one.page.close()


@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("width", [1440, 390])
def test_page_is_silent_offline_and_no_wider_than_the_window(visit, answer, width):
    seen = visit(page_of(answer), width)
    broken = seen.page.evaluate(
        "[...document.querySelectorAll('a[href]')].filter(a => !document.getElementById(a.hash.slice(1))).length"
    )
    assert broken == 0
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
    for link in seen.page.locator("nav a").all():
        link.click()
    assert seen.is_quiet(), (seen.complaints, seen.requests)


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ("reference", "100 / 100"),
        ("flawed", "77.5 to 82.5 / 100"),
        ("growth-above-wacc", "40 / 100"),
        ("provisional", "17 to 100 / 100"),
    ],
)
def test_headline_is_the_first_thing_read(visit, answer, shown):
    page = visit(page_of(answer)).page
    assert page.locator(".score").inner_text() == shown
    assert page.locator(".score").bounding_box()["y"] < 300


def test_click_on_the_cell_of_a_finding_leads_to_its_formula_and_precedents(visit):
    """DCF!C30 of the flawed answer: its formula as openpyxl reads it, and the five items of the bridge outlined."""
    formula = load_workbook(TASK / "flawed" / "model.xlsx")["DCF"]["C30"].value
    seen = visit(page_of("flawed"))
    page = seen.page
    page.locator("#lost-P17 a.cell").first.click()
    panel = page.locator("#panel")
    assert panel.is_visible()
    assert panel.locator("[data-part=cell]").inner_text() == "DCF!C30"
    assert panel.locator("[data-part=formula]").inner_text() == formula
    assert panel.locator("[data-part=role]").inner_text() == "equity value"
    outlined = {cell.get_attribute("id").partition("-")[2] for cell in page.locator(".grid .read").all()}
    assert outlined == {"C19", "C25", "C26", "C27", "C28", "C29"}
    panel.locator("[data-part=reads] a", has_text="DCF!C28").click()
    assert panel.locator("[data-part=cell]").inner_text() == "DCF!C28"
    page.keyboard.press("Escape")
    assert not panel.is_visible()
    assert page.locator(".grid .read").count() == 0
    assert seen.is_quiet(), seen.complaints


def test_click_on_a_value_shows_it_and_a_link_opens_a_folded_sheet(visit):
    page = visit(page_of("flawed")).page
    folded = page.locator("details:has(> summary:text-is('WACC'))")
    assert folded.get_attribute("open") is None
    page.locator(".glance a.cell", has_text="WACC!C23").click()
    assert folded.get_attribute("open") is not None
    assert page.locator("#panel [data-part=value]").inner_text() == "9.96%"
    page.locator("#panel button").click()
    page.locator(".grid td", has_text="Weight of debt").first.click()
    assert page.locator("#panel [data-part=formula]").inner_text() == "typed in"


def test_print_leaves_out_what_only_a_screen_needs_and_unfolds_the_sheets(visit, tmp_path):
    from pypdf import PdfReader

    page = visit(page_of("flawed")).page
    page.emulate_media(media="print")
    assert not page.locator("nav").is_visible()
    page.pdf(path=tmp_path / "report.pdf", format="A4")
    printed = " ".join(sheet.extract_text() for sheet in PdfReader(tmp_path / "report.pdf").pages)
    assert "Unlevered beta of peers" in printed, "a sheet that is folded on the screen is printed"


def test_chinese_page_works_alike(visit):
    seen = visit(page_of("flawed", "zh"))
    seen.page.locator("#lost-P17 a.cell").first.click()
    assert seen.page.locator("#panel [data-part=role]").inner_text() == "股权价值"
    assert seen.is_quiet(), seen.complaints


# -- hostile text ----------------------------------------------------------------------------------------------------

SCRIPT = "<script>window.hit=1</script><img src=x onerror='window.hit=2'>"
HANDLER = '"onmouseover="window.hit=3" style="position:fixed'
LINK = '=HYPERLINK("http://example.invalid/","click")'
LONG = "Cash and cash equivalents " + "y" * 10_000
ARABIC = "القيمة \u202eevil\u202c"


def hostile_workbook(path):
    """A small valuation whose sheet names, labels and comments hold markup, formulas as text and bidi controls."""
    book = Workbook()
    sheet = book.active
    sheet.title = "<b onclick=x>'&"
    rows = [
        (f"WACC {HANDLER}", 0.09), (f"Terminal growth {SCRIPT}", 0.02), (f"FCFF {ARABIC}", None),
        ("Enterprise value", "=SUM(B13:F13)+F3*(1+B2)/(B1-B2)/(1+B1)^5"), ("Debt " + SCRIPT, 100), (LONG, 40),
        ("Equity value", "=B4+B5+B6"), ("Diluted shares", 50), ("Value per share", "=B7/B8"), (ARABIC, "x"),
        ("'" + LINK, 1), ("Discount factor", None), ("PV of FCFF", None),
    ]  # fmt: skip
    for row, (label, value) in enumerate(rows, 1):
        sheet.cell(row, 1, label)
        sheet.cell(row, 2, value)
    for column in range(2, 7):
        sheet.cell(3, column, 50 + column)
        sheet.cell(12, column, f"=1/(1+$B$1)^{column - 1}")
        letter = "ABCDEF"[column - 1]
        sheet.cell(13, column, f"={letter}3*{letter}12")
    sheet["A14"].value = LINK
    sheet["A14"].data_type = "s"
    book.save(path)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    path = tmp_path_factory.mktemp("hostile") / "<img src=x>.xlsx"
    hostile_workbook(path)
    report, paper = audit_with_papers(path, "generic-dcf")[:2]
    return {language: report_page(report, paper, language) for language in ("en", "zh")}


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("width", [1440, 390])
def test_hostile_text_is_inert_and_legible(visit, hostile, language, width):
    seen = visit(hostile[language], width)
    page = seen.page
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    cells = page.locator(".grid td")
    assert cells.count() > 30
    for at in range(cells.count()):
        cells.nth(at).dispatch_event("mouseover")
        cells.nth(at).dispatch_event("click")
    assert page.evaluate("window.hit") is None
    assert page.evaluate("document.scripts.length") == 1
    assert page.locator("img, iframe, form, a:not([href^='#'])").count() == 0
    assert (
        page.evaluate(
            "[...document.querySelectorAll('*')].flatMap(one => one.getAttributeNames())"
            ".filter(name => name.startsWith('on') || name === 'style').length"
        )
        == 0
    )
    text = page.locator("body").inner_text()
    assert "<script>window.hit=1</script>" in text
    assert "\u202e" not in text
    assert "y" * 600 not in text
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert seen.is_quiet(), (seen.complaints, seen.requests)


def test_quotes_and_reasons_from_a_hostile_memo_are_inert(visit):
    quotes = (Quote(text=f"{SCRIPT} {ARABIC} {LINK}", where=f"memo {HANDLER}.md", found="exact"),)
    rulings = [
        ruling.model_copy(update={"quotes": quotes, "reason": SCRIPT, "verdict": "fail"})
        if ruling.item == "J01"
        else ruling
        for ruling in sample.verdicts()
    ]
    seen = visit(report_html(sample.report(list(sample.good().results), rulings, title=SCRIPT)))
    shown = seen.page.locator("#lost-J01").inner_text()
    assert shown.count("<script>window.hit=1</script>") == 2
    assert LINK in shown
    assert "\u202e" not in shown
    seen.page.locator("#lost-J01 blockquote").hover()
    assert seen.page.evaluate("window.hit") is None
    assert seen.page.locator("img").count() == 0
    assert seen.is_quiet(), seen.complaints


def test_hostile_workbook_is_understood_all_the_same(visit, hostile):
    """The page is no empty shell: the added debt is named, and its formula can be read."""
    page = visit(hostile["en"]).page
    assert "bridge.signs" in page.locator("body").inner_text()
    page.locator(".glance a.cell").first.click()
    assert page.locator("#panel [data-part=formula]").inner_text() == "=B7/B8"
