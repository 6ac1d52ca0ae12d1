"""The formats that other tools read."""

import csv
import io
import json
from xml.etree import ElementTree as ET

import pytest
import sample_reports as sample

from xlcheck import arguments, cli
from xlcheck.cells import CellRef
from xlcheck.checking import Finding
from xlcheck.errors import UsageError
from xlcheck.report.exports import RENDERERS, export, read_report
from xlcheck.report.writing import write_report

NASTY = '=HYPERLINK("http://x")|<script>`\x00\x1b'


def nasty():
    finding = Finding(message=NASTY, cell=CellRef("=S\x01", 1, 1), found=NASTY, expected=None)
    return sample.report([sample.result(None, "wacc.identity", "fail", findings=(finding,))], None)


def test_command_line_offers_every_format():
    assert tuple(RENDERERS) == arguments.FORMATS


@pytest.mark.parametrize("form", RENDERERS)
@pytest.mark.parametrize("make", [sample.good, sample.capped, sample.provisional, sample.audited, nasty])
def test_every_format_renders_every_report(form, make):
    text = export(make(), form)
    assert text.endswith("\n")
    assert not set(text) & {"\x00", "\x01", "\x1b"}


def test_unknown_format_names_the_choices():
    with pytest.raises(UsageError, match="no format 'pdf'; choose one of csv, html"):
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
    assert (root.get("tests"), root.get("failures"), root.get("skipped")) == ("8", "2", "0")
    assert root.find("testsuite").get("name") == "kilns.xlsx"
    failures = {case.get("name"): case.find("failure").get("message") for case in root.iter("testcase") if len(case)}
    assert failures["P01 Equity bridge"] == (
        "Bridge!C9, The debt is added instead of taken off, found 2,466, expected 1,906"
    )
    open_ones = ET.fromstring(export(sample.provisional(), "junit"))
    assert (open_ones.get("failures"), open_ones.get("skipped")) == ("0", "2")


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


def test_csv_holds_nothing_that_a_spreadsheet_would_run():
    (row,) = csv.DictReader(io.StringIO(export(nasty(), "csv")))
    assert row["message"].startswith("'=HYPERLINK")
    assert row["cell"].startswith("'=S")
    assert row["check_id"] == "wacc.identity"


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
