"""Compiled self-play of the two-hand games: choices by value and noise, and their inputs.

The networks run inside these kernels, in the same functions by which the agent ``learned`` plays.
"""

from __future__ import annotations

from crib_agents.learned.network import MOST_INPUTS, UNLIKELY
from crib_agents.learned.two_hand import (
    card_features,
    card_values,
    discard_features,
    holdable,
    mean_hand,
    pair_value,
    shared_features,
)
from numba import float32, float64, int64, void

from crib_env.engine import stack
from crib_env.engine.hands.counting import alone, least_pip, sequence_of, unseen_ranks
from crib_env.engine.jit import entry, kernel
from crib_env.engine.record import NONE, TABLE_T, WEIGHTS_T, array_of
from crib_env.engine.show import JACK, KEYS, with_starter
from crib_env.engine.two_hand import HAND, STATES_T, VIEW

PAIRS = HAND * (HAND - 1) // 2
NOISE_T = float64[:, ::1]
INPUTS_T = float32[:, ::1]


@kernel
def spread(row, places, values, n):
    """Write a list of inputs into a row, the others 0."""
    for i in range(row.shape[0]):
        row[i] = 0.0
    for i in range(n):
        row[places[i]] = values[i]


@entry(void(array_of(VIEW), TABLE_T, WEIGHTS_T, NOISE_T, int64[:, ::1], INPUTS_T), "learn.discard")
def choose_pairs(views, table, weights, noise, pairs, inputs):
    """Choose a pair to discard in each view of a seat that holds all its cards.

    Shapes: noise float64[B, PAIRS]; pairs int64[B, 2]; inputs float32[B, inputs].
    """
    places = stack.ints(MOST_INPUTS)
    values = stack.floats(MOST_INPUTS)
    for b in range(views.shape[0]):
        v = views[b]
        most = UNLIKELY
        pair = 0
        for j in range(v["hand_n"]):
            for i in range(j):
                low = min(v["hand"][i], v["hand"][j])
                high = max(v["hand"][i], v["hand"][j])
                scores = pair_value(v, table, weights, low, high) + noise[b, pair]
                pair += 1
                if pair == 1 or scores > most:  # the first stands if no value is a number
                    most = scores
                    pairs[b, 0] = low
                    pairs[b, 1] = high
        mean = mean_hand(v, table, pairs[b, 0], pairs[b, 1])
        n = discard_features(v, pairs[b, 0], pairs[b, 1], mean, places, values)
        spread(inputs[b], places, values, n)


@entry(
    int64(array_of(VIEW), WEIGHTS_T, NOISE_T, int64[::1], int64[::1], int64[::1], INPUTS_T),
    "learn.play",
)
def choose_cards(views, weights, noise, cards, chosen, points, inputs):
    """Choose a card to play in each view.

    Returns how many views those are: so much of the three is written. Shapes: noise float64[B,
    HAND]; cards int64[B]; chosen int64[B]; points int64[B]; inputs float32[B, inputs].
    """
    places = stack.ints(MOST_INPUTS)
    values = stack.floats(MOST_INPUTS)
    now = stack.ints(HAND)
    scores = stack.floats(HAND)
    found = 0
    for b in range(views.shape[0]):
        v = views[b]
        choices = card_values(v, weights, now, scores)
        best = NONE
        most = UNLIKELY
        for k in range(v["hand_n"]):
            if not v["legal"] >> k & 1:
                continue
            value = scores[k] + noise[b, k] if scores[k] != UNLIKELY else UNLIKELY
            if best == NONE or value > most:
                most = value
                best = k
        cards[b] = v["hand"][best]
        if choices > 1:
            unseen = unseen_ranks(v)
            least = least_pip(v)
            total = holdable(unseen, least)
            is_alone = alone(v)
            n = shared_features(v, unseen, least, total, is_alone, places, values)
            n = card_features(
                v, best, now[best], sequence_of(v), unseen, least, total, is_alone, places,
                values, n,
            )  # fmt: skip
            spread(inputs[found], places, values, n)
            chosen[found] = b
            points[found] = now[best]
            found += 1
    return found


@entry(void(STATES_T, TABLE_T, int64, float64[::1]), "learn.mean_cribs")
def mean_cribs(states, table, flush_size, means):
    """Write the mean of each crib over the starters that no seat was dealt (C2, C4, H8, F6).

    What is learned from it has less luck in it than from the crib with the starter that came.
    """
    for b in range(states.shape[0]):
        s = states[b]
        key = 0
        suits = 0
        jacks = 0
        dealt = 0
        for i in range(2 * HAND):
            card = s["dealt"][i]
            if card < 0:
                continue
            dealt |= 1 << card
            if s["discarded"][i // HAND] >> (i % HAND) & 1:
                key += KEYS[card >> 2]
                suits += 1 << (8 * (card & 3))
                if card >> 2 == JACK:
                    jacks |= 1 << (card & 3)
        total = 0
        starters = 0
        for card in range(52):
            if not dealt >> card & 1:
                total += with_starter(table, key, suits, jacks, 4, card, flush_size)
                starters += 1
        means[b] = total / starters
