"""The expert as a teacher: every choice in a position, best first, with its value.

`analyze` takes a seat's view; `discard_view`, `pegging_view` and, for Table Top, `layout_view`
make one from cards written as text.
`crib analyze` is the same on the command line.
"""

from crib_agents.analyze.choices import CardChoice, CellChoice, DiscardChoice, analyze
from crib_agents.analyze.positions import discard_view, layout_view, pegging_view

__all__ = [
    "CardChoice",
    "CellChoice",
    "DiscardChoice",
    "analyze",
    "discard_view",
    "layout_view",
    "pegging_view",
]
