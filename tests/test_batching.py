"""A batch: which submissions it holds, that it resumes, and that its rows depend on nothing but the files."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from decimal import Decimal
from pathlib import Path

import pandas as pd
import pytest

from xlcheck import cli, storage
from xlcheck.batching.jobs import Job, find_jobs
from xlcheck.batching.rows import Row, Tally
from xlcheck.batching.run import on_ray, on_this_machine, run_batch, task_sha256
from xlcheck.checking import CHECKS
from xlcheck.confinement import Allowance
from xlcheck.errors import UsageError
from xlcheck.rubric import load_rubric

TASK = Path(__file__).parents[1] / "fixtures" / "sic-epitaxy-dcf"
RUBRIC = "sic-epitaxy-dcf"


@pytest.fixture
def answers(tmp_path):
    """Five submissions: three folders, a workbook, and a file that is none."""
    folder = tmp_path / "answers"
    folder.mkdir()
    for name in ("reference", "empty", "growth-above-wacc"):
        shutil.copytree(TASK / name, folder / name)
    (folder / "alone.xlsx").write_bytes((TASK / "flawed" / "model.xlsx").read_bytes())
    (folder / "torn.xlsx").write_bytes(b"PK\x03\x04 and no more")
    (folder / "notes.txt").write_text("not a submission")
    (folder / ".hidden.xlsx").write_text("nor this")
    return folder


def table(out: Path) -> pd.DataFrame:
    return pd.read_parquet(out / "results.parquet")


# -- which submissions ---------------------------------------------------------------------------------------------


def test_a_folder_holds_its_workbooks_and_sub_folders(answers):
    ids = [job.id for job in find_jobs(str(answers))]
    assert ids == ["alone.xlsx", "empty", "growth-above-wacc", "reference", "torn.xlsx"]


def test_a_pattern_holds_what_it_matches(answers):
    assert [job.id for job in find_jobs(f"{answers}/*.xlsx")] == ["alone.xlsx", "torn.xlsx"]


def test_verdicts_come_from_the_graders_folder_and_never_from_a_submission(answers, tmp_path):
    assert (answers / "reference" / "verdicts.json").exists()
    assert {job.verdicts for job in find_jobs(str(answers))} == {None}
    rulings = tmp_path / "rulings"
    rulings.mkdir()
    shutil.copy(TASK / "reference" / "verdicts.json", rulings / "reference.json")
    given = {job.id: job.verdicts for job in find_jobs(str(answers), str(rulings))}
    assert given["reference"] == str(rulings / "reference.json")
    assert given["empty"] is None


def test_a_manifest_names_places_beside_itself(tmp_path):
    manifest = tmp_path / "list.csv"
    manifest.write_text("id,submission,verdicts\nb,two/model.xlsx,two.json\n,one,\n", encoding="utf-8-sig")
    assert find_jobs(str(manifest)) == (
        Job(id="b", submission=f"{tmp_path}/two/model.xlsx", verdicts=f"{tmp_path}/two.json"),
        Job(id="one", submission=f"{tmp_path}/one"),
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("id,verdicts\n", "there is no column submission"),
        ("submission,verdict\na.xlsx,b.json\n", "the column 'verdict' is unknown"),
        ("submission\na.xlsx\n\n  \n", "line 4: the submission is blank"),
        ("id,submission\nx,a.xlsx\nx,b.xlsx\n", "the id 'x' stands twice"),
        ("submission\n", "there is no submission"),
        ('submission\n"a.xlsx\n', "no CSV file"),
    ],
)
def test_a_manifest_that_is_not_valid_is_refused_in_one_sentence(tmp_path, text, says):
    manifest = tmp_path / "list.csv"
    manifest.write_text(text)
    with pytest.raises(UsageError) as caught:
        find_jobs(str(manifest))
    assert says in str(caught.value)
    assert str(manifest) in str(caught.value)


def test_places_that_are_not_there_are_refused(tmp_path):
    for source, verdicts in ((f"{tmp_path}/none", None), (f"{tmp_path}/none.csv", None), (str(tmp_path), None)):
        with pytest.raises(UsageError):
            find_jobs(source, verdicts)
    with pytest.raises(UsageError, match="no such folder of verdicts"):
        find_jobs(str(tmp_path), f"{tmp_path}/none")


def test_ids_that_differ_have_files_that_differ():
    keys = {Job(id=name, submission="s").key for name in ("a/b", "a_b", "a b", "名", "名 ", "x" * 300, "x" * 301)}
    assert len(keys) == 7
    assert all(len(key) < 100 and "/" not in key for key in keys)


# -- the run -------------------------------------------------------------------------------------------------------


def test_each_submission_has_a_row_whatever_becomes_of_it(answers, tmp_path):
    out = tmp_path / "out"
    found = run_batch(find_jobs(str(answers)), RUBRIC, str(out), runner=on_this_machine(2))
    rows = table(out).set_index("id")
    assert list(rows.index) == ["alone.xlsx", "empty", "growth-above-wacc", "reference", "torn.xlsx"]
    assert list(rows["status"]) == ["provisional", "final", "provisional", "provisional", "ungradable"]
    assert rows.loc["empty", "score"] == 0
    assert rows.loc["growth-above-wacc", "high"] == 40
    assert rows.loc["growth-above-wacc", "fatal"] == "fatal.growth-not-below-wacc"
    assert "no zip" in rows.loc["torn.xlsx", "reason"] or "damaged" in rows.loc["torn.xlsx", "reason"]
    assert found.status == {"provisional": 3, "final": 1, "ungradable": 1}
    assert list(found.not_graded) == ["torn.xlsx"]
    assert json.loads((out / "summary.json").read_text())["submissions"] == 5


def test_verdicts_reach_their_row_and_bad_ones_cost_only_their_row(answers, tmp_path):
    rulings = tmp_path / "rulings"
    rulings.mkdir()
    shutil.copy(TASK / "reference" / "verdicts.json", rulings / "reference.json")
    (rulings / "alone.xlsx.json").write_text("{}")
    run_batch(find_jobs(str(answers), str(rulings)), RUBRIC, str(tmp_path / "out"), runner=on_this_machine(2))
    rows = table(tmp_path / "out").set_index("id")
    assert (rows.loc["reference", "status"], rows.loc["reference", "score"]) == ("final", 100)
    assert rows.loc["alone.xlsx", "status"] == "error"
    assert "alone.xlsx.json" in rows.loc["alone.xlsx", "reason"]


def test_a_workbook_beyond_its_allowance_is_ungradable_and_the_batch_goes_on(answers, tmp_path):
    jobs = find_jobs(str(answers))
    run_batch(jobs, RUBRIC, str(tmp_path), runner=on_this_machine(1), allowance=Allowance(memory_mib=56))
    rows = table(tmp_path).set_index("id")
    assert rows.loc["reference", "status"] == "ungradable"
    assert "56 MiB" in rows.loc["reference", "reason"]
    assert rows.loc["empty", "status"] == "final"


def command(answers: Path, out: Path, jobs: int = 1) -> list[str]:
    return [
        *(sys.executable, "-m", "xlcheck.cli", "batch", str(answers)),
        *("--rubric", RUBRIC, "--out", str(out), "--jobs", str(jobs), "--quiet"),
    ]


def test_a_batch_killed_and_started_again_loses_nothing_and_repeats_nothing(answers, tmp_path):
    for number in range(4):
        shutil.copytree(TASK / "reference", answers / f"copy-{number}")
    whole, torn = tmp_path / "whole", tmp_path / "torn"
    assert cli.main(command(answers, whole, jobs=2)[3:]) == 0
    for enough in (2, 5):
        run = subprocess.Popen(command(answers, torn), stdout=subprocess.DEVNULL, start_new_session=True)
        until = time.monotonic() + 60
        while len(list((torn / "rows").glob("*.json"))) < enough and time.monotonic() < until:
            time.sleep(0.02)
        os.killpg(run.pid, signal.SIGKILL)
        run.wait()
    kept = {path: path.stat().st_mtime_ns for path in (torn / "rows").glob("*.json")}
    assert 5 <= len(kept) < 9
    assert subprocess.run(command(answers, torn, jobs=2), stdout=subprocess.DEVNULL, check=False).returncode == 0
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert (torn / "results.parquet").read_bytes() == (whole / "results.parquet").read_bytes()
    assert (torn / "summary.json").read_bytes() == (whole / "summary.json").read_bytes()
    assert not list(torn.rglob("*.partial"))


def test_a_changed_submission_is_graded_again(answers, tmp_path):
    jobs = find_jobs(f"{answers}/alone.xlsx")
    run_batch(jobs, RUBRIC, str(tmp_path / "out"), runner=on_this_machine(1))
    before = table(tmp_path / "out").loc[0, "workbook_sha256"]
    (answers / "alone.xlsx").write_bytes((TASK / "reference" / "model.xlsx").read_bytes())
    run_batch(jobs, RUBRIC, str(tmp_path / "out"), runner=on_this_machine(1))
    assert table(tmp_path / "out").loc[0, "workbook_sha256"] != before


def test_a_changed_evidence_pack_is_another_task(tmp_path):
    root = TASK.parents[1]
    rubric = shutil.copy(root / "rubrics" / "bigtech-reverse-dcf.yaml", tmp_path)
    shutil.copytree(root / "fixtures" / "bigtech-reverse-dcf" / "pack", tmp_path / "pack")
    rules = load_rubric(rubric, CHECKS)
    before = task_sha256(str(rubric), rules)
    assert task_sha256(str(rubric), rules) == before
    pack = tmp_path / "pack" / "pack.yaml"
    pack.write_text(re.sub(r"published: 20\d\d", "published: 2019", pack.read_text(), count=1))
    assert task_sha256(str(rubric), rules) != before


def test_submissions_and_results_may_lie_on_any_file_system(answers):
    for file in ("reference/model.xlsx", "alone.xlsx"):
        storage.write(f"memory://in/{file}", (answers / file).read_bytes())
    found = run_batch(find_jobs("memory://in"), RUBRIC, "memory://out", runner=on_this_machine(1))
    assert found.status == {"provisional": 2}
    assert storage.read("memory://out/results.parquet")[:4] == b"PAR1"
    assert [name for name, _ in storage.entries("memory://out")] == [
        "memory:///out/reports", "memory:///out/results.parquet", "memory:///out/rows", "memory:///out/summary.json",
    ]  # fmt: skip


def test_a_rubric_may_lie_there_too_with_the_files_it_names():
    root = TASK.parents[1]
    task = root / "fixtures" / "bigtech-reverse-dcf"
    text = (root / "rubrics" / "bigtech-reverse-dcf.yaml").read_text("utf-8").replace("id: bigtech-", "id: other-", 1)
    storage.write("memory://task/other.yaml", text.encode())
    storage.write("memory://task/pack/pack.yaml", (task / "pack" / "pack.yaml").read_bytes())
    verdicts = (task / "thin" / "verdicts.json").read_text("utf-8").replace("bigtech-reverse-dcf", "other-reverse-dcf")
    storage.write("memory://task/thin.json", verdicts.encode())
    jobs = [Job(id="thin", submission=str(task / "thin"), verdicts="memory://task/thin.json")]
    found = run_batch(jobs, "memory://task/other.yaml", "memory://named", runner=on_this_machine(1))
    assert found.status == {"final": 1}, found.not_graded
    # 74.2 of 100 by hand: calibration.yaml says why
    assert found.mean_low == 74.2


def test_a_manifest_carries_the_second_round(tmp_path):
    task = TASK.parent / "bigtech-reverse-dcf"
    manifest = tmp_path / "list.csv"
    first, second = task / "reference", task / "followup-bad"
    manifest.write_text(
        "id,submission,verdicts,followup,followup_verdicts\n"
        f"both,{first},{first}/verdicts.json,{second},{second}/verdicts.json\n"
        f"one,{first},{first}/verdicts.json,,\n",
        "utf-8",
    )
    run_batch(find_jobs(str(manifest)), "bigtech-reverse-dcf", str(tmp_path / "out"), runner=on_this_machine(2))
    rows = table(tmp_path / "out").set_index("id")
    assert rows.loc["both", "low"] == rows.loc["one", "low"] == 100
    assert rows.loc["both", "followup_high"] <= 40
    assert "reverse.solves-to-price" in rows.loc["both", "followup_failed"]
    assert pd.isna(rows.loc["one", "followup_high"])


@pytest.mark.slow
def test_a_ray_cluster_gives_the_same_rows_even_if_a_worker_is_killed(answers, tmp_path):
    ray = pytest.importorskip("ray")
    jobs = find_jobs(str(answers))
    run_batch(jobs, RUBRIC, str(tmp_path / "here"), runner=on_this_machine(1))
    killed = []

    def killing(plan, wanted):
        for row in on_ray(None)(plan, wanted):
            if not killed:
                killed.extend(_kill_one_worker())
            yield row

    try:
        run_batch(jobs, RUBRIC, str(tmp_path / "ray"), runner=killing)
    finally:
        ray.shutdown()
    assert killed
    assert (tmp_path / "ray" / "results.parquet").read_bytes() == (tmp_path / "here" / "results.parquet").read_bytes()


def _kill_one_worker() -> list[int]:
    for name in Path("/proc").glob("[0-9]*"):
        try:
            told = (name / "cmdline").read_bytes()
        except OSError:
            continue
        if told.startswith(b"ray::run_job"):
            os.kill(int(name.name), signal.SIGKILL)
            return [int(name.name)]
    return []


# -- what the rows say ---------------------------------------------------------------------------------------------


def test_summary_counts_by_hand():
    rows = [
        Row(id=str(n), submission="s", status="final", score=Decimal(n), low=Decimal(n), high=Decimal(n), fatal=fatal)
        for n, fatal in ((40, "fatal.a"), (60, ""), (80, "fatal.a; fatal.b"))
    ]
    rows += [
        Row(id="p", submission="s", status="provisional", low=Decimal(20), high=Decimal(100), failed="x.y"),
        Row(id="u", submission="s", status="ungradable", reason="damaged"),
    ]
    tally = Tally()
    for row in rows:
        assert tally.add(row) is row
    found = tally.summary()
    assert (found.mean_low, found.mean_high) == (50, 70)
    assert found.quartiles == (50, 60, 70)
    assert found.fatal == {"fatal.a": 2, "fatal.b": 1}
    assert found.failed == {"x.y": 1}
    assert found.not_graded == {"u": "damaged"}


def test_the_verb_tells_what_it_did(answers, tmp_path, capsys):
    assert cli.main(command(answers, tmp_path / "out", 2)[3:]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("5 submissions: 3 provisional, 1 final, 1 ungradable\n")
    assert f"{tmp_path}/out/results.parquet" in printed
