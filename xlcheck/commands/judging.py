"""Verbs of the judge's side: packet, judge, agree, runs, lost."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from xlcheck.arguments import Verbs, add_allowance, add_binding, add_own_process, allowance_of, positive
from xlcheck.commands.output import declared_checks, print_facts, show_file
from xlcheck.errors import UsageError

if TYPE_CHECKING:
    from xlcheck.judging.run import Judged, Plan
    from xlcheck.report.document import Report
    from xlcheck.rubric import Rubric

URL, MODEL, KEY = "XLCHECK_JUDGE_URL", "XLCHECK_JUDGE_MODEL", "OPENAI_API_KEY"
FILES = ("binding", "vocabulary", "followup")
FORMATS = ("text", "json_object", "json_schema")


def add_verbs(verbs: Verbs) -> None:
    """Add the verbs of the judge's side."""
    packet = verbs.add("packet", _packet, "write what a judge needs to decide on a submission")
    _add_submission(packet)
    packet.add_argument("--item", action="append", metavar="ID", help="only this item; again for another")
    packet.add_argument("--out", type=Path, metavar="FILE", help="write a new file instead of printing")
    add_own_process(packet)

    _add_judge(verbs)

    agree = verbs.add("agree", _agree, "say how far judges agree, item by item")
    agree.add_argument("verdicts", type=Path, nargs="+", metavar="VERDICTS", help="verdict files of one submission")
    agree.add_argument("--rubric", required=True, metavar="ID|FILE", help="the rubric they decide by")
    agree.add_argument("--second-round", action="store_true", help="they judge the answer of the second round")
    agree.add_argument(
        "--family", action="append", default=[], metavar="JUDGE=NAME", help="of a judge whose name does not tell it"
    )

    runs = verbs.add("runs", _runs, "summarise the scores of many runs of one task, and which items flip")
    _add_reports(runs)

    lost = verbs.add("lost", _lost, "total the points lost by stage and dimension, over one answer or many")
    _add_reports(lost)


def _add_submission(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "submission", type=Path, metavar="SUBMISSION", help="a workbook, or a folder with one and memo files"
    )
    parser.add_argument("--rubric", required=True, metavar="ID|FILE", help="a bundled rubric or a YAML file")
    parser.add_argument("--followup", type=Path, metavar="SUBMISSION2", help="judge this answer of the second round")
    parser.add_argument("--formulas", action="store_true", help="show formulas beside the values")
    add_binding(parser)


def _add_judge(verbs: Verbs) -> None:
    judge = verbs.add("judge", _judge, "have a model decide the judge's items, over an OpenAI-compatible endpoint")
    _add_submission(judge)
    judge.add_argument("--base-url", metavar="URL", help=f"of the endpoint (else {URL} in the environment)")
    judge.add_argument("--model", metavar="NAME", help=f"(else {MODEL} in the environment)")
    judge.add_argument("--key-from", default=KEY, metavar="NAME", help="variable that holds the key (%(default)s)")
    judge.add_argument("--judge", metavar="NAME", help="under which the verdicts stand (the model's name)")
    judge.add_argument(
        "--run", dest="run_name", default="1", metavar="NAME", help="tells runs of one judge apart (%(default)s)"
    )
    judge.add_argument("--batch", type=positive, default=1, metavar="N", help="items asked at once (%(default)s)")
    judge.add_argument(
        "--attempts", type=positive, default=2, metavar="N", help="unusable answers taken on one item (%(default)s)"
    )
    judge.add_argument("--again", action="store_true", help="ask again what stayed open in an earlier session")
    judge.add_argument(
        "--timeout", type=_seconds, default=120.0, metavar="S", help="seconds for one answer (%(default)s)"
    )
    judge.add_argument(
        "--retries", type=_whole, default=5, metavar="N", help="of a question that gets no answer (%(default)s)"
    )
    judge.add_argument("--temperature", type=_whole_or_part, metavar="T", help="(left to the endpoint)")
    judge.add_argument("--response-format", choices=FORMATS, default="text", help="asked of the endpoint (%(default)s)")
    judge.add_argument("--strict", action="store_true", help="exit 4 if an item stays open")
    judge.add_argument(
        "--out", type=Path, default=Path("xlcheck-judge"), metavar="DIR", help="raw answers, verdicts (%(default)s)"
    )
    add_allowance(judge)


