"""Tables as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[object]], numbers: bool = False) -> str:
    """Return a Markdown table."""
    cells = [list(head), *([str(cell) for cell in row] for row in rows)]
    widths = widths_of(cells)
    left = [not numbers or i == 0 for i in range(len(head))]
    rule = [f":{'-' * (n + 1)}" if side else f"{'-' * (n + 1)}:"
            for n, side in zip(widths, left, strict=True)]  # fmt: skip
    shown = [f"| {' | '.join(padded(row, widths, left))} |" for row in cells]
    return "\n".join([shown[0], f"|{'|'.join(rule)}|", *shown[1:]])


def widths_of(rows: Sequence[Sequence[str]]) -> list[int]:
    """Return the widths of the columns of rows, the first of which is the head."""
    columns = [[len(cell) for cell in column] for column in zip(*rows, strict=True)]
    return [max(head + 2, *cells) if cells else head + 2 for head, *cells in columns]


def padded(row: Sequence[str], widths: Sequence[int], left: Sequence[bool]) -> list[str]:
    """Return the cells of a row as wide as their columns, to the left or to the right."""
    return [
        cell.ljust(width) if side else cell.rjust(width)
        for cell, width, side in zip(row, widths, left, strict=True)
    ]
