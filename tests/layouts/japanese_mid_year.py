"""Japanese labels in column B, millions of yen, thousands of shares, mid-year flows."""

from __future__ import annotations

from layouts import Layout

TEXT = """
## 前提条件
B2 株式会社ミナト精機（架空）株式価値算定
B3 （単位：百万円、別途記載を除く）
B5 評価基準日
D5 2026-03-31
B6 リスクフリーレート
D6 1.9%
F6 20年国債利回り
B7 マーケットリスクプレミアム
D7 6.2%
B8 アンレバードβ
D8 0.78
F8 類似会社中央値
B9 目標D/Eレシオ
D9 25%
B10 実効税率
D10 30.6%
B11 リレバードβ
D11 =D8*(1+(1-D10)*D9)
B12 サイズプレミアム
D12 1.2%
B13 株主資本コスト
D13 =D6+D11*D7+D12 as %
F13 CAPM
B14 負債コスト（税引前）
D14 1.8%
B15 負債コスト（税引後）
D15 =D14*(1-D10) as %
B16 負債比率 D/(D+E)
D16 =D9/(1+D9) as %
B17 自己資本比率 E/(D+E)
D17 =1-D16 as %
B18 加重平均資本コスト（WACC）
D18 =D16*D15+D17*D13 as %
B19 永久成長率
D19 0.5%
B21 貸借対照表項目（2026年3月期末、百万円）
B22 現預金
D22 4820
B23 短期借入金
D23 1900
B24 長期借入金
D24 5350
B25 リース債務
D25 410
B26 退職給付に係る負債
D26 880
B27 投資有価証券
D27 1240
B28 非支配株主持分
D28 365
B29 発行済株式数（千株、自己株式控除後）
D29 18450
B30 株価（円）
D30 1735
## 事業計画
B2 事業計画（百万円）
D3:I3 実績 | 計画 | 計画 | 計画 | 計画 | 計画
D4:I4 2026/3期 | 2027/3期 | 2028/3期 | 2029/3期 | 2030/3期 | 2031/3期
B5 売上高
D5 38600
E5:I5 =D5*(1+E6)
B6 売上高成長率
E6:I6 4% | 3.5% | 3% | 2.2% | 1.5%
B7 営業利益率
D7 =D8/D5 as %
E7:I7 7.8% | 8.1% | 8.4% | 8.5% | 8.5%
B8 営業利益
D8 2930
E8:I8 =E5*E7
B9 減価償却費
D9 1690
E9:I9 =E5*E10
B10 減価償却費率
E10:I10 4.4% | 4.4% | 4.4% | 4.4% | 4.4%
B11 設備投資
D11 1980
E11:I11 =E5*E12
B12 設備投資率
E12:I12 5% | 4.9% | 4.8% | 4.7% | 4.6%
B13 運転資本
D13 6950
E13:I13 =E5*E14
B14 運転資本回転率（対売上高）
D14 =D13/D5 as %
E14:I14 18% | 18% | 18% | 18% | 18%
## DCF法
B2 DCF法による株式価値（百万円）
D4:H4 =事業計画!E4
B5 営業利益
D5:H5 =事業計画!E8
B6 法人税等（営業利益ベース）
D6:H6 =-D5*前提条件!$D$10
B7 税引後営業利益（NOPAT）
D7:H7 =D5+D6
B8 減価償却費
D8:H8 =事業計画!E9
B9 設備投資
D9:H9 =-事業計画!E11
B10 運転資本の増減
D10:H10 =-(事業計画!E13-事業計画!D13)
B11 フリー・キャッシュ・フロー
D11:H11 =SUM(D7:D10)
B12 割引期間（期央）
D12:H12 0.5 | 1.5 | 2.5 | 3.5 | 4.5
B13 現価係数
D13:H13 =1/(1+前提条件!$D$18)^D12
B14 FCFの現在価値
D14:H14 =D11*D13
B16 FCF現在価値合計
D16 =SUM(D14:H14)
B17 継続価値（ターミナルバリュー）
D17 =H11*(1+前提条件!D19)/(前提条件!D18-前提条件!D19)
B18 継続価値の現在価値
D18 =D17*H13
B19 事業価値
D19 =D16+D18
B20 現預金
D20 =前提条件!D22
B21 投資有価証券（非事業用資産）
D21 =前提条件!D27
B22 企業価値
D22 =D19+D20+D21
B23 有利子負債（リース債務を含む）
D23 =-SUM(前提条件!D23:D25)
B24 退職給付に係る負債
D24 =-前提条件!D26
B25 非支配株主持分
D25 =-前提条件!D28
B26 株主価値
D26 =SUM(D22:D25)
B27 発行済株式数（千株）
D27 =前提条件!D29
B28 1株当たり株式価値（円）
D28 =D26*1000/D27
B29 株価（円）
D29 =前提条件!D30
B30 乖離率
D30 =D28/D29-1 as %
## 感応度
B2 1株当たり株式価値（円）の感応度分析
B4:C4 WACC | 永久成長率
C5 =前提条件!$D$19-0.005 as %
D5 =前提条件!$D$19 as %
E5 =前提条件!$D$19+0.005 as %
B6 =前提条件!$D$18-0.005 as %
C6:E6 =(SUMPRODUCT(DCF法!$D$11:$H$11,(1+$B6)^(-DCF法!$D$12:$H$12))+DCF法!$H$11*(1+C$5)/($B6-C$5)/(1+$B6)^DCF法!$H$12+DCF法!$D$20+DCF法!$D$21+SUM(DCF法!$D$23:$D$25))*1000/DCF法!$D$27
B7 =前提条件!$D$18 as %
C7:E7 =(SUMPRODUCT(DCF法!$D$11:$H$11,(1+$B7)^(-DCF法!$D$12:$H$12))+DCF法!$H$11*(1+C$5)/($B7-C$5)/(1+$B7)^DCF法!$H$12+DCF法!$D$20+DCF法!$D$21+SUM(DCF法!$D$23:$D$25))*1000/DCF法!$D$27
B8 =前提条件!$D$18+0.005 as %
C8:E8 =(SUMPRODUCT(DCF法!$D$11:$H$11,(1+$B8)^(-DCF法!$D$12:$H$12))+DCF法!$H$11*(1+C$5)/($B8-C$5)/(1+$B8)^DCF法!$H$12+DCF法!$D$20+DCF法!$D$21+SUM(DCF法!$D$23:$D$25))*1000/DCF法!$D$27
"""  # noqa: E501

