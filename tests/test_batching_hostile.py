"""A batch among names, folders and disks that are against it: each costs its own row, never the others'."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from xlcheck import cli, intake, storage
from xlcheck.batching.jobs import Job, find_jobs
from xlcheck.batching.run import on_this_machine, run_batch
from xlcheck.batching.work import Plan, run_job
from xlcheck.confinement import Allowance
from xlcheck.errors import UsageError
from xlcheck.intake import FOLDER_DEPTH

RUBRIC = "sic-epitaxy-dcf"
MODEL = Path(__file__).parents[1] / "fixtures" / RUBRIC / "reference" / "model.xlsx"
posix_only = pytest.mark.skipif(os.name != "posix", reason="names of bytes and pipes are POSIX's")


@pytest.fixture
def answers(tmp_path):
    folder = tmp_path / "answers"
    folder.mkdir()
    (folder / "torn.xlsx").write_bytes(b"PK\x03\x04 and no more")
    return folder


def graded(answers: Path, out: Path) -> pd.DataFrame:
    run_batch(find_jobs(str(answers)), RUBRIC, str(out), runner=on_this_machine(1))
    return pd.read_parquet(out / "results.parquet").set_index("id")


@posix_only
def test_a_name_that_is_no_text_is_spelled_out_and_graded(answers, tmp_path):
    Path(os.fsdecode(os.fsencode(answers) + b"/model\xff.xlsx")).write_bytes(MODEL.read_bytes())
    rows = graded(answers, tmp_path / "out")
    assert list(rows.index) == ["model\\udcff.xlsx", "torn.xlsx"]
    assert rows.loc["model\\udcff.xlsx", "workbook"] == "model\\udcff.xlsx"
    assert rows.loc["model\\udcff.xlsx", "status"] == "provisional"


@posix_only
def test_pipes_and_endless_folders_cost_their_own_row(answers, tmp_path, monkeypatch):
    monkeypatch.setattr(intake, "FOLDER_ENTRIES", 50)
    os.mkfifo(answers / "pipe.xlsx")
    answers.joinpath("deep", *"d" * (FOLDER_DEPTH + 1)).mkdir(parents=True)
    (answers / "wide").mkdir()
    for number in range(51):
        (answers / "wide" / f"{number}").touch()
    rows = graded(answers, tmp_path / "out")
    assert set(rows["status"]) == {"ungradable"}
    assert "pipe or a device" in rows.loc["pipe.xlsx", "reason"]
    assert "nest deeper than 40" in rows.loc["deep", "reason"]
    assert "more than 50 files" in rows.loc["wide", "reason"]


def test_a_file_too_large_to_be_read_is_not_read_to_tell_whether_it_changed(answers, tmp_path):
    (answers / "sparse").mkdir()
    with (answers / "sparse" / "archive.bin").open("wb") as file:
        file.truncate(1 << 40)  # a terabyte of nothing
    rows = graded(answers, tmp_path / "out")
    assert rows.loc["sparse", "status"] == "final"


def test_a_place_that_no_path_may_have_costs_its_own_row(tmp_path):
    plan = Plan(rubric=RUBRIC, task_sha256="", out=str(tmp_path))
    row = run_job(plan, Job(id="nul", submission="a\0b.xlsx"))
    assert row.status == "error"


def test_an_id_in_any_script_makes_a_file_name_that_disks_take():
    assert all(len(f"{Job(id=sign * 300, submission='s').key}.json".encode()) < 200 for sign in "x名𠀀")


@pytest.mark.parametrize(
    ("text", "says"),
    [("submission,submission\na,b\n", "stands there twice"), ("id,submission\nx,a, b.xlsx\n", "more cells than col")],
)
def test_a_manifest_that_says_more_than_its_columns_is_refused(tmp_path, text, says):
    manifest = tmp_path / "list.csv"
    manifest.write_text(text)
    with pytest.raises(UsageError, match=says):
        find_jobs(str(manifest))


def test_results_never_lie_among_the_submissions(answers, tmp_path, capsys):
    told = ["batch", str(answers), "--rubric", RUBRIC, "--quiet", "--out"]
    assert cli.main([*told, str(answers / "out")]) == 2
    assert "would lie among the submissions" in capsys.readouterr().err
    assert not (answers / "out").exists()
    (answers / "one").mkdir()
    with pytest.raises(UsageError, match="would lie in the submission one"):
        run_batch(find_jobs(str(answers)), RUBRIC, str(answers / "one" / "out"), runner=on_this_machine(1))


def test_two_batches_in_one_folder_never_mix_their_rows(answers, tmp_path):
    out, jobs = str(tmp_path / "out"), find_jobs(str(answers))

    def disturbed(plan, wanted):
        yield from on_this_machine(1)(plan, wanted)
        for job in wanted:
            run_job(Plan(rubric=RUBRIC, task_sha256="another task", out=out), job)

    with pytest.raises(UsageError, match="another rubric or other limits during the run"):
        run_batch(jobs, RUBRIC, out, runner=disturbed)


def test_a_row_whose_report_is_gone_is_graded_again(answers, tmp_path):
    shutil.copy(MODEL, answers / "good.xlsx")
    out = tmp_path / "out"
    graded(answers, out)
    (report,) = (out / "reports").glob("good*")
    before = report.read_bytes()
    report.unlink()
    graded(answers, out)
    assert report.read_bytes() == before


def test_other_limits_grade_again(answers, tmp_path):
    (job,) = find_jobs(str(answers))
    plan = Plan(rubric=RUBRIC, task_sha256="t", out=str(tmp_path))
    other = plan.model_copy(update={"allowance": Allowance(seconds=59)})
    assert plan.digest != other.digest
    run_job(plan, job)
    (stored,) = (tmp_path / "rows").iterdir()
    first = json.loads(stored.read_text())["made_from"]
    run_job(other, job)
    assert json.loads(stored.read_text())["made_from"] != first


# -- half written files --------------------------------------------------------------------------------------------


def test_what_a_killed_run_left_half_written_is_swept_and_a_living_ones_is_not(tmp_path):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    storage.write(str(tmp_path / "a.json"), b"whole")
    host = storage._HOST
    names = {
        "dead": f"a.json.{host}-{ended.pid}-abc.partial",
        "alive": f"a.json.{host}-{os.getpid()}-abc.partial",
        "elsewhere": f"a.json.ffffffff-{ended.pid}-abc.partial",
        "old": f"a.json.ffffffff-{os.getpid()}-abc.partial",
        "older version": "a.json.4711.partial",
    }
    for name in names.values():
        (tmp_path / name).write_bytes(b"hal")
    for kind in ("old", "older version"):
        os.utime(tmp_path / names[kind], (0, 0))
    storage.sweep(str(tmp_path))
    assert {path.name for path in tmp_path.iterdir()} == {"a.json", names["alive"], names["elsewhere"]}
    storage.sweep(str(tmp_path / "none"))


def test_a_write_that_fails_leaves_nothing_behind(tmp_path, monkeypatch):
    def full(self, _):
        self.touch()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(UsageError, match="No space left"):
        storage.write(str(tmp_path / "a.json"), b"whole")
    assert not list(tmp_path.iterdir())


def test_a_write_whose_half_another_host_swept_is_made_again(tmp_path, monkeypatch):
    replace, swept = Path.replace, []

    def sweeping(self, target):
        if not swept:
            swept.append(self.unlink())
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", sweeping)
    storage.write(str(tmp_path / "a.json"), b"whole")
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]
