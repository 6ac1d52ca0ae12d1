"""What a marked-up copy must keep, seen through LibreOffice.

``python tests/marked_copies.py WORKBOOK…`` audits each workbook, marks a copy up, lets LibreOffice recalculate the
original and the copy one after the other, and says what differs; it ends with 1 if anything does.
"""

import io
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from xlcheck.cells import RangeRef
from xlcheck.intake import open_package
from xlcheck.pipeline import audit
from xlcheck.report.annotated import annotated
from xlcheck.report.words import plain
from xlcheck.workbook import load

ALWAYS_RECALCULATE = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">
<item oor:path="/org.openoffice.Office.Calc/Formula/Load"><prop oor:name="OOXMLRecalcMode" oor:op="fuse"><value>0</value></prop></item>
</oor:items>
"""  # noqa: E501
COUNTED = {
    "charts": (r"xl/charts/chart\d*\.xml", None),
    "data tables": (r"xl/worksheets/.*\.xml", rb'<(?:\w+:)?f [^>]*t="dataTable"'),
    "defined names": (r"xl/workbook\.xml", rb"<(?:\w+:)?definedName "),
}
"""What is counted: parts of that name, or matches in them."""


def libreoffice():
    """Return the path of LibreOffice, None where there is none."""
    return shutil.which("soffice")


def recalculated(path, folder):
    """Return the workbook as LibreOffice saves it after recalculating everything."""
    profile = folder / "profile"
    (profile / "user").mkdir(parents=True, exist_ok=True)
    (profile / "user" / "registrymodifications.xcu").write_text(ALWAYS_RECALCULATE, encoding="utf-8")
    out = folder / f"{path.stem}-saved"
    command = [libreoffice(), f"-env:UserInstallation={profile.as_uri()}", "--headless", "--convert-to"]
    command += ["xlsx:Calc MS Excel 2007 XML", "--outdir", out, path]
    subprocess.run(command, capture_output=True, check=True, timeout=240)
    (saved,) = out.iterdir()
    return saved


def counts(data):
    """Return how many charts, data tables and defined names a package holds."""
    found = dict.fromkeys(COUNTED, 0)
    with zipfile.ZipFile(io.BytesIO(data)) as package:
        for name in package.namelist():
            for what, (part, pattern) in COUNTED.items():
                if re.fullmatch(part, name, re.IGNORECASE):
                    found[what] += 1 if pattern is None else len(re.findall(pattern, package.read(name)))
    return found


def differences(workbook, folder):
    """Return sentences on what a marked-up copy of a workbook lacks or changes; none if all is well."""
    report = audit(workbook)
    package = open_package(workbook)
    copy = folder / f"marked{workbook.suffix}"
    copy.write_bytes(annotated(package, report))
    return [
        *_lost_parts(package.data, copy.read_bytes()),
        *_moved_values(report, recalculated(workbook, folder), marked := recalculated(copy, folder)),
        *_lost_findings(report, marked),
    ]


def _lost_parts(before, after):
    old, new = counts(before), counts(after)
    return [f"{old[what]} {what}, {new[what]} in the copy" for what in COUNTED if old[what] != new[what]]


def _moved_values(report, original, marked):
    cells = [located.cell for located in report.roles.values() if located.cell is not None]
    before, after = load(original), load(marked)
    for ref in cells:
        old, new = (book.get(ref).stored if book.get(ref) else None for book in (before, after))
        same = old == new
        if isinstance(old, float) and isinstance(new, float):
            same = abs(old - new) <= 1e-9 * max(abs(old), abs(new))
        if not same:
            yield f"{ref} is {old}, in the copy {new}"


def _lost_findings(report, marked):
    book = load(marked)
    cells = book.sheets[-1].cells
    listed = {(_text(cells, row, 3), _text(cells, row, 5)) for row, _ in cells}
    for result in report.results:
        for finding in result.findings if result.status in ("fail", "partial") else ():
            if (result.check_id, plain(finding.message, 2_000)) not in listed:
                yield f"{result.check_id} at {finding.cell} is not listed"
            if finding.cell is not None:
                first = next(finding.cell.cells()) if isinstance(finding.cell, RangeRef) else finding.cell
                note = book.sheet(first.sheet).comments.get((first.row, first.column), "")
                if result.check_id not in note:
                    yield f"{result.check_id} is not noted at {first}"


def _text(cells, row, column):
    return cells[row, column].stored if (row, column) in cells else None


def main(paths):
    """Try each workbook and print what differs."""
    wrong = 0
    for path in map(Path, paths):
        with tempfile.TemporaryDirectory() as folder:
            found = differences(path, Path(folder))
        wrong += bool(found)
        print(f"{path.name}: {'; '.join(found[:5]) or 'kept'}", flush=True)  # noqa: T201 - a script for people
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
