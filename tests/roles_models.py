"""Invented DCF models in many layouts, each with the cells where its roles stand.

One small valuation is laid out across or down, with labels of several languages, its assumptions on a sheet of
their own or not, moved by blank rows and columns, in millions or thousands.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from openpyxl import Workbook
from openpyxl.utils import get_column_letter

from xlcheck.graph import build_graph
from xlcheck.recompute import recompute
from xlcheck.roles import Roles
from xlcheck.roles.locate import locate
from xlcheck.workbook import load

ENGLISH = {
    "title": "Kestrel Optics plc: discounted cash flow",
    "unit": "GBP in {scale}, except per share data",
    "wacc": "WACC",
    "terminal_growth": "Terminal growth rate",
    "tax_rate": "Tax rate",
    "cash": "Cash and cash equivalents",
    "debt": "Total debt",
    "minority_interest": "Non-controlling interests",
    "shares": "Diluted shares outstanding",
    "current_price": "Current share price",
    "period": "Fiscal year",
    "revenue": "Revenue",
    "ebit": "EBIT",
    "taxes": "Taxes on EBIT",
    "nopat": "NOPAT",
    "depreciation": "Depreciation and amortisation",
    "capex": "Capital expenditure",
    "change_in_nwc": "Increase in net working capital",
    "fcff": "Unlevered free cash flow",
    "discount_period": "Discount period",
    "discount_factor": "Discount factor",
    "pv_fcff": "PV of unlevered free cash flow",
    "sum_pv_fcff": "Sum of PV of free cash flows",
    "terminal_value": "Terminal value",
    "pv_terminal_value": "PV of terminal value",
    "enterprise_value": "Enterprise value",
    "equity_value": "Equity value",
    "value_per_share": "Value per share",
    "upside": "Upside / (downside)",
}
CHINESE = {
    "title": "青屿光学自由现金流折现模型",
    "unit": "单位：人民币{scale}",
    "wacc": "加权平均资本成本",
    "terminal_growth": "永续增长率",
    "tax_rate": "所得税率",
    "cash": "货币资金",
    "debt": "有息负债",
    "minority_interest": "少数股东权益",
    "shares": "稀释后股本",
    "current_price": "当前股价",
    "period": "年度",
    "revenue": "营业收入",
    "ebit": "息税前利润",
    "taxes": "经营性所得税",
    "nopat": "税后净营业利润",
    "depreciation": "折旧与摊销",
    "capex": "资本开支",
    "change_in_nwc": "净营运资本增加",
    "fcff": "企业自由现金流",
    "discount_period": "折现期",
    "discount_factor": "折现因子",
    "pv_fcff": "自由现金流现值",
    "sum_pv_fcff": "现金流现值合计",
    "terminal_value": "终值",
    "pv_terminal_value": "终值现值",
    "enterprise_value": "企业价值",
    "equity_value": "股权价值",
    "value_per_share": "每股价值",
    "upside": "上行空间",
}
GERMAN = ENGLISH | {
    "wacc": "Gewichtete Kapitalkosten",
    "terminal_growth": "Ewige Wachstumsrate",
    "tax_rate": "Steuersatz",
    "cash": "Liquide Mittel",
    "debt": "Finanzverbindlichkeiten",
    "minority_interest": "Anteile anderer Gesellschafter",
    "shares": "Verwässerte Aktienzahl",
    "current_price": "Aktueller Aktienkurs",
    "period": "Jahr",
    "revenue": "Umsatzerlöse",
    "taxes": "Steuern auf EBIT",
    "depreciation": "Abschreibungen",
    "capex": "Investitionen",
    "change_in_nwc": "Veränderung Nettoumlaufvermögen",
    "fcff": "Freier Cashflow",
    "discount_factor": "Diskontierungsfaktor",
    "pv_fcff": "Barwert des Free Cashflow",
    "sum_pv_fcff": "Summe der Barwerte",
    "terminal_value": "Endwert",
    "pv_terminal_value": "Barwert des Endwerts",
    "enterprise_value": "Unternehmenswert",
    "equity_value": "Eigenkapitalwert",
    "value_per_share": "Wert je Aktie",
    "upside": "Kurspotenzial",
}
JAPANESE = CHINESE | {
    "wacc": "加重平均資本コスト",
    "terminal_growth": "永久成長率",
    "tax_rate": "実効税率",
    "cash": "現金及び預金",
    "debt": "有利子負債",
    "minority_interest": "非支配株主持分",
    "shares": "希薄化後株式数",
    "current_price": "現在株価",
    "period": "会計年度",
    "revenue": "売上高",
    "ebit": "営業利益",
    "taxes": "みなし法人税",
    "nopat": "税引後営業利益",
    "depreciation": "減価償却費",
    "capex": "設備投資",
    "change_in_nwc": "運転資本増減",
    "fcff": "フリーキャッシュフロー",
    "discount_period": "割引期間",
    "discount_factor": "割引係数",
    "pv_fcff": "FCFの現在価値",
    "sum_pv_fcff": "現在価値合計",
    "terminal_value": "継続価値",
    "pv_terminal_value": "継続価値の現在価値",
    "enterprise_value": "企業価値",
    "equity_value": "株式価値",
    "value_per_share": "1株当たり株式価値",
    "upside": "アップサイド",
}
LANGUAGES = {"english": ENGLISH, "chinese": CHINESE, "german": GERMAN, "japanese": JAPANESE}
SCALES = {"english": {1e6: "millions", 1e3: "thousands"}, "chinese": {1e6: "百万元", 1e3: "千元"}}
INPUTS = {
    "wacc": 0.09, "terminal_growth": 0.02, "tax_rate": 0.25, "cash": 120.0, "debt": 310.0, "minority_interest": 14.0,
    "shares": 80.0, "current_price": 11.5,
}  # fmt: skip
MONEY = ("cash", "debt", "minority_interest")
YEARS = 5
ROWS = (
    "period", "revenue", "ebit", "taxes", "nopat", "depreciation", "capex", "change_in_nwc", "fcff",
    "discount_period", "discount_factor", "pv_fcff",
)  # fmt: skip
OUTPUTS = (
    "sum_pv_fcff", "terminal_value", "pv_terminal_value", "enterprise_value", "equity_value", "value_per_share",
    "upside",
)  # fmt: skip


@dataclass(frozen=True)
class Layout:
    """How a model is laid out."""

    language: str = "english"
    across: bool = True
    apart: bool = False
    """Assumptions on a sheet of their own."""
    down: int = 0
    right: int = 0
    """Blank rows and columns before everything."""
    scale: float = 1e6
    sheet: str = "DCF"
    gap: int = 1
    """Columns between an input's label and its value."""
    typed: tuple[str, ...] = ()
    """Outputs whose formula is replaced by its value."""


