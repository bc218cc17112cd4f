"""The tables of Table Top.

`python -m research.tables table_top_values` (some ten minutes on one core): for each set of rules
the expert plays rounds against itself, in turn with two and four players. It chooses by its values
alone, without search, and learns from each round in one of two ways. `learn_lines` treats each line
separately: the line's final points correct its earlier values. That is quick, but it credits a line
with the points of its neighbours. `learn_sides` continues by temporal differences, TD(lambda): the
later value of a side's lines together corrects the earlier one. So the value of a line becomes its
contribution to the whole. All values start at zero. Equal seeds give equal files.

`python -m research.tables table_top_rounds`: the expert plays rounds against itself for points (a
few minutes each). The command prints the points, and the first dealer's probability of winning a
game that follows from them.
"""

from __future__ import annotations

import time
from typing import Annotated, Any

import numpy as np
from crib_agents.data.tables import TABLE_TOP_ROUNDS, TABLE_TOP_VALUES, VARIANTS
from crib_agents.expert import table_top as estimate
from crib_agents.expert.table_top import ACTIONS, BUDGETS, COLUMNS, GAINS, NEVER, score_now
from crib_agents.knowledge.rounds import MOST_POINTS, POSITION, POSITIONS_T, pass_on, put, solve, take_up
from crib_training.progress import steps
from numba import float64, int64, void
from pydantic import Field

from crib_env.arrays import Array, Doubles
from crib_env.batch import GameBatch
from crib_env.engine.family import find_family
from crib_env.engine.jit import entry, kernel
from crib_env.engine.ranks import DECK, RANKS, bit_count, lowest
from crib_env.engine.record import DECKS_T, LOG_SIZE, LOG_T, NO_DECKS, NONE, TABLE_T
from crib_env.engine.rng import below, seed_states
from crib_env.engine.show import show_table
from crib_env.engine.table_top import FAMILY, PLAYERS, lines
from crib_env.engine.table_top.records import CRIB_CARDS, LINES, SIZE, TABLE_TOP, TABLE_VIEW, TO_CRIB, TURNS
from crib_env.engine.table_top.transitions import begin_episode, step
from crib_env.engine.table_top.views import view
from crib_env.rules import PRESETS
from crib_env.settings import Count, Seed, Whole
from research.tables.maker import makes

STATES_T, RULES_T, VIEWS_T = FAMILY.types
TRACE = 0.9  # lambda: the share of a correction that earlier turns get
SLOWER = 0.1  # factor on the rate of tables that most lines share, in `learn_sides`
SURPLUS_RATE = 0.2  # factor on the rate in `learn_lines`: thirteen entries share a correction


@kernel
def best_of(ahead, legal):
    """Return the legal action of the highest value, of equals the first."""
    best = TO_CRIB
    most = NEVER
    while legal:
        action = lowest(legal)
        legal &= legal - 1
        if ahead[action] > most:
            best = action
            most = ahead[action]
    return best


@kernel
def any_of(rng, legal):
    """Return a legal action, drawn uniformly."""
    for _ in range(below(rng, bit_count(legal))):
        legal &= legal - 1
    return lowest(legal)


@kernel
def correct(values, visits, at, error, rate):
    """Correct a value by ``error``: as the mean of the first samples, later at ``rate``."""
    visits[at] += 1.0
    values[at] += error * max(1.0 / visits[at], rate)


@kernel
def correct_mixed(values, surplus, cards, error):
    """Correct the values of unseen ranks for a line."""
    at = estimate.SURPLUS + estimate.shape(cards) * RANKS
    for rank in range(RANKS):
        values[at + rank] += error * surplus[rank]


@kernel
def owed_at(owner_next, phase, owner_owes, other_owes):
    """Return the index of the values of cards owed to the crib."""
    at = (owner_next * estimate.PHASES + phase) * estimate.OWED + owner_owes
    return estimate.OWED_LINES + at * estimate.OWED + other_owes


