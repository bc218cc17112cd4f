"""Tables as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tabulate import tabulate


def table(head: Sequence[str], rows: Iterable[Sequence[object]], numbers: bool = False) -> str:
    """Return a Markdown table.

    Args:
        head: the columns' names.
        rows: the cells, shown as `str` gives them.
        numbers: the first column is to the left, all others to the right.
    """
    align = ["left", *["right"] * (len(head) - 1)] if numbers else ["left"] * len(head)
    cells = [[str(cell) for cell in row] for row in rows]
    return tabulate(cells, head, tablefmt="pipe", disable_numparse=True, colalign=align)