@dataclass
class Model:
    """A workbook and where its roles stand."""

    book: Workbook
    cells: dict[str, str] = field(default_factory=dict)
    series: dict[str, list[str]] = field(default_factory=dict)

    def located(self, folder: Path) -> Roles:
        """Save the workbook, read it again and find its roles."""
        path = folder / "model.xlsx"
        self.book.save(path)
        book = load(path)
        return locate(book, recompute(book), build_graph(book))


def build(layout: Layout) -> Model:
    """Build the model in a layout."""
    words = LANGUAGES[layout.language]
    book = Workbook()
    sheet = book.active
    sheet.title = layout.sheet
    inputs = book.create_sheet("Inputs") if layout.apart else sheet
    model = Model(book)
    top = 1 + layout.down
    left = 1 + layout.right
    scale_words = SCALES.get(layout.language, SCALES["english"])
    for one in {sheet, inputs}:
        one.cell(top, left, words["title"])
        one.cell(top + 1, left, words["unit"].format(scale=scale_words[layout.scale]))
    where: dict[str, str] = {}
    for index, (role, value) in enumerate(INPUTS.items()):
        row, column = top + 3 + index, left + layout.gap
        inputs.cell(row, left, words[role])
        amount = value * 1e6 / layout.scale if role in (*MONEY, "shares") else value
        inputs.cell(row, column, amount)
        if role in ("wacc", "terminal_growth", "tax_rate"):
            inputs.cell(row, column).number_format = "0.0%"
        address = f"${get_column_letter(column)}${row}"
        where[role] = f"{inputs.title}!{address}" if layout.apart else address
        model.cells[role] = f"{inputs.title}!{get_column_letter(column)}{row}"
    start = top + 3 + (0 if layout.apart else len(INPUTS) + 2)
    end = _rows(sheet, words, layout, model, where, start, left)
    _outputs(sheet, words, layout, model, where, end + 2, left)
    return model