@kernel
def learn_lines(table, values, visits, surplus, v, q, end, rate):
    """Correct every line of the position ``q`` by its points in ``end``."""
    phase = estimate.phase_of(TURNS - q["turn"])
    size = v["flush_size"]
    estimate.fill_surplus(q["unseen"], surplus)
    mine = 0.0
    theirs = 0.0
    for i in range(LINES):
        cards = q["lines"][i]
        n = bit_count(cards)
        if n == SIZE:
            continue
        sign = estimate.sign_of(v, i)
        owner_next = estimate.owner_moves_next(sign, q["mover"])
        nob = estimate.nob_in(v, i)
        error = lines.points_so_far(table, end["lines"][i], size, nob)
        error -= estimate.line_value(values, surplus, table, cards, owner_next, phase, size, nob, q["unseen"])
        if sign > 0:
            mine += error
        else:
            theirs += error
        at = owner_next * estimate.PHASES + phase
        correct_mixed(values, surplus, cards, error * rate * SURPLUS_RATE)
        correct(values, visits, estimate.LINE + at * estimate.SHAPES + estimate.shape(cards), error, rate)
        correct(values, visits, estimate.SUITED + (at * SIZE + n) * SIZE + lines.most_of_a_suit(cards), error, rate)
        if nob & q["unseen"]:
            correct(values, visits, estimate.NOB + at * SIZE + n, error, rate)
    at = owed_at(0, phase, lines.owed_by(q, 0), lines.owed_by(q, 1))
    correct(values, visits, at, mine - values[at], rate)
    at = owed_at(1, phase, lines.owed_by(q, 1), lines.owed_by(q, 0))
    correct(values, visits, at, theirs - values[at], rate)


@kernel
def learn_crib(table, values, visits, v, known, points, rate):
    """Correct the value of a crib with the cards ``known`` by its points."""
    if bit_count(known) < SIZE:
        error = points - estimate.crib_value(values, table, known, v["my_crib"], lines.nob_of(v))
        correct(values, visits, estimate.CRIB + v["my_crib"] * estimate.SHAPES + estimate.shape(known), error, rate)


@kernel
def lines_of_side(v, table, values, surplus, p, side):
    """Return the expected points of a side's five lines; side 0 is the view's own."""
    total = estimate.side_value(v, table, values, surplus, p, side)
    if (v["my_crib"] == 1) == (side == 0):
        total -= estimate.crib_value(values, table, p["crib"], v["my_crib"], lines.nob_of(v))
    return total


@kernel
def spread(values, surplus, v, q, mine, theirs, rate):
    """Correct the lines of both sides in the position ``q`` by the sides' errors."""
    phase = estimate.phase_of(TURNS - q["turn"])
    for i in range(LINES):
        cards = q["lines"][i]
        n = bit_count(cards)
        if n == SIZE:
            continue
        sign = estimate.sign_of(v, i)
        error = rate * (mine if sign > 0 else theirs)
        at = estimate.owner_moves_next(sign, q["mover"]) * estimate.PHASES + phase
        correct_mixed(values, surplus, cards, error)
        values[estimate.LINE + at * estimate.SHAPES + estimate.shape(cards)] += error
        values[estimate.SUITED + (at * SIZE + n) * SIZE + lines.most_of_a_suit(cards)] += SLOWER * error
        if estimate.nob_in(v, i) & q["unseen"]:
            values[estimate.NOB + at * SIZE + n] += SLOWER * error
    values[owed_at(0, phase, lines.owed_by(q, 0), lines.owed_by(q, 1))] += SLOWER * rate * mine
    values[owed_at(1, phase, lines.owed_by(q, 1), lines.owed_by(q, 0))] += SLOWER * rate * theirs


@kernel
def learn_sides(table, values, surplus, views, past, rate):
    """Correct both sides' lines in every position of a round by their later values."""
    v = views[TURNS - 1]
    q = past[TURNS - 1]
    goal = lines_of_side(v, table, values, surplus, q, 0)
    other_goal = lines_of_side(v, table, values, surplus, q, 1)
    for turn in range(TURNS - 2, -1, -1):
        v = views[turn]
        q = past[turn]
        goal, other_goal = other_goal, goal  # the mover before is of the other side
        estimate.fill_surplus(q["unseen"], surplus)
        mine = lines_of_side(v, table, values, surplus, q, 0)
        theirs = lines_of_side(v, table, values, surplus, q, 1)
        spread(values, surplus, v, q, goal - mine, other_goal - theirs, rate)
        goal = TRACE * goal + (1.0 - TRACE) * mine
        other_goal = TRACE * other_goal + (1.0 - TRACE) * theirs


