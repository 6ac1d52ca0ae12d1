"""The JSON Schemas of the documents that people and programs exchange, each with its version in its ``$id``."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from xlcheck.actuals import ActualsFile
from xlcheck.binding import binding_schema
from xlcheck.calibrate import CalibrationFile
from xlcheck.errors import UsageError
from xlcheck.evidence import PackFile
from xlcheck.modeldocs import described_schema
from xlcheck.overrides import OverrideFile
from xlcheck.report.document import Report
from xlcheck.report.json import dumps
from xlcheck.rubric import rubric_schema
from xlcheck.verdicts import verdicts_schema

DIALECT = "https://json-schema.org/draft/2020-12/schema"
VERSIONS = {
    "report": 1,
    "rubric": 1,
    "verdicts": 1,
    "binding": 1,
    "calibration": 1,
    "overrides": 1,
    "pack": 1,
    "actuals": 1,
}
"""Document to version: raised when what was valid no longer is, or a key changes its meaning."""
_SCHEMAS: dict[str, Callable[[], dict[str, Any]]] = {
    "report": lambda: described_schema(Report, "serialization"),
    "rubric": lambda: dict(json.loads(rubric_schema())),
    "verdicts": verdicts_schema,
    "binding": binding_schema,
    "calibration": lambda: described_schema(CalibrationFile),
    "overrides": lambda: described_schema(OverrideFile),
    "pack": lambda: described_schema(PackFile),
    "actuals": lambda: described_schema(ActualsFile),
}


def schema_text(document: str) -> str:
    """Return the JSON Schema of a document of `VERSIONS` as JSON text; UsageError for another.

    In a report decimals are strings and cells texts such as ``DCF!C40``. In YAML files a date may stand without quotes.
    """
    if document not in VERSIONS:
        raise UsageError(f"there is no schema of {document!r}; choose one of {', '.join(VERSIONS)}")
    head = {"$schema": DIALECT, "$id": f"urn:xlcheck:{document}:{VERSIONS[document]}"}
    return dumps({**head, **_SCHEMAS[document]()})
