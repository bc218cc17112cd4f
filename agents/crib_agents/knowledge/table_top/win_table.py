"""The stakes of a view: `win` for its game and its score."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from crib_agents.knowledge.table_top.win import between, round_win_table, win_table
from crib_env.arrays import Doubles
from crib_env.engine.show import JACK
from crib_env.engine.table_top.records import GAME
from crib_env.policy import Views

ALIKE = np.zeros((0, 0, 0))  # no values: points weigh alike
# What a win table depends on; views alike in these share one.
FIELDS = ("episode", "score_difference", "players", "target")


def group_by_win_table(views: Views) -> Iterator[tuple[Doubles, npt.NDArray[np.intp]]]:
    """Sort views by the table that weighs their sides' points.

    Yields a table of `win_table`, or `ALIKE`, and the indices of the views it is for.
    """
    keys = np.stack([views[field] for field in FIELDS], axis=1)
    left = np.arange(len(views))
    while len(left):
        key = keys[left[0]]
        episode, score_difference, players, target = key.tolist()
        weighed = episode == GAME and not score_difference
        alike = (keys[left] == key).all(axis=1)
        yield win_table(players, target) if weighed else ALIKE, left[alike]
        left = left[~alike]


def chance_of(view: np.void, mine: Doubles, theirs: Doubles) -> Doubles:
    """Return the probability of winning by what both sides are expected to make.

    Shapes: mine, theirs float64[n]; the result float64[n].
    """
    game, i_deal = view["episode"] == GAME, view["my_crib"] == 1
    dealer, other = (mine, theirs) if i_deal else (theirs, mine)
    if view["starter"] >> 2 == JACK and (view["score_difference"] or not game):
        dealer = dealer + view["heels"]  # T3; elsewhere they are in the score
    target = int(view["target"]) if game else 0
    scores = view["scores"][:: 1 if i_deal else -1].tolist() if game else (0, 0)
    past = max(0, *(score - target for score in scores))  # only the difference matters there
    table = round_win_table(
        int(view["score_difference"]), int(view["players"]), target, int(view["turn"]),
        *(max(0, score - past) for score in scores),
    )  # fmt: skip
    chance = between(table, dealer, other)
    return chance if i_deal else 1.0 - chance