def _rows(sheet, words, layout, model, where, start, left):
    def place(index, year):
        row, column = (start + index, left + 1 + year) if layout.across else (start + 1 + year, left + index)
        return row, column

    def at(role, year):
        row, column = place(ROWS.index(role), year)
        return f"{get_column_letter(column)}{row}"

    for index, role in enumerate(ROWS):
        sheet.cell(*((start + index, left) if layout.across else (start, left + index)), words[role])
        model.series[role] = [f"{sheet.title}!{at(role, year)}" for year in range(YEARS)]
    for year in range(YEARS):
        formulas = {
            "period": 2026 + year,
            "revenue": 900.0 * 1e6 / layout.scale if year == 0 else f"={at('revenue', year - 1)}*1.06",
            "ebit": f"={at('revenue', year)}*0.16",
            "taxes": f"={at('ebit', year)}*{where['tax_rate']}",
            "nopat": f"={at('ebit', year)}-{at('taxes', year)}",
            "depreciation": f"={at('revenue', year)}*0.05",
            "capex": f"={at('revenue', year)}*0.065",
            "change_in_nwc": f"={at('revenue', year)}*0.01",
            "fcff": "={}+{}-{}-{}".format(
                *(at(role, year) for role in ("nopat", "depreciation", "capex", "change_in_nwc"))
            ),
            "discount_period": year + 1,
            "discount_factor": f"=1/(1+{where['wacc']})^{at('discount_period', year)}",
            "pv_fcff": f"={at('fcff', year)}*{at('discount_factor', year)}",
        }
        for index, role in enumerate(ROWS):
            sheet.cell(*place(index, year), formulas[role])
    model.cells["last_flow"] = at("fcff", YEARS - 1)
    model.cells["last_factor"] = at("discount_factor", YEARS - 1)
    model.cells["pvs"] = f"{at('pv_fcff', 0)}:{at('pv_fcff', YEARS - 1)}"
    return start + (len(ROWS) if layout.across else YEARS + 1)


def _outputs(sheet, words, layout, model, where, start, left):
    def at(role):
        return f"{get_column_letter(left + 1)}{start + OUTPUTS.index(role)}"

    flow, factor, pvs = (model.cells.pop(name) for name in ("last_flow", "last_factor", "pvs"))
    rate, growth = where["wacc"], where["terminal_growth"]
    formulas = {
        "sum_pv_fcff": f"=SUM({pvs})",
        "terminal_value": f"={flow}*(1+{growth})/({rate}-{growth})",
        "pv_terminal_value": f"={at('terminal_value')}*{factor}",
        "enterprise_value": f"={at('sum_pv_fcff')}+{at('pv_terminal_value')}",
        "equity_value": f"={at('enterprise_value')}+{where['cash']}-{where['debt']}-{where['minority_interest']}",
        "value_per_share": f"={at('equity_value')}/{where['shares']}",
        "upside": f"={at('value_per_share')}/{where['current_price']}-1",
    }
    for index, role in enumerate(OUTPUTS):
        sheet.cell(start + index, left, words[role])
        sheet.cell(start + index, left + 1, 1234.5 if role in layout.typed else formulas[role])
        model.cells[role] = f"{sheet.title}!{at(role)}"


def names(roles: Roles) -> dict[str, str]:
    """Return role to address of the scalars bound to a cell."""
    return {role: str(located.cell) for role, located in roles.scalars.items() if located.cell is not None}
