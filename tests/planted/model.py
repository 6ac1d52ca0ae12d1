"""The clean model: a compact DCF of an invented maker of weighing instruments, built cell by cell.

Contents are written as templates over role names, so that a fault is planted by naming roles, not addresses:
``{wacc}`` is the cell of a scalar; ``{revenue}`` in a line is the cell of the same period, ``{revenue@prev}`` of
the period before; ``{fcff[:]}`` is the forecast range, ``{fcff[0]}`` and ``{fcff[-1]}`` its ends.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from openpyxl import Workbook
from openpyxl.utils import get_column_letter

BALANCE_CHECK = "=ROUND({total_assets}-{total_liabilities_and_equity},6)"
RATE, MONEY, SHARE, PLAIN, TIMES = "0.00%", "#,##0.0", "0.00", "0", '0.0"x"'
ACTUALS, FORECASTS = 2, 5
BASE_YEAR = 2025
TOKEN = re.compile(r"\{(\w+)(@prev|\[(?:-?\d+|:)\])?\}")


@dataclass
class Line:
    """One labelled line: a scalar on a sheet, or a series over the timeline."""

    key: str
    sheet: str
    label: str
    content: object
    """A number, a template, or for a series (actuals, forecast), each a list or one template."""
    form: str = MONEY
    unit: str = ""


@dataclass
class Model:
    """A built workbook and where its roles stand."""

    workbook: Workbook
    lines: dict[str, Line]
    scalars: dict[str, str] = field(default_factory=dict)
    """Key to ``Sheet!B7``."""
    series: dict[str, list[str]] = field(default_factory=dict)
    """Key to the cells of actual and forecast periods, in time order."""

    def cell(self, key: str, period: int = -1) -> str:
        """Address of a scalar, or of a series in one forecast period (0 is the first, -1 the last)."""
        return self.scalars[key] if key in self.scalars else self.forecast(key)[period]

    def forecast(self, key: str) -> list[str]:
        """Addresses of a series over the forecast periods."""
        return self.series[key][ACTUALS:]

    def get(self, key: str, period: int = -1) -> object:
        """What stands in the cell: a number, text or formula."""
        sheet, address = self.cell(key, period).split("!")
        return self.workbook[sheet][address].value

    def set(self, key: str, content: object, period: int | None = None) -> str:
        """Write a template or number into a scalar, or into a series (all forecast periods, or one); return where."""
        if key in self.scalars:
            self._write(self.scalars[key], content, None)
            return self.scalars[key]
        cells = self.series[key]
        wanted = range(ACTUALS, len(cells)) if period is None else [range(ACTUALS, len(cells))[period]]
        for index in wanted:
            self._write(cells[index], content, index)
        return cells[wanted[0]]

    def put(self, address: str, content: object) -> str:
        """Write a template or number into ``Sheet!A1``; return the address."""
        self._write(address, content, None)
        return address

    def save(self, path: Path) -> Path:
        """Write the workbook (without stored values) and return the path."""
        self.workbook.save(path)
        return path

    def _write(self, where: str, content: object, index: int | None) -> None:
        sheet, address = where.split("!")
        self.workbook[sheet][address] = self.render(content, sheet, index)

    def render(self, content: object, sheet: str, index: int | None = None) -> object:
        """Turn a template into a formula as it reads on that sheet, in that period."""
        if not isinstance(content, str):
            return content
        return TOKEN.sub(lambda match: self._reference(match[1], match[2], sheet, index), content)

    def _reference(self, key: str, part: str | None, sheet: str, index: int | None) -> str:
        if key in self.scalars:
            return _on(self.scalars[key], sheet)
        cells = self.series[key]
        if part == "[:]":
            first, last = cells[ACTUALS], cells[-1]
            return f"{_on(first, sheet)}:{last.split('!')[1]}"
        if part and part.startswith("["):
            return _on(cells[ACTUALS:][int(part[1:-1])], sheet)
        assert index is not None, f"{key} is a series: say which period"
        return _on(cells[index - 1 if part == "@prev" else index], sheet)


def _on(where: str, sheet: str) -> str:
    own, address = where.split("!")
    return address if own == sheet else f"'{own}'!{address}" if " " in own else f"{own}!{address}"


def clean_model(
    *,
    timing: str = "end",
    terminal: str = "gordon",
    language: str = "en",
    flow: str = "fcff",
    net_cash: bool = False,
    down: bool = False,
    scenarios: bool = False,
    statements: bool = False,
    grid: bool = True,
) -> Model:
    """Build a right model. Every variant is an accepted convention, so every check must pass or not apply.

    timing ``end | mid``; terminal ``gordon | multiple``; language ``en | zh``; flow ``fcff | fcfe``;
    `down` lets the years run down; `scenarios` adds a switch; `statements` adds a balance sheet.
    """
    lines = _lines(flow, scenarios, statements)
    if timing == "mid":
        lines["discount_period"].content = ["", "={period}-{base_year}-0.5"]
    if terminal == "multiple":
        _exit_multiple(lines, timing)
    if net_cash:
        _net_cash(lines)
    if flow == "fcfe":
        _equity_flows(lines)
    model = _place(lines, language, down)
    if grid:
        _grid(model, terminal, flow, language)
    return model


def _lines(flow: str, scenarios: bool, statements: bool) -> dict[str, Line]:
    found = [*_inputs(), *_forecast(), *_valuation()]
    if scenarios:
        found += _scenarios(found)
    if statements or flow == "fcfe":
        found += _interest()
    if statements:
        found += _balance_sheet()
    return {line.key: line for line in found}


def _inputs() -> list[Line]:
    sheet = "Inputs"
    return [
        Line("base_year", sheet, "Base year (last actual year)", BASE_YEAR, PLAIN),
        Line("terminal_growth", sheet, "Terminal growth rate", 0.025, RATE),
        Line("tax_rate", sheet, "Tax rate", 0.25, RATE),
        Line("ebitda_margin", sheet, "EBITDA margin", 0.25, RATE, "of revenue"),
        Line("depreciation_share", sheet, "D&A", 0.06, RATE, "of revenue"),
        Line("capex_share", sheet, "Capex", 0.072, RATE, "of revenue"),
        Line("nwc_share", sheet, "Net working capital", 0.18, RATE, "of revenue"),
        Line("risk_free_rate", sheet, "Risk-free rate", 0.04, RATE),
        Line("unlevered_beta", sheet, "Unlevered beta", 1.02, SHARE),
        Line("equity_risk_premium", sheet, "Equity risk premium", 0.055, RATE),
        Line("pre_tax_cost_of_debt", sheet, "Pre-tax cost of debt", 0.058, RATE),
        Line("current_price", sheet, "Current share price", 36.4, SHARE, "USD"),
        Line("shares", sheet, "Diluted shares outstanding", 48.0, MONEY, "million"),
        Line("market_cap", sheet, "Market capitalisation", "={current_price}*{shares}"),
        Line("gross_debt", sheet, "Gross debt", 310.0),
        Line("debt_to_equity", sheet, "Debt / equity (market)", "={gross_debt}/{market_cap}", RATE),
        Line("beta", sheet, "Relevered beta", "={unlevered_beta}*(1+(1-{tax_rate})*{debt_to_equity})", "0.000"),
        Line("cost_of_equity", sheet, "Cost of equity", "={risk_free_rate}+{beta}*{equity_risk_premium}", RATE),
        Line("after_tax_cost_of_debt", sheet, "After-tax cost of debt", "={pre_tax_cost_of_debt}*(1-{tax_rate})", RATE),
        Line("weight_equity", sheet, "Weight of equity", "={market_cap}/({market_cap}+{gross_debt})", RATE),
        Line("weight_debt", sheet, "Weight of debt", "={gross_debt}/({market_cap}+{gross_debt})", RATE),
        Line(
            "wacc",
            sheet,
            "WACC",
            "={weight_equity}*{cost_of_equity}+{weight_debt}*{after_tax_cost_of_debt}",
            RATE,
        ),
    ]


def _forecast() -> list[Line]:
    sheet = "Forecast"
    growth = [0.10, 0.08, 0.06, 0.045, 0.03]
    return [
        Line("period", sheet, "Year", [[2024, 2025], "={period@prev}+1"], PLAIN),
        Line("revenue_growth", sheet, "Revenue growth", [["", "={revenue}/{revenue@prev}-1"], growth], RATE),
        Line("revenue", sheet, "Revenue", [[905.0, 1000.0], "={revenue@prev}*(1+{revenue_growth})"]),
        Line("ebitda", sheet, "EBITDA", [[221.0, 247.0], "={revenue}*{ebitda_margin}"]),
        Line("depreciation", sheet, "Depreciation and amortisation", [[55.0, 60.0], "={revenue}*{depreciation_share}"]),
        Line("ebit", sheet, "EBIT", "={ebitda}-{depreciation}"),
        Line("taxes", sheet, "Taxes on EBIT", ["", "={ebit}*{tax_rate}"]),
        Line("nopat", sheet, "NOPAT", ["", "={ebit}-{taxes}"]),
        Line("capex", sheet, "Capital expenditure", [[66.0, 71.0], "={revenue}*{capex_share}"]),
        Line("nwc", sheet, "Net working capital", [[162.0, 180.0], "={revenue}*{nwc_share}"]),
        Line("change_in_nwc", sheet, "Increase in net working capital", ["", "={nwc}-{nwc@prev}"]),
        Line(
            "fcff",
            sheet,
            "Free cash flow to the firm (FCFF)",
            ["", "={nopat}+{depreciation}-{capex}-{change_in_nwc}"],
        ),
        Line("discount_period", sheet, "Discount period (years)", ["", "={period}-{base_year}"], "0.0"),
        Line("discount_factor", sheet, "Discount factor", ["", "=1/(1+{wacc})^{discount_period}"], "0.0000"),
        Line("pv_fcff", sheet, "PV of FCFF", ["", "={fcff}*{discount_factor}"]),
    ]


def _valuation() -> list[Line]:
    sheet = "Valuation"
    return [
        Line("sum_pv_fcff", sheet, "Sum of PV of FCFF", "=SUM({pv_fcff[:]})"),
        Line(
            "terminal_value",
            sheet,
            "Terminal value (Gordon growth)",
            "={fcff[-1]}*(1+{terminal_growth})/({wacc}-{terminal_growth})",
        ),
        Line("pv_terminal_value", sheet, "PV of terminal value", "={terminal_value}*{discount_factor[-1]}"),
        Line("enterprise_value", sheet, "Enterprise value", "={sum_pv_fcff}+{pv_terminal_value}"),
        Line(
            "terminal_value_share",
            sheet,
            "Terminal value, share of EV",
            "={pv_terminal_value}/{enterprise_value}",
            RATE,
        ),
        Line("cash", sheet, "Cash and cash equivalents", 140.0),
        Line("debt", sheet, "Debt", "={gross_debt}"),
        Line("minority_interest", sheet, "Minority interest", 35.0),
        Line("investments", sheet, "Investments in associates", 22.0),
        Line(
            "equity_value",
            sheet,
            "Equity value",
            "={enterprise_value}+{cash}-{debt}-{minority_interest}+{investments}",
        ),
        Line("value_per_share", sheet, "Value per share", "={equity_value}/{shares}", SHARE, "USD"),
        Line("price_used", sheet, "Current share price", "={current_price}", SHARE, "USD"),
        Line("upside", sheet, "Upside", "={value_per_share}/{price_used}-1", RATE),
    ]


def _exit_multiple(lines: dict[str, Line], timing: str) -> None:
    lines["terminal_growth"] = Line("exit_multiple", "Inputs", "Exit multiple (EV/EBITDA)", 8.5, TIMES)
    tv = lines["terminal_value"]
    tv.label, tv.content = "Terminal value (exit multiple)", "={ebitda[-1]}*{exit_multiple}"
    if timing == "mid":
        lines["pv_terminal_value"].content = "={terminal_value}/(1+{wacc})^({period[-1]}-{base_year})"


def _net_cash(lines: dict[str, Line]) -> None:
    lines["gross_debt"].content = 60.0
    lines["cash"].content = 240.0
    lines["debt"].content = "={gross_debt}"
    lines["equity_value"].content = "={enterprise_value}-{net_debt}-{minority_interest}+{investments}"
    rebuilt = dict(lines)
    lines.clear()
    for key, line in rebuilt.items():
        lines[key] = line
        if key == "debt":
            lines["net_debt"] = Line("net_debt", "Valuation", "Net debt (negative: net cash)", "={debt}-{cash}")


def _interest() -> list[Line]:
    sheet = "Forecast"
    return [
        Line("interest", sheet, "Interest expense", ["", "={gross_debt}*{pre_tax_cost_of_debt}"]),
    ]


def _equity_flows(lines: dict[str, Line]) -> None:
    sheet = "Forecast"
    for key in ("cash", "debt", "minority_interest", "investments", "terminal_value_share"):
        del lines[key]
    del lines["enterprise_value"], lines["wacc"], lines["weight_equity"], lines["weight_debt"]
    del lines["after_tax_cost_of_debt"], lines["fcff"], lines["pv_fcff"]
    lines["terminal_growth"].content = 0.025
    lines["net_borrowing"] = Line("net_borrowing", sheet, "Net borrowing", ["", [12.0, 10.0, 9.0, 9.0, 8.0]])
    flow = "={nopat}+{depreciation}-{capex}-{change_in_nwc}-{interest}*(1-{tax_rate})+{net_borrowing}"
    lines["fcfe"] = Line("fcfe", sheet, "Free cash flow to equity (FCFE)", ["", flow])
    for key in ("discount_period", "discount_factor"):
        lines[key] = lines.pop(key)
    lines["discount_factor"].content = ["", "=1/(1+{cost_of_equity})^{discount_period}"]
    lines["pv_fcfe"] = Line("pv_fcfe", sheet, "PV of FCFE", ["", "={fcfe}*{discount_factor}"])
    lines["sum_pv_fcff"].label, lines["sum_pv_fcff"].content = "Sum of PV of FCFE", "=SUM({pv_fcfe[:]})"
    tv = "={fcfe[-1]}*(1+{terminal_growth})/({cost_of_equity}-{terminal_growth})"
    lines["terminal_value"].content = tv
    lines["equity_value"].content = "={sum_pv_fcff}+{pv_terminal_value}"


def _scenarios(lines: list[Line]) -> list[Line]:
    by_key = {line.key: line for line in lines}
    by_key["ebitda_margin"].content = "=CHOOSE({scenario_switch},{margin_base},{margin_up},{margin_down})"
    revenue = by_key["revenue"].content
    assert isinstance(revenue, list)
    revenue[1] = "={revenue@prev}*(1+{revenue_growth}+{growth_shift})"
    sheet = "Scenarios"
    return [
        Line("scenario_switch", sheet, "Scenario switch (1 base, 2 upside, 3 downside)", 1, PLAIN),
        Line("margin_base", sheet, "EBITDA margin, base case", 0.25, RATE),
        Line("margin_up", sheet, "EBITDA margin, upside case", 0.27, RATE),
        Line("margin_down", sheet, "EBITDA margin, downside case", 0.22, RATE),
        Line("growth_base", sheet, "Growth shift, base case", 0.0, RATE),
        Line("growth_up", sheet, "Growth shift, upside case", 0.01, RATE),
        Line("growth_down", sheet, "Growth shift, downside case", -0.015, RATE),
        Line(
            "growth_shift",
            sheet,
            "Growth shift, chosen case",
            "=CHOOSE({scenario_switch},{growth_base},{growth_up},{growth_down})",
            RATE,
        ),
    ]


def _balance_sheet() -> list[Line]:
    sheet = "Balance sheet"
    after_tax = "{interest}*(1-{tax_rate})"
    return [
        Line("bs_cash", sheet, "Cash", [["", 140.0], "={bs_cash@prev}+{fcff}-" + after_tax]),
        Line("bs_nwc", sheet, "Net working capital", [["", "={nwc}"], "={nwc}"]),
        Line("bs_fixed", sheet, "Fixed assets", [["", 520.0], "={bs_fixed@prev}+{capex}-{depreciation}"]),
        Line(
            "total_assets",
            sheet,
            "Total net assets",
            [["", "={bs_cash}+{bs_nwc}+{bs_fixed}"], "={bs_cash}+{bs_nwc}+{bs_fixed}"],
        ),
        Line("bs_debt", sheet, "Debt", [["", "={gross_debt}"], "={gross_debt}"]),
        Line("bs_equity", sheet, "Shareholders' equity", [["", 530.0], "={bs_equity@prev}+{nopat}-" + after_tax]),
        Line(
            "total_liabilities_and_equity",
            sheet,
            "Total liabilities and equity",
            [["", "={bs_debt}+{bs_equity}"], "={bs_debt}+{bs_equity}"],
        ),
        Line(
            "balance_check",
            sheet,
            "Balance check (must be zero)",
            [["", BALANCE_CHECK], BALANCE_CHECK],
        ),
    ]


def _place(lines: dict[str, Line], language: str, down: bool) -> Model:
    workbook = Workbook()
    workbook.remove(workbook.active)
    model = Model(workbook, lines)
    placed = []
    for line in lines.values():
        name = SHEETS[language][line.sheet]
        if name not in workbook.sheetnames:
            _title(workbook.create_sheet(name), language)
        placed.append((line, name))
    heights = dict.fromkeys(workbook.sheetnames, FIRST_ROW)
    for line, name in placed:
        position = heights[name]
        heights[name] += 1
        if line.sheet in TIMELINE_SHEETS:
            spots = [(position, 2 + j) for j in range(ACTUALS + FORECASTS)]
            flipped = [(column + FIRST_ROW - 1, row - FIRST_ROW + 2) for row, column in spots]
            cells = flipped if down else spots
            model.series[line.key] = [f"{name}!{get_column_letter(c)}{r}" for r, c in cells]
            label_at = (FIRST_ROW, position - FIRST_ROW + 2) if down else (position, 1)
        else:
            model.scalars[line.key] = f"{name}!B{position}"
            label_at = (position, 1)
            workbook[name].cell(position, 3, UNITS[language].get(line.unit, line.unit) or None)
        workbook[name].cell(*label_at, LABELS_ZH.get(line.label, line.label) if language == "zh" else line.label)
    _fill(model)
    return model


FIRST_ROW = 4
TIMELINE_SHEETS = ("Forecast", "Balance sheet")


def _title(sheet: object, language: str) -> None:
    company, unit = TITLES[language]
    sheet["A1"] = f"{company}: {sheet.title}"  # type: ignore[index, attr-defined]
    sheet["A2"] = unit  # type: ignore[index]
    sheet.column_dimensions["A"].width = 38  # type: ignore[attr-defined]


def _fill(model: Model) -> None:
    for line in model.lines.values():
        if line.key in model.scalars:
            model.set(line.key, line.content)
            spots = [model.scalars[line.key]]
        else:
            spots = model.series[line.key]
            for index, content in enumerate(_spread(line.content)):
                if content != "":
                    model._write(spots[index], content, index)
        for spot in spots:
            sheet, address = spot.split("!")
            model.workbook[sheet][address].number_format = line.form


def _spread(content: object) -> list[object]:
    past, future = content if isinstance(content, list) else (content, content)
    row: list[object] = []
    for part, count in ((past, ACTUALS), (future, FORECASTS)):
        cells = part if isinstance(part, list) else [part] * count
        assert len(cells) == count, cells
        row += cells
    return row


def _grid(model: Model, terminal: str, flow: str, language: str) -> None:
    """Value per share over the rate and the growth (or the multiple), each cell a formula of its own."""
    sheet = SHEETS[language]["Valuation"]
    page = model.workbook[sheet]
    top = page.max_row + 2
    rate, stream = ("cost_of_equity", "fcfe") if flow == "fcfe" else ("wacc", "fcff")
    other = "exit_multiple" if terminal == "multiple" else "terminal_growth"
    page.cell(top, 1, GRID_TITLE[language][other])
    page.cell(top + 1, 1, model.render("={value_per_share}", sheet)).number_format = SHARE
    steps = [-0.01, -0.005, 0, 0.005, 0.01]
    across = [-1.0, -0.5, 0, 0.5, 1.0] if terminal == "multiple" else steps
    for j, step in enumerate(across):
        cell = page.cell(top + 1, 2 + j, model.render(f"={{{other}}}{step:+g}" if step else f"={{{other}}}", sheet))
        cell.number_format = TIMES if terminal == "multiple" else RATE
    for i, step in enumerate(steps):
        cell = page.cell(top + 2 + i, 1, model.render(f"={{{rate}}}{step:+g}" if step else f"={{{rate}}}", sheet))
        cell.number_format = RATE
        for j in range(len(across)):
            w, x = f"$A{top + 2 + i}", f"{get_column_letter(2 + j)}${top + 1}"
            template = _grid_formula(model, terminal, stream, w, x)
            page.cell(top + 2 + i, 2 + j, model.render(template, sheet)).number_format = SHARE
    model.scalars["grid_corner"] = f"{sheet}!A{top + 1}"
    model.scalars["grid_centre"] = f"{sheet}!D{top + 4}"


def _grid_formula(model: Model, terminal: str, stream: str, w: str, x: str) -> str:
    present = f"SUMPRODUCT({{{stream}[:]}}/(1+{w})^{{discount_period[:]}})"
    years = "{discount_period[-1]}"
    if terminal == "multiple":
        years = "({period[-1]}-{base_year})"
        end = f"{{ebitda[-1]}}*{x}"
    else:
        end = f"{{{stream}[-1]}}*(1+{x})/({w}-{x})"
    bridge = "" if stream == "fcfe" else "+{cash}-{debt}-{minority_interest}+{investments}"
    return f"=({present}+{end}/(1+{w})^{years}{bridge})/{{shares}}"


def with_stored_values(path: Path, values: Mapping[str, float]) -> Path:
    """Write stored values into the XML of formula cells by hand: ``{"Valuation!B8": 999.0}``; return the path."""
    from openpyxl import load_workbook

    names = load_workbook(path).sheetnames
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    for where, value in values.items():
        sheet, address = where.rsplit("!", 1)
        part = f"xl/worksheets/sheet{names.index(sheet) + 1}.xml"
        text = parts[part].decode()
        pattern = re.compile(rf'(<c r="{address}"[^>]*>\s*<f[^>]*>[^<]*</f>)\s*<v\s*/?>(?:[^<]*</v>)?')
        text, count = pattern.subn(rf"\g<1><v>{value!r}</v>", text)
        assert count == 1, f"{where} holds no formula"
        parts[part] = text.encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return path


SHEETS = {
    "en": {name: name for name in ("Inputs", "Forecast", "Valuation", "Scenarios", "Balance sheet")},
    "zh": {
        "Inputs": "假设",
        "Forecast": "预测",
        "Valuation": "估值",
        "Scenarios": "情景",
        "Balance sheet": "资产负债表",
    },
}
TITLES = {"en": ("Larkfield Scales plc", "USD million"), "zh": ("云麓衡器股份有限公司", "单位:人民币百万元")}
UNITS: dict[str, dict[str, str]] = {"en": {}, "zh": {"USD": "元", "million": "百万股", "of revenue": "占收入"}}
GRID_TITLE = {
    "en": {
        "terminal_growth": "Value per share: WACC (down) and terminal growth (across)",
        "exit_multiple": "Value per share: WACC (down) and exit multiple (across)",
    },
    "zh": {
        "terminal_growth": "每股价值敏感性:WACC(纵向)与永续增长率(横向)",
        "exit_multiple": "每股价值敏感性:WACC(纵向)与退出倍数(横向)",
    },
}
LABELS_ZH = {
    "Base year (last actual year)": "基准年(最后一个实际年度)",
    "Terminal growth rate": "永续增长率",
    "Exit multiple (EV/EBITDA)": "退出倍数(EV/EBITDA)",
    "Tax rate": "所得税率",
    "EBITDA margin": "EBITDA利润率",
    "D&A": "折旧与摊销占收入",
    "Capex": "资本支出占收入",
    "Net working capital": "净营运资本",
    "Risk-free rate": "无风险利率",
    "Unlevered beta": "无杠杆贝塔",
    "Equity risk premium": "股权风险溢价",
    "Pre-tax cost of debt": "税前债务成本",
    "Current share price": "当前股价",
    "Diluted shares outstanding": "摊薄后总股本",
    "Market capitalisation": "总市值",
    "Gross debt": "有息负债",
    "Debt / equity (market)": "债务/股权(市值)",
    "Relevered beta": "再杠杆贝塔",
    "Cost of equity": "股权成本",
    "After-tax cost of debt": "税后债务成本",
    "Weight of equity": "股权权重",
    "Weight of debt": "债务权重",
    "WACC": "加权平均资本成本(WACC)",
    "Year": "年份",
    "Revenue growth": "收入增速",
    "Revenue": "营业收入",
    "EBITDA": "EBITDA",
    "Depreciation and amortisation": "折旧与摊销",
    "EBIT": "息税前利润(EBIT)",
    "Taxes on EBIT": "EBIT所得税",
    "NOPAT": "税后净营业利润(NOPAT)",
    "Capital expenditure": "资本支出",
    "Increase in net working capital": "净营运资本增加额",
    "Free cash flow to the firm (FCFF)": "企业自由现金流(FCFF)",
    "Discount period (years)": "折现期(年)",
    "Discount factor": "折现系数",
    "PV of FCFF": "FCFF现值",
    "Sum of PV of FCFF": "FCFF现值合计",
    "Terminal value (Gordon growth)": "终值(永续增长法)",
    "Terminal value (exit multiple)": "终值(退出倍数法)",
    "PV of terminal value": "终值现值",
    "Enterprise value": "企业价值",
    "Terminal value, share of EV": "终值现值占企业价值比重",
    "Cash and cash equivalents": "货币资金",
    "Debt": "有息负债",
    "Net debt (negative: net cash)": "净债务(负数为净现金)",
    "Minority interest": "少数股东权益",
    "Investments in associates": "长期股权投资",
    "Equity value": "股权价值",
    "Value per share": "每股价值",
    "Upside": "上行空间",
    "Interest expense": "利息支出",
}
