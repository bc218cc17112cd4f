"""Where results are written, looked at before the work so that none is lost to a bad path; CSV.

And the most memory that the work took, which a command says at its end.
"""

from __future__ import annotations

import csv
import io
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any


def check_file(path: Path) -> None:
    """Raise unless a file can be written there.

    Raises:
        OSError: it is a folder, its folder is not there, or neither may be written to.
    """
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder: name a file")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"No such file or directory: {path.parent}, for {path.name}")
    _check_access(path if path.exists() else path.parent)


def check_folder(path: Path) -> None:
    """Raise unless a folder is there, or can be made, and files can be written to it.

    Raises:
        OSError: a file is in its place, or it may not be written to.
    """
    nearest = path.absolute()
    while not nearest.exists():
        nearest = nearest.parent
    if not nearest.is_dir():
        raise NotADirectoryError(f"{nearest} is a file: name a folder")
    _check_access(nearest)


def csv_table(kind: type[Any], rows: Sequence[Any]) -> bytes:
    """Return dataclass instances of one kind as CSV, a column a field."""
    text = io.StringIO()
    writer = csv.DictWriter(text, [field.name for field in fields(kind)], lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(row) for row in rows)
    return text.getvalue().encode()


def peak_memory() -> str:
    """Return the most memory that this process has held so far, in words."""
    try:
        import resource
    except ModuleNotFoundError:  # on Windows
        return "how much memory was held at most is not known on this system"
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    held *= 1 if sys.platform == "darwin" else 1024  # bytes there, KiB elsewhere
    return f"{held / 1e9:.2f} GB of memory held at most"


def _check_access(path: Path) -> None:
    if not os.access(path, os.W_OK):
        raise PermissionError(f"{path} may not be written to")
