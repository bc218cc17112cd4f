"""The expert as a teacher: every choice in a position, best first, with what each is worth.

`analyze` takes a seat's view; `laying_view` and `play_view` make one from cards written as text.
``python -m agents.analyze`` is the same on the command line.
"""

from agents.analyze.choices import Card, Discard, analyze
from agents.analyze.positions import laying_view, play_view

__all__ = ["Card", "Discard", "analyze", "laying_view", "play_view"]
