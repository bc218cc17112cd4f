"""Drawings: a seat's view of a game as SVG, and the words in it."""
