"""Figures of the games under good play, made into the pages of ``docs/numbers``."""
