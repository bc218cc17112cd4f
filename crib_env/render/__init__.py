"""Showing a game: what a seat may see as text, from its view and what has been pegged."""
