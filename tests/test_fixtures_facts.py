"""Published valuations, rebuilt as small workbooks: the recomputation meets the printed results, no check objects.

The figures are read from ``../shared/FACTS.json`` when the tests run; without that file they are skipped.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from openpyxl import Workbook

from xlcheck.cells import CellRef
from xlcheck.pipeline import audit
from xlcheck.recompute import recompute
from xlcheck.workbook import load

SOURCE = Path(__file__).resolve().parents[2] / "shared" / "FACTS.json"
pytestmark = pytest.mark.skipif(not SOURCE.exists(), reason="the published facts lie outside the project")


def fact(name: str) -> dict:
    return next(entry for entry in json.loads(SOURCE.read_text()) if entry["id"] == name)


@dataclass
class Sheet:
    """A small DCF on one sheet: labels in A, values in B, the flows along a row."""

    workbook: Workbook = field(default_factory=Workbook)
    row: int = 3
    at: dict[str, str] = field(default_factory=dict)

    def __post_init__(self):
        self.page = self.workbook.active
        self.page.title = "DCF"
        self.page["A1"] = "USD million"

    def put(self, name: str, label: str, content: object, form: str = "#,##0.00") -> None:
        self.page.cell(self.row, 1, label)
        cell = self.page.cell(self.row, 2, content.format(**self.at) if isinstance(content, str) else content)
        cell.number_format = form
        self.at[name] = f"B{self.row}"
        self.row += 1

    def series(self, name: str, label: str, contents: list[object], form: str = "#,##0.00") -> None:
        self.page.cell(self.row, 1, label)
        for column, content in enumerate(contents, 2):
            here = {key: place.replace("?", chr(64 + column)) for key, place in self.at.items()}
            before = {f"{key}_before": place.replace("?", chr(63 + column)) for key, place in self.at.items()}
            cell = self.page.cell(self.row, column)
            cell.value = content.format(**here, **before) if isinstance(content, str) else content
            cell.number_format = form
        last = chr(65 + len(contents))
        self.at[f"{name}_all"] = f"B{self.row}:{last}{self.row}"
        self.at[f"{name}_last"] = f"{last}{self.row}"
        self.at[name] = f"?{self.row}"
        self.row += 1

    def save(self, path: Path) -> Path:
        self.workbook.save(path)
        return path


def present_values(sheet: Sheet, flows: list[object], first_year: int = 2026) -> None:
    """Timeline, flows, discount factors and present values."""
    count = len(flows)
    sheet.series("year", "Year", list(range(first_year, first_year + count)), "0")
    sheet.series("period", "Discount period", list(range(1, count + 1)), "0")
    sheet.series("fcff", "Free cash flow to the firm (FCFF)", flows)
    sheet.series("factor", "Discount factor", ["=1/(1+$B${wacc_row})^{period}"] * count, "0.0000")
    sheet.series("pv", "PV of FCFF", ["={fcff}*{factor}"] * count)
    sheet.put("pv_fcf", "Sum of PV of FCFF", "=SUM({pv_all})")


def rates(sheet: Sheet, wacc: object, growth: float) -> None:
    sheet.put("wacc", "WACC", wacc, "0.000%")
    sheet.at["wacc_row"] = sheet.at["wacc"][1:]
    sheet.put("g", "Terminal growth rate", growth, "0.00%")


def terminal(sheet: Sheet, value: str) -> None:
    sheet.put("tv", "Terminal value", value)
    sheet.put("pv_tv", "PV of terminal value", "={tv}*{factor_last}")
    sheet.put("ev", "Enterprise value", "={pv_fcf}+{pv_tv}")


def rio() -> Sheet:
    """Six explicit flows and a normalised seventh."""
    given = fact("rio_bma12")["inputs"]
    sheet = Sheet()
    rates(sheet, given["wacc"], given["g"])
    sheet.put("fcf7", "Normalised FCFF of the first year after the forecast", given["fcf7"])
    present_values(sheet, given["fcff"])
    terminal(sheet, "={fcf7}/({wacc}-{g})")
    sheet.put("debt", "Debt", given["debt"])
    sheet.put("equity", "Equity value", "={ev}-{debt}")
    return sheet


def wacc_build(sheet: Sheet, given: dict) -> str:
    """CAPM and the weights; returns the formula of the WACC."""
    sheet.put("rf", "Risk-free rate", given["rf"], "0.00%")
    sheet.put("beta", "Beta", given["beta"])
    sheet.put("mrp", "Equity risk premium", given["mrp"], "0.00%")
    sheet.put("ke", "Cost of equity", "={rf}+{beta}*{mrp}", "0.000%")
    sheet.put("rd", "Pre-tax cost of debt", given["rd"], "0.00%")
    sheet.put("t", "Tax rate", given["t"], "0.00%")
    sheet.put("wd", "Weight of debt", given["d_cap"], "0.00%")
    sheet.put("we", "Weight of equity", "=1-{wd}", "0.00%")
    return "={we}*{ke}+{wd}*{rd}*(1-{t})"


def york() -> Sheet:
    """CAPM, WACC and three years of growth before the perpetuity."""
    given = fact("york_l2")["inputs"]
    sheet = Sheet()
    sheet.page["A1"] = "USD"
    rates(sheet, wacc_build(sheet, given), given["g"])
    sheet.put("fcff0", "FCFF of the last year", given["fcff0"])
    sheet.series("growth", "Growth of FCFF", given["growth"], "0.0%")
    flows = [f"={sheet.at['fcff0']}*(1+{{growth}})", *["={fcff_before}*(1+{growth})"] * (len(given["growth"]) - 1)]
    sheet.at["fcff"] = f"?{sheet.row + 2}"
    present_values(sheet, flows)
    terminal(sheet, "={fcff_last}*(1+{g})/({wacc}-{g})")
    return sheet


def two_stages() -> Sheet:
    """Growth from reinvestment at the present return, then a value driver whose new capital earns the WACC."""
    given = fact("pg_damodaran")["inputs"]
    sheet, count = Sheet(), given["n"]
    rates(sheet, wacc_build(sheet, given), given["gs"])
    sheet.put("ebit0", "EBIT of the last year", given["ebit"])
    sheet.put("capital", "Invested capital", given["ic"])
    sheet.put("rate", "Reinvestment rate", given["reinv"], "0.0%")
    sheet.put("roic", "ROIC", "={ebit0}*(1-{t})/{capital}", "0.0%")
    sheet.put("growth", "Growth", "={rate}*{roic}", "0.00%")
    sheet.at["ebit"] = f"?{sheet.row}"
    first, then = f"={sheet.at['ebit0']}*(1+{sheet.at['growth']})", f"={{ebit_before}}*(1+{sheet.at['growth']})"
    sheet.series("ebit", "EBIT", [first, *[then] * (count - 1)])
    sheet.series("nopat", "NOPAT", [f"={{ebit}}*(1-{sheet.at['t']})"] * count)
    present_values(sheet, [f"={{nopat}}*(1-{sheet.at['rate']})"] * count)
    sheet.put("ronic", "Return on new invested capital (RONIC)", "={wacc}", "0.00%")
    terminal(sheet, "={nopat_last}*(1+{g})*(1-{g}/{ronic})/({wacc}-{g})")
    return sheet


def emma(stated: float | None) -> Sheet:
    """Five flows and a perpetuity; `stated` is typed over the value per share."""
    given = fact("emma_wrong")["inputs"]
    sheet = Sheet()
    rates(sheet, given["wacc"], given["g"])
    present_values(sheet, list(given["fcff"].values()), int(min(given["fcff"])))
    terminal(sheet, "={fcff_last}*(1+{g})/({wacc}-{g})")
    sheet.put("net_debt", "Net debt", given["nno"])
    sheet.put("equity", "Equity value", "={ev}-{net_debt}")
    sheet.put("shares", "Shares outstanding (million)", given["shares"])
    sheet.put("per_share", "Value per share", "={equity}/{shares}" if stated is None else stated)
    return sheet


PUBLISHED = {"rio_bma12": rio, "york_l2": york, "pg_damodaran": two_stages}


@pytest.mark.parametrize("name", PUBLISHED)
def test_printed_results_are_met_within_their_tolerance(name, tmp_path):
    entry, sheet = fact(name), PUBLISHED[name]()
    recalc = recompute(load(sheet.save(tmp_path / f"{name}.xlsx")))
    for key, printed in entry["published"].items():
        found = recalc.number(CellRef.parse(f"DCF!{sheet.at[key]}"))
        assert found == pytest.approx(printed, abs=entry["abs_tol"][key]), key


@pytest.mark.parametrize("name", PUBLISHED)
def test_no_check_objects_to_a_published_valuation(name, tmp_path):
    report = audit(PUBLISHED[name]().save(tmp_path / f"{name}.xlsx"))
    failed = {result.check_id: result.findings[0].message for result in report.results if result.status == "fail"}
    assert {check_id: said for check_id, said in failed.items() if not check_id.startswith("metric.")} == {}


def test_perpetuity_share_of_value_is_met(tmp_path):
    entry = fact("forecastingstocks_tv")
    given, printed = entry["inputs"], entry["published"]
    for growth, key in ((given["g"], "tv"), (given["g_alt"], "tv_alt")):
        sheet = Sheet()
        rates(sheet, given["r"], growth)
        present_values(sheet, [given["fcf5"]] * given["n"])
        terminal(sheet, "={fcff_last}*(1+{g})/({wacc}-{g})")
        recalc = recompute(load(sheet.save(tmp_path / f"{key}.xlsx")))
        found = {name: recalc.number(CellRef.parse(f"DCF!{sheet.at[name]}")) for name in ("tv", "pv_tv")}
        assert found["tv"] == pytest.approx(printed[key], abs=entry["abs_tol"][key])
        if key == "tv":
            assert found["pv_tv"] == pytest.approx(printed["pv_tv"], abs=entry["abs_tol"]["pv_tv"])
            assert found["pv_tv"] / given["ev"] == pytest.approx(printed["tv_share"], abs=entry["abs_tol"]["tv_share"])


def test_bridge_with_options_is_met_and_not_accused(tmp_path):
    entry = fact("sirius_bridge")
    given, printed = entry["inputs"], entry["published"]
    sheet = Sheet()
    for name, label, key in (
        ("ev", "Enterprise value", "op_assets_implied"),
        ("cash", "Cash", "cash"),
        ("debt", "Debt", "debt"),
        ("options", "Value of options outstanding", "options"),
    ):
        sheet.put(name, label, given[key])
    sheet.put("equity", "Equity value", "={ev}+{cash}-{debt}-{options}")
    sheet.put("shares", "Shares outstanding (million)", given["shares"])
    sheet.put("per_share", "Value per share", "={equity}/{shares}")
    path = sheet.save(tmp_path / "sirius.xlsx")
    recalc = recompute(load(path))
    for key in printed:
        found = recalc.number(CellRef.parse(f"DCF!{sheet.at[key]}"))
        assert found == pytest.approx(printed[key], abs=entry["abs_tol"][key])
    failed = [result.check_id for result in audit(path).results if result.status == "fail"]
    assert [check_id for check_id in failed if check_id.startswith("bridge.")] == []


@pytest.mark.xfail(reason="a value per share that is typed, without shares above it, is not located", strict=False)
def test_misprinted_value_per_share_is_accused_at_its_cell(tmp_path):
    sheet = emma(fact("emma_wrong")["published"]["per_share"])
    report = audit(sheet.save(tmp_path / "emma.xlsx"))
    accused = [
        finding
        for result in report.results
        if result.check_id == "bridge.per-share" and result.status == "fail"
        for finding in result.findings
    ]
    assert [str(finding.cell) for finding in accused] == [f"DCF!{sheet.at['per_share']}"]
    own = recompute(load(emma(None).save(tmp_path / "own.xlsx")))
    assert accused[0].expected == pytest.approx(own.number(CellRef.parse(f"DCF!{sheet.at['per_share']}")))
