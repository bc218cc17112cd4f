"""The expert as a teacher: every choice in a position, best first, with what each is worth.

`analyze` takes a seat's view; `laying_view`, `play_view` and, for Table Top, `layout_view` make one
from cards written as text.
`crib analyze` is the same on the command line.
"""

from crib_agents.analyze.choices import Card, Cell, Discard, analyze
from crib_agents.analyze.layouts import layout_view
from crib_agents.analyze.positions import laying_view, play_view

__all__ = [
    "Card",
    "Cell",
    "Discard",
    "analyze",
    "laying_view",
    "layout_view",
    "play_view",
]