@entry(
    void(
        STATES_T, RULES_T, DECKS_T, TABLE_T, float64[::1], float64[::1], float64[::1],
        float64[::1], VIEWS_T, POSITIONS_T, float64[:, ::1], float64[::1], LOG_T, int64, int64,
        int64, float64, int64[:, ::1],
    )
)  # fmt: skip
def self_play(
    states, rules, decks, table, values, visits, surplus, weights, views, past, gains, ahead, log,
    rounds, whole, epsilon, rate, points,
):  # fmt: skip
    """Play rounds and learn from each, by sides if ``whole``, else by lines.

    One action in ``epsilon`` is random, none for 0. ``points``, int64[rounds, 2], receives the
    scores of rows and columns, heels and crib included.
    """
    s = states[0]
    r = rules[0]
    p = past[TURNS]
    for k in range(rounds):
        begin_episode(s, r, decks, NONE, log)
        while s["over"] == 0:
            turn = s["turn"]
            v = views[turn]
            view(s, r, s["to_move"], v)
            legal = v["legal"]
            take_up(v, p)
            estimate.fill_surplus(p["unseen"], surplus)
            score_now(v, table, values, surplus, weights, p, legal, gains, ahead)
            if epsilon and below(s["rng"], epsilon) == 0:
                action = any_of(s["rng"], legal)
            else:
                action = best_of(ahead, legal)
            pass_on(p, past[turn], v["card"], r["players"])
            put(past[turn], 0, v["card"], action)
            step(s, r, decks, table, action, log)
        points[k, 0] = s["scores"][0]
        points[k, 1] = s["scores"][1]
        if whole:
            learn_sides(table, values, surplus, views, past, rate)
            continue
        crib = 1 << views[0]["starter"]
        for i in range(CRIB_CARDS):
            crib |= 1 << s["deck"][s["crib"][i]]
        crib_points = lines.points_so_far(table, crib, r["crib_flush_size"], lines.nob_of(views[0]))
        for turn in range(TURNS - 1):
            v = views[turn]
            q = past[turn]
            learn_lines(table, values, visits, surplus, v, q, past[TURNS - 1], rate)
            learn_crib(table, values, visits, v, q["crib"], crib_points, rate)
            # search needs the crib's value with one of the other side's cards
            known = q["crib"] | 1 << s["deck"][s["crib"][below(s["rng"], CRIB_CARDS)]]
            learn_crib(table, values, visits, v, known, crib_points, rate)


# By single lines (0) or whole sides (1); 1 / n of actions random; rate; multiple of --rounds.
STAGES = (
    (0, 20, 0.05, 1),
    (0, 30, 0.01, 1),
    (0, 40, 0.003, 1),
    (1, 100, 0.003, 2),
    (1, 100, 0.001, 2),
    (1, 100, 0.0003, 2),
)
EARLIER_VISITS = 20.0  # visits that a stage starts with, so that its first samples weigh little


def learn_values(preset: str, rounds: int, seed: np.random.SeedSequence) -> Doubles:
    """Return values, float64[VALUES], learned under the rules called ``preset``."""
    family = find_family("table_top")
    states = np.zeros(1, dtype=TABLE_TOP)
    seed_states(states, seed)
    values = np.zeros(estimate.VALUES)
    for stage, (whole, epsilon, rate, parts) in enumerate(steps(STAGES, f"{preset}, stages")):
        visits = np.full(estimate.VALUES, EARLIER_VISITS if stage else 0.0)
        for players in PLAYERS:
            points = np.zeros((parts * rounds, 2), dtype=np.int64)
            began = time.perf_counter()
            self_play(
                states, family.rules_record(PRESETS[preset], "round", players), NO_DECKS,
                show_table(), values, visits, np.zeros(RANKS), np.ones(2),
                np.zeros(TURNS, dtype=TABLE_VIEW),
                np.zeros(TURNS + 1, dtype=POSITION), np.zeros((GAINS, DECK)), np.zeros(ACTIONS),
                np.zeros(LOG_SIZE, dtype=np.int64), len(points), whole, epsilon, rate, points,
            )  # fmt: skip
            margin = points[:, 0] - points[:, 1]
            print(
                f"{preset}, {players} players, {'sides' if whole else 'lines'} at {rate}: "
                f"{time.perf_counter() - began:.0f} s, {points.mean():.2f} points a side, "
                f"margins' spread {margin.std():.2f}",
                flush=True,
            )
    return values


