"""The published JSON Schemas, each held against real documents and against what the program itself refuses."""

import json

import jsonschema
import pytest
import sample_reports as sample
import yaml

from xlcheck import cli
from xlcheck.binding import load_binding
from xlcheck.calibrate import CalibrationFile
from xlcheck.commands.authoring import SCHEMAS
from xlcheck.errors import UsageError
from xlcheck.pipeline import grade
from xlcheck.report.document import Report
from xlcheck.resources import bundled_root
from xlcheck.roles.vocabulary import SCALAR_ROLES, SERIES_ROLES
from xlcheck.schemas import VERSIONS, schema_text
from xlcheck.verdicts import Verdict

FIXTURES = bundled_root("fixtures")
CALIBRATIONS = sorted(FIXTURES.glob("*/calibration.yaml"))
VERDICTS = sorted(FIXTURES.glob("*/*/verdicts.json"))
RUBRICS = sorted(bundled_root("rubrics").glob("*.yaml"))


def validator(document):
    schema = json.loads(schema_text(document))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def errors(document, data):
    return [f"{error.json_path}: {error.message}" for error in validator(document).iter_errors(data)]


def from_yaml(path):
    """Read YAML as an editor's schema check does: dates are texts."""
    return json.loads(json.dumps(yaml.safe_load(path.read_text(encoding="utf-8")), default=str))


def test_the_command_line_offers_every_schema(capsys):
    assert tuple(VERSIONS) == SCHEMAS
    for document in SCHEMAS:
        assert cli.main(["schema", document]) == 0
        assert capsys.readouterr().out == schema_text(document)


def test_an_unknown_document_names_the_choices():
    with pytest.raises(UsageError, match="no schema of 'memo'; choose one of report, rubric"):
        schema_text("memo")


@pytest.mark.parametrize("document", VERSIONS)
def test_every_schema_carries_its_version(document):
    assert json.loads(schema_text(document))["$id"] == f"urn:xlcheck:{document}:{VERSIONS[document]}"


def test_the_versions_are_those_that_documents_state():
    assert VERSIONS["report"] == Report.model_fields["schema_version"].default
    assert {from_yaml(path)["schema_version"] for path in RUBRICS} == {VERSIONS["rubric"]}
    assert {from_yaml(path)["schema_version"] for path in CALIBRATIONS} == {VERSIONS["calibration"]}


# -- report ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [sample.good, sample.capped, sample.provisional, sample.audited])
def test_reports_are_valid(make):
    assert errors("report", json.loads(make().to_json())) == []


def test_a_report_of_a_bundled_answer_is_valid():
    answer = FIXTURES / "sic-epitaxy-dcf" / "flawed"
    report = grade(answer, "sic-epitaxy-dcf", answer / "verdicts.json")
    assert errors("report", json.loads(report.to_json())) == []


def test_every_key_of_a_report_is_described():
    parts = json.loads(schema_text("report"))["$defs"]
    assert set(parts["Report"]["properties"]) == set(json.loads(sample.capped().to_json()))
    assert parts["ScoreCard"]["properties"]["program"]["type"] == "string"
    assert parts["ScoreCard"]["properties"]["cap"]["description"] == (
        "The most points an answer with a fatal error can have."
    )


@pytest.mark.parametrize(
    "change", [{"schema_version": 2}, {"rubric_id": None}, {"results": {}}, {"score_card": {"low": 1}}]
)
def test_a_report_of_another_shape_is_not_valid(change):
    assert errors("report", json.loads(sample.good().to_json()) | change)


# -- rubric, calibration ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", RUBRICS, ids=lambda path: path.stem)
def test_bundled_rubrics_are_valid(path):
    assert errors("rubric", from_yaml(path)) == []


def test_a_rubric_with_an_unknown_key_is_not_valid():
    assert errors("rubric", from_yaml(RUBRICS[0]) | {"wieght": 1})


@pytest.mark.parametrize("path", CALIBRATIONS, ids=lambda path: path.parent.name)
def test_bundled_calibrations_are_valid(path):
    assert errors("calibration", from_yaml(path)) == []


def test_a_calibration_with_an_unknown_kind_is_not_valid():
    data = from_yaml(CALIBRATIONS[0])
    data["answers"][0]["kind"] = "splendid"
    assert errors("calibration", data)
    assert CalibrationFile.model_fields["answers"].is_required()


def test_overrides_are_valid_as_the_page_shows_them():
    page = (FIXTURES.parent / "docs" / "judging.md").read_text(encoding="utf-8")
    example = page.split("```yaml\n")[1].partition("```")[0]
    shown = json.loads(json.dumps(yaml.safe_load(example), default=str))
    assert errors("overrides", shown) == []
    graded = shown["overrides"][0] | {"result": 3}
    assert errors("overrides", {"overrides": [graded]}) == []
    assert errors("overrides", {"overrides": [graded | {"who": None}]})


# -- verdicts --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", VERDICTS, ids=lambda path: f"{path.parents[1].name}/{path.parent.name}")
def test_bundled_verdicts_are_valid(path):
    assert errors("verdicts", json.loads(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    "verdict",
    [
        {"item": "J01"},
        {"item": "J01", "verdict": "pass", "grade": 3},
        {"item": "J01", "verdict": "maybe"},
        {"item": "J01", "grade": 5},
        {"item": "J01", "grade": 2.5},
        {"item": "D01", "triggered": "yes"},
        {"item": "J01", "verdict": "pass", "quotes": [{"text": "x", "found": "exact"}]},
        {"verdict": "pass"},
    ],
    ids=str,
)
def test_a_verdict_that_the_program_refuses_is_not_valid(verdict):
    assert errors("verdicts", {"verdicts": [verdict]})


def test_a_verdict_may_leave_the_other_decisions_null():
    verdict = Verdict(item="J02", grade=3, judge="a").model_dump(mode="json")
    assert errors("verdicts", [verdict]) == []
    assert errors("verdicts", {"schema_version": 1, "rubric": "x", "verdicts": [verdict]}) == []


# -- binding ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        ('wacc: "WACC!C23"', True),
        ("wacc: \"'Cost of capital'!$C$23\"", True),
        ('fcff: "DCF!F5:M5"', True),
        ('wacc: "C23"', False),
        ('wacc: "WACC!C0"', False),
        ("wacc: 0.09", False),
        ('wack: "WACC!C23"', False),
    ],
)
def test_bindings_are_valid_where_the_program_reads_them(tmp_path, text, valid):
    path = tmp_path / "binding.yaml"
    path.write_text(text, encoding="utf-8")
    assert (errors("binding", yaml.safe_load(text)) == []) is valid
    if valid:
        assert load_binding(path)
    else:
        with pytest.raises(UsageError):
            load_binding(path)


def test_a_binding_may_name_every_role():
    assert set(json.loads(schema_text("binding"))["properties"]) == {*SCALAR_ROLES, *SERIES_ROLES}
