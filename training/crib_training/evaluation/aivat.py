"""Variance reduction (AIVAT: Burch, Schmid, Moravcik and Bowling, 2018).

After the games, AIVAT computes the effect of chance deal by deal and subtracts it. Each term is a
value of the actual cards, less the mean of that value over the cards that could have come instead.
So its mean is zero, for any players and any value, and a result keeps its mean and loses much of
its variance. A better value removes more luck. `docs/aivat.md` explains how, and ``python -m
research.aivat`` measures it.

- *Starter*: the real hands and crib, with the reference's pegging and the real starter, less the
  mean over all possible starters. Exact.
- *Reference*: the reference discards and plays both seats; the mean over the starters, less the
  mean of all deals (`ReferenceOutcomes`).
- *Discard*: if a seat's discard differs from the reference's, the change with the other seat's real
  hand, less its mean with redrawn hands. A seat's discard does not depend on the other's cards, so
  the real hand is one more sample.

A compiled agent's function discards and pegs as the reference. It sees neither the starter nor the
score, so one pegging serves every starter. In the kernels pone has seat 0 and the dealer seat 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
from crib_agents.data.tables import DEALT, REFERENCE_DEALS, load
from crib_agents.rule_based import RuleBasedAgent
from numba import float64, int64, void

from crib_env.arrays import Array
from crib_env.batch import GameBatch
from crib_env.engine.family import find_family
from crib_env.engine.hands import transitions
from crib_env.engine.hands.records import DISCARD as DISCARDING
from crib_env.engine.hands.records import PEGGING
from crib_env.engine.hands.slots import slot_of
from crib_env.engine.jit import Entry, entry, kernel
from crib_env.engine.ranks import DECK
from crib_env.engine.record import DECKS_T, LOG_SIZE, LOG_T, LOG_WIDTH, NO_DECKS, NONE, TABLE_T, WEIGHTS_T, array_of
from crib_env.engine.rng import M32, WORDS, draw_unused, seed_words
from crib_env.engine.show import JACK, heels_points, show_table
from crib_env.engine.two_hand import HAND, PILE, STATE, view
from crib_env.policy import Act, Agent, CompiledAgent
from crib_env.rules import LARGEST_TARGET, PRESETS, Rules, TwoHandRules

TERMS = ("starter", "reference", "discard")
STARTER, REFERENCE, DISCARD = range(len(TERMS))
PLAYOUTS = 4  # with the actual discards, with the reference's, and two to compare
FAMILY = "two_hand"

PONE, DEALER = 0, 1
# Kinds of points, in the order of a tally: the pegging, hand and crib of pone, then the dealer's.
KINDS = 6
PONE_PLAY, PONE_HAND, PONE_CRIB, DEALER_PLAY, DEALER_HAND, DEALER_CRIB = range(KINDS)

PLAYOUT = np.dtype(
    [
        ("heels", np.int64),  # points for a jack turned up
        ("cards", np.int64),  # number of cards played
        ("pegger", np.int64, (PILE,)),  # the seat that played each card
        ("pegged", np.int64, (PILE,)),  # the points that it pegged
        ("starters", np.int64),  # number of possible starters
        ("starter", np.int64, (DECK,)),  # the possible starters
        ("made", np.int64, (DECK * KINDS,)),  # the points of each kind with each starter
        ("mean", np.float64, (KINDS,)),  # over the starters
        ("chance", np.float64),  # pone's probability of winning, the mean over the starters
    ],
    align=True,
)
PLAYOUTS_T = array_of(PLAYOUT)


@kernel
def begin_deal(s, rules, discarded_pone, discarded_dealer):
    """Begin the deal in ``s``, at the pegging if discards (slots) are given, or at the discard."""
    everything = (1 << rules["dealt"]) - 1
    s["discarded"][PONE] = discarded_pone
    s["discarded"][DEALER] = discarded_dealer
    for seat in range(2):
        s["held"][seat] = everything & ~s["discarded"][seat]
        s["scores"][seat] = 0
        s["gain"][seat] = 0
    s["dealer"] = DEALER
    s["phase"] = PEGGING if discarded_pone else DISCARDING
    s["to_move"] = PONE
    s["starter"] = NONE
    s["pile_n"] = 0
    s["pile_seats"] = 0
    transitions.begin_count(s)
    s["winner"] = NONE
    s["over"] = 0


@kernel
def count_starters(s, rules, table, pone, dealer, playout):
    """Write the points with every possible starter; ``pone`` and ``dealer`` are points pegged.

    Heels count as points of the dealer's play, as in a tally.
    """
    dealt = 0
    for seat in range(2):
        for i in range(rules["dealt"]):
            dealt |= 1 << s["dealt"][HAND * seat + i]
    n = 0
    playout["heels"] = rules["heels"]
    for kind in range(KINDS):
        playout["mean"][kind] = 0.0
    for card in range(DECK):
        if dealt >> card & 1:
            continue
        s["starter"] = card
        at = KINDS * n
        playout["starter"][n] = card
        playout["made"][at + PONE_PLAY] = pone
        playout["made"][at + PONE_HAND] = transitions.hand_points(s, rules, table, PONE)[0]
        playout["made"][at + PONE_CRIB] = 0
        playout["made"][at + DEALER_PLAY] = dealer + heels_points(rules, s["starter"])
        playout["made"][at + DEALER_HAND] = transitions.hand_points(s, rules, table, DEALER)[0]
        playout["made"][at + DEALER_CRIB] = transitions.crib_points(s, rules, table)[0]
        for kind in range(KINDS):
            playout["mean"][kind] += playout["made"][at + kind]
        n += 1
    for kind in range(KINDS):
        playout["mean"][kind] /= n
    playout["starters"] = n
    s["starter"] = NONE


@cache
def playout_kernels(act: Act) -> tuple[Callable[..., tuple[int, int]], Callable[..., None]]:
    """Return the kernels ``discard`` and ``follow``, which play deals by an agent's function.

    Their argument ``game`` is a tuple: the state with the cards dealt, the rules, a view to fill, a
    generator, the table of the show, the agent's weights, a log, and no decks.
    """
    act = act if hasattr(act, "py_func") else kernel(act)

    @kernel
    def discard(game):
        """Discard for both seats by the reference; return the slots, pone's and the dealer's."""
        s, rules, v, rng, table, weights, log, decks = game
        begin_deal(s, rules, 0, 0)
        while s["phase"] == DISCARDING:
            view(s, rules, s["to_move"], v)
            card = act(v, rng, table, weights)
            transitions.step(s, rules, decks, table, slot_of(s, rules, card), log)
        return s["discarded"][PONE], s["discarded"][DEALER]

    @kernel
    def follow(game, discarded_pone, discarded_dealer, playout):
        """Play the pegging after these discards (slots); count the deal with every starter."""
        s, rules, v, rng, table, weights, log, decks = game
        begin_deal(s, rules, discarded_pone, discarded_dealer)
        play = (0, 0)
        while s["phase"] == PEGGING:
            seat = s["to_move"]
            at = s["pile_n"]
            view(s, rules, seat, v)
            card = act(v, rng, table, weights)
            transitions.step(s, rules, decks, table, slot_of(s, rules, card), log)
            points = 0
            for row in range(log[0]):
                points += log[2 + LOG_WIDTH * row]
            playout["pegger"][at] = seat
            playout["pegged"][at] = points
            play = (play[0] + points * (1 - seat), play[1] + points * seat)
        playout["cards"] = s["pile_n"]
        count_starters(s, rules, table, play[0], play[1], playout)

    return discard, follow


# A value is the mean over shifts of both scores by these points, weighted as by a normal curve.
SHIFTS = np.array([-4, -2, 0, 2, 4])
_WEIGHTS = np.exp(-0.5 * (SHIFTS / 2.0) ** 2)
SHIFT_WEIGHTS = np.outer(_WEIGHTS, _WEIGHTS) / _WEIGHTS.sum() ** 2


@kernel
def shifted(need, i, target):
    """Return the points still needed after the i-th shift, between 1 and the target."""
    return min(max(need - SHIFTS[i], 1), target)


@kernel
def chance_after(playout, k, a, b, wins):
    """Return pone's probability of winning after a deal with the k-th starter.

    Before the deal pone needs ``a`` points and the dealer ``b``. Points count in the order in which
    they are made (C5): heels, the pegging, pone's hand. Shapes: wins float64[T + 1, T + 1].
    """
    at = KINDS * k
    made = playout["made"]
    pone = a - made[at + PONE_PLAY] - made[at + PONE_HAND]
    dealer = b - made[at + DEALER_PLAY] - made[at + DEALER_HAND] - made[at + DEALER_CRIB]
    if pone > 0 and dealer > 0:
        return 1.0 - wins[dealer, pone]
    b -= playout["heels"] if playout["starter"][k] >> 2 == JACK else 0
    if b <= 0:
        return 0.0
    for i in range(playout["cards"]):
        if playout["pegger"][i] == PONE:
            a -= playout["pegged"][i]
            if a <= 0:
                return 1.0
        else:
            b -= playout["pegged"][i]
            if b <= 0:
                return 0.0
    return 1.0 if a <= made[at + PONE_HAND] else 0.0


@kernel
def smooth_chance(playout, k, a, b, wins):
    """Return the mean of `chance_after` over the shifts."""
    target = wins.shape[0] - 1
    chance = 0.0
    for i in range(SHIFTS.shape[0]):
        for j in range(SHIFTS.shape[0]):
            pone, dealer = shifted(a, i, target), shifted(b, j, target)
            chance += SHIFT_WEIGHTS[i, j] * chance_after(playout, k, pone, dealer, wins)
    return chance


@kernel
def smooth_win(a, b, wins):
    """Return the mean of the table over the shifts: the mean of `smooth_chance` over all deals."""
    target = wins.shape[0] - 1
    chance = 0.0
    for i in range(SHIFTS.shape[0]):
        for j in range(SHIFTS.shape[0]):
            chance += SHIFT_WEIGHTS[i, j] * wins[shifted(a, i, target), shifted(b, j, target)]
    return chance


@entry(void(float64[:, ::1], float64[:, ::1], float64, float64[:, ::1]))
def solve(ends, reached, deals, wins):
    """Fill the table of pone's probabilities of winning at the beginning of a deal.

    Shapes: ends float64[P, D]; reached float64[P, D]; wins float64[T + 1, T + 1].
    """
    target = wins.shape[0] - 1
    for both in range(2, 2 * target + 1):
        for a in range(max(1, both - target), min(target, both - 1) + 1):
            b = both - a
            chance = 0.0
            if a < ends.shape[0]:
                for d in range(min(b, ends.shape[1])):
                    chance += reached[a, d]
            for p in range(min(a, ends.shape[0])):
                for d in range(min(b, ends.shape[1])):
                    if ends[p, d] > 0.0:
                        chance += ends[p, d] * (1.0 - wins[b - d, a - p])
            wins[a, b] = chance / deals


@kernel
def mean_chance(playout, a, b, wins):
    """Store pone's probability of winning, the mean over the starters, in the playout."""
    chance = 0.0
    for k in range(playout["starters"]):
        chance += smooth_chance(playout, k, a, b, wins)
    playout["chance"] = chance / playout["starters"]