@makes(TABLE_TOP_VALUES)
def table_top_values(rounds: Count = 200_000, seed: Seed = 1) -> dict[str, Any]:
    """Learn the values of the Table Top expert.

    Args:
        rounds: rounds per number of players in a stage of one part.
    """
    seeds = np.random.SeedSequence(seed).spawn(len(VARIANTS))
    pairs = zip(VARIANTS, seeds, strict=True)
    learned = np.array([learn_values(preset, rounds, seed_seq) for preset, seed_seq in pairs])
    return {"values": learned.round(2).astype(np.float32)}


DEALER = 1  # the seat that deals: its side has the odd turns, and comes second in scores
DEALER_FIRST = slice(None, None, -1)


def measure_rounds(
    preset: str, players: int, budget: int, rounds: int, seed_seq: np.random.SeedSequence
) -> tuple[Array, Array]:
    """Play rounds of the expert against itself, for points, and return their points.

    Returns int64[rounds, 2], the points of the dealer's side and of the other; and float64[28,
    rounds, 2], after each turn the points of both sides in the count that its mover expected, less
    the actual ones.
    """
    games = GameBatch(PRESETS[preset], rounds, players=players, episode="round", seed=seed_seq)
    games.reset(dealer=DEALER)
    every = np.arange(rounds)
    expected = np.zeros((TURNS, rounds, 2))
    for turn in steps(range(TURNS), f"{preset}, {players} players, turns"):
        analysis = np.zeros((rounds, ACTIONS, COLUMNS))
        chosen = estimate.search(games.views(every), BUDGETS[budget - 1], analysis)
        sides = [estimate.MINE, estimate.THEIRS] if turn % 2 == DEALER else [estimate.THEIRS, estimate.MINE]
        expected[turn] = analysis[every, chosen][:, sides]
        bad = games.step(every, chosen)
        assert bad is None, games.why_illegal(int(every[bad]), int(chosen[bad]))
    # Without heels, which are scored at the start.
    came_to = games.tally.sum(axis=2)[:, DEALER_FIRST]
    return games.states["scores"][:, DEALER_FIRST], expected - came_to


@makes(TABLE_TOP_ROUNDS)
def table_top_rounds(
    rounds: Count = 40_000, budget: Annotated[Whole, Field(ge=1, le=len(BUDGETS))] = 2, seed: Seed = 1
) -> dict[str, Any]:
    """Measure the points of a round of Table Top.

    Args:
        rounds: rounds of each kind.
        budget: search depth of the expert.
    """
    counted = np.zeros(TABLE_TOP_ROUNDS.shapes["counted"], dtype=np.int64)
    spread = np.zeros(TABLE_TOP_ROUNDS.shapes["spread"])
    seeds = iter(np.random.SeedSequence(seed).spawn(len(VARIANTS) * len(PLAYERS)))
    for i, preset in enumerate(VARIANTS):
        for j, players in enumerate(PLAYERS):
            scored, errors = measure_rounds(preset, players, budget, rounds, next(seeds))
            np.add.at(counted[i, j], tuple(scored.clip(max=MOST_POINTS).T), 1)
            spread[i, j] = [np.cov(turn.T) for turn in errors]
            dealer, other = scored.mean(axis=0)
            wins = solve(counted[i, j] / rounds, PRESETS[preset].target)
            left = ", ".join(f"{(e[:, 0] - e[:, 1]).std():.1f}" for e in errors[[0, 13, 26]])
            print(
                f"{preset}, {players} players: the dealer's side scores {dealer:.2f} a round, "
                f"the other {other:.2f}; their difference spreads by {left} about what is "
                f"expected after turns 1, 14 and 27; the first dealer's side wins "
                f"{100 * (1.0 - wins[0, 0]):.1f} % of games",
                flush=True,
            )
    return {"counted": counted.astype(np.int32), "spread": spread.round(3).astype(np.float32)}
