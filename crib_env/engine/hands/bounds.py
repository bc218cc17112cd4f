"""The most points that a side can lose to the others in an episode, from the rules alone."""

from __future__ import annotations

from typing import Any

from crib_env.engine.hands.records import DEAL, MATCH, PEGGING_ONLY

A_CARD = 15  # played: four alike (12), fifteen (2), and the last card (1); a run makes less (H4)
A_HAND = 29  # shown, and the crib (C2): three fives and a jack, the starter the fourth five


def worst_loss(rules: Any, expected: bool) -> int:
    """Return an upper bound of the points that a side can still lose to the mean of the others.

    The others make all they can and the side makes nothing. A game ends at its target, and every
    deal pegs a point for its last card.

    Args:
        rules: a rules record, which names the episode.
        expected: whether the reward pays the mean of the show, which the target does not cut.
    """
    sides, target, episode = (int(rules[name]) for name in ("sides", "target", "episode"))
    seats = int(rules["players"]) // sides  # of a side
    pegged = seats * int(rules["dealt"] - rules["discards"]) * A_CARD
    shown = 0 if episode == PEGGING_ONLY else (seats + 1) * A_HAND + int(rules["heels"])
    if episode in (DEAL, PEGGING_ONLY):
        return pegged + shown if expected else min(pegged + shown, target)
    deals = sides * (target - 1) + 1
    game = target + deals * shown if expected else target
    games = sides * (int(rules["match_target"]) - 1) + 1 if episode == MATCH else 1
    return games * game