@kernel
def place_of(playout, card):
    """Return the index of a card among the starters of a playout."""
    k = 0
    while playout["starter"][k] != card:
        k += 1
    return k


@kernel
def set_hands(s, dealt, dealer):
    """Put the cards dealt to the seats into ``s``: pone's, then the dealer's."""
    for i in range(HAND):
        s["dealt"][i] = dealt[HAND * (1 - dealer) + i]
        s["dealt"][HAND + i] = dealt[HAND * dealer + i]


@kernel
def seed_by_hand(rng, words, s, seat, n):
    """Seed ``rng`` by the cards of a seat, so that the same hand meets the same redrawn hands.

    In duplicate deals both agents hold that hand, so equal choices get equal terms.
    """
    hand = 0
    for i in range(n):
        hand |= 1 << s["dealt"][HAND * seat + i]
    seed_words(rng, words[0] ^ (hand & M32), words[1] ^ (hand >> 32), words[2] ^ seat)


@kernel
def draw_hand(s, seat, n, rng):
    """Redraw the cards of a seat from all that the other was not dealt."""
    used = 0
    for i in range(n):
        used |= 1 << s["dealt"][HAND * (1 - seat) + i]
    for i in range(n):
        card = draw_unused(rng, used)
        used |= 1 << card
        s["dealt"][HAND * seat + i] = card


