"""`expert` in the games for three and four: it takes the card that most likely wins the game.

A card to play is tried in drawn worlds, the same for all cards. A world is a full state of the game
in which the seat with the view is seat 0. Each other seat gets unseen cards. A draw is rejected if
`rule_based` would not have discarded the card that it implies, or if the seat could have played
where it passed. So the crib of a world fits its hands. In a rollout all seats peg as `greedy` does,
which is quick. A card to discard has the exact mean hand and the mean crib with it.

Both are blind in part: rollouts to better play, the means to the pegging. Where `learned` has
networks for the rules, its value of each card counts for half of the points: two estimates with
errors of their own are better than either (`docs/agents.md` has figures). Choices are judged by the
probability of winning that they leave.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from numba import float64, int64, void

from crib_agents.checks import HONOURS, presets_of, refuse_other_views
from crib_agents.data.tables import MANY_HAND_WIN, load
from crib_agents.greedy import most_pegged
from crib_agents.kernels.many_hand import CRIBS, best_discard, kept_value, stake
from crib_agents.learned import MonteCarloAgent
from crib_agents.learned.many_hand import card_values, rules_key
from crib_agents.learned.network import offset_of_rules
from crib_agents.rule_based import default_weights
from crib_env.arrays import Doubles
from crib_env.engine import stack
from crib_env.engine.family import find_family
from crib_env.engine.hands.counting import certain_points, sequence_of
from crib_env.engine.hands.records import DEAL, DISCARD, LOG_SIZE, PEGGING
from crib_env.engine.hands.seats import least_pips
from crib_env.engine.hands.slots import slot_of
from crib_env.engine.hands.transitions import use_card
from crib_env.engine.jit import entry, kernel
from crib_env.engine.many_hand import (
    CRIB_SLOT,
    HAND,
    KEPT,
    PILE,
    RULES,
    RULES_T,
    SEATS,
    STATE,
    STATES_T,
    VIEW,
    VIEWS_T,
    view,
)
from crib_env.engine.ranks import DECK, RANKS
from crib_env.engine.record import NONE, TABLE_T, WEIGHTS_T
from crib_env.engine.rng import WORDS, below, seed_words
from crib_env.engine.show import pip, show_table
from crib_env.policy import Actions, Views, one_or_many

# Where a row of the table has its numbers: g by places to the left of the dealing side, and these.
NEEDED = SEATS
ADDED = SEATS + 1


@kernel
def row_of(players, sides):
    """Return the row of the tables of a game, in the order of `MANY_HAND_GAMES`."""
    return players - 3 + (sides == SEATS)


@kernel
def chance_of(needs, sides, dealing, formula):
    """Return the chance that side 0 wins, at the start of a deal."""
    mean = 0.0
    for side in range(sides):
        mean += max(0.0, needs[side]) / sides
    root = math.sqrt(mean + formula[ADDED])
    total = 0.0
    for side in range(sides):
        total += math.exp(_lead(needs, side, sides, dealing, formula, root))
    return 1.0 / total


@kernel
def _lead(needs, side, sides, dealing, formula, root):
    """Return the logarithm of a side's strength beside side 0's."""
    place = (side - dealing + sides) % sides
    mine = (sides - dealing) % sides
    ahead = formula[place] - formula[mine] - formula[NEEDED] * (needs[side] - needs[0])
    return ahead / root


DRAWS = 30  # for a card that the seat could not have played where it passed
TRIES = 8  # draws for a seat; the last is taken as it is, for some play by no rule we know


@kernel
def rules_of(v, rules):
    """Fill the rules record of a game in which the seat of the view is seat 0."""
    for seat in range(SEATS):
        rules["side_of"][seat] = v["side_of"][seat]
    rules["players"] = v["players"]
    rules["sides"] = v["sides"]
    rules["dealt"] = HAND
    rules["discards"] = HAND - KEPT
    rules["target"] = v["target"]
    rules["flush_size"] = v["flush_size"]
    rules["crib_flush_size"] = v["crib_flush_size"]
    rules["match_target"] = v["match_target"]
    rules["second_go_ends"] = v["second_go_ends"]
    rules["heels"] = v["heels"]
    rules["episode"] = v["episode"]


@kernel
def known(v, s):
    """Fill the state with what the view shows; return the unseen cards as a mask."""
    unseen = (1 << DECK) - 1
    s["phase"] = v["phase"]
    s["to_move"] = 0
    s["dealer"] = v["dealer"]
    s["starter"] = v["starter"]
    s["pile_n"] = v["pile_n"]
    s["pile_from"] = v["pile_from"]
    s["pile_seats"] = v["pile_seats"]
    s["count"] = v["count"]
    s["go"] = v["go"]
    s["passed"] = v["passed"]
    s["winner"] = NONE
    s["over"] = 0
    for i in range(CRIB_SLOT + 1):
        s["dealt"][i] = NONE
    for seat in range(SEATS):
        s["held"][seat] = 0
        s["discarded"][seat] = 0
        s["scores"][seat] = v["scores"][seat]
        s["rear"][seat] = v["rear"][seat]
        s["gain"][seat] = 0
    if v["starter"] != NONE:
        unseen &= ~(1 << v["starter"])
    for i in range(v["hand_n"]):
        s["dealt"][i] = v["hand"][i]
        s["held"][0] |= 1 << i
        unseen &= ~(1 << v["hand"][i])
    if v["discarded_n"]:
        s["dealt"][KEPT] = v["discarded"][0]
        s["discarded"][0] = 1 << KEPT
        unseen &= ~(1 << v["discarded"][0])
    for i in range(PILE):
        s["pile"][i] = v["pile"][i]
    filled = 0  # cards of each seat placed, four bits a seat; this one's played after those it held
    filled += v["hand_n"]
    for i in range(v["pile_n"]):
        who = v["pile_seats"] >> 2 * i & 3
        s["dealt"][HAND * who + (filled >> 4 * who & 15)] = v["pile"][i]
        filled += 1 << 4 * who
        unseen &= ~(1 << v["pile"][i])
    return unseen


@kernel
def draw_hand(s, rules, table, weights, seat, played, low, pool, at, n, rng, v):
    """Draw a seat's cards not seen; return the slot it has discarded.

    ``played`` of its cards have been, and those it holds have ``low`` pips or more. ``pool`` has
    the unseen cards, those from ``at`` to ``n`` not yet used.
    """
    first = HAND * seat
    missing = HAND - played
    phase = s["phase"]
    laid = HAND - 1
    for _ in range(TRIES):
        for i in range(missing):
            j = at + i + below(rng, n - at - i)
            for _again in range(DRAWS):  # the last card alone may be too low: it can be discarded
                if i == missing - 1 or pip(pool[j]) >= low:
                    break
                j = at + i + below(rng, n - at - i)
            card = pool[j]
            pool[j] = pool[at + i]
            pool[at + i] = card
            s["dealt"][first + played + i] = card
        s["phase"] = DISCARD
        s["held"][seat] = (1 << HAND) - 1
        s["discarded"][seat] = 0
        s["to_move"] = seat
        view(s, rules, seat, v)
        laid_card = best_discard(v, table, weights)
        possible = True
        for i in range(HAND):
            card = s["dealt"][first + i]
            if card == laid_card:
                laid = i
            elif i >= played and pip(card) < low:
                possible = False
        if possible and laid >= played:
            break
        laid = HAND - 1
    s["phase"] = phase
    s["to_move"] = 0
    return laid


@kernel
def draw_world(s, rules, table, weights, v, unseen, pool, rng, other, laid):
    """Draw the cards that a view of the pegging does not show into a state filled by `known`.

    ``other`` is a view, overwritten, as are the slots ``laid`` that other seats have discarded.
    """
    n = 0
    for card in range(DECK):
        if unseen >> card & 1:
            pool[n] = card
            n += 1
    at = 0
    least = least_pips(v)
    for seat in range(1, v["players"]):
        played = KEPT - v["held_n"][seat]
        low = least >> 4 * seat & 15
        slot = draw_hand(s, rules, table, weights, seat, played, low, pool, at, n, rng, other)
        at += HAND - played
        laid[seat] = slot
    if v["players"] < KEPT:
        s["dealt"][CRIB_SLOT] = pool[at + below(rng, n - at)]
    for seat in range(1, v["players"]):
        played = KEPT - v["held_n"][seat]
        s["discarded"][seat] = 1 << laid[seat]
        s["held"][seat] = ((1 << HAND) - 1 & ~((1 << played) - 1)) & ~(1 << laid[seat])


WORLDS = 192
LEARNED = 0.5  # the share of the networks' values
FAR = 121.0  # points ahead that stand for a game won, in a single deal
M32 = 0xFFFFFFFF

# Columns: of a card to play, the last also of one to discard.
NOW, MINE, THEIRS, WIN = range(4)
HAND_MEAN, CRIB_MEAN, PEGGED = NOW, MINE, THEIRS
COLUMNS = WIN + 1
IN_PLAY, IN_HAND = 0, 1  # of the mean points of a deal


@kernel
def seed_by_view(v, rng):
    """Start a generator from what the view shows, so that a choice has no chance in it."""
    a = 1
    b = v["count"] + 32 * v["pile_n"]
    c = v["dealer"]
    for i in range(v["hand_n"]):
        a = (a * 53 + v["hand"][i]) & M32
    for i in range(v["pile_n"]):
        b = (b * 53 + v["pile"][i]) & M32
    for side in range(v["sides"]):
        c = (c * 127 + v["scores"][side]) & M32
    seed_words(rng, a, b, c)


@kernel
def play_out(s, rules, table, v, log):
    """Play the rest of the deal."""
    while s["phase"] == PEGGING and s["winner"] == NONE:
        view(s, rules, s["to_move"], v)
        use_card(s, rules, table, slot_of(s, rules, most_pegged(v)), log)


@kernel
def same_rank(v, k):
    """Return the first held card of the rank of ``hand[k]``: in the pegging they are equal."""
    first = 0
    while v["hand"][first] >> 2 != v["hand"][k] >> 2:
        first += 1
    return first


@kernel
def is_tried(v, k):
    """Return whether ``hand[k]`` may be played and stands for its rank."""
    return v["legal"] >> k & 1 and same_rank(v, k) == k


@kernel
def after_card(states, rules, table, k, scratch, log):
    """Return the second state: the first, a world, after ``hand[k]`` and the rest of the deal."""
    states[1] = states[0]
    s = states[1]
    log[0] = 0
    use_card(s, rules, table, k, log)
    play_out(s, rules, table, scratch, log)
    return s


@kernel
def chance_after(v, made, formula):
    """Return the chance that side 0 wins if each side has ``made`` (float64[SEATS]) after the deal.

    In a single deal it is a scale for the points ahead of the others' mean.
    """
    sides = v["sides"]
    if v["episode"] == DEAL:
        ahead = made[0]
        for side in range(1, sides):
            ahead -= made[side] / (sides - 1)
        return min(1.0, max(0.0, 0.5 + ahead / (2.0 * FAR)))
    needs = stack.floats(SEATS)
    for side in range(sides):
        needs[side] = v["target"] - made[side]
    next_dealer = (v["dealer"] + 1) % v["players"]
    return chance_of(needs, sides, v["side_of"][next_dealer], formula)


@kernel
def learned_gains(v, table, nets, points, gains):
    """Write what the networks add to the points of each card that may be used, 0 on average."""
    for k in range(HAND):
        gains[k] = 0.0
    at = offset_of_rules(nets, rules_key(v))
    if at == NONE:
        return
    now = stack.floats(HAND)
    values = stack.floats(HAND)
    card_values(v, table, nets[at:], now, values)
    n = 0
    mean = 0.0
    for k in range(v["hand_n"]):
        if v["legal"] >> k & 1:
            gains[k] = LEARNED * (values[k] - points[k])
            mean += gains[k]
            n += 1
    for k in range(v["hand_n"]):
        if v["legal"] >> k & 1:
            gains[k] -= mean / n


@kernel
def weigh_discards(v, table, weights, nets, formula, means, found):
    """Write the columns of each card to discard: the deal brings what it does on average."""
    sides = v["sides"]
    dealing = v["side_of"][v["dealer"]]
    chart = CRIBS + RANKS * (2 * (v["players"] - 3) + (dealing == 0))
    share = 1.0 if dealing == 0 else stake(v, v["dealer"])
    of_partners = 1.0 - sides / v["players"]  # of a side's hands, those that are not this seat's
    points = stack.floats(HAND)
    gains = stack.floats(HAND)
    made = stack.floats(SEATS)
    for k in range(v["hand_n"]):
        points[k] = kept_value(v, table, weights, v["hand"][k])
    learned_gains(v, table, nets, points, gains)
    for k in range(v["hand_n"]):
        crib = weights[chart + (v["hand"][k] >> 2)]
        hand = points[k] - share * crib
        for side in range(sides):
            mean = means[(side - dealing + sides) % sides]
            hands = hand + of_partners * mean[IN_HAND] if side == 0 else mean[IN_HAND]
            made[side] = v["scores"][side] + mean[IN_PLAY] + hands
        made[dealing] += crib
        made[0] += gains[k]
        found[k, HAND_MEAN] = hand
        found[k, CRIB_MEAN] = share * crib
        found[k, PEGGED] = gains[k]
        found[k, WIN] = chance_after(v, made, formula)


@kernel
def weigh_cards(
    v, table, weights, nets, formula, rules, states, scratch, pool, log, rng, laid, found
):
    """Write the columns of each card that may be played: the means over the worlds."""
    rules_of(v, rules)
    seed_by_view(v, rng)
    unseen = known(v, states[0])
    others = v["sides"] - 1
    made = stack.floats(SEATS)
    more = stack.floats(HAND)  # what one more point adds to the chance of winning
    for k in range(HAND):
        more[k] = 0.0
    for _ in range(WORLDS):
        draw_world(states[0], rules, table, weights, v, unseen, pool, rng, scratch, laid)
        for k in range(v["hand_n"]):
            if not is_tried(v, k):
                continue
            s = after_card(states, rules, table, k, scratch, log)
            found[k, MINE] += (s["scores"][0] - v["scores"][0]) / WORLDS
            for side in range(1, v["sides"]):
                found[k, THEIRS] += (s["scores"][side] - v["scores"][side]) / (others * WORLDS)
            if s["winner"] != NONE:
                found[k, WIN] += (1.0 if s["winner"] == 0 else 0.0) / WORLDS
                continue
            for side in range(v["sides"]):
                made[side] = s["scores"][side]
            chance = chance_after(v, made, formula)
            found[k, WIN] += chance / WORLDS
            made[0] += 1.0
            more[k] += (chance_after(v, made, formula) - chance) / WORLDS
    points = stack.floats(HAND)
    gains = stack.floats(HAND)
    for k in range(v["hand_n"]):
        first = same_rank(v, k)
        more[k] = more[first]
        for column in range(COLUMNS):
            found[k, column] = found[first, column]
        points[k] = found[k, MINE] - found[k, THEIRS]
    learned_gains(v, table, nets, points, gains)
    for k in range(v["hand_n"]):
        now = min(certain_points(v, k, sequence_of(v)), v["target"] - v["scores"][0])
        found[k, NOW] = now
        found[k, MINE] += gains[k] - now
        found[k, WIN] = min(1.0, max(0.0, found[k, WIN] + gains[k] * more[k]))


@entry(
    void(
        VIEWS_T, TABLE_T, WEIGHTS_T, WEIGHTS_T, float64[:, ::1], float64[:, :, ::1],
        RULES_T, STATES_T, VIEWS_T, int64[::1], int64[::1], int64[::1],
        int64[::1], float64[:, :, ::1],
    ),
    "expert.many_hand.weigh_views",
    seconds=20,
)  # fmt: skip
def weigh_views(
    views, table, weights, nets, formulas, means, rules, states, scratch, pool, log, rng, laid,
    found,
):  # fmt: skip
    """Write the columns of each card of each view that may be used, float64[B, HAND, COLUMNS].

    ``weights`` are `rule_based`'s, ``nets`` are `learned`'s; ``formulas`` and ``means`` those of
    `MANY_HAND_WIN`. The rest is scratch.
    """
    found[:] = 0.0
    for i in range(views.shape[0]):
        v = views[i]
        row = row_of(v["players"], v["sides"])
        if v["phase"] == DISCARD:
            weigh_discards(v, table, weights, nets, formulas[row], means[row], found[i])
        else:
            weigh_cards(
                v, table, weights, nets, formulas[row], rules[0], states, scratch[0], pool, log,
                rng, laid, found[i],
            )  # fmt: skip


@cache
def nets() -> Doubles:
    """Return the networks of `learned`, put together once in a process."""
    return MonteCarloAgent().weights


class ManyHandExpert:
    """Discards and pegs by what each card brings in worlds that the view allows."""

    name = "expert"
    honours = HONOURS
    known_rules = presets_of("many_hand")

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def weigh(self, views: Views) -> Doubles:
        """Return the columns of each card held, float64[B, HAND, COLUMNS]; see `weigh_views`."""
        found = np.zeros((len(views), HAND, COLUMNS))
        win = load(MANY_HAND_WIN)
        weigh_views(
            np.ascontiguousarray(views), show_table(), default_weights(), nets(), win["formula"],
            win["points"], np.zeros(1, dtype=RULES), np.zeros(2, dtype=STATE),
            np.zeros(1, dtype=VIEW), np.zeros(52, dtype=np.int64),
            np.zeros(LOG_SIZE, dtype=np.int64), np.zeros(WORDS, dtype=np.int64),
            np.zeros(SEATS, dtype=np.int64), found,
        )  # fmt: skip
        return found

    @one_or_many
    def act(self, views: Views, rng: np.random.Generator) -> Actions:
        """Return a legal card for each view, int64[B], of equal value the higher."""
        refuse_other_views(self.name, views, find_family("many_hand"))
        legal = views["legal"][:, None] >> np.arange(HAND) & 1 == 1
        several = legal.sum(axis=1) > 1
        win = np.where(legal, 0.0, -np.inf)
        win[several] += self.weigh(views[several])[:, :, WIN]
        best = win == win.max(axis=1, keepdims=True)
        actions: Actions = np.where(best, views["hand"], NONE).max(axis=1)
        return actions
