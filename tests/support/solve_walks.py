"""Walkers and deals for the solver's tests, with the engine's results."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from crib_agents.equilibrium.public_tree import public_tree
from crib_agents.knowledge.pegging import FIRST, number

from crib_env.engine.ranks import how_many
from crib_env.game import Game
from crib_env.rules import TwoHandRules
from research.solve.counts import count_states
from research.solve.pegging import VALUE, Walker


def holding(ranks: tuple[int, ...]) -> int:
    return number(sum(1 << (4 * rank) for rank in ranks))


def walker_of(rules: TwoHandRules) -> Walker:
    kept = rules.dealt - 2
    counts = count_states(kept, rules.single_count)
    return Walker(public_tree(kept, rules.single_count), counts, rules.single_count, 4)


def game_with(rules: TwoHandRules, pone: list[int], dealer: list[int], discarded: list[int]) -> Game:
    """Return a game with these kept cards.

    ``discarded``: the two of pone, the two of the dealer, the starter.
    """
    deck = [0] * (2 * rules.dealt + 1)
    deck[0 : 2 * rules.dealt : 2] = pone + discarded[:2]
    deck[1 : 2 * rules.dealt : 2] = dealer + discarded[2:4]
    deck[-1] = discarded[4]
    rest = [card for card in range(52) if card not in deck]
    game = Game(rules, episode="pegging", seed=1)
    game.reset(decks=[deck + rest], dealer=1)
    for card in discarded[:4]:
        game.step(card)
    return game


def probabilities_of(view: np.void, probabilities: np.ndarray, walker: Walker) -> np.ndarray:
    """Return the probability of each rank, read from the tables by separate slow code."""
    tree = walker.tree
    node, count = 0, 0
    n = int(view["pile_n"])
    seats = [int(view["pile_seats"]) >> 2 * i & 1 for i in range(n)] + [0]
    pips = [min((int(card) >> 2) + 1, 10) for card in view["pile"][:n]]
    for i in range(n):
        count += pips[i]
        ended = int(view["count"]) == 0 if i == n - 1 else count + pips[i + 1] > 31
        way = 2 if ended else 1 if seats[i + 1] == seats[i] else 0
        count = 0 if ended else count
        node = int(tree.child[tree.row[node], way]) + (int(view["pile"][i]) >> 2)
    held = sorted(int(card) >> 2 for card in view["hand"][: view["hand_n"]])
    left = len(held)
    place = holding(tuple(held)) - int(FIRST[left])
    at = int(tree.offset[node]) + place * (left - 1)
    distinct = sorted(set(held))
    found = np.zeros(13)
    for slot, rank in enumerate(distinct[:-1]):
        found[rank] = probabilities[at + slot]
    found[distinct[-1]] = 1.0 - sum(probabilities[at : at + len(distinct) - 1])
    return found


def played_out(game: Game, probabilities: np.ndarray, walker: Walker) -> float:
    """Return seat 0's mean points less seat 1's from here on, over every line of play."""
    if game.over:
        return float(game.scores[0] - game.scores[1])
    view = game.view(game.seat)
    ranks = sorted({card >> 2 for card in game.legal_actions})
    if len(ranks) > 1 and view["held_n"][1] > 0:
        likely = probabilities_of(view, probabilities, walker)
        likely = {rank: likely[rank] for rank in ranks}
    else:
        likely = dict.fromkeys(ranks, 1.0 / len(ranks))
    values = {}
    for rank in ranks:
        branch = copy.deepcopy(game)
        branch.step(next(card for card in branch.legal_actions if card >> 2 == rank))
        values[rank] = played_out(branch, probabilities, walker)
    if len(ranks) > 1 and view["held_n"][1] == 0:
        return max(values.values()) if game.seat == 0 else min(values.values())
    return sum(likely[rank] * values[rank] for rank in ranks)


def check_played_out(rules: TwoHandRules, probabilities: np.ndarray, walker: Walker, deals: int) -> None:
    """Check on random deals that both seats' walks equal the engine's play."""
    kept = rules.dealt - 2
    rng = np.random.default_rng(8)
    for _ in range(deals):
        cards = rng.permutation(52)[: 2 * rules.dealt + 1].tolist()
        sides = cards[:kept], cards[kept : 2 * kept]
        game = game_with(rules, *sides, cards[2 * kept :])
        expected = played_out(game, probabilities, walker)
        hands = [holding(tuple(card >> 2 for card in side)) for side in sides]
        for seat in range(2):
            ranges = np.zeros((1, how_many(kept)), dtype=np.float32)
            ranges[0, hands[1 - seat] - FIRST[kept]] = 1.0
            values, masses, *_ = walker.walk(seat, VALUE, np.array([hands[seat]]), np.ones(1), ranges, probabilities)
            assert masses[0] == 1.0
            assert values[0] == pytest.approx(expected if seat == 0 else -expected, abs=1e-4)
