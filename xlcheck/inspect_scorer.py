"""A scorer for Inspect AI: grades the workbook that an agent leaves in its sandbox. Needs the extra ``inspect``.

In a task::

    Task(dataset=…, solver=…, sandbox="docker", scorer=xlcheck_scorer("sic-epitaxy-dcf", workbook="model.xlsx"))

The value is the share of points, 0 to 1. What has no single score stays unscored, so that no metric counts it: an
interval, unless the rubric's ``open_scores`` names an end of it, and a file that cannot be graded.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

from anyio.to_thread import run_sync
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState
from inspect_ai.util import OutputLimitExceededError, sandbox

import xlcheck.checks  # noqa: F401 - declares the checks
from xlcheck.batching.work import graded
from xlcheck.checking import CHECKS
from xlcheck.errors import SubmissionError, UsageError, WorkerLostError
from xlcheck.isolation import run_apart
from xlcheck.report.document import Report
from xlcheck.report.terminal import report_text
from xlcheck.rubric import load_rubric
from xlcheck.scoring.card import ScoreCard

_REASONS = {"ungradable": "invalid_response_format", "provisional": "provisional", "invalid": "invalid"}
"""Status of a card without a single score to Inspect's reason."""


@scorer(metrics=[mean(), stderr()])
def xlcheck_scorer(
    rubric: str, workbook: str = "model.xlsx", memos: Sequence[str] = (), verdicts: str | None = None
) -> Scorer:
    """Grade a workbook of the sandbox against a rubric, in a limited process of its own.

    `rubric` is a bundled id or a file; `workbook` and `memos` are paths in the sandbox, memos that are missing are
    left out; `verdicts` is a judge's file on this machine, or a folder with ``<sample id>.json`` or ``.jsonl``.
    No workbook is an empty submission: 0 points. Raises UsageError for a rubric or verdict file that is not valid.
    """
    load_rubric(rubric, CHECKS)  # before any sample has cost anything

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001 - the rubric says what is right
        with TemporaryDirectory(prefix="xlcheck-") as private:
            folder = Path(private) / "sandbox"  # its name is what a report says of an empty submission
            folder.mkdir()
            try:
                for place in (workbook, *memos):
                    await _fetch(place, folder)
                judged = _verdicts(verdicts, state.sample_id)
                order = {"submission": str(folder), "rubric": rubric, "verdicts": judged}
                report = await run_sync(partial(run_apart, graded, json.dumps(order)))
            except (OutputLimitExceededError, SubmissionError, WorkerLostError) as error:
                return Score.unscored(reason="invalid_response_format", answer=workbook, explanation=str(error))
            except (OSError, TimeoutError) as error:
                return Score.unscored(reason="scoring_failed", answer=workbook, explanation=f"{workbook}: {error}")
        return score_of(Report.model_validate_json(report), workbook)

    return score


async def _fetch(place: str, folder: Path) -> None:
    """Copy a file of the sandbox; nothing where there is none."""
    try:
        content = await sandbox().read_file(place, text=False)
    except (FileNotFoundError, IsADirectoryError):
        return
    (folder / PurePosixPath(place).name).write_bytes(content)


def _verdicts(place: str | None, sample_id: int | str) -> str | None:
    if place is None:
        return None
    path = Path(place)
    if not path.exists():
        raise UsageError(f"{place}: there is no such verdict file or folder")
    if path.is_file():
        return place
    found = (path / f"{sample_id}{suffix}" for suffix in (".json", ".jsonl"))
    return next((str(file) for file in found if file.is_file()), None)


def score_of(report: Report, answer: str | None = None) -> Score:
    """Return the report of a grade as a score of Inspect."""
    card = report.score_card
    if card is None:
        raise UsageError("an audit has no score; grade against a rubric")
    told: dict[str, Any] = {
        "answer": answer,
        "explanation": report_text(report),
        "metadata": _metadata(report, card),
    }
    if card.score is None:
        return Score.unscored(reason=_REASONS.get(card.status, card.status), **told)
    return Score(value=float(card.score) / 100, reason=None if report.workbook else "no_response", **told)


def _metadata(report: Report, card: ScoreCard) -> dict[str, Any]:
    kept = card.model_dump(mode="json", include={"low", "high", "status", "fatal", "uncapped", "open_items"})
    lost = [
        line.model_dump(mode="json", include={"item", "kind", "lost", "at_stake", "check", "cell", "message", "reason"})
        for line in card.lines
        if line.lost or line.at_stake or line.item in card.fatal
    ]
    rubric = {"rubric_id": report.rubric_id, "rubric_sha256": report.rubric_sha256}
    return {**kept, **rubric, "workbook_sha256": report.workbook_sha256, "lost": lost}
