"""The formats that other tools read."""

import csv
import io
import json
from decimal import Decimal
from functools import cache
from pathlib import Path
from xml.etree import ElementTree as ET

import jsonschema
import pandas as pd
import pytest
import sample_reports as sample
from lxml import etree
from openpyxl import Workbook

from xlcheck import cli
from xlcheck.cells import CellRef
from xlcheck.checking import Finding
from xlcheck.commands.grading import FORMATS
from xlcheck.errors import UsageError
from xlcheck.pipeline import audit, grade
from xlcheck.report.document import COLUMNS
from xlcheck.report.exports import RENDERERS, export, read_report
from xlcheck.report.writing import write_report
from xlcheck.resources import bundled
from xlcheck.scoring.model import ungradable_card

SCHEMAS = Path(__file__).parent / "schemas"
NASTY = '=HYPERLINK("http://x")|<script>`\x00\x1b'


def nasty(text=NASTY):
    finding = Finding(message=text, cell=CellRef("=S\x01", 1, 1), found=text, expected=None)
    return sample.report([sample.result(None, "wacc.identity", "fail", findings=(finding,))], None)


def ungradable():
    return sample.good().model_copy(
        update={"results": (), "score_card": ungradable_card(sample.RUBRIC, "the file is encrypted")}
    )


@cache
def graded():
    """A bundled answer with four faults, graded whole."""
    answer = bundled("fixtures", "sic-epitaxy-dcf") / "flawed"
    return grade(answer, "sic-epitaxy-dcf", answer / "verdicts.json")


REPORTS = [sample.good, sample.capped, sample.provisional, sample.audited, nasty, ungradable, graded]


def test_command_line_offers_every_format():
    assert tuple(RENDERERS) == FORMATS


@pytest.mark.parametrize("form", RENDERERS)
@pytest.mark.parametrize("make", REPORTS)
def test_every_format_renders_every_report(form, make):
    if form == "gradescope" and make().score_card is None:
        with pytest.raises(UsageError, match="no score to hand to Gradescope"):
            export(make(), form)
        return
    content = export(make(), form)
    if form == "parquet":
        assert content[:4] == content[-4:] == b"PAR1"
    else:
        assert content.endswith("\n")
        assert not set(content) & {"\x00", "\x01", "\x1b"}


def test_unknown_format_names_the_choices():
    with pytest.raises(UsageError, match="no format 'pdf'; choose one of csv, github, gradescope"):
        export(sample.good(), "pdf")


def test_markdown_leads_with_the_score_and_the_cap():
    text = export(sample.capped(), "markdown")
    assert "**40 of 100** (final, capped at 40 by a fatal error (sum 88))" in text
    assert text.index("### Fatal errors") < text.index("### Points lost")
    assert "| −12 | P01 | Equity bridge | Bridge\\!C9 |" in text


def test_markdown_shows_marks_of_a_submission_as_they_are():
    assert "\\|\\<script\\>\\`" in export(nasty(), "markdown")


def test_junit_counts_lost_points_as_failures_and_open_items_as_skipped():
    root = ET.fromstring(export(sample.capped(), "junit"))
    suite = root.find("testsuite")
    assert (root.get("tests"), root.get("failures"), suite.get("skipped")) == ("8", "2", "0")
    assert suite.get("name") == "kilns.xlsx"
    failures = {case.get("name"): case.find("failure").get("message") for case in root.iter("testcase") if len(case)}
    assert failures["P01 Equity bridge"] == (
        "Bridge!C9, The debt is added instead of taken off, found 2,466, expected 1,906"
    )
    open_ones = ET.fromstring(export(sample.provisional(), "junit"))
    assert (open_ones.get("failures"), open_ones.find("testsuite").get("skipped")) == ("0", "2")