LAYOUT = Layout(
    "japanese_mid_year",
    TEXT,
    roles={
        "valuation_date": "前提条件!D5",
        "risk_free_rate": "前提条件!D6",
        "equity_risk_premium": "前提条件!D7",
        "unlevered_beta": "前提条件!D8",
        "debt_to_equity": "前提条件!D9",
        "tax_rate": "前提条件!D10",
        "beta": "前提条件!D11",
        "cost_of_equity": "前提条件!D13",
        "pre_tax_cost_of_debt": "前提条件!D14",
        "after_tax_cost_of_debt": "前提条件!D15",
        "weight_debt": "前提条件!D16",
        "weight_equity": "前提条件!D17",
        "wacc": "前提条件!D18",
        "terminal_growth": "前提条件!D19",
        "sum_pv_fcff": "DCF法!D16",
        "terminal_value": "DCF法!D17",
        "pv_terminal_value": "DCF法!D18",
        "enterprise_value": "DCF法!D19",
        "cash": "DCF法!D20",
        "investments": "DCF法!D21",
        "debt": "DCF法!D23",
        "pension_deficit": "DCF法!D24",
        "minority_interest": "DCF法!D25",
        "equity_value": "DCF法!D26",
        "shares": "DCF法!D27",
        "value_per_share": "DCF法!D28",
        "current_price": "DCF法!D29",
        "upside": "DCF法!D30",
    },
    series={
        "period": "DCF法!D4:H4",
        "revenue": "事業計画!E5:I5",
        "revenue_growth": "事業計画!E6:I6",
        "ebit_margin": "事業計画!E7:I7",
        "ebit": "DCF法!D5:H5",
        "taxes": "DCF法!D6:H6",
        "nopat": "DCF法!D7:H7",
        "depreciation": "DCF法!D8:H8",
        "capex": "DCF法!D9:H9",
        "nwc": "事業計画!E13:I13",
        "change_in_nwc": "DCF法!D10:H10",
        "fcff": "DCF法!D11:H11",
        "discount_period": "DCF法!D12:H12",
        "discount_factor": "DCF法!D13:H13",
        "pv_fcff": "DCF法!D14:H14",
    },
    also={
        "enterprise_value": ("DCF法!D22",),
        "minority_interest": ("前提条件!D28",),
        "pension_deficit": ("前提条件!D26",),
        "ebit": ("事業計画!E8:I8",),
        "depreciation": ("事業計画!E9:I9",),
        "capex": ("事業計画!E11:I11",),
        "period": ("事業計画!E4:I4",),
    },
)