def _seconds(text: str) -> float:
    value = _whole_or_part(text)
    if value == 0:
        raise argparse.ArgumentTypeError("0 seconds are no time to answer; give a number above 0")
    return value


def _whole_or_part(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < 1e6:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 0 upward")
    return value


def _whole(text: str) -> int:
    return 0 if text == "0" else positive(text)


def _add_reports(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "reports", type=Path, nargs="+", metavar="REPORT", help="report.json files, or folders searched for them"
    )


def _packet(args: argparse.Namespace) -> int:
    from xlcheck.judging.packet import INSTRUCTIONS, packet_text
    from xlcheck.judging.prepare import prepare

    files = {name: getattr(args, name) for name in FILES}
    packet = prepare(args.submission, args.rubric, formulas=args.formulas, **files)
    unknown = [item for item in args.item or () if item not in packet.ids()]
    if unknown:
        raise UsageError(f"{unknown[0]!r} is nothing that a judge decides; there are {', '.join(packet.ids())}")
    if args.json and args.out is None:
        print_facts(args, lambda: packet.model_dump(mode="json"), str)
    else:
        show_file(args, f"{INSTRUCTIONS}\n{packet_text(packet, args.item)}", "Packet")
    return 0


def _judge(args: argparse.Namespace) -> int:
    from xlcheck.judging.answers import verdict_file
    from xlcheck.judging.endpoint import connect
    from xlcheck.judging.packet import Packet
    from xlcheck.judging.prepare import round_of
    from xlcheck.judging.run import run_judge
    from xlcheck.judging.store import Store
    from xlcheck.report.writing import replace_file
    from xlcheck.rubric import load_rubric

    plan = _plan(args)
    rubric = round_of(load_rubric(args.rubric, declared_checks()), second=args.followup is not None)
    file = args.out / "verdicts.json"
    _keep_others(file, rubric, plan)
    ask = connect(plan.settings, os.environ.get(args.key_from) or "none")
    store = Store(args.out / "answers.jsonl")
    packet = Packet.model_validate_json(_prepared_apart(args))
    judged = run_judge(packet, rubric, ask, store, plan)
    replace_file(file, verdict_file(rubric, plan.judge, plan.run, judged.verdicts))
    print_facts(args, lambda: _judged_json(judged, file), lambda: _judged_text(judged, file))
    if judged.stopped is not None:
        print(f"xlcheck: {judged.stopped}; the same command goes on from here", file=sys.stderr)
        return UsageError.exit_code
    return 4 if args.strict and judged.open else 0


def _keep_others(file: Path, rubric: Rubric, plan: Plan) -> None:
    """Refuse to write over verdicts that are not of this task, judge and run."""
    if not file.exists():
        return
    try:
        found = json.loads(file.read_bytes())
    except (OSError, ValueError):
        found = None
    mine = {"rubric": rubric.id, "judge": plan.judge, "run": plan.run}
    if not isinstance(found, dict) or {key: found.get(key) for key in mine} != mine:
        raise UsageError(f"{file} exists and is of another task, judge or run; name another folder with --out")


def _plan(args: argparse.Namespace) -> Plan:
    from xlcheck.judging.endpoint import Settings
    from xlcheck.judging.run import Plan

    base_url, model = args.base_url or os.environ.get(URL), args.model or os.environ.get(MODEL)
    if not base_url or not model:
        raise UsageError(f"say which model to ask: --base-url and --model, or {URL} and {MODEL} in the environment")
    settings = Settings(base_url, model, args.timeout, args.retries, args.temperature, args.response_format)
    return Plan(settings, args.judge or model, args.run_name, args.batch, args.attempts, args.again)


def _prepared_apart(args: argparse.Namespace) -> str:
    """Read the stranger's workbook in a limited process, and nothing else: asking may take hours."""
    from xlcheck.isolation import run_apart
    from xlcheck.judging.prepare import prepared

    files = {name: str(getattr(args, name)) for name in FILES if getattr(args, name) is not None}
    order = {"submission": str(args.submission), "rubric": args.rubric, "formulas": args.formulas, **files}
    return run_apart(prepared, json.dumps(order), allowance_of(args))


def _judged_json(judged: Judged, file: Path) -> dict[str, object]:
    return {
        "verdicts": str(file),
        "decided": [verdict.item for verdict in judged.verdicts],
        "open": judged.open,
        "questions": judged.questions,
        "stopped": judged.stopped,
    }


def _judged_text(judged: Judged, file: Path) -> str:
    from xlcheck.report.words import count, plain

    whole = len(judged.verdicts) + len(judged.open)
    lines = [f"{len(judged.verdicts)} of {whole} decided, {count(judged.questions, 'question')} asked"]
    lines += [f"  {item} stays open: {plain(reason, 200)}" for item, reason in judged.open.items()]
    return "\n".join([*lines, f"Verdicts: {file}\n"])


def _agree(args: argparse.Namespace) -> int:
    from xlcheck.judging.prepare import round_of
    from xlcheck.report.judges import agreement_text
    from xlcheck.rubric import load_rubric
    from xlcheck.scoring.agreement import agreement
    from xlcheck.verdicts import load_all_verdicts

    families = dict(_family(text) for text in args.family)
    rubric = round_of(load_rubric(args.rubric, declared_checks()), second=args.second_round)
    verdicts = load_all_verdicts(args.verdicts, rubric)
    found = agreement(verdicts, families)
    print_facts(args, lambda: found.model_dump(mode="json"), lambda: agreement_text(found))
    return 0


def _family(text: str) -> tuple[str, str]:
    judge, sign, family = text.rpartition("=")
    if not sign or not judge or not family:
        raise UsageError(f"--family {text!r}: write it as JUDGE=NAME, such as analyst-a=desk-1")
    return judge, family


def _runs(args: argparse.Namespace) -> int:
    from xlcheck.report.judges import runs_text
    from xlcheck.scoring.runs import summarise_cards

    reports = _reports(args.reports)
    first_name, first = next(iter(reports.items()))
    for name, report in reports.items():
        if report.rubric_sha256 != first.rubric_sha256:
            raise UsageError(f"{name} is graded by another rubric than {first_name}; runs of one task have one rubric")
    found = summarise_cards({name: report.score_card for name, report in reports.items() if report.score_card})
    print_facts(args, lambda: found.model_dump(mode="json"), lambda: runs_text(found))
    return 0


def _lost(args: argparse.Namespace) -> int:
    from xlcheck.report.judges import lost_text
    from xlcheck.scoring.card import lost_points

    reports = _reports(args.reports)
    cards = [report.score_card for report in reports.values() if report.score_card]
    whole = {by: lost_points(cards, by) for by in ("stage", "dimension")}
    data = {by: {name: lost.model_dump(mode="json") for name, lost in rows.items()} for by, rows in whole.items()}
    print_facts(args, lambda: {"answers": len(cards), **data}, lambda: lost_text(len(cards), whole))
    return 0


def _reports(paths: Sequence[Path]) -> dict[str, Report]:
    """Return the graded reports by path; UsageError for an audit or where there is none."""
    from xlcheck.report.exports import read_report

    declared_checks()
    files = [file for path in paths for file in (_reports_in(path) if path.is_dir() else [path])]
    if not files:
        raise UsageError(f"{paths[0]} holds no report.json; `xlcheck grade --out` writes one")
    reports = {str(file): read_report(file) for file in files}
    for name, report in reports.items():
        if report.score_card is None:
            raise UsageError(f"{name} is an audit, which has no score")
    return reports


def _reports_in(folder: Path) -> list[Path]:
    """Return the reports that grade and batch left in a folder; a second round stands in its first round's report."""
    found = {*folder.rglob("report.json"), *folder.rglob("reports/*.json")}
    return sorted(file for file in found if file.parent.name != "followup")
