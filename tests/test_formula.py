"""What a grader reads in a formula."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlcheck.cells import CellRef, RangeRef
from xlcheck.formula import (
    Array,
    Binary,
    Call,
    External,
    Name,
    Node,
    Number,
    Range,
    Ref,
    Text,
    Unary,
    Union,
    factors,
    is_dynamic_formula,
    is_link,
    literals,
    parse,
    r1c1,
    references,
    terms,
    walk,
)
from xlcheck.reading.tokens import moved, pieces, tokens
from xlcheck.workbook import Book, Cell, DefinedName, Sheet, Table

HERE = CellRef("DCF", 5, 3)


def ref(text: str) -> Ref:
    return Ref(CellRef.parse(f"S!{text}"), False, False)


def area(text: str) -> Range:
    return Range(RangeRef.parse(f"S!{text}"))


def sheet(name: str, *addresses: str) -> Sheet:
    refs = [CellRef.parse(f"{name}!{address}") for address in addresses]
    return Sheet(name, "visible", {(one.row, one.column): Cell(one, None, 1.0) for one in refs})


BOOK = Book(
    file_name="m.xlsx",
    sha256="",
    sheets=(sheet("DCF", "A1", "D9"), sheet("Q1", "B2"), sheet("Q2", "B4"), sheet("It's 1", "A1")),
    names=(
        DefinedName("wacc", None, "Q1!$B$2"),
        DefinedName("wacc", "Q2", "Q2!$B$4"),
        DefinedName("flows", None, "DCF!$A$1:$A$9"),
        DefinedName("tax", None, "0.25"),
        DefinedName("left", None, "DCF!XFD1"),
        DefinedName("both", None, "wacc+DCF!$D$9"),
        DefinedName("moving", None, "OFFSET(DCF!$A$1,1,0)"),
        DefinedName("loop", None, "loop2+1"),
        DefinedName("loop2", None, "loop+1"),
    ),
    tables=(Table("Flows", RangeRef.parse("DCF!A4:C8"), ("Year", "Cash flow", "a]b"), totals_rows=1),),
)


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("=-2^2", Binary("^", Unary("-", Number(2)), Number(2))),
        ("=2^3^2", Binary("^", Binary("^", Number(2), Number(3)), Number(2))),
        ("=2^-1", Binary("^", Number(2), Unary("-", Number(1)))),
        ("=1+2*3", Binary("+", Number(1), Binary("*", Number(2), Number(3)))),
        ("=1-2-3", Binary("-", Binary("-", Number(1), Number(2)), Number(3))),
        ("=1&2+3=4", Binary("=", Binary("&", Number(1), Binary("+", Number(2), Number(3))), Number(4))),
        ("=5%", Number(0.05)),
        ("=A1%", Binary("/", ref("A1"), Number(100))),
        ("=-A1%", Unary("-", Binary("/", ref("A1"), Number(100)))),
        ("=$A$1", Ref(CellRef("S", 1, 1), True, True)),
        ("=A$1", Ref(CellRef("S", 1, 1), True, False)),
        ("=B3:A1", area("A1:B3")),
        ("='S'!A1:'S'!B3", area("A1:B3")),
        ("=A1:B3 B2:C5", area("B2:B3")),
        ("=SUM((A1,B2))", Call("SUM", (Union((ref("A1"), ref("B2"))),))),
        ("=IF(,1,)", Call("IF", (None, Number(1), None))),
        ("=PI()", Call("PI", ())),
        ("=_xlfn._xlws.SORT(A1)", Call("SORT", (ref("A1"),))),
        ("=LOG10(A1)", Call("LOG10", (ref("A1"),))),
        ('="a""b"', Text('"a""b"')),
        ("=true", Text("TRUE")),
        ("=S!#REF!", Text("S!#REF!")),
        ("={1,2;-3,TRUE}", Array(((Number(1), Number(2)), (Unary("-", Number(3)), Text("TRUE"))))),
        ("=[2]Data!B3", External(2, RangeRef.parse("Data!B3"), "[2]Data!B3")),
        ("='[peers.xlsx]Data'!B3:C4", External(0, RangeRef.parse("Data!B3:C4"), "'[peers.xlsx]Data'!B3:C4")),
        ("=[1]!rate", External(1, None, "[1]!rate")),
        ("=A1#", Call("ANCHORARRAY", (ref("A1"),))),
        ("=@A1:A3", Call("SINGLE", (area("A1:A3"),))),
        (
            "=LAMBDA(x,x+1)(5)",
            Call("APPLY", (Call("LAMBDA", (Name("x"), Binary("+", Name("x"), Number(1)))), Number(5))),
        ),
        ("=XFE1", Name("XFE1")),
        ("=R1C1", Name("R1C1")),
        ("=WACC2", Name("WACC2")),
        ("= \n A1 \t+ 1 ", Binary("+", ref("A1"), Number(1))),
        ("=A1:INDEX(B:B,2)", Binary(":", ref("A1"), Call("INDEX", (area("B1:B1048576"), Number(2))))),
    ],
)
def test_formulas_parse_with_the_precedences_of_excel(text: str, tree: Node) -> None:
    assert parse(text, "S") == tree


@pytest.mark.parametrize(
    "text", ["=", "=1+", "=(1", "=SUM(", '="open', "=)", "=1 2", "={1", "= 4.3% × 2 ≈ 8.6%", "=1e999"]
)
def test_what_cannot_be_parsed_is_kept_as_a_name(text: str) -> None:
    assert parse(text, "S") == Name(text[1:])


def test_deep_nesting_is_kept_as_a_name_and_excels_64_levels_are_parsed() -> None:
    deep = "=" + "(" * 4_000 + "1" + ")" * 4_000
    assert isinstance(parse(deep, "S"), Name)
    nested = "=" + "IF(A1>1,1+" * 64 + "0" + ",2)" * 64
    assert isinstance(parse(nested, "S"), Call)
    assert len(references(nested, "S")) == 64
    signs = "=" + "-" * 8_000 + "1"
    assert len(terms(parse(signs, "S"))) == 1


def test_a_long_sum_is_read_without_recursion() -> None:
    text = "=" + "+".join(f"A{n}" for n in range(1, 1_500))
    node = parse(text, "S")
    assert len(terms(node)) == len(references(text, "S")) == 1_499
    assert terms(node)[-1] == (1, ref("A1499"))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("=A1+B2:C3", ["DCF!A1", "DCF!B2:C3"]),
        ("='It''s 1'!A1", ["It's 1!A1"]),
        ("=q1!B2", ["Q1!B2"]),
        ("=SUM(A:A)", ["DCF!A1:A9"]),
        ("=SUM($2:3)", ["DCF!A2:D3"]),
        ("=SUM(Q1:Q2!B2)", ["Q1!B2", "Q2!B2"]),
        ("=SUM(Q2:DCF!A:A)", ["DCF!A1:A9", "Q1!A1:A2", "Q2!A1:A4"]),
        ("=wacc+1", ["Q1!B2"]),
        ("=Q2!wacc", ["Q2!B4"]),
        ("=NPV(WACC,flows)", ["Q1!B2", "DCF!A1:A9"]),
        ("=tax", []),
        ("=both", ["Q1!B2", "DCF!D9"]),
        ("=left", ["DCF!B5"]),
        ("=loop", []),
        ("=SUM(Flows[Cash flow])", ["DCF!B5:B7"]),
        ("=Flows[[#This Row],[Cash flow]]", ["DCF!B5"]),
        ("=[@[Cash flow]]*2", ["DCF!B5"]),
        ("=[@Year]", ["DCF!A5"]),
        ("=SUM(Flows[[Year]:[Cash flow]])", ["DCF!A5:B7"]),
        ("=SUM(Flows[[#All],[Year]])", ["DCF!A4:A8"]),
        ("=SUM(Flows[[#Headers],[#Data],[Year]])", ["DCF!A4:A7"]),
        ("=Flows[[#Totals],[Year]]", ["DCF!A8"]),
        ("=SUM(Flows[a']b])", ["DCF!C5:C7"]),
        ("=SUM(Flows[])", ["DCF!A5:C7"]),
        ("=Flows[none]", []),
        ("=[1]Q1!A1+A1", ["DCF!A1"]),
        ('="A1"&A2', ["DCF!A2"]),
        ("=A1:B3 B2:C5", ["DCF!B2:B3"]),
        ("='Q1'!A1:'Q1'!B3+A1", ["Q1!A1:B3", "DCF!A1"]),
        ("=A1:INDEX(B1:B9,2)", ["DCF!A1", "DCF!B1:B9"]),
        ("=OFFSET(A1,1,wacc)", ["DCF!A1", "Q1!B2"]),
        ("=Missing!A1", ["Missing!A1"]),
    ],
)
def test_references_are_found_in_order(text: str, found: list[str]) -> None:
    assert [str(one) for one in references(text, "DCF", BOOK, HERE)] == found


def test_a_name_on_its_own_sheet_goes_before_the_workbooks() -> None:
    assert parse("=wacc", "Q2", BOOK) == Ref(CellRef("Q2", 4, 2), True, True)
    assert parse("=wacc", "Q1", BOOK) == Ref(CellRef("Q1", 2, 2), True, True)
    assert parse("=tax", "Q1", BOOK) == Name("tax")


@pytest.mark.parametrize(
    ("text", "dynamic"),
    [
        ("=OFFSET(A1,1,0)", True),
        ('=INDIRECT("A"&1)', True),
        ("=A1:INDEX(B:B,2)", True),
        ("=SUM(moving)", True),
        ("=SUM(A1:B2)", False),
        ('="OFFSET("', False),
        ("=wacc", False),
    ],
)
def test_formulas_that_compute_their_references_are_told(text: str, dynamic: bool) -> None:
    assert is_dynamic_formula(text, "DCF", BOOK) is dynamic


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("=A1-A2+SUM(B1:B3)", [(1, ref("A1")), (-1, ref("A2")), (1, area("B1:B3"))]),
        ("=A1-(A2-A3)", [(1, ref("A1")), (-1, ref("A2")), (1, ref("A3"))]),
        ("=-(A1-SUM(A2,-A3))", [(-1, ref("A1")), (1, ref("A2")), (-1, ref("A3"))]),
        ("=+A1", [(1, ref("A1"))]),
        ("=A1*-A2", [(-1, Binary("*", ref("A1"), ref("A2")))]),
        ("=A1+-1*A2", [(1, ref("A1")), (-1, ref("A2"))]),
        ("=A1-(A2+A3)*-1", [(1, ref("A1")), (1, ref("A2")), (1, ref("A3"))]),
        ("=A1/A2-3", [(1, Binary("/", ref("A1"), ref("A2"))), (-1, Number(3))]),
        ("=SUM((A1,A2))", [(1, ref("A1")), (1, ref("A2"))]),
    ],
)
def test_terms_carry_their_signs(text: str, expected: list[tuple[int, Node]]) -> None:
    assert list(terms(parse(text, "S"))) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("=A1*A2/A3", [(ref("A1"), 1), (ref("A2"), 1), (ref("A3"), -1)]),
        ("=A1/(A2/A3)", [(ref("A1"), 1), (ref("A2"), -1), (ref("A3"), 1)]),
        ("=-A1*2", [(Number(-1), 1), (ref("A1"), 1), (Number(2), 1)]),
        ("=A1*(1+A2)^-A3", [(ref("A1"), 1), (Binary("^", Binary("+", Number(1), ref("A2")), ref("A3")), -1)]),
        ("=A1^-1", [(ref("A1"), -1)]),
        ("=PRODUCT(A1,A2)/A3%", [(ref("A1"), 1), (ref("A2"), 1), (ref("A3"), -1), (Number(100), 1)]),
    ],
)
def test_factors_carry_their_exponents(text: str, expected: list[tuple[Node, int]]) -> None:
    assert list(factors(parse(text, "S"))) == expected


def test_literals_tell_where_they_stand() -> None:
    text = "=B5*1.05+IF(A1,10%,-3)"
    found = literals(parse(text, "S"))
    assert [(one.value, one.position) for one in found] == [(1.05, 4), (0.1, 15), (3, 20)]
    assert text[4:8] == "1.05"


@pytest.mark.parametrize(
    ("text", "link"),
    [("=A1", True), ("=+S!$A$1", True), ("=(A1)", True), ("=-A1", False), ("=A1*1", False), ("=A1:A2", False)],
)
def test_plain_links_are_told(text: str, link: bool) -> None:
    assert is_link(parse(text, "S")) is link


def test_filled_formulas_have_one_normal_form() -> None:
    first = r1c1("=B5*(1+$A$1)+dcf!C$3 + sum(B:B)", CellRef("DCF", 5, 3))
    assert first == r1c1("=C5*(1+$A$1)+DCF!D$3+SUM(C:C)", CellRef("DCF", 5, 4))
    assert first == "=R[0]C[-1]*(1+R1C1)+R3C[0]+SUM(C[-1]:C[-1])"
    assert first != r1c1("=C5*(1+$A$2)+D$3+SUM(C:C)", CellRef("DCF", 5, 4))
    assert r1c1('="a b"&Other!A1', CellRef("DCF", 1, 1)) == '="a b"&other!R[0]C[0]'
    assert r1c1("=SUM($1:2)", CellRef("DCF", 1, 1)) == "=SUM(R1:R[1])"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("=A1+$A1+A$1+$A$1", "=B3+$A3+B$1+$A$1"),
        ("='A1'!A1+A1!B2", "='A1'!B3+A1!C4"),
        ('=A1&"A1"&"""A1"', '=B3&"A1"&"""A1"'),
        ("=SUM(A:B,$A:B,1:2,1:$2)", "=SUM(B:C,$A:C,3:4,3:$2)"),
        ("=A1:B2", "=B3:C4"),
        ("=LOG10(A1)+A1B+ATAN2(A1,B1)", "=LOG10(B3)+A1B+ATAN2(B3,C3)"),
        ("=[1]S!A1+Flows[A1]", "=[1]S!B3+Flows[A1]"),
        ("=A1048576+XFD1+A1048576:A1048576", "=#REF!+#REF!+#REF!"),
        ("=_xlfn.XLOOKUP(A1,B1#,{1,2})", "=_xlfn.XLOOKUP(B3,C3#,{1,2})"),
    ],
)
def test_a_formula_filled_two_down_and_one_right(text: str, expected: str) -> None:
    assert moved(pieces(text), 2, 1) == expected


