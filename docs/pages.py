"""Pages: measuring gives data, the templates of ``docs/templates`` make text of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from crib_training.evaluation.duplicate import estimate
from crib_training.outputs import table
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from crib_env.arrays import Array

Figure = Mapping[str, float]
"""A mean and half its 95 % interval, as in JSON."""


def mean(values: Array) -> dict[str, Any]:
    """Return the mean of one value an episode, with its interval, ready for JSON."""
    return vars(estimate(values))


def percent(value: Figure, places: int = 2, unit: str = " %") -> str:
    """Return a share as per cent with its 95 % interval."""
    return f"{100 * value['mean']:.{places}f} ± {100 * value['half']:.{places}f}{unit}"


def points(value: Figure) -> str:
    """Return a mean of points with its 95 % interval."""
    return f"{value['mean']:.3f} ± {value['half']:.3f}"


def number_table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a Markdown table of numbers."""
    return table(head, rows, numbers=True)


def row(cells: Iterable[object]) -> str:
    """Return a row of a Markdown table."""
    return f"| {' | '.join(map(str, cells))} |"


def hundredths(value: float) -> str:
    """Return a share as whole per cent."""
    return f"{100 * value:.0f}"


def thousands(value: int) -> str:
    """Return a number with commas."""
    return f"{value:,}"


TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).with_name("templates")),
    undefined=StrictUndefined,
    trim_blocks=True,
    keep_trailing_newline=True,
    autoescape=False,
)
TEMPLATES.filters |= {"percent": percent, "points": points, "thousands": thousands,
                      "hundredths": hundredths}  # fmt: skip
TEMPLATES.globals |= {"row": row, "table": table, "number_table": number_table}


def write_changed(page: Path, text: str) -> None:
    """Write a page if it changed, because Sphinx reads every written page again."""
    if not page.exists() or page.read_text() != text:
        page.write_text(text)


def render(name: str, /, **values: Any) -> str:
    """Return the text of a template, such as ``"six_card"``, with these values."""
    return TEMPLATES.get_template(f"{name}.md.j2").render(values)
