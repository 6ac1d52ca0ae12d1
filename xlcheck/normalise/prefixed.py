"""Functions younger than the file format: a file names them with a prefix, ``_xlfn.XLOOKUP``.

Without it Excel and LibreOffice show #NAME? until the cell is entered anew; programs that write workbooks forget it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from xlcheck.normalise.calls import rewritten
from xlcheck.reading.tokens import Token

_NAMES = """ACOT ACOTH AGGREGATE ARABIC ARRAYTOTEXT BETA.DIST BETA.INV BINOM.DIST BINOM.INV BITAND BITLSHIFT BITOR
BITRSHIFT BITXOR BYCOL BYROW CEILING.MATH CHISQ.DIST CHISQ.INV CHISQ.TEST CHOOSECOLS CHOOSEROWS COMBINA CONCAT
CONFIDENCE.NORM CONFIDENCE.T COT COVARIANCE.P COVARIANCE.S CSC DAYS DECIMAL DROP EXPAND EXPON.DIST F.DIST F.INV F.TEST
FILTER FLOOR.MATH FORECAST.ETS FORECAST.LINEAR FORMULATEXT GAMMA GAMMA.DIST GAMMA.INV GAUSS HSTACK HYPGEOM.DIST IFNA
IFS ISFORMULA ISOWEEKNUM LAMBDA LET LOGNORM.DIST LOGNORM.INV MAKEARRAY MAP MAXIFS MINIFS MODE.MULT MODE.SNGL MUNIT
NORM.DIST NORM.INV NORM.S.DIST NORM.S.INV NUMBERVALUE PDURATION PERCENTILE.EXC PERCENTILE.INC PERCENTRANK.EXC
PERCENTRANK.INC PERMUTATIONA PHI POISSON.DIST QUARTILE.EXC QUARTILE.INC RANDARRAY RANK.AVG RANK.EQ REDUCE RRI SCAN SEC
SEQUENCE SHEET SKEW.P SORT SORTBY STDEV.P STDEV.S SWITCH T.DIST T.DIST.2T T.DIST.RT T.INV T.INV.2T T.TEST TAKE
TEXTAFTER TEXTBEFORE TEXTJOIN TEXTSPLIT TOCOL TOROW UNICHAR UNICODE UNIQUE VALUETOTEXT VAR.P VAR.S VSTACK WEIBULL.DIST
WRAPCOLS WRAPROWS XLOOKUP XMATCH XOR Z.TEST"""
_YOUNG = frozenset(_NAMES.split())
_CALLED = re.compile(r"(?<![\w.])[A-Za-z][A-Za-z0-9.]*(?=\()")


def without_bare_names(formula: str) -> str:
    """Return a formula in which young functions without their prefix are the error that they are."""
    if "(" not in formula or _YOUNG.isdisjoint(name.upper() for name in _CALLED.findall(formula)):
        return formula
    return rewritten(formula, _YOUNG, _error)


def _error(_: str, __: Sequence[list[Token]], ___: Sequence[str]) -> str:
    return "#NAME?"
