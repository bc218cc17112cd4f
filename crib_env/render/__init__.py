"""Rendering: a seat's view of a game as text, with the points pegged."""