@cache
def terms_entry(act: Act, name: str) -> Entry:
    """Return the entry that computes the terms with this reference's ``act``."""
    family = find_family(FAMILY)
    states_t, rules_t, views_t = family.types
    discard, follow = playout_kernels(act)

    @kernel
    def add_discard(game, seat, mine, redraws, words, playouts, a, b, wins, points, probabilities):
        """Add the gain of a seat's own discard over the reference's to the discard term.

        The term is the gain with the other's real hand, less its mean with redrawn hands.
        """
        s, rules, rng = game[0], game[1], game[3]
        seed_by_hand(rng, words, s, seat, rules["dealt"])
        for redraw in range(redraws + 1):
            if redraw > 0:
                draw_hand(s, 1 - seat, rules["dealt"], rng)
            pone, dealer = discard(game)
            follow(game, pone, dealer, playouts[2])
            mean_chance(playouts[2], a, b, wins)
            if seat == PONE:
                pone = mine
            else:
                dealer = mine
            follow(game, pone, dealer, playouts[3])
            mean_chance(playouts[3], a, b, wins)
            times = 1.0 if redraw == 0 else -1.0 / redraws
            for kind in range(KINDS):
                more = playouts[3]["mean"][kind] - playouts[2]["mean"][kind]
                points[kind] += times * more
            probabilities[DISCARD] += times * (playouts[3]["chance"] - playouts[2]["chance"])

    @entry(
        void(
            states_t, rules_t, views_t, DECKS_T, LOG_T, int64[::1], int64[::1], TABLE_T, WEIGHTS_T,
            float64[:, ::1], float64[::1], int64[:, ::1], int64[:, ::1], int64[::1], int64[::1],
            int64[:, ::1], int64, PLAYOUTS_T, float64[:, :, ::1], float64[:, ::1],
        ),
        f"luck_terms.{name}",
    )  # fmt: skip
    def write_terms(
        states, rules, views, decks, log, rng, words, table, weights, wins, means, dealt, discarded,
        dealer, starter, needs, redraws, playouts, points, probabilities,
    ):  # fmt: skip
        """Write the terms of each deal.

        Args:
            words: int64[3], 32 bits each; with the cards they determine all random draws.
            wins: pone's probabilities of winning, see `win_table`.
            means: float64[KINDS], the mean points of the reference's deals.
            dealt, discarded, dealer, starter: of the deals, see `Deals`.
            needs: int64[N, 2], the points that each seat still needs.
            redraws: number of redrawn hands; 0 for no discard term.
            points: float64[N, 3, KINDS], zeros; receives the points of each term.
            probabilities: float64[N, 3], zeros; receives changes of pone's probability of winning.
        """
        s = states[0]
        game = (s, rules[0], views[0], rng, table, weights, log, decks)
        actual, reference = playouts[0], playouts[1]
        for i in range(dealt.shape[0]):
            seats = (1 - dealer[i], dealer[i])
            a, b = needs[i, seats[PONE]], needs[i, seats[DEALER]]
            mine = (discarded[i, seats[PONE]], discarded[i, seats[DEALER]])
            set_hands(s, dealt[i], dealer[i])
            seed_by_hand(rng, words, s, PONE, rules[0]["dealt"])
            follow(game, mine[PONE], mine[DEALER], actual)
            mean_chance(actual, a, b, wins)
            k = place_of(actual, starter[i])
            for kind in range(KINDS):
                made = actual["made"][KINDS * k + kind]
                points[i, STARTER, kind] = made - actual["mean"][kind]
            probabilities[i, STARTER] = smooth_chance(actual, k, a, b, wins) - actual["chance"]
            theirs = discard(game)
            follow(game, theirs[PONE], theirs[DEALER], reference)
            mean_chance(reference, a, b, wins)
            for kind in range(KINDS):
                points[i, REFERENCE, kind] = reference["mean"][kind] - means[kind]
            probabilities[i, REFERENCE] = reference["chance"] - smooth_win(a, b, wins)
            for seat in range(2):
                if redraws > 0 and mine[seat] != theirs[seat]:
                    set_hands(s, dealt[i], dealer[i])
                    add_discard(
                        game, seat, mine[seat], redraws, words, playouts, a, b, wins,
                        points[i, DISCARD], probabilities[i],
                    )  # fmt: skip

    return write_terms


