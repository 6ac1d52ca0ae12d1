"""The pytest plugin, and the assertions that tests of other projects may use."""

import subprocess
import sys

import pytest
from planted import clean_model

from xlcheck.errors import UsageError
from xlcheck.resources import bundled
from xlcheck.testing import CheckedWorkbook, assert_fails, assert_passes, run_check

pytest_plugins = ["pytester"]

RUBRIC = """\
schema_version: 1
id: kiln-dcf
title: DCF of a kiln maker
mode: financial_model
program:
  - {id: P01, check: bridge.signs, weight: 30}
judge:
  - {id: J01, dimension: thesis, weight: 70, pass_if: "output is argued"}
"""
CALIBRATION = """\
schema_version: 1
rubric: ./rubric.yaml
answers:
  - {name: nothing, kind: empty, submission: nothing}
  - {name: hopeful, kind: reference, submission: nothing}
"""


@pytest.fixture
def task(pytester):
    """A task whose two answers are empty folders: 0 points, which is right for the first alone."""
    (pytester.path / "rubric.yaml").write_text(RUBRIC, encoding="utf-8")
    (pytester.path / "calibration.yaml").write_text(CALIBRATION, encoding="utf-8")
    pytester.mkdir("nothing")
    return pytester


def run(pytester, *arguments):
    return pytester.runpytest_subprocess("-W", "error", "-p", "no:cacheprovider", *arguments)


# -- calibration files -----------------------------------------------------------------------------------------------


def test_the_bundled_task_is_one_test_per_known_quality_answer(pytester):
    task = bundled("fixtures", "sic-epitaxy-dcf")
    shown = run(pytester, str(task), "--collect-only", "-q", "--rootdir", str(task))
    names = {line.partition("::")[2] for line in shown.outlines if "calibration.yaml::" in line}
    assert names == {
        "reference[at least 95]",
        "empty[exactly 0]",
        "numbers-only[below 50 and at least 25]",
        "growth-above-wacc[at most 40]",
        "typed-outputs[at most 40]",
        "no-shares[at most 40]",
        "double-discounting[at most 40]",
        "flawed[at least 60 and at most 85]",
    }


def test_a_broken_band_says_what_moved_the_score_and_shows_no_traceback(task):
    shown = run(task, "-v")
    shown.assert_outcomes(passed=1, failed=1)
    shown.stdout.fnmatch_lines(
        [
            "*calibration.yaml::nothing?exactly 0? PASSED*",
            "*calibration.yaml::hopeful?at least 95? FAILED*",
            "hopeful scores 0, must be at least 95: its low end 0 lies below 95",
            "  J01 −70: *",
        ]
    )
    shown.stdout.no_fnmatch_line("*Traceback*")
    shown.stdout.no_fnmatch_line("*calibrate.py*")


def test_a_calibration_file_that_is_not_valid_is_one_sentence(task):
    (task.path / "calibration.yaml").write_text(CALIBRATION.replace("kind: empty", "kind: blank"), encoding="utf-8")
    shown = run(task)
    shown.assert_outcomes(errors=1)
    shown.stdout.fnmatch_lines(["*calibration.yaml:4: *kind*write 'reference', 'empty'*"])
    shown.stdout.no_fnmatch_line("*Traceback*")


def test_a_rubric_that_is_not_valid_fails_its_answer_in_one_sentence(task):
    (task.path / "rubric.yaml").write_text(RUBRIC.replace("weight: 70", "weight: 60"), encoding="utf-8")
    shown = run(task, "-k", "nothing")
    shown.assert_outcomes(failed=1, deselected=1)
    shown.stdout.fnmatch_lines(["*rubric.yaml*"])
    shown.stdout.no_fnmatch_line("*Traceback*")


def test_calibration_files_of_others_are_left_alone(pytester):
    for folder, text in {
        "camera": "camera: {fx: 1.5}\n",
        "dyes": "rubric: colours\n",
        "none": "",
        "raw": "\x00",
    }.items():
        (pytester.mkdir(folder) / "calibration.yaml").write_text(text, encoding="utf-8")
    assert run(pytester).ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_the_plugin_loads_nothing_heavy():
    heavy = {"pandas", "numpy", "pydantic", "yaml", "openpyxl", "lxml", "rich", "cellrune", "xlcheck.checking"}
    code = f"import sys, xlcheck.pytest_plugin\nprint(sorted({heavy!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# -- assertions and the fixture --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    return clean_model().save(tmp_path_factory.mktemp("kilns") / "kilns.xlsx")


@pytest.fixture(scope="module")
def flawed(tmp_path_factory):
    """Debt is added to the enterprise value instead of taken off."""
    model = clean_model()
    model.set("equity_value", "={enterprise_value}+{cash}+{debt}-{minority_interest}+{investments}")
    return model.save(tmp_path_factory.mktemp("flawed") / "flawed.xlsx"), model.cell("equity_value")


def test_a_sound_workbook_passes(sound):
    assert_passes(sound, "bridge.signs")
    with pytest.raises(AssertionError, match=r"kilns\.xlsx: bridge\.signs is pass: nothing found"):
        assert_fails(sound, "bridge.signs")


def test_a_flawed_workbook_fails_at_its_cell(flawed):
    path, cell = flawed
    assert_fails(path, "bridge.signs", cell=cell)
    with pytest.raises(AssertionError, match=r"flawed\.xlsx: bridge\.signs is fail: .*; not at Nowhere!A1"):
        assert_fails(path, "bridge.signs", cell="Nowhere!A1")
    with pytest.raises(AssertionError, match=r"flawed\.xlsx: bridge\.signs is fail: .*debt"):
        assert_passes(path, "bridge.signs")


def test_one_reading_serves_many_checks(sound):
    book = CheckedWorkbook(sound)
    book.assert_passes("bridge.signs")
    book.assert_passes("fatal.share-count")
    assert book.run("bridge.signs") == run_check(sound, "bridge.signs")


def test_ranges_are_given_as_numbers(sound):
    assert_passes(sound, "wacc.range", {"low": 0.01, "high": 0.3})
    assert_fails(sound, "wacc.range", params={"low": 0.5, "high": 0.6})


def test_an_unknown_check_is_named(sound):
    with pytest.raises(UsageError, match=r"no check 'bridge\.sings'"):
        run_check(sound, "bridge.sings")


def test_the_fixture_reads_a_workbook_once(pytester, sound):
    pytester.makepyfile(
        f"""
        SOUND = {str(sound)!r}

        def test_signs(xlcheck_workbook):
            xlcheck_workbook(SOUND).assert_passes("bridge.signs")

        def test_same(xlcheck_workbook):
            assert xlcheck_workbook(SOUND) is xlcheck_workbook(SOUND)

        def test_wrong(xlcheck_workbook):
            xlcheck_workbook(SOUND).assert_fails("bridge.signs")
        """
    )
    shown = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    shown.assert_outcomes(passed=2, failed=1)
    shown.stdout.fnmatch_lines(["*kilns.xlsx: bridge.signs is pass: nothing found"])
