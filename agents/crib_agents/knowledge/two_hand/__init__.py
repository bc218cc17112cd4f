"""Six-card and five-card cribbage."""
