"""Where the bundled rubrics and fixtures lie: in the installed package, or beside it in a checkout."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

Kind = Literal["rubrics", "fixtures"]
_PACKAGE = Path(__file__).resolve().parent


def bundled_root(kind: Kind) -> Path:
    """Return the folder of all bundled files of one kind."""
    installed = _PACKAGE / "_data" / kind
    return installed if installed.is_dir() else _PACKAGE.parent / kind


def bundled(kind: Kind, name: str) -> Path | None:
    """Return the path of one bundled file or folder, None if there is none of that name (a plain name, no path)."""
    if not name or name in (".", "..") or Path(name).name != name:
        return None
    path = bundled_root(kind) / name
    return path if path.exists() else None


def bundled_names(kind: Kind) -> tuple[str, ...]:
    """Return the ids of the bundled rubrics (file names without ``.yaml``) or fixtures (folder names), sorted."""
    root = bundled_root(kind)
    if not root.is_dir():
        return ()
    if kind == "rubrics":
        return tuple(sorted(path.stem for path in root.glob("*.yaml")))
    return tuple(sorted(path.name for path in root.iterdir() if path.is_dir()))
