"""Pegs by one step of search over networks of the agent ``learned``, aware of the score."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from crib_agents.adapters.phased import PhasedAgent
from crib_agents.checks import HONOURS, refuse_other_views
from crib_agents.expert.two_hand.pegging.expert import (
    POSITIONS,
    SCRATCH,
    PeggingExpert,
    read_tables,
)
from crib_agents.expert.two_hand.pegging.search import FINDINGS, WIN_VALUE
from crib_agents.knowledge.two_hand.holdings import holdings
from crib_agents.knowledge.two_hand.model import load_for
from crib_agents.knowledge.two_hand.pegging import POSITION
from crib_agents.knowledge.two_hand.win_table import group_by_win_table
from crib_agents.learned.agent import MonteCarloAgent, TakesWeights, by_rules, shipped
from crib_agents.learned.two_hand import FAMILY
from crib_agents.learned.two_hand.search import search_views
from crib_agents.learned.weights import Weights
from crib_env.answers import one_or_many
from crib_env.arrays import Doubles
from crib_env.engine.family import find_family
from crib_env.engine.show import show_table
from crib_env.engine.two_hand import HAND, VIEW
from crib_env.policy import Actions, Views

LEAST = float(np.finfo(np.float64).min)  # of a card that may be played, if nothing else is known
WITHIN = 61  # points to make; farther away from the end play is for points


class SearchedPlay(TakesWeights):
    """Plays the cards of the two-hand games by a step of search over nets.

    Args:
        sets: the weights, by default those of self-play that come with the package.
        within: how near to going out one seat must be for play to the score; 0 for points alone.
    """

    name = "searched_play"
    honours = HONOURS

    def __init__(self, sets: Sequence[Weights] | None = None, within: int = WITHIN) -> None:
        self.sets = (*shipped(), *shipped("self_play")) if sets is None else sets
        self.within = within

    @one_or_many
    def act(self, views: Views, rng: np.random.Generator) -> Actions:
        """Return a legal card for each view, int64[B]; ``rng`` is left alone.

        Raises:
            ValueError: views of another game, or of rules that it has no nets for.
        """
        refuse_other_views(self.name, views, find_family(FAMILY.name))
        hands = views["hand"]
        may = views["legal"][:, None] >> np.arange(HAND) & 1 > 0
        best = may.argmax(axis=1)
        first = hands[np.arange(len(views)), best]
        choice = ((hands >> 2 != first[:, None] >> 2) & may).any(axis=1)
        if choice.any():
            values = self.findings(views[choice])[:, :, WIN_VALUE]
            known = np.nan_to_num(values, nan=LEAST, posinf=LEAST, neginf=LEAST)
            best[choice] = np.where(may[choice], known, -np.inf).argmax(axis=1)
        actions: Actions = hands[np.arange(len(views)), best]
        return actions

    def findings(self, views: Views) -> Doubles:
        """Return what each card held would bring: see `PeggingExpert.findings`.

        `WIN_VALUE` is the lead in points where both seats are far from the end. Near it, it is the
        mean of two: by a net's mean points, and by playing out, which knows how they spread.

        Raises:
            ValueError: views of rules that it has no nets for.
        """
        found = np.full((len(views), HAND, FINDINGS), np.nan)
        positions, scratch = np.zeros(POSITIONS, POSITION), np.zeros(1, SCRATCH)
        for weights, rows in by_rules(self, views, FAMILY):
            nets = weights.flat()
            for win_table, judged in group_by_win_table(views[rows]):
                part = np.ascontiguousarray(views[rows[judged]])
                brings = np.empty((len(part), HAND, FINDINGS))
                search_views(
                    part, holdings(), *read_tables(), load_for(part), win_table,
                    show_table(), positions, scratch, np.zeros(1, VIEW), nets, self.within, brings,
                )  # fmt: skip
                found[rows[judged]] = brings
        near = (views["target"][:, None] - views["scores"]).min(axis=1) <= self.within
        if near.any():
            played_out = PeggingExpert().findings(views[near])[:, :, WIN_VALUE]
            found[near, :, WIN_VALUE] = (found[near, :, WIN_VALUE] + played_out) / 2.0
        return found


def search_over(sets: Sequence[Weights] | None = None) -> PhasedAgent:
    """Return who discards as ``learned`` does and plays the cards by search.

    Args:
        sets: the weights of both, by default those that come with the package.
    """
    return PhasedAgent(MonteCarloAgent(sets), SearchedPlay(sets))