def test_sarif_gives_each_finding_a_rule_a_level_and_a_cell():
    log = json.loads(export(sample.audited(), "sarif"))
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    first, second, third = run["results"]
    assert (first["ruleId"], first["level"]) == ("bridge.equity-identity", "error")
    assert rules[first["ruleIndex"]] == "bridge.equity-identity"
    assert first["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "kilns.xlsx"
    assert first["locations"][0]["logicalLocations"][0]["fullyQualifiedName"] == "Bridge!C9"
    assert (second["level"], second["properties"]["causedBy"]) == ("warning", "bridge.equity-identity")
    assert (third["ruleId"], third["level"]) == ("discount.pv-sum", "note")


def test_sarif_names_the_file_as_an_address():
    report = sample.audited().model_copy(update={"workbook": "my model#1.xlsx"})
    (run,) = json.loads(export(report, "sarif"))["runs"]
    uri = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == "my%20model%231.xlsx"


# -- held against the schemas of those who read them -----------------------------------------------------------------


@pytest.mark.parametrize("make", REPORTS)
def test_sarif_fits_its_schema(make):
    schema = json.loads((SCHEMAS / "sarif-2.1.0-rtm.5.json").read_text(encoding="utf-8"))
    validator = jsonschema.Draft4Validator(schema, format_checker=jsonschema.FormatChecker())
    assert [error.message for error in validator.iter_errors(json.loads(export(make(), "sarif")))] == []


def test_sarif_schema_refuses_what_is_none():
    """The copy of the schema is at work: an unknown level is an error."""
    schema = json.loads((SCHEMAS / "sarif-2.1.0-rtm.5.json").read_text(encoding="utf-8"))
    log = json.loads(export(sample.audited(), "sarif"))
    log["runs"][0]["results"][0]["level"] = "terrible"
    assert not jsonschema.Draft4Validator(schema).is_valid(log)


@pytest.mark.parametrize("make", REPORTS)
def test_junit_fits_its_schema(make):
    schema = etree.XMLSchema(etree.parse(SCHEMAS / "junit-10.xsd"))
    schema.assertValid(etree.fromstring(export(make(), "junit").encode()))


@pytest.mark.parametrize("make", [sample.good, sample.capped, sample.provisional, ungradable, graded])
def test_gradescope_fits_its_description(make):
    schema = json.loads((SCHEMAS / "gradescope.json").read_text(encoding="utf-8"))
    jsonschema.validate(json.loads(export(make(), "gradescope")), schema)


# -- Gradescope ------------------------------------------------------------------------------------------------------


def gradescope(report):
    return json.loads(export(report, "gradescope"))


def test_gradescope_gets_the_capped_score_and_each_item():
    results = gradescope(sample.capped())
    assert results["score"] == 40
    assert "capped at 40: fatal.share-count" in results["output"]
    tests = {test["name"].split()[0]: test for test in results["tests"]}
    assert (tests["P01"]["score"], tests["P01"]["max_score"], tests["P01"]["status"]) == (0, 12, "failed")
    assert tests["P01"]["output"].startswith("Bridge!C9: The debt is added instead of taken off")
    assert (tests["J01"]["score"], tests["J01"]["status"]) == (40, "passed")
    assert "score" not in tests["fatal.share-count"]
    assert tests["fatal.share-count"]["status"] == "failed"


def test_gradescope_tests_add_up_to_the_sum_before_the_cap():
    total = sum(Decimal(str(test.get("score", 0))) for test in gradescope(sample.capped())["tests"])
    assert total == sample.capped().score_card.raw == 88


def test_gradescope_counts_open_points_as_missing_and_says_so():
    results = gradescope(sample.provisional())
    assert results["score"] == 52
    assert "provisional: 52 to 100" in results["output"]
    (judged,) = [test for test in results["tests"] if test["name"].startswith("J01")]
    assert (judged["score"], judged["output"]) == (0, "open: no verdict")


def test_gradescope_gets_no_score_where_there_is_none():
    results = gradescope(ungradable())
    assert "score" not in results
    assert results["output"] == "No score: ungradable. the file is encrypted"


# -- GitHub ----------------------------------------------------------------------------------------------------------


def test_github_annotations_name_file_check_and_cell_errors_first():
    first, second, third, last = export(sample.audited(), "github").splitlines()
    assert first == (
        "::error file=kilns.xlsx,title=bridge.equity-identity Bridge!C9::"
        "The debt is added instead of taken off; found 2,466; expected 1,906"
    )
    assert second.startswith("::warning file=kilns.xlsx,title=bridge.per-share")
    assert third.startswith("::notice file=kilns.xlsx,title=discount.pv-sum::Bridge!C3 could not be recomputed")
    assert last == "::notice title=xlcheck::kilns.xlsx by invented-task: audit: no score"


def test_github_annotations_end_with_the_score():
    assert export(sample.provisional(), "github").endswith(
        "::notice title=xlcheck::kilns.xlsx by invented-task: 52 to 100 of 100 (provisional)\n"
    )


def test_a_submission_cannot_write_github_commands():
    finding = Finding(
        message="50% done\n::set-output name=x::1", cell=CellRef("A:B,C\n::debug::", 1, 1), found=None, expected=None
    )
    report = sample.report([sample.result(None, "wacc.identity", "fail", findings=(finding,))], None)
    first, last = export(report, "github").splitlines()
    assert first == (
        "::error file=kilns.xlsx,title=wacc.identity A%3AB%2CC %3A%3Adebug%3A%3A!A1::50%25 done ::set-output name=x::1"
    )
    assert last.startswith("::notice title=xlcheck::")


# -- tables ----------------------------------------------------------------------------------------------------------


def csv_rows(report):
    return list(csv.DictReader(io.StringIO(export(report, "csv"))))


@pytest.mark.parametrize(
    "text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", " =1", "\x00=1", "＝1", "＋1", "－1", "＠1"]
)
def test_csv_holds_nothing_that_a_spreadsheet_would_run(text):
    (row,) = csv_rows(nasty(text))
    for name in ("message", "found_text"):
        assert row[name].startswith("'")
        assert not set(row[name]) & {"\t", "\r", "\n"}
    assert row["cell"].startswith("'=S")
    assert row["check_id"] == "wacc.identity"


