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


def part(text: str, chance: random.Random) -> str:
    """Change one word, attribute value, element text or formula of an XML part."""
    formulas = [found.span(1) for found in re.finditer(r"<f[^>]*>([^<]+)</f>", text)]
    if formulas and chance.random() < 0.4:
        start, end = chance.choice(formulas)
        return text[:start] + formula(text[start:end], chance) + text[end:]
    start = chance.randrange(len(text))
    end = min(len(text), start + chance.choice([0, 1, 3, 12]))
    if chance.random() < 0.6:  # an attribute value or an element's text, whole
        start = chance.choice([index for index, letter in enumerate(text) if letter in '">']) + 1
        end = next((index for index in range(start, len(text)) if text[index] in '"<'), len(text))
    return text[:start] + chance.choice([*TEXTS, text[end : end + 20]]) + text[end:]


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
