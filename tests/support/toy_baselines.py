"""Baselines that learn deals of a toy deck, and their exact exploitability."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from crib_agents.policy_net import ScoredAgent
from crib_training.exploit.best_response import Responder, TabularPolicy
from crib_training.exploit.hands import ROLES, hands_by_class
from crib_training.exploit.one_count import OneCountWalk, list_ranks, list_types, query_course
from crib_training.exploit.queries import Queries, query_discards
from crib_training.learn import deal_batch

from crib_env.batch import GameBatch
from crib_env.engine.family import family_for
from crib_env.engine.ranks import RANKS
from crib_env.engine.two_hand import HAND
from crib_env.rules import TwoHandRules
from small_runs import made

FIVE = TwoHandRules.preset("five_card")
DEALT = 5
TOY = (4, 9, 10)  # fives, tens and jacks: fifteens, pairs, nobs and flushes


def cards_of(ranks: tuple[int, ...]) -> list[int]:
    """Return the cards of a toy deck of these ranks."""
    return [4 * r + suit for r in ranks for suit in range(4)]


def tables_of(agent: ScoredAgent, ranks: tuple[int, ...]) -> TabularPolicy:
    """Return a network's policy in the deals of a toy deck, as `crib exploit` queries it."""
    hands = hands_by_class(DEALT, sum(1 << card for card in cards_of(ranks)))
    queries = Queries(agent, FIVE)
    discard = query_discards(queries, hands)
    walks = []
    for role in ROLES:
        hidden = agent.suits == "ranks"
        types = list_ranks() if hidden else list_types(discard[role].rank_weights(hands), 0)
        courses = {r: query_course(queries, role, r, *types) for r in ranks}
        walks.append([courses.get(r, courses[ranks[0]]) for r in range(RANKS)])  # no other starters
    return TabularPolicy(hands, discard, OneCountWalk((walks[0], walks[1])))


def toy_exploitability(agent: ScoredAgent, ranks: tuple[int, ...] = TOY, every: int = 1) -> float:
    """Return the exploitability in a toy deck, the mean of both seats.

    Args:
        agent: the network.
        ranks: those of the toy.
        every: measure every ``every``-th class of hands; 1 for all.
    """
    policy = tables_of(agent, ranks)
    responder, classes = Responder(policy, FIVE), policy.hands.classes
    hands, sizes = classes.cards[::every], classes.sizes[::every]
    gains = [[responder.values(hand, role).gains()[0] for role in ROLES] for hand in hands]
    return float(np.average(np.mean(gains, axis=1), weights=sizes))


class ToyBatch(GameBatch):
    """Games whose deals come from the toy deck."""

    def __init__(self, *given: Any, seed: int, **keywords: Any) -> None:
        super().__init__(*given, seed=seed, **keywords)
        self.toy = np.random.default_rng(seed)

    def reset(self, lanes: Any = None, **keywords: Any) -> None:
        """Begin a deal in games ``lanes``, with cards of the toy deck."""
        super().reset(lanes, **keywords)
        lanes = np.arange(self.n) if lanes is None else lanes
        cards = self.toy.permuted(np.tile(cards_of(TOY), (len(lanes), 1)), axis=1)
        dealt = self.states["dealt"][lanes]
        dealt[:, :DEALT], dealt[:, HAND : HAND + DEALT] = cards[:, :DEALT], cards[:, DEALT:10]
        self.states["dealt"][lanes], self.states["starter"][lanes] = dealt, cards[:, 10]


def in_the_toy(patch: pytest.MonkeyPatch) -> None:
    """Make baselines learn deals of the toy deck, paid by the starter turned up."""
    patch.setattr(deal_batch, "GameBatch", ToyBatch)
    patch.setattr(deal_batch, "family_for", lambda engine, _, suits: family_for(engine, "points", suits))


def toy_learner(method: str, seed: int, decisions: int, **changes: Any) -> Any:
    """Return a baseline about to learn in the toy deck."""
    sizes = {"num_envs": 128, "steps": 16, "batch_size": 256, "hidden_sizes": (64, 64)}
    return made(method, decisions=decisions, seed=seed, **{**sizes, **changes})
