"""The verbs: what they print, the JSON that scripts read, and the exit codes."""

import json
import subprocess
import sys
import time
import zipfile

import pytest
from openpyxl import Workbook, load_workbook
from planted import clean_model

from xlcheck import cli
from xlcheck.checking import BROKEN


@pytest.fixture
def run(capsys):
    """Run a command line and return (exit code, standard output, standard error)."""

    def runner(*arguments):
        try:
            code = cli.main([str(argument) for argument in arguments])
        except SystemExit as leaving:
            code = leaving.code
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err
        return code, out, err

    return runner


@pytest.fixture(scope="module")
def kilns(tmp_path_factory):
    return clean_model().save(tmp_path_factory.mktemp("kilns") / "kilns.xlsx")


# -- recalc ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def forged(tmp_path):
    """Three cells: A1 = 14 typed, B1 = A1*3 stored as 999 (42 is right), C1 = B1+1 stored as 1000."""
    path = tmp_path / "forged.xlsx"
    book = Workbook()
    book.active.title = "Two words"
    book.active["A1"] = 14
    book.active["B1"] = "=A1*3"
    book.active["C1"] = "=B1+1"
    book.save(path)
    patched = tmp_path / "patched.xlsx"
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(patched, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name.endswith("sheet1.xml"):
                data = data.replace(b"<f>A1*3</f><v></v>", b"<f>A1*3</f><v>999</v>")
                data = data.replace(b"<f>A1*3</f><v />", b"<f>A1*3</f><v>999</v>")
                data = data.replace(b"<f>B1+1</f><v></v>", b"<f>B1+1</f><v>1000</v>")
                data = data.replace(b"<f>B1+1</f><v />", b"<f>B1+1</f><v>1000</v>")
            new.writestr(name, data)
    assert load_workbook(patched, data_only=True).active["B1"].value == 999
    return patched


def test_recalc_json_gives_stored_and_recomputed_of_each_formula(run, forged):
    code, out, err = run("recalc", forged, "--json")
    data = json.loads(out)
    assert (code, err) == (0, "")
    assert list(data["cells"]) == ["Two words!B1", "Two words!C1"]
    first = data["cells"]["Two words!B1"]
    assert (first["stored"], first["recomputed"], first["status"]) == (999, 42, "stale")
    assert (first["kind"], first["detail"]) == (None, None)
    assert data["cells"]["Two words!C1"]["recomputed"] == 43
    assert data["cells"]["Two words!C1"]["status"] != "stale"
    assert data["summary"]["formula_cells"] == 2
    assert data["summary"]["stale"] == 1


def test_recalc_text_names_the_stale_cell_with_both_values(run, forged):
    code, out, _ = run("recalc", forged)
    assert code == 0
    assert "2 formula cells: 1 same, 1 stale" in out
    assert "Two words!B1  999  42" in out


def test_recalc_of_a_workbook_without_stored_values(run, kilns):
    data = json.loads(run("recalc", kilns, "--json")[1])
    assert data["summary"]["no_stored_value"] == data["summary"]["formula_cells"] > 50
    assert {cell["stored"] for cell in data["cells"].values()} == {None}


# -- explain ---------------------------------------------------------------------------------------------------------


def test_explain_shows_formula_values_and_precedents(run, forged):
    code, out, _ = run("explain", forged, "Two words!C1")
    assert code == 0
    assert out.splitlines()[0].startswith("Two words!C1  43")
    assert "  =B1+1" in out
    assert "Two words!B1  42 recomputed, 999 stored: stale" in out
    assert "Two words!A1  14" in out


def test_explain_takes_a_cell_of_the_first_sheet_and_a_depth(run, forged):
    data = json.loads(run("explain", forged, "$C$1", "--depth", "1", "--json")[1])
    assert data["cell"] == "Two words!C1"
    assert [child["cell"] for child in data["precedents"]] == ["Two words!B1"]
    assert "precedents" not in data["precedents"][0]
    assert data["precedents"][0]["precedents_count"] == 1


def test_explain_says_what_every_engine_makes_of_the_stored_precedents(run, forged):
    # B1 is 14 × 3 = 42 with 999 stored: from that, C1 is 1,000; D1 holds no formula
    data = json.loads(run("explain", forged, "Two words!C1", "--json")[1])
    assert data["opinions"] == {"cellrune": 1000.0, "formualizer": 1000.0, "formulas": 1000.0}
    assert json.loads(run("explain", forged, "Two words!A1", "--json")[1])["opinions"] == {}


def test_explain_moves_the_inputs_behind_a_cell(run, forged):
    data = json.loads(run("explain", forged, "Two words!C1", "--influence", "--json")[1])
    # 14.14 × 3 + 1 = 43.42, 0.42 of 43 is 0.9767 %
    (one,) = data["influence"]
    assert (one["input"], one["value"], one["dead"]) == ("Two words!A1", 14.0, False)
    assert one["moved"] == pytest.approx(43.42)
    assert one["elasticity"] == pytest.approx(0.42 / 43 * 100)
    out = run("explain", forged, "Two words!C1", "--influence")[1]
    assert "each input moved by 1% alone:\n  Two words!A1  14  → 43.42  (+0.977%)" in out


@pytest.mark.parametrize(
    ("cell", "says"), [("Nowhere!A1", "no sheet 'Nowhere'; its sheets are 'Two words'"), ("12B", "such as 'DCF!C40'")]
)
def test_explain_refuses_a_cell_that_is_none(run, forged, cell, says):
    code, out, err = run("explain", forged, cell)
    assert (code, out) == (2, "")
    assert says in err


# -- roles -----------------------------------------------------------------------------------------------------------


def test_roles_json_has_cell_value_unit_and_evidence(run, kilns):
    code, out, _ = run("roles", kilns, "--json")
    data = json.loads(out)
    assert code == 0
    wacc = data["roles"]["wacc"]
    assert wacc["cell"] == clean_model().cell("wacc")
    assert wacc["unit"] == "rate"
    assert 0 < wacc["confidence"] <= 1
    assert wacc["how"]
    assert wacc["evidence"]
    assert data["series"]["fcff"]["cells"] == clean_model().forecast("fcff")
    assert {"ambiguous", "headline"} <= set(data)


def test_roles_text_lists_each_role_with_its_cell(run, kilns):
    code, out, _ = run("roles", kilns)
    assert code == 0
    assert clean_model().cell("wacc") in next(line for line in out.splitlines() if line.split()[:1] == ["wacc"])


def test_binding_written_by_roles_can_be_passed_back(run, kilns, tmp_path):
    written = tmp_path / "binding.yaml"
    assert run("roles", kilns, "--write-binding", written)[0] == 0
    code, out, _ = run("roles", kilns, "--binding", written, "--json")
    assert code == 0
    assert json.loads(out)["roles"]["wacc"]["how"] == "binding"


@pytest.mark.parametrize(
    ("text", "says"),
    [("wacc: nowhere", "wacc"), ("wack: 'A!B1'", "wack"), ("- 1", "binding.yaml"), ("wacc: [", "binding.yaml")],
)
def test_bad_binding_is_one_sentence(run, kilns, tmp_path, text, says):
    (tmp_path / "binding.yaml").write_text(text, encoding="utf-8")
    code, out, err = run("audit", kilns, "--binding", tmp_path / "binding.yaml")
    assert (code, out) == (2, "")
    assert says in err
    assert len(err.splitlines()) == 1


# -- audit -----------------------------------------------------------------------------------------------------------


def test_audit_json_has_results_and_roles(run, kilns):
    code, out, err = run("audit", kilns, "--json")
    data = json.loads(out)
    assert (code, err) == (0, "")
    results = {result["check_id"]: result for result in data["results"]}
    assert results["bridge.equity-identity"]["status"] == "pass"
    assert set(results["bridge.equity-identity"]) >= {"severity", "findings", "reason", "convention", "caused_by"}
    assert data["roles"]["wacc"]["cell"] == clean_model().cell("wacc")
    assert data["score_card"] is None


def test_audit_text_accuses_a_clean_workbook_of_nothing(run, kilns):
    code, out, _ = run("audit", kilns)
    assert code == 0
    assert "Faults" not in out
    assert "Fatal errors" not in out


# -- checks ----------------------------------------------------------------------------------------------------------


def test_checks_lists_all_and_prints_one(run):
    assert "bridge.equity-identity" in run("checks")[1]
    assert run("checks", "bridge.equity-identity")[1].startswith("bridge.equity-identity\n")
    listed = json.loads(run("checks", "--json")[1])["checks"]
    one = json.loads(run("checks", "bridge.equity-identity", "--json")[1])
    assert one in listed
    assert one["sections"]["How to fix"]


def test_unknown_check_suggests_a_known_one(run):
    code, out, err = run("checks", "bridge.equity-identitty")
    assert (code, out) == (2, "")
    assert "did you mean bridge.equity-identity" in err


# -- rubric ----------------------------------------------------------------------------------------------------------


def test_rubric_check_says_what_a_rubric_weighs(run, tmp_path):
    path = tmp_path / "task.yaml"
    path.write_text(
        "schema_version: 1\nid: kilns\ntitle: Kilns\nmode: financial_model\n"
        "program:\n  - {id: P1, check: bridge.equity-identity, weight: 27.9}\n"
        "judge:\n  - {id: J1, dimension: sources, weight: 72.1, pass_if: dated}\n",
        encoding="utf-8",
    )
    assert "1 check item with 27.9 points, 1 judge item with 72.1" in run("rubric", "check", path)[1]
    path.write_text(path.read_text(encoding="utf-8").replace("72.1", "72"), encoding="utf-8")
    code, out, err = run("rubric", "check", path)
    assert (code, out) == (2, "")
    assert "99.9" in err
    assert "task.yaml:" in err


# -- what cannot be used ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", ["audit", "roles", "recalc"])
def test_missing_path_exits_2(run, tmp_path, verb):
    code, out, err = run(verb, tmp_path / "nowhere.xlsx", "--json")
    assert code == 2
    assert "nowhere.xlsx" in err
    assert json.loads(out)["error"]["exit_code"] == 2


@pytest.mark.parametrize("verb", ["audit", "roles", "recalc"])
@pytest.mark.parametrize(
    "content", [b"", b"a,b\n1,2\n", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, b"PK\x03\x04junk"]
)
def test_file_that_is_no_workbook_exits_3(run, tmp_path, verb, content):
    path = tmp_path / "thing.xlsx"
    path.write_bytes(content)
    code, out, err = run(verb, path)
    assert (code, out) == (3, "")
    assert err.startswith("xlcheck: thing.xlsx: ")
    assert len(err.splitlines()) == 1


def test_a_check_that_breaks_exits_5_with_a_sentence(run, kilns, monkeypatch):
    from xlcheck.checking import CHECKS, check

    def breaks():
        """Break."""
        raise ZeroDivisionError("by design")
        yield

    monkeypatch.setattr("xlcheck.checking.CHECKS", CHECKS)
    check("invented.breaks")(breaks)
    try:
        code, out, err = run("audit", kilns)
    finally:
        del CHECKS["invented.breaks"]
    assert code == 5
    assert f"invented.breaks: {BROKEN}: ZeroDivisionError: by design" in err
    assert "passed" in out


def test_a_fault_of_ours_exits_5_with_a_sentence(run, kilns, monkeypatch):
    def explode(*_):
        raise RuntimeError("by design")

    monkeypatch.setattr("xlcheck.report.listing.recalc_text", explode)
    monkeypatch.delenv("XLCHECK_TRACEBACK", raising=False)
    code, _, err = run("recalc", kilns)
    assert code == 5
    assert "RuntimeError: by design" in err


@pytest.mark.parametrize(
    "arguments", [[], ["nonsense"], ["grade", "x"], ["grade", "x", "--rubric", "r", "--min-score", "101"]]
)
def test_unusable_arguments_exit_2(run, arguments):
    assert run(*arguments)[0] == 2


def test_version(run):
    assert run("--version")[1].startswith("xlcheck 0.")


# -- start -----------------------------------------------------------------------------------------------------------


def test_help_starts_at_once():
    """0.3 s of CPU, the best of three (the machine may be busy)."""

    code = (
        "import resource, subprocess, sys\n"
        "subprocess.run([sys.executable, '-m', 'xlcheck.cli', '--help'], capture_output=True)\n"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "print(used.ru_utime + used.ru_stime)"
    )

    def once():
        return float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)

    assert min(once() for _ in range(3)) < 0.3


def test_closed_pipe_is_no_error(kilns):
    started = time.monotonic()
    reader = subprocess.Popen(
        [sys.executable, "-m", "xlcheck.cli", "recalc", str(kilns), "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    reader.stdout.close()
    assert reader.stderr.read() == b""
    reader.stderr.close()
    assert reader.wait(30) == 0
    assert time.monotonic() - started < 30
