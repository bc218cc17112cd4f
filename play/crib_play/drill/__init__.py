"""Exercises: positions where the choice matters, and grades for the answers."""