FORMULA_TEXT = st.text(alphabet="A1B2$:!'\"[]#(),;{}+-*/^&=<>%@. \n_xZ名", max_size=60)


@given(FORMULA_TEXT)
def test_no_text_makes_the_parser_raise(text: str) -> None:
    node = parse(text, "S", BOOK, HERE)
    terms(node)
    factors(node)
    references(text, "S", BOOK, HERE)
    r1c1(text, HERE)
    is_dynamic_formula(text, "S", BOOK)


@given(st.text(max_size=200))
def test_the_words_of_a_formula_are_the_formula(text: str) -> None:
    assert "".join(word.text for word in tokens(text)) == text
    assert moved(pieces(text), 0, 0).upper() == text.upper() or "$" in text


LEAVES = st.one_of(
    st.integers(0, 999).map(lambda n: Number(float(n))),
    st.tuples(st.integers(1, 99), st.integers(1, 40), st.booleans(), st.booleans()).map(
        lambda t: Ref(CellRef("S", t[0], t[1]), t[2], t[3])
    ),
)


def compound(inner: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    return st.one_of(
        st.builds(Binary, st.sampled_from(["+", "-", "*", "/", "^", "&", "=", "<>", ">="]), inner, inner),
        st.builds(Unary, st.sampled_from(["+", "-"]), inner),
        st.builds(Call, st.sampled_from(["SUM", "IF", "NPV"]), st.tuples(inner, inner)),
    )


def written(node: Node | None) -> str:
    """Write a tree with every parenthesis."""
    if isinstance(node, Number):
        return str(int(node.value))
    if isinstance(node, Ref):
        column, row = node.cell.address.rstrip("0123456789"), str(node.cell.row)
        return f"{'$' * node.absolute_column}{column}{'$' * node.absolute_row}{row}"
    if isinstance(node, Binary):
        return f"({written(node.left)}){node.operator}({written(node.right)})"
    if isinstance(node, Unary):
        return f"{node.operator}({written(node.operand)})"
    assert isinstance(node, Call)
    return f"{node.function}({','.join(written(argument) for argument in node.arguments)})"


@given(st.recursive(LEAVES, compound, max_leaves=12))
def test_a_written_tree_parses_back(node: Node) -> None:
    assert parse("=" + written(node), "S") == node


@given(st.recursive(LEAVES, compound, max_leaves=12), st.integers(0, 50), st.integers(0, 50))
def test_filling_a_formula_keeps_its_normal_form(node: Node, rows: int, columns: int) -> None:
    text = "=" + written(node)
    start = CellRef("S", 7, 7)
    assert r1c1(moved(pieces(text), rows, columns), start.offset(rows, columns)) == r1c1(text, start)


def numeric(node: Node, values: dict[CellRef, float]) -> float:
    if isinstance(node, Number):
        return node.value
    if isinstance(node, Ref):
        return values[node.cell]
    if isinstance(node, Unary):
        return numeric(node.operand, values) * (-1 if node.operator == "-" else 1)
    if isinstance(node, Call):
        return sum(numeric(argument, values) for argument in node.arguments if argument)
    assert isinstance(node, Binary)
    left, right = numeric(node.left, values), numeric(node.right, values)
    return {"+": left + right, "-": left - right, "*": left * right}[node.operator]


def arithmetic(inner: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    return st.one_of(
        st.builds(Binary, st.sampled_from(["+", "-", "*"]), inner, inner),
        st.builds(Unary, st.sampled_from(["+", "-"]), inner),
        st.builds(Call, st.just("SUM"), st.tuples(inner, inner)),
    )


@given(st.recursive(LEAVES, arithmetic, max_leaves=10), st.integers(2, 9))
def test_terms_and_factors_keep_the_value(node: Node, seed: int) -> None:
    values = {
        one.cell: float((one.cell.row * seed + one.cell.column) % 11 + 1) for one in walk(node) if isinstance(one, Ref)
    }
    value = numeric(node, values)
    assert sum(sign * numeric(term, values) for sign, term in terms(node)) == pytest.approx(value)
    product = 1.0
    for factor, exponent in factors(node):
        product *= numeric(factor, values) ** exponent
    assert product == pytest.approx(value)