# --- the reference policy, and the corrections of games by its values -----------------------------

PEGGED = [PONE_PLAY, DEALER_PLAY]
Adjust = Literal["auto", "always", "never"]
REDRAWS = 8  # hands redrawn where a discard differs
# The subtracted share of the discard's term. Any share has mean zero. The reference's pegging and
# results predict the agents' only in part: the whole term widened the pegging's interval. Its hands
# and cribs predict theirs almost exactly.
SHARE_OF_PEGGING = 0.5
SHARE_OF_CHANCE = 0.7


@dataclass(frozen=True, eq=False)
class Reference:
    """A policy that replays the deals, and the mean points of its deals.

    The mean of every term is zero for any policy; a good one removes more luck.
    """

    agent: CompiledAgent  # of the two-hand games
    # Of deals in which it plays both seats; the reference term is 0 unless they are `exact`.
    outcomes: ReferenceOutcomes
    redraws: int = REDRAWS  # number of redrawn hands where a discard differs; 0 for no discard term

    def corrections(
        self, rules: TwoHandRules, deals: Deals, games: int, first: int, seed_seq: np.random.SeedSequence
    ) -> tuple[Array, Array]:
        """Return the effect of the cards on the agent in seat ``first``, which AIVAT subtracts.

        For each of N games and of `TERMS`: the change of its probability of winning, float64[N, 3],
        and the points of (it, the other agent) by phase, float64[N, 3, 2, 3].
        """
        points, probabilities = self.terms(rules, deals, seed_seq)
        is_dealer = deals.dealer == first
        won = np.zeros((games, len(TERMS)))
        np.add.at(won, deals.lane, np.where(is_dealer[:, None], -probabilities, probabilities))
        by_role = points.reshape(-1, len(TERMS), 2, KINDS // 2)
        by_agent = np.where(is_dealer[:, None, None, None], by_role[:, :, ::-1], by_role)
        made = np.zeros((games, *by_agent.shape[1:]))
        np.add.at(made, deals.lane, by_agent)
        return won, made

    def terms(self, rules: TwoHandRules, deals: Deals, seed_seq: np.random.SeedSequence) -> tuple[Array, Array]:
        """Return each deal's terms in points and in pone's probability of winning.

        Shapes: float64[N, 3, 6]; float64[N, 3].
        """
        family = find_family(FAMILY)
        record = family.rules_record(rules, "pegging", 2)
        record["target"] = LARGEST_TARGET  # the reference plays a deal to its end
        state = np.zeros(1, dtype=family.state)
        words = seed_seq.generate_state(3).astype(np.int64)
        n = len(deals.lane)
        points = np.zeros((n, len(TERMS), KINDS))
        probabilities = np.zeros((n, len(TERMS)))
        act = self.agent.acts[FAMILY]
        terms_entry(act, f"{act.__module__}.{act.__name__}")(
            state, record, np.zeros(1, dtype=family.view), NO_DECKS,
            np.zeros(LOG_SIZE, dtype=np.int64), np.zeros(WORDS, dtype=np.int64), words,
            show_table(), self.agent.weights, win_table(self.outcomes, rules.target),
            self.outcomes.points, deals.dealt, deals.discarded, deals.dealer, deals.starter,
            rules.target - deals.scores, self.redraws, np.zeros(PLAYOUTS, dtype=PLAYOUT), points,
            probabilities,
        )  # fmt: skip
        points[:, DISCARD, PEGGED] *= SHARE_OF_PEGGING
        probabilities[:, DISCARD] *= SHARE_OF_CHANCE
        if not self.outcomes.exact:
            points[:, REFERENCE] = probabilities[:, REFERENCE] = 0.0
        return points, probabilities


def chosen_reference(rules: Rules, agents: Sequence[Agent], adjust: Adjust) -> Reference | None:
    """Return the reference that corrects these agents' games; None for no correction.

    It takes about a millisecond per game and saves from a fifth to a half of the games. That is
    negligible for most agents, but compiled ones play ten more games in that time.
    """
    if adjust == "never":
        return None
    known = usual_reference(rules)
    if adjust == "always" and known is None:
        raise ValueError(
            f"luck is not known of games by the rules {rules.name}: it can be taken out of six and five cards"
        )
    family = find_family(rules.family)
    compiled = (isinstance(agent, CompiledAgent) and agent.compiled_for(family) is not None for agent in agents)
    return known if adjust == "always" or not all(compiled) else None


def usual_reference(rules: Rules) -> Reference | None:
    """Return the reference for rules: `rule_based`, or None if no luck is known of their games."""
    if not isinstance(rules, TwoHandRules):
        return None
    return Reference(RuleBasedAgent(), shipped_outcomes(rules))


# The rules that decide the points of a deal; the target does not matter.
OF_A_DEAL = ("dealt", "single_count", "flush_size", "crib_flush_size", "heels")


@dataclass(frozen=True, eq=False)
class ReferenceOutcomes:
    """Points of many deals, each counted with every possible starter."""

    deals: float  # the number of deals, times the starters
    points: Array  # float64[KINDS], the mean of each kind
    ends: Array  # float64[P, D], in how many deals pone made p points and the dealer d
    reached: Array  # float64[P, D], in how many pone made its p-th point when the dealer had made d
    exact: bool = True  # whether they come from exactly the rules that are played


@cache
def win_table(outcomes: ReferenceOutcomes, target: int) -> Array:
    """Return pone's probability of winning at the beginning of a deal, float64[T + 1, T + 1].

    The indices are the points that pone and the dealer still need; 0 does not occur.
    """
    wins = np.zeros((target + 1, target + 1))
    solve(outcomes.ends, outcomes.reached, outcomes.deals, wins)
    return wins


@cache
def shipped_outcomes(rules: TwoHandRules) -> ReferenceOutcomes:
    """Return the stored outcomes of `rule_based` for the number of cards dealt."""
    held, game = load(REFERENCE_DEALS), DEALT.index(rules.dealt)
    deals = float(held["deals"][game])
    alike = (
        isinstance(preset, TwoHandRules) and all(getattr(preset, name) == getattr(rules, name) for name in OF_A_DEAL)
        for preset in PRESETS.values()
    )
    ends, reached = (np.ascontiguousarray(held[name][game]) for name in ("ends", "reached"))
    return ReferenceOutcomes(deals, held["points"][game] / deals, ends, reached, any(alike))


@dataclass(frozen=True)
class Deals:
    """Deals in which both seats had discarded, one per row, int64."""

    lane: Array  # [N], the game it belongs to
    dealer: Array  # [N], the seat that dealt
    dealt: Array  # [N, 12], the cards, as in the records of a game
    discarded: Array  # [N, 2], the slots that each seat discarded, one bit a card
    starter: Array  # [N], a card
    scores: Array  # [N, 2], of each seat before the deal


class DealLog:
    """Records deals of the two-hand games as soon as both seats have discarded."""

    def __init__(self) -> None:
        self._heels = False
        self._lanes: list[Array] = [np.zeros(0, dtype=np.int64)]
        self._states: list[Array] = [np.zeros(0, dtype=STATE)]

    def note(self, games: GameBatch, lanes: Array) -> None:
        """Record the deals of the games ``lanes``, just stepped, whose starter is now turned up."""
        states = games.states
        self._heels = bool(games.record["heels"][0])
        discarded = (states["phase"][lanes] != DISCARDING) & (states["pile_n"][lanes] == 0)
        turned = lanes[discarded]
        self._lanes.append(turned)
        self._states.append(states[turned])

    def deals(self) -> Deals:
        """Return all recorded deals."""
        states = np.concatenate(self._states)
        scores = states["scores"].copy()
        heels = np.flatnonzero((states["starter"] // 4 == JACK) & self._heels)
        # Heels (C3), if any, are the dealer's last points: its rear peg has the score before them.
        dealer = states["dealer"][heels]
        scores[heels, dealer] = states["rear"][heels, dealer]
        return Deals(
            lane=np.concatenate(self._lanes),
            **{name: np.ascontiguousarray(states[name]) for name in ("dealer", "dealt", "discarded", "starter")},
            scores=scores,
        )
