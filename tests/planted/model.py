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
from typing import Literal

from openpyxl import Workbook
from openpyxl.utils import get_column_letter

from .lines import RATE, SHARE, TIMES, Line, plain_lines, use_equity_flows, use_exit_multiple, use_net_cash, use_options
from .words import GRID_TITLE, LABELS_ZH, SHEETS, TITLES, UNITS

ACTUALS, FORECASTS = 2, 5
TOKEN = re.compile(r"\{(\w+)(@prev|\[(?:-?\d+|:)\])?\}")


@dataclass
class Model:
    """A built workbook and where its roles stand."""

    workbook: Workbook
    lines: dict[str, Line]
    scalars: dict[str, str] = field(default_factory=dict)
    """Key to ``Sheet!B7``."""
    series: dict[str, list[str]] = field(default_factory=dict)
    """Key to the cells of actual and forecast periods, in time order."""
    factors: dict[str, float] = field(default_factory=dict)
    """What turns a role's value into base units, where it is not a million or one."""
    outflow_sign: Literal[1, -1] = 1
    """-1 where capex and the increase in working capital are entered negative."""

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
    options: bool = False,
    grid: bool = True,
) -> Model:
    """Build a right model. Every variant is an accepted convention, so every check must pass or not apply.

    timing ``end | mid``; terminal ``gordon | multiple``; language ``en | zh``; flow ``fcff | fcfe``;
    `down` lets the years run down; `scenarios` adds a switch and a table of cases; `statements` adds a balance
    sheet; `options` dilutes the shares by the treasury stock method.
    """
    lines = plain_lines(flow, scenarios, statements)
    if timing == "mid":
        lines["discount_period"].content = ["", "={period}-{base_year}-0.5"]
    if terminal == "multiple":
        use_exit_multiple(lines, timing)
    if net_cash:
        use_net_cash(lines)
    if flow == "fcfe":
        use_equity_flows(lines)
    if options:
        use_options(lines)
    model = _place(lines, language, down)
    if grid:
        _grid(model, terminal, flow, language)
    if scenarios:
        _cases(model)
    return model


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


def _cases(model: Model) -> None:
    """Value per share of each case, typed in as read off three runs, with probabilities and their mean."""
    sheet = model.scalars["scenario_switch"].split("!")[0]
    page = model.workbook[sheet]
    top = page.max_row + 2
    rows = (
        ("case", "", ["Base", "Upside", "Downside"], "@"),
        ("chance", "Probability", [0.5, 0.2, 0.3], "0%"),
        ("case_value", "Value per share", [round(case_value(*case), 2) for case in CASES], SHARE),
    )
    for offset, (key, label, contents, form) in enumerate(rows):
        page.cell(top + offset, 1, label or "Case")
        for column, (name, content) in enumerate(zip(("base", "up", "down"), contents, strict=True), 2):
            page.cell(top + offset, column, content).number_format = form
            model.scalars[f"{key}_{name}"] = f"{sheet}!{get_column_letter(column)}{top + offset}"
    page.cell(top + 3, 1, "Probability-weighted value per share")
    page.cell(top + 3, 2, f"=SUMPRODUCT(B{top + 1}:D{top + 1},B{top + 2}:D{top + 2})").number_format = SHARE
    model.scalars["weighted_value"] = f"{sheet}!B{top + 3}"


WACC = (1747.2 * (0.04 + 1.02 * (1 + 0.75 * 310 / 1747.2) * 0.055) + 310 * 0.058 * 0.75) / (1747.2 + 310)
"""Of the clean model."""
CASES = ((0.25, 0.0), (0.27, 0.01), (0.22, -0.015))
"""EBITDA margin and shift of growth of the base, upside and downside case."""


def case_value(margin: float, shift: float) -> float:
    """Value per share of a case by plain arithmetic."""
    return grid_value(WACC, 0.025, margin, shift)


def grid_value(wacc: float, growth_forever: float, margin: float = 0.25, shift: float = 0.0) -> float:
    """Value per share of the clean model by plain arithmetic, at another rate, growth, margin or shift of growth."""
    tax, revenue, working, total, flow = 0.25, 1000.0, 180.0, 0.0, 0.0
    for year, growth in enumerate((0.10, 0.08, 0.06, 0.045, 0.03), 1):
        revenue *= 1 + growth + shift
        flow = revenue * (margin - 0.06) * (1 - tax) + revenue * (0.06 - 0.072) - (0.18 * revenue - working)
        working = 0.18 * revenue
        total += flow / (1 + wacc) ** year
    total += flow * (1 + growth_forever) / (wacc - growth_forever) / (1 + wacc) ** 5
    return (total + 140.0 - 310.0 - 35.0 + 22.0) / 48.0


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
