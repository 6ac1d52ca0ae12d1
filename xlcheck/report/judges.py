"""Several judges, several runs, many answers: agreement, spread and lost points for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal

from xlcheck.report.words import columns, count, plain, points
from xlcheck.scoring.agreement import Agreement, ItemAgreement
from xlcheck.scoring.card import Lost
from xlcheck.scoring.runs import Runs


def agreement_text(found: Agreement) -> str:
    """Return what judges agree on, the items in dispute first."""
    lines = [f"{count(len(found.judges), 'judge')}: {', '.join(map(plain, found.judges))}"]
    if len(found.judges) == 2:
        lines.append(f"Cohen's kappa: {_coefficient(found.kappa)}")
    lines.append(f"Krippendorff's alpha: {_coefficient(found.alpha)}")
    lines += [
        f"Warning: {', '.join(map(plain, judges))} are of one family ({plain(family)}); that says little"
        for family, judges in found.same_family.items()
    ]
    disputed = [item for item in found.items if len(set(item.values.values())) > 1]
    lines += ["", f"{count(len(disputed), 'item')} of {len(found.items)} in dispute"]
    return "\n".join(lines) + "\n" + columns(_item_row(item) for item in disputed)


def _item_row(item: ItemAgreement) -> list[str]:
    said = ", ".join(f"{plain(judge)} {value}" for judge, value in item.values.items())
    verdict = "open (tie)" if item.majority is None else f"majority {item.majority}"
    return [item.item, verdict, f"{points((item.agreement or Decimal(0)) * 100)} % of pairs agree", said]


def _coefficient(value: Decimal | None) -> str:
    return "undefined (no variation, or no item that two judges decided)" if value is None else f"{value:.3f}"


def runs_text(found: Runs) -> str:
    """Return the spread of runs, never the mean alone, and the items that flip."""
    rows = [
        ["mean", points(found.mean)],
        ["median", points(found.median)],
        ["range", f"{points(found.min)} to {points(found.max)}"],
    ]
    if found.standard_deviation is not None and found.interval is not None:
        low, high = (points(Decimal(repr(end))) for end in found.interval)
        rows.append(["standard deviation", points(Decimal(repr(found.standard_deviation)))])
        rows.append(["95 % interval of the mean", f"{low} to {high} (bootstrap)"])
    flips = sorted(((share, item) for item, share in found.flips.items() if share), key=lambda row: (-row[0], row[1]))
    text = f"{count(found.n, 'run')} with a score\n" + columns(rows)
    text += "".join(f"Left out: {plain(name)} ({plain(reason, 200)})\n" for name, reason in found.left_out.items())
    if flips:
        text += f"\n{count(len(flips), 'item')} not decided alike in every run\n"
        text += columns(
            [item, f"{points(Decimal(repr(share * 100)))} % of pairs of runs differ"] for share, item in flips
        )
    return text


def lost_text(answers: int, found: Mapping[str, Mapping[str, Lost]]) -> str:
    """Return the points lost by stage and by dimension over some answers."""
    text = f"Points lost over {count(answers, 'answer')}\n"
    for by, rows in found.items():
        text += f"\nBy {by}\n" + (columns(_lost_rows(rows)) or "  none\n")
    return text


def _lost_rows(rows: Mapping[str, Lost]) -> Iterator[list[str]]:
    for heading, row in sorted(rows.items(), key=lambda entry: (-entry[1].lost, entry[0])):
        yield [plain(heading), points(row.lost), f"and {points(row.at_stake)} open" if row.at_stake else ""]
