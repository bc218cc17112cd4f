"""Where results are written, looked at before the work so that none is lost to a bad path; CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import asdict, fields
from typing import Any

from crib_env.settings import check_file, check_folder

__all__ = ["check_file", "check_folder", "csv_table"]


def csv_table(kind: type[Any], rows: Sequence[Any]) -> bytes:
    """Return dataclass instances of one kind as CSV, a column a field."""
    text = io.StringIO()
    writer = csv.DictWriter(text, [field.name for field in fields(kind)], lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(row) for row in rows)
    return text.getvalue().encode()
