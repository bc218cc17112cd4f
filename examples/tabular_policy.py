"""A stochastic policy in a table, for `crib exploit tabular_policy:Tabular --suits ranks`."""

import numpy as np

from crib_env.policy import Actions, Views


class Tabular:
    """Draws a legal card in proportion to a weight for its phase, seat and rank."""

    name = "tabular"

    def __init__(self) -> None:
        self.weights = np.ones((2, 2, 13))  # [phase: discard, pegging; seat: dealer, pone; rank]
        self.weights[0, 1, 4] = 0.01  # pone hardly ever discards a five
        self.weights[0, :, 9:] = 3.0  # both like to discard tens and court cards

    def action_probabilities(self, views: Views) -> np.ndarray:
        """Return the probability of each card, float64[B, 52], for views [B]."""
        hands = views["hand"]  # int64[B, 6], card numbers
        legal = views["legal"][:, None] >> np.arange(hands.shape[1]) & 1 == 1
        rows, places = np.nonzero(legal)
        cards = hands[rows, places]
        probabilities = np.zeros((len(views), 52))
        phases, seats = views["phase"][rows], views["dealer"][rows]
        probabilities[rows, cards] = self.weights[phases, seats, cards // 4]
        probabilities /= probabilities.sum(axis=1, keepdims=True)
        return probabilities

    def act(self, views: Views, rng: np.random.Generator) -> Actions:
        """Return a drawn action for each view, int64[B]."""
        bounds = self.action_probabilities(views).cumsum(axis=1)
        drawn = rng.random((len(views), 1)) * bounds[:, -1:]
        actions: Actions = (bounds <= drawn).sum(axis=1)
        return actions
