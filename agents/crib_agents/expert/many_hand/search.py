"""The value of each card to discard or to play, for `expert` and for who asks for its opinion.

A card to play is tried in drawn worlds, the same for all cards. In a rollout all seats peg as
`greedy` does, which is quick. A card to discard has the exact mean hand and the mean crib with it.

Both are blind in part: rollouts to better play, the means to the pegging. Where `learned` has
networks for the rules, its value of each card counts for half of the points: two estimates with
errors of their own are better than either (`docs/agents.md` has figures). Choices are judged by the
chance of winning that they leave.
"""

from __future__ import annotations

from crib_agents.expert.many_hand.worlds import draw_world, known, rules_of
from crib_agents.greedy import most_pegged
from crib_agents.kernels.many_hand import CRIBS, kept_value, stake
from crib_agents.kernels.many_hand_held import RANKS
from crib_agents.knowledge.many_hand import chance_of
from crib_agents.learned.many_hand.act import card_values, rules_key
from crib_agents.learned.network import find_rules
from crib_env.engine import stack
from crib_env.engine.hands.counting import certain_points, sequence_of
from crib_env.engine.hands.records import DEAL, DISCARD, PEGGING
from crib_env.engine.hands.rules import use_card
from crib_env.engine.hands.slots import slot_of
from crib_env.engine.jit import kernel
from crib_env.engine.many_hand import HAND, SEATS, view
from crib_env.engine.record import NONE
from crib_env.engine.rng import seed_words

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
    """Write what the networks add to the points of each card that may be used, 0 on average.

    Shapes: points float64[HAND]; gains float64[HAND].
    """
    for k in range(HAND):
        gains[k] = 0.0
    at = find_rules(nets, rules_key(v))
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


@kernel
def weigh(v, table, weights, nets, formula, means, rules, states, scratch, pool, log, rng, laid,
          found):  # fmt: skip
    """Write the columns of each held card that may be used.

    Args:
        weights: `rule_based`'s. nets: `learned`'s.
        formula, means: the rows of `MANY_HAND_WIN` for the game, float64[ADDED + 1] and the mean
            points in play, hands and crib by places to the left of the dealing side,
            float64[SEATS, 3].
        rules, states, scratch: a rules record, two states, a view; all overwritten, as are the
            unseen cards ``pool``, int64[52], the ``log``, the generator ``rng`` and the others'
            discards ``laid``, int64[SEATS].
        found: float64[HAND, COLUMNS], written.
    """
    found[:] = 0.0
    if v["phase"] == DISCARD:
        weigh_discards(v, table, weights, nets, formula, means, found)
    else:
        weigh_cards(
            v, table, weights, nets, formula, rules, states, scratch, pool, log, rng, laid, found
        )
