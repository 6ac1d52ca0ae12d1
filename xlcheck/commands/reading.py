"""Verbs that read one workbook: roles, recalc, explain."""

from __future__ import annotations

import argparse
from pathlib import Path

from xlcheck.arguments import Verbs, add_binding, add_workbook
from xlcheck.commands.output import print_facts
from xlcheck.progress import stage


def add_verbs(verbs: Verbs) -> None:
    """Add the verbs that read one workbook."""
    roles = verbs.add("roles", _roles, "say which cells are the WACC, the flows, the bridge …")
    add_workbook(roles)
    add_binding(roles)
    roles.add_argument("--write-binding", type=Path, metavar="FILE", help="write a binding to correct and pass back")

    recalc = verbs.add("recalc", _recalc, "recompute every formula and compare with the stored values")
    add_workbook(recalc)

    explain = verbs.add("explain", _explain, "show how one cell comes to its value")
    add_workbook(explain)
    explain.add_argument("cell", metavar="CELL", help="such as 'DCF!C40'; without a sheet the first one is meant")
    explain.add_argument("--depth", type=int, default=2, metavar="N", help="levels of precedents (%(default)s)")
    explain.add_argument("--influence", action="store_true", help="also move each typed number behind it by 1 %%")


def _roles(args: argparse.Namespace) -> int:
    from xlcheck.binding import load_binding
    from xlcheck.pipeline import one_workbook, study
    from xlcheck.report.json import roles_json
    from xlcheck.report.listing import binding_text, roles_text
    from xlcheck.report.writing import write_new

    given = load_binding(args.binding) if args.binding else None
    roles = study(one_workbook(args.workbook), given, vocabulary=args.vocabulary).roles
    print_facts(args, lambda: roles_json(roles), lambda: roles_text(roles))
    if args.write_binding:
        write_new(args.write_binding, binding_text(roles))
    return 0


def _recalc(args: argparse.Namespace) -> int:
    from xlcheck.pipeline import one_workbook
    from xlcheck.recompute import recompute
    from xlcheck.report.json import dumps, recalc_json
    from xlcheck.report.listing import recalc_text
    from xlcheck.workbook import load

    with stage("Recomputing"):
        recalc = recompute(load(one_workbook(args.workbook)))
        told = dumps(recalc_json(recalc)) if args.json else recalc_text(recalc)
    print(told, end="")
    return 0


def _explain(args: argparse.Namespace) -> int:
    from xlcheck.pipeline import one_workbook
    from xlcheck.recompute import recompute
    from xlcheck.report.trace import cell_of, influence_json, influence_text, trace_json, trace_text
    from xlcheck.workbook import load

    with stage("Recomputing"):
        book = load(one_workbook(args.workbook))
        cell = cell_of(book, args.cell)
        recalc = recompute(book)
        trace = trace_json(recalc, recalc.graph, cell, args.depth)
        effects = influence_json(recalc, cell) if args.influence else []
    told = {**trace, "influence": effects} if args.influence else trace
    print_facts(args, lambda: told, lambda: trace_text(trace) + (influence_text(effects) if args.influence else ""))
    return 0