def test_csv_of_a_workbook_whose_sheet_is_named_like_a_formula_is_inert(tmp_path):
    book = Workbook()
    sheet = book.active
    sheet.title = "=1+1"
    labels = ["WACC", "Terminal growth", "FCFF", "Enterprise value", "=cmd|'/c calc'!A1 debt", "@Cash"]
    contents = [0.09, 0.02, 52, "=SUM(B12:F12)+F3*(1+B2)/(B1-B2)/(1+B1)^5", 100, 40, "=B4+B5+B6", 50, "=B7/B8"]
    labels += ["Equity value", "Diluted shares", "Value per share", None, "Discount factor", "PV of FCFF"]
    for row, label in enumerate(labels, 1):
        sheet.cell(row, 1).value = label
        sheet.cell(row, 1).data_type = "s"
    for row, content in enumerate(contents, 1):
        sheet.cell(row, 2, content)
    for number, letter in enumerate("BCDEF", 1):
        sheet[f"{letter}3"] = 51 + number
        sheet[f"{letter}11"] = f"=1/(1+$B$1)^{number}"
        sheet[f"{letter}12"] = f"={letter}3*{letter}11"
    book.save(tmp_path / "=model.xlsx")
    rows = csv_rows(audit(tmp_path / "=model.xlsx"))
    assert any(row["cell"].startswith("'=1+1!") for row in rows)
    texts = [row[name] for row in rows for name, kind in COLUMNS.items() if kind == "string"]
    assert not [text for text in texts if text.startswith(("=", "+", "-", "@", "\t", "\r"))]


@pytest.mark.parametrize("text", ["net debt = 360", "1e5", "a-b", "'=1"])
def test_csv_leaves_other_text_alone(text):
    assert csv_rows(nasty(text))[0]["message"] == text


def test_csv_keeps_numbers_as_numbers():
    slip = sample.SLIP.model_copy(update={"found": -2466.0})
    (row,) = csv_rows(sample.report([sample.result(None, "wacc.identity", "fail", findings=(slip,))], None))
    assert (row["found"], row["found_text"], row["expected"]) == ("-2466.0", "", "1906.0")


def test_parquet_holds_the_same_rows_with_types(tmp_path):
    slip = sample.SLIP.model_copy(update={"found": "#REF!"})
    report = sample.report([sample.result("P01", "wacc.identity", "fail", findings=(sample.SLIP, slip))], None)
    (tmp_path / "r.parquet").write_bytes(export(report, "parquet"))
    frame = pd.read_parquet(tmp_path / "r.parquet")
    assert list(frame.columns) == list(COLUMNS)
    assert frame["expected"].tolist() == [1906.0, 1906.0]
    assert frame.loc[0, "found"] == 2466.0
    assert pd.isna(frame.loc[1, "found"])
    assert frame.loc[1, "found_text"] == "#REF!"
    assert frame["found"].dtype.kind == "f"


def test_a_frame_without_results_has_its_columns():
    frame = ungradable().to_frame()
    assert list(frame.columns) == list(COLUMNS)
    assert len(frame) == 0


def test_parquet_without_its_package_is_one_sentence(monkeypatch):
    def missing(*_, **__):
        raise ImportError

    monkeypatch.setattr(pd.DataFrame, "to_parquet", missing)
    with pytest.raises(UsageError, match=r'pip install "xlcheck\[parquet\]"'):
        export(sample.good(), "parquet")


# -- the verb --------------------------------------------------------------------------------------------------------


@pytest.fixture
def report_file(tmp_path):
    return write_report(sample.capped(), tmp_path).json


def test_export_writes_a_new_file_and_never_over_one(report_file, tmp_path, capsys):
    target = tmp_path / "findings.parquet"
    assert cli.main(["export", str(report_file), "--to", "parquet", "--out", str(target), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"written": str(target)}
    assert len(pd.read_parquet(target)) == 4
    assert cli.main(["export", str(report_file), "--to", "csv", "--out", str(target)]) == 2
    assert "exists already" in capsys.readouterr().err


def test_export_prints_no_bytes(report_file, capsys):
    assert cli.main(["export", str(report_file), "--to", "parquet"]) == 2
    assert "name a file with --out" in capsys.readouterr().err


def test_export_as_json_is_one_text(report_file, capsys):
    assert cli.main(["export", str(report_file), "--to", "markdown", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"text": export(sample.capped(), "markdown")}


def test_export_reads_what_grade_wrote(tmp_path, capsys):
    written = write_report(sample.capped(), tmp_path)
    assert read_report(written.json) == sample.capped()
    assert cli.main(["export", str(written.json), "--to", "markdown"]) == 0
    assert capsys.readouterr().out == export(sample.capped(), "markdown")


@pytest.mark.parametrize(("text", "says"), [("{}", "is no report of xlcheck: "), ("[", "is no report of xlcheck: ")])
def test_a_file_that_is_no_report_is_one_sentence(tmp_path, text, says):
    (tmp_path / "r.json").write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=says):
        read_report(tmp_path / "r.json")
    with pytest.raises(UsageError, match="cannot be read"):
        read_report(tmp_path / "nowhere.json")
