"""The deals of games, recorded during play for the later corrections."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crib_env.arrays import Array
from crib_env.batch import GameBatch
from crib_env.engine.hands.records import DISCARD
from crib_env.engine.show import JACK
from crib_env.engine.two_hand import STATE


@dataclass(frozen=True)
class Deals:
    """Deals in which both seats had discarded, one a row.

    Attributes:
        lane: int64[N], the game it belongs to.
        dealer: int64[N], the seat that dealt.
        dealt: int64[N, 12], the cards, as in the records of a game.
        discarded: int64[N, 2], the slots that each seat discarded, one bit a card.
        starter: int64[N], a card.
        scores: int64[N, 2], of each seat before the deal.
    """

    lane: Array
    dealer: Array
    dealt: Array
    discarded: Array
    starter: Array
    scores: Array


class DealLog:
    """Records deals of the two-hand games as soon as both seats have discarded."""

    def __init__(self) -> None:
        self._heels = False
        self._lanes: list[Array] = [np.zeros(0, dtype=np.int64)]
        self._states: list[Array] = [np.zeros(0, dtype=STATE)]

    def note(self, games: GameBatch, lanes: Array) -> None:
        """Note the deals of the lanes just stepped in which the starter has now been turned."""
        states = games.states
        self._heels = bool(games.record["heels"][0])
        discarded = (states["phase"][lanes] != DISCARD) & (states["pile_n"][lanes] == 0)
        turned = lanes[discarded]
        self._lanes.append(turned)
        self._states.append(states[turned])

    def deals(self) -> Deals:
        """Return all recorded deals."""
        states = np.concatenate(self._states)
        scores = states["scores"].copy()
        heels = np.flatnonzero((states["starter"] // 4 == JACK) & self._heels)
        # Heels (C3) are the last points that the dealer has pegged, if any: the rear peg is before.
        dealer = states["dealer"][heels]
        scores[heels, dealer] = states["rear"][heels, dealer]
        return Deals(
            lane=np.concatenate(self._lanes),
            **{
                name: np.ascontiguousarray(states[name])
                for name in ("dealer", "dealt", "discarded", "starter")
            },
            scores=scores,
        )
