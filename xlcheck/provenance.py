"""What a rubric was calibrated on: a record beside the rubric file, and whether the rubric is still that one.

``my-task.calibration.json`` beside ``my-task.yaml`` is written by ``xlcheck calibrate --save``. It holds the
fingerprint of the rubric, what the answers scored and, where mutants ran, how many faults cost points. `grade` warns
where the rubric has changed since.
"""

from __future__ import annotations

from decimal import Decimal
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import ValidationError

from xlcheck.calibrate import Calibration, Row
from xlcheck.cells import Frozen
from xlcheck.errors import UsageError
from xlcheck.rubric import Rubric, fingerprint, rubric_path

if TYPE_CHECKING:
    from xlcheck.discrimination import Discrimination

WRITER: Literal["xlcheck calibrate"] = "xlcheck calibrate"


class Record(Frozen):
    """The content of a calibration record."""

    schema_version: Literal[1] = 1
    written_by: Literal["xlcheck calibrate"]
    """Tells a record from a file that somebody else wrote."""
    xlcheck_version: str
    rubric_id: str
    rubric_sha256: str
    """Fingerprint of the rubric that was calibrated."""
    holds: bool
    """Whether every band held."""
    answers: tuple[Row, ...]
    faults_planted: int | None = None
    """Faults that do harm; None where no mutants were run."""
    faults_noticed: int | None = None
    """Of those, the ones that cost points."""
    kill_rate: Decimal | None = None
    """In percent."""


def record_path(rubric: str | Path) -> Path:
    """Return where the record of a rubric lies, by its file or bundled id; RubricError where there is no rubric."""
    path = rubric_path(rubric)
    return path.with_name(f"{path.stem}.calibration.json")


def save(rubric: str | Path, calibration: Calibration, found: Discrimination | None = None) -> Path:
    """Write the record beside the rubric, over an older record, never over a file that somebody else wrote.

    Raises UsageError where such a file is in the way, or where the folder cannot be written.
    """
    path = record_path(rubric)
    record = Record(
        written_by=WRITER,
        xlcheck_version=version("xlcheck"),
        rubric_id=calibration.rubric_id,
        rubric_sha256=calibration.rubric_sha256,
        holds=calibration.holds,
        answers=calibration.rows,
        faults_planted=found.decided if found is not None else None,
        faults_noticed=found.killed if found is not None else None,
        kill_rate=found.kill_rate.quantize(Decimal("0.1")) if found is not None else None,
    )
    try:
        if path.exists() and f'"{WRITER}"' not in path.read_text(encoding="utf-8", errors="replace"):
            raise UsageError(f"{path} exists and was not written by {WRITER}; move it away to save the calibration")
        path.write_text(record.model_dump_json(indent=1) + "\n", encoding="utf-8", newline="\n")
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror or error}") from None
    return path


def warning(rubric: str | Path, rules: Rubric) -> str | None:
    """Return in a sentence why the last calibration does not speak for a rubric; None where nothing is wrong."""
    path = record_path(rubric)
    if not path.is_file():
        return None
    try:
        record = Record.model_validate_json(path.read_bytes())
    except (ValidationError, OSError):
        return f"{path} is no calibration record, so it is not known whether {rules.id} was calibrated as it is"
    if record.rubric_sha256 != fingerprint(rules):
        return f"the rubric {rules.id} has changed since it was last calibrated; run xlcheck calibrate --save"
    broken = [row.name for row in record.answers if not row.holds]
    if broken:
        return f"when {rules.id} was last calibrated, {', '.join(broken)} did not hold its band"
    return None
