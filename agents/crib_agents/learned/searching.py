"""``learned_search``: one step of search over the networks of ``learned``, aware of the score."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from crib_agents.checks import HONOURS
from crib_agents.learned.agent import TakesWeights, shipped
from crib_agents.learned.weights import Weights
from crib_env.answers import one_or_many
from crib_env.encoding import family_of
from crib_env.parts import families_with, find_part
from crib_env.policy import Actions, Agent, Views


class LearnedSearch(TakesWeights):
    """Searches over what nets expect, at every game that they are there for.

    In two-hand games it discards as ``learned`` does and plays the cards by search. It is not
    compiled into the batch: environments ask it.

    Args:
        sets: the weights, by default those that come with the package.
        name: its name in tables.
    """

    honours = HONOURS - {"two_hand.heels"}

    def __init__(self, sets: Sequence[Weights] | None = None, name: str = "learned_search") -> None:
        self.name = name
        searched = families_with("learned_search")
        self.sets = [w for w in shipped() if w.family in searched] if sets is None else sets
        self._given = sets
        self._players: dict[str, Agent] = {}

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    @classmethod
    def load(cls, path: str | Path) -> LearnedSearch:
        """Return the agent of one file of weights, called by its name.

        Raises:
            ValueError: the file does not fit; the message names what was expected and found.
        """
        return cls([Weights.load(path)], f"{Path(path).stem} with search")

    @one_or_many
    def act(self, views: Views, rng: np.random.Generator) -> Actions:
        """Return a legal action for each view, int64[B]; ``rng`` is left alone.

        Raises:
            ValueError: views of another game, or of rules that it has no nets for.
        """
        family = family_of(views).name
        if family not in self._players:
            self._players[family] = find_part("learned_search", family)(self._given)
        return self._players[family].act(views, rng)
