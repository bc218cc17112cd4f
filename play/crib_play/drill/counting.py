"""Hands, cribs and lines to count; the same seed gives the same ones."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from rich.text import Text

from crib_play.drill.positions import play_out
from crib_play.table import Counted, TableGame
from crib_play.terminal.screen import Screen

LEAST = 4  # points: less is seen at a glance


def hands_to_count(seed: int, played: TableGame) -> Iterator[Counted]:
    """Yield what was counted without end, one of each game."""
    number = 0
    while True:
        seed_seq = np.random.SeedSequence([seed, number])
        turns = play_out(played, seed_seq).turns
        shown = [one for turn in turns for one in turn.counted if one.points >= LEAST]
        if shown:
            yield shown[np.random.default_rng(seed_seq).integers(len(shown))]
        number += 1


def ask_count(one: Counted, screen: Screen) -> int | None:
    """Ask for the points and say the count; return how many were missed, None if left out."""
    cards = screen.cards(one.cards)
    if one.starter is not None:
        cards = cards + Text(" + ") + screen.card(one.starter)
    screen.labelled(one.name, cards)
    while not (typed := input("points> ").strip().lower()).isdecimal():
        if typed in ("skip", "s"):
            return None
        if typed:
            screen.problem("Type a whole number of points; skip leaves this one out, Ctrl-D ends.")
    missed = abs(int(typed) - one.points)
    screen.line(f"  {'no' if missed else 'right'}: {one.call}", style="bold")
    return missed
