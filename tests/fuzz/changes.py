"""Structure-aware changes: of a part's text, of a formula, of the zip container, of a YAML or JSON file."""

from __future__ import annotations

import random
import re

TEXTS = (
    *(
        "",
        "-1",
        "0",
        "1",
        "99999999999",
        "1e999",
        "nan",
        "XFE9",
        "A0",
        "A1:",
        "''",
        "é",
        "&#0;",
        "true",
        "[1]",
        "#REF!",
    ),
    *(
        "s",
        "1048577",
        "-0",
        "0x10",
        "\u202e",
        "A" * 40_000,
        "&amp;&lt;",
        "xml:space",
        "d",
        "shared",
        "array",
        "dataTable",
    ),
)
TERMS = (
    *("A1", "$B$2", "1/0", "-", "(", ")", ",", ";", "{1,2}", '"', "#N/A", "SUM(A:A)", "OFFSET(A1,1,1)", "INDIRECT(A1)"),
    *(
        "1E308*10",
        "TRUE",
        "Nope!A1",
        "[9]X!A1",
        "A1:XFD1048576",
        "LET(a,a,a)",
        "LAMBDA(x,x)(1)",
        "@A1",
        "A1#",
        "%",
        "NOW()",
    ),
    *(
        "RAND()",
        "A1 B1",
        "--",
        "^",
        "&",
        "NPV(A1,A2:A9)",
        "IRR(A1:A3)",
        "TABLE(A1,A2)",
        "Sheet1:Sheet3!A1",
        "_xlfn.XYZ(1)",
    ),
)
PDF_WORDS = (
    *("1 0 R", "2 0 R", "3 0 R", "4 0 R", "9 0 R", "/Filter/FlateDecode", "/Filter/ASCII85Decode", "/Encrypt 1 0 R"),
    *("/Filter[/LZWDecode/RunLengthDecode]", "[[[[", "<<<<", "/Kids[2 0 R]", "stream", "endobj", "BI", "Do", "xref"),
)
ODD_LINES = (
    "{",
    "- ",
    "x: [",
    "weight: -1",
    "weight: 1e400",
    "id: ",
    "&a *a",
    "!!python/object:os.system x",
    "\t",
    "schema_version: 99",
)


ELEMENT = re.compile(r"<(\w+)[^<>]*(?:/>|>[^<]*</\1>)|<c [^<>]*>.*?</c>|<row [^<>]*>.*?</row>", re.DOTALL)
VALUE = re.compile(r'="([^"]*)"|>([^<>]+)<')


def part(text: str, chance: random.Random) -> str:
    """Change an XML part: a formula, an attribute's value or an element's text, an element, or any letters at all."""
    formulas = [found.span(1) for found in re.finditer(r"<f[^>]*>([^<]+)</f>", text)]
    kind = chance.random()
    if formulas and kind < 0.4:
        start, end = chance.choice(formulas)
        return text[:start] + formula(text[start:end], chance) + text[end:]
    values = [found.span(found.lastindex or 0) for found in VALUE.finditer(text)]
    if values and kind < 0.7:
        start, end = chance.choice(values)
        return text[:start] + chance.choice([*TEXTS, _value_of(text, values, chance)]) + text[end:]
    elements = [found.span() for found in ELEMENT.finditer(text)]
    if elements and kind < 0.85:
        return _element(text, elements, chance)
    start = chance.randrange(len(text))
    end = min(len(text), start + chance.choice([0, 1, 3, 12]))
    return text[:start] + chance.choice([*TEXTS, text[end : end + 20]]) + text[end:]


def _value_of(text: str, values: list[tuple[int, int]], chance: random.Random) -> str:
    start, end = chance.choice(values)
    return text[start:end]


def _element(text: str, elements: list[tuple[int, int]], chance: random.Random) -> str:
    """Drop an element, or put one in its place, before it or after it."""
    start, end = chance.choice(elements)
    other = text[slice(*chance.choice(elements))]
    return text[:start] + chance.choice(["", other, text[start:end] * 2, other + text[start:end]]) + text[end:]


def formula(text: str, chance: random.Random) -> str:
    """Put a term into a formula, take a word out, or nest it; the text is XML."""
    words = re.split(r"([-+*/^&,()<>=:!])", text)
    at = chance.randrange(len(words))
    kind = chance.random()
    if kind < 0.5:
        words[at] = chance.choice(TERMS).replace("&", "&amp;")
    elif kind < 0.8:
        del words[at]
    else:
        words[at] = f"IF({words[at]},{''.join(words)},{chance.choice(TERMS).replace('&', '&amp;')})"
    return "".join(words)


def words(text: str, chance: random.Random) -> str:
    """Change a word, number or mark of a text that is neither XML nor of lines, such as a PDF."""
    for _ in range(chance.choice([1, 1, 3])):
        start, end = chance.choice([found.span() for found in re.finditer(r"[A-Za-z0-9.]+|[<>/\[\]()]+", text)])
        text = text[:start] + chance.choice([*TEXTS, *PDF_WORDS]) + text[end:]
    return text


def raw(content: bytes, chance: random.Random) -> bytes:
    """Change bytes, or cut the end off."""
    data = bytearray(content)
    for _ in range(chance.choice([1, 4, 30]) if data else 0):
        data[chance.randrange(len(data))] = chance.randrange(256)
    if chance.random() < 0.1:
        del data[chance.randrange(len(data) + 1) :]
    return bytes(data)


def container(whole: bytes, chance: random.Random) -> bytes:
    """Change bytes of a zip, in its directory more often than its bulk asks for, or cut it short."""
    data = bytearray(whole)
    low = data.index(b"PK\x01\x02") if chance.random() < 0.5 else 0
    for _ in range(chance.choice([1, 1, 2, 8])):
        data[chance.randrange(low, len(data))] = chance.randrange(256)
    if chance.random() < 0.1:
        del data[chance.randrange(len(data)) :]
    return bytes(data)


def lines(text: str, chance: random.Random) -> str:
    """Change a rubric, verdict or binding file: a line dropped, doubled, indented or replaced, or a word changed."""
    rows = text.splitlines()
    at = chance.randrange(len(rows))
    kind = chance.randrange(6)
    if kind == 0:
        del rows[at]
    elif kind == 1:
        rows.insert(at, rows[at])
    elif kind == 2:
        rows[at] = "  " + rows[at]
    elif kind == 3:
        rows[at] = chance.choice(ODD_LINES)
    else:
        start = chance.randrange(len(rows[at]) + 1)
        rows[at] = (
            rows[at][:start]
            + chance.choice([*TEXTS, "\0", "[", "}", '"'])
            + rows[at][start + chance.choice([0, 1, 5]) :]
        )
    return "\n".join(rows)
