"""Exercises: positions in which choices differ much, and how well one chose."""
