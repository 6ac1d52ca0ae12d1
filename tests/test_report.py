"""The report: its document, the terminal summary, the page, and the files it is written to."""

import base64
import hashlib
import json
import re
from decimal import Decimal
from html.parser import HTMLParser

import pytest
import sample_reports as sample

from xlcheck.cells import CellError, CellRef
from xlcheck.checking import BROKEN, Finding
from xlcheck.engines import Unsolved
from xlcheck.errors import UsageError
from xlcheck.report.document import Report
from xlcheck.report.html import report_html
from xlcheck.report.html_words import off
from xlcheck.report.pictures import Step, bars, bridge, bridge_steps
from xlcheck.report.terminal import report_text
from xlcheck.report.words import columns, number, plain, points, quantity
from xlcheck.report.writing import write_new, write_report
from xlcheck.roles import Located

NASTY = "<script>alert(1)</script>\"'onmouseover=x \u202egnp.exe \x1b[31m" + "long " * 2_000


def text_of(page: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


# -- the document ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [sample.good, sample.capped, sample.provisional, sample.audited])
def test_json_reads_back_to_the_same_report(make):
    report = make()
    assert Report.model_validate_json(report.to_json()) == report


def test_json_writes_decimals_as_strings_and_cells_as_text():
    data = json.loads(sample.capped().to_json())
    assert data["score_card"]["low"] == "40"
    assert data["score_card"]["uncapped"] == "88"
    assert data["score_card"]["fatal"] == ["fatal.share-count"]
    assert data["results"][0]["findings"][0]["cell"] == "Bridge!C9"
    assert data["roles"]["wacc"]["cell"] == "WACC!B4"


def test_report_carries_no_clock_host_or_path():
    assert sample.good().to_json() == sample.good().to_json()
    assert not re.search(r"/(home|root|tmp|work)/|20\d\d-\d\d-\d\d", sample.good().to_json())


def test_frame_has_one_row_per_finding_and_one_per_check_without():
    frame = sample.capped().to_frame()
    assert list(frame["check_id"]) == [
        "bridge.equity-identity",
        "wacc.identity",
        "discount.pv-sum",
        "fatal.share-count",
    ]
    assert frame.loc[0, "cell"] == "Bridge!C9"
    assert frame.loc[0, "expected"] == 1906.0
    assert frame.loc[1, "status"] == "pass"


def test_broken_checks_are_told_from_open_ones():
    broken = sample.result("P01", "bridge.equity-identity", "unverifiable", reason=f"{BROKEN}: KeyError: 'x'")
    shy = sample.result("P03", "discount.pv-sum", "unverifiable", reason="a loop")
    assert sample.report([broken, shy], None).broken() == [("bridge.equity-identity", f"{BROKEN}: KeyError: 'x'")]


# -- the terminal ----------------------------------------------------------------------------------------------------


def test_terminal_names_score_and_each_lost_point():
    shown = report_text(sample.good())
    assert "Score 70 of 100 (final)" in shown
    assert "J02  -30  Says what would disprove it" in shown
    assert "No trigger is named." in shown


def test_terminal_puts_fatal_errors_first_and_says_what_it_would_be_without():
    shown = report_text(sample.capped())
    assert "Score 40 of 100 (final)" in shown
    assert "capped at 40 by 1 fatal error; without it at most 88" in shown
    assert shown.index("Fatal errors") < shown.index("Points lost")
    assert "Bridge!C9  The debt is added instead of taken off" in shown
    assert "found 2,466, expected 1,906" in shown
    assert "value per share moves from 30.825 to 23.825" in shown


def test_terminal_shows_an_interval_and_what_is_open():
    shown = report_text(sample.provisional())
    assert "Score 52 to 100 of 100 (provisional)" in shown
    assert "P03  8 open" in shown
    assert "J01  40 open" in shown


def test_terminal_of_an_audit_has_no_score_and_sets_consequences_apart():
    shown = report_text(sample.audited())
    assert "Score" not in shown
    assert "1 passed, 2 failed, 1 not verifiable" in shown
    assert shown.index("Faults") < shown.index("Consequences of the above")
    assert "bridge.per-share (follows from bridge.equity-identity)" in shown


def test_colour_only_when_asked():
    assert "\x1b[" not in report_text(sample.capped())
    assert "\x1b[31m" in report_text(sample.capped(), colour=True)


def test_terminal_text_of_a_submission_cannot_steer_the_terminal():
    finding = Finding(message=NASTY, cell=CellRef("S\x1b[2J", 1, 1), found=NASTY, expected=None)
    shown = report_text(sample.report([sample.result(None, "wacc.identity", "fail", findings=(finding,))], None))
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert max(map(len, shown.splitlines())) < 400


# -- the page --------------------------------------------------------------------------------------------------------


class Tags(HTMLParser):
    """Collects the tags and attributes of a page."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


@pytest.mark.parametrize("make", [sample.good, sample.capped, sample.provisional, sample.audited])
def test_page_has_no_script_handler_or_outside_address(make):
    tags = Tags()
    tags.feed(report_html(make()))
    assert not {tag for tag, _ in tags.found} & {"script", "iframe", "object", "img", "link", "form", "base"}
    for _, attributes in tags.found:
        assert not any(name.startswith("on") or name in ("style", "src") for name in attributes)
        assert attributes.get("href", "#").startswith("#")


def test_policy_allows_this_style_sheet_and_nothing_else():
    page = report_html(sample.good())
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    assert policy.split("; ")[:2] == ["default-src 'none'", f"style-src 'sha256-{digest}'"]


def test_page_escapes_everything_a_submission_says():
    finding = Finding(message=NASTY, cell=CellRef("<b>", 1, 1), found=NASTY, expected=NASTY, unit=NASTY)
    located = Located(
        role="wacc", cell=None, expression=NASTY, value=1.0, unit="rate", confidence=1, how=NASTY, evidence=(NASTY,)
    )  # fmt: skip
    report = sample.report([sample.result(None, "wacc.identity", "fail", findings=(finding,), convention=NASTY)], None)
    report = report.model_copy(
        update={"workbook": NASTY, "rubric_title": NASTY, "headline": NASTY, "roles": {"wacc": located},
                "ambiguous": {"beta": (located,)}}
    )  # fmt: skip
    page = report_html(report)
    assert "<script" not in page
    assert "\u202e" not in page
    assert "\x1b" not in page
    assert "&lt;script&gt;" in page
    assert len(page) < 40_000


def test_page_shows_cap_and_score_without_it():
    shown = text_of(report_html(sample.capped()))
    assert "40 / 100" in shown
    assert "capped at 40 without the fatal error: 88" in shown
    assert shown.index("Fatal errors") < shown.index("Points lost")


def test_page_begins_with_the_key_figures_in_their_unit():
    shown = text_of(report_html(sample.good()))
    assert "enterprise value 2,186 EUR million Bridge!C5" in shown
    assert "WACC 9.73 % WACC!B4" in shown
    assert shown.index("enterprise value 2,186") < shown.index("Points lost")


def test_page_says_what_should_hold_and_how_far_off_it_is():
    shown = text_of(report_html(sample.capped()))
    assert "Should hold: Equity bridge P01 · bridge.equity-identity" in shown
    assert "found 2,466 expected 1,906 +29.4 % off" in shown
    assert "Should hold: Says what" not in text_of(report_html(sample.good()))


@pytest.mark.parametrize(
    ("found", "expected", "said"),
    [
        (110.0, 100.0, "+10.0 %"),
        (99.99, 100.0, ""),
        (0.0, 5.0, ""),
        (5.0, 0.0, ""),
        ("typed", "live", ""),
        (-50.0, 100.0, "-150.0 %"),
    ],
)
def test_off_in_per_cent_only_where_it_says_something(found, expected, said):
    assert off(Finding(message="", cell=None, found=found, expected=expected)) == said


def test_page_splits_open_points_between_checks_and_judge():
    """P03 carries 8 points and is open, J01 has 40 and no verdict."""
    shown = text_of(report_html(sample.provisional()))
    assert "48 of 100 points are still open: 8 at checks, 40 with the judge." in shown


def test_page_tells_a_warning_that_costs_points_only_once():
    warned = sample.result("P02", "wacc.identity", "fail", findings=(sample.SLIP,)).model_copy(
        update={"severity": "warn"}
    )
    free = sample.result(None, "wacc.capm", "fail", findings=(sample.SLIP,)).model_copy(update={"severity": "warn"})
    shown = text_of(report_html(sample.report([warned, free], sample.verdicts())))
    assert shown.count("The debt is added instead of taken off") == 2
    assert "Warnings 1" in shown


def test_page_shows_quotes_with_where_they_were_found():
    assert "kiln output of 1,250 kt” memo.md (exact)" in text_of(report_html(sample.good()))


def test_page_of_nothing_gradable_says_why():
    from xlcheck.scoring.model import ungradable_card

    card = ungradable_card(sample.RUBRIC, "kilns.xlsx is encrypted")
    report = sample.good().model_copy(update={"score_card": card, "results": (), "roles": {}, "workbook": None})
    shown = text_of(report_html(report))
    assert "no score" in shown
    assert "kilns.xlsx is encrypted" in shown
    assert "No score: ungradable. kilns.xlsx is encrypted" in report_text(report)


# -- pictures --------------------------------------------------------------------------------------------------------


def test_bridge_goes_from_enterprise_to_equity_value():
    steps = bridge_steps(sample.roles())
    assert [(step.name, step.amount) for step in steps] == [
        ("enterprise value", 2186e6),
        ("debt", -360e6),
        ("cash", 80e6),
        ("equity value", 1906e6),
    ]


def test_bridge_takes_the_sign_of_net_debt_that_explains_the_equity_value():
    roles = {name: located for name, located in sample.roles().items() if name not in ("debt", "cash")}
    net_cash = roles["enterprise_value"].model_copy(update={"role": "net_debt", "value": -280.0})
    assert [step.amount for step in bridge_steps({**roles, "net_debt": net_cash})][1:-1] == [-280e6]


def test_bridge_owns_up_to_what_it_cannot_explain():
    roles = {**sample.roles()}
    del roles["debt"]
    assert [(step.name, step.amount) for step in bridge_steps(roles)][1:-1] == [
        ("cash", 80e6),
        ("not explained", -360e6),
    ]


def test_bridge_needs_both_ends():
    assert bridge_steps({"enterprise_value": sample.roles()["enterprise_value"]}) == []


def test_pictures_escape_their_labels():
    assert "<script" not in bars([("<script>", 1.0, 0.0, 2.0)])
    assert "<script" not in bridge([Step("<script>", 5.0, True), Step("b", -9.0), Step("c", -4.0, True)])


# -- words -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0, "0"),
        (1234567.891, "1,234,568"),
        (0.123456789, "0.123457"),
        (-42.5, "-42.5"),
        (3e-7, "3e-07"),
        (1e16, "1e+16"),
    ],
)
def test_number(value, shown):
    assert number(value) == shown


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (0.0973, "rate", "9.73 %"),
        (9.73, "rate", "9.73"),
        (46112.0, "date", "2026-03-31"),
        (2026.0, "number", "2026"),
        (2026.0, "money", "2,026"),
        (True, "", "TRUE"),
        (CellError(error="#REF!"), "", "#REF!"),
        (Unsolved(kind="unsupported_function", detail="x"), "", "not recomputed (unsupported function)"),
        (None, "", "nothing"),
    ],
)
def test_quantity(value, unit, shown):
    assert quantity(value, unit) == shown


@pytest.mark.parametrize(
    ("value", "shown"), [("74.2", "74.2"), ("40", "40"), ("33.333333", "33.33"), ("0.005", "0.01")]
)
def test_points(value, shown):
    assert points(Decimal(value)) == shown


def test_plain_keeps_words_and_drops_what_steers():
    assert plain("a\tb\n\x1b[31mc\u202ed\u200b") == "a b [31mcd"
    assert plain("x" * 500, 10) == "xxxxxxxxx…"


def test_columns_align_wide_characters():
    assert columns([["折现率", "1"], ["wacc", "2"]], indent="") == "折现率  1\nwacc    2\n"


# -- files -----------------------------------------------------------------------------------------------------------


def test_written_twice_the_files_are_the_same_bytes(tmp_path):
    first = [path.read_bytes() for path in write_report(sample.capped(), tmp_path / "a")]
    second = [path.read_bytes() for path in write_report(sample.capped(), tmp_path / "b")]
    again = [path.read_bytes() for path in write_report(sample.capped(), tmp_path / "a")]
    assert first == second == again
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == ["report.html", "report.json"]


@pytest.mark.parametrize("name", ["report.json", "report.html"])
def test_a_file_that_is_not_ours_is_kept(tmp_path, name):
    (tmp_path / name).write_text("{}", encoding="utf-8")
    with pytest.raises(UsageError, match=f"{name} exists and is no report of xlcheck"):
        write_report(sample.good(), tmp_path)
    assert (tmp_path / name).read_text(encoding="utf-8") == "{}"


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(UsageError, match="the report cannot be written there"):
        write_report(sample.good(), tmp_path / "file" / "out")


def test_a_binding_file_is_never_overwritten(tmp_path):
    write_new(tmp_path / "b.yaml", "wacc: 'A!B1'\n")
    with pytest.raises(UsageError, match="exists already"):
        write_new(tmp_path / "b.yaml", "")
    assert (tmp_path / "b.yaml").read_text(encoding="utf-8") == "wacc: 'A!B1'\n"
