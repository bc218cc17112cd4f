"""What the pages of figures share: estimates as text, and how a page was made."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from crib_training.evaluation.duplicate import Estimate
from crib_training.evaluation.evaluate import versions

PACKAGES = ("crib-env", "numpy", "numba")


def percent(value: Estimate) -> str:
    """Return a share as per cent with its 95 % interval."""
    return f"{100 * value.mean:.2f} ± {100 * value.half:.2f} %"


def points(value: Estimate) -> str:
    """Return a mean of points with its 95 % interval."""
    return f"{value.mean:.3f} ± {value.half:.3f}"


def write(folder: Path, name: str, page: str, data: dict[str, Any], command: str) -> None:
    """Write ``name.md`` and, with every figure in full, ``name.json``."""
    of = versions()
    used = {package: of[package] for package in PACKAGES}
    made = ", ".join(f"{package} {number}" for package, number in used.items())
    text = f"{page.rstrip()}\n\nMade by `{command}` ({made}). All intervals are 95 %.\n"
    (folder / f"{name}.md").write_text(text)
    data = {"command": command, "versions": used, **data}
    figures = json.dumps(data, indent=1, default=vars)
    figures = re.sub(r"\[[^\[\]{}]+\]", lambda row: " ".join(row[0].split()), figures)
    (folder / f"{name}.json").write_text(figures + "\n")
