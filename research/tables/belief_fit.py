"""How well the belief of `expert` predicts the cards that `expert` itself plays.

`python -m research.tables belief_fit` prints the mean log-likelihood of a card for each pair of
constants, over choices of two ranks or more: `TEMPERATURE` and `FLOOR` of `expert.belief` in single
deals, `ENDGAME_TEMPERATURE` and `ENDGAME_POINTS` where both seats need few points. There the first
lead does not count: the table `endgame_belief` predicts it.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from crib_agents.expert import belief
from crib_agents.expert.pegging import SCRATCH, SCRATCH_T, read_tables
from crib_agents.knowledge.pegging import DISTINCT, LISTED, ME, POSITION, POSITIONS_T, held_ranks, holdings, number
from crib_agents.loading import load_agent
from crib_training.progress import steps
from numba import float32, float64, int64, void

from crib_env.arrays import Array
from crib_env.batch import GameBatch
from crib_env.engine.hands.records import PEGGING
from crib_env.engine.jit import entry
from crib_env.engine.ranks import RANKS
from crib_env.engine.record import TABLE_T
from crib_env.engine.show import show_table
from crib_env.engine.two_hand import VIEWS_T
from crib_env.rules import TwoHandRules
from crib_env.settings import Count, Seed
from research.tables.dealing import both_games, let_discard
from research.tables.endgame_belief import games_near_the_end
from research.tables.maker import makes

LANES = 2000
TEMPERATURES = 0.2, 0.25, 0.3, 0.4  # in points
FLOORS = 0.05, 0.1, 0.2
ENDGAME_TEMPERATURES = 0.08, 0.15, 0.25, 0.4  # in games
ENDGAME_POINTS = 0.7, 1.0, 1.4, 2.0


@entry(void(VIEWS_T, int64[:, ::1], float32[::1], TABLE_T, POSITIONS_T, SCRATCH_T, float64[:, :, ::1]))
def card_values(views, hands, weights, table, positions, scratch, values):
    """Write what the belief compares when it predicts the card of a view's own seat.

    ``values``, float64[B, 2, RANKS]: by points, and near the end in games; others stay as they are.
    """
    p = positions[0]
    s = scratch[0]
    for i in range(views.shape[0]):
        v = views[i]
        s["i_deal"] = 1 - v["dealer"]
        s["single"] = v["single_count"]
        belief.find_needs(v, p, s, hands, weights)
        belief.replay(v, p, 0, s, hands, weights)
        count = belief.count_own(v, table)
        held = number(held_ranks(v))
        for k in range(hands[held, DISTINCT]):
            r = hands[held, LISTED] >> (4 * k) & 15
            if min(r + 1, 10) <= 31 - p["count"]:
                rest = hands[held, r]
                by_points = belief.shared_value(p, ME, r, weights, 0)
                values[i, 0, r] = by_points + belief.hand_value(p, r, rest, weights, 0)
                if s["endgame"]:
                    values[i, 1, r] = belief.endgame_value(p, ME, r, rest, count, s, weights)


def choices_of_expert(rules: TwoHandRules, deals: int, near: bool, seed: np.random.SeedSequence) -> tuple[Array, Array]:
    """Return values, float64[K, 2, RANKS], and ranks played, int64[K], of choices in deals.

    Ranks that may not be played have the value -inf. ``near``: in games where both seats need few
    points, the values in games included.
    """
    expert, found, played = load_agent("expert"), [], []
    weights = read_tables(rules.dealt)[0]
    positions, scratch = np.zeros(1, POSITION), np.zeros(1, SCRATCH)
    for part in steps(seed.spawn(max(1, deals // LANES)), f"{rules.name}, deals in parts"):
        cards, chance = part.spawn(2)
        rng = np.random.default_rng(chance)
        if near:
            games = games_near_the_end(rules, min(LANES, deals), cards, rng)
        else:
            games = GameBatch(rules, min(LANES, deals), episode="deal", seed=cards)
            games.reset()
        lanes = let_discard(games, expert, rng)
        while len(lanes := lanes[(views := games.views(lanes))["phase"] == PEGGING]):
            views = views[views["phase"] == PEGGING]
            actions = np.asarray(expert.act(views, rng), dtype=np.int64)
            values = np.full((len(views), 2, RANKS), -np.inf)
            card_values(views, holdings(), weights, show_table(), positions, scratch, values)
            several = np.isfinite(values[:, int(near)]).sum(axis=1) > 1
            if near:
                several &= views["pile_n"] > 0
            found.append(values[several])
            played.append(actions[several] // 4)
            games.step(lanes, actions)
            lanes = games.running(lanes)
    return np.concatenate(found), np.concatenate(played)


def log_likelihood(values: Array, played: Array, floor: float) -> float:
    """Return that of the ranks played, under a softmax of values and a share drawn from all."""
    chance = np.exp(values - values.max(axis=1, keepdims=True))
    chance[chance < np.exp(belief.UNLIKELY)] = 0.0
    chance /= chance.sum(axis=1, keepdims=True)
    fitting = np.isfinite(values).sum(axis=1)
    return float(np.log(floor / fitting + (1 - floor) * chance[np.arange(len(played)), played]).mean())


@makes(None)
def belief_fit(deals: Count = 20_000, seed: Seed = 2037) -> None:
    """Print how well the belief predicts the expert's cards, by its constants.

    Args:
        deals: deals of each game, and as many near the end of a game.
    """
    print("| game | deals | constants | log-likelihood of a card | today |")
    print("|---|---|---|---|---|")
    for rules, seed_seq in both_games(seed):
        plain, late = seed_seq.spawn(2)
        values, played = choices_of_expert(rules, deals, False, plain)
        for temperature, floor in product(TEMPERATURES, FLOORS):
            found = log_likelihood(values[:, 0] / temperature, played, floor)
            today = (temperature, floor) == (belief.TEMPERATURE, belief.FLOOR)
            print_row(rules, "single", f"{temperature} points, floor {floor}", found, today)
        values, played = choices_of_expert(rules, deals, True, late)
        for games, points in product(ENDGAME_TEMPERATURES, ENDGAME_POINTS):
            both = values[:, 1] / games + values[:, 0] / points
            found = log_likelihood(both, played, belief.FLOOR)
            today = (games, points) == (belief.ENDGAME_TEMPERATURE, belief.ENDGAME_POINTS)
            print_row(rules, "near the end", f"{games} games, {points} points", found, today)


def print_row(rules: TwoHandRules, deals: str, constants: str, found: float, today: bool) -> None:
    """Print a row of the table."""
    mark = "yes" if today else ""
    print(f"| {rules.name} | {deals} | {constants} | {found:.4f} | {mark} |", flush=True)
