"""The files that tables are kept in."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any


def write(path: Path, data: dict[str, Any]) -> None:
    """Write the data file, one row of a chart a line."""
    text = json.dumps(data, indent=1)
    text = re.sub(r"\[[^\[\]]+\]", lambda row: " ".join(row[0].split()), text)
    path.parent.mkdir(exist_ok=True)
    path.write_text(text + "\n")
