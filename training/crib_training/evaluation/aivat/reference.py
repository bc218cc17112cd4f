"""A reference policy, and the corrections that its values give for the deals of games."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
from crib_agents.data.tables import DEALT, REFERENCE_DEALS, load
from crib_agents.rule_based import RuleBasedAgent

from crib_env.arrays import Array
from crib_env.batch import GameBatch
from crib_env.engine.family import find_family
from crib_env.engine.hands import records
from crib_env.engine.record import NO_DECKS
from crib_env.engine.rng import WORDS
from crib_env.engine.show import JACK, show_table
from crib_env.engine.two_hand import STATE
from crib_env.policy import Agent, CompiledAgent
from crib_env.rules import LARGEST_TARGET, PRESETS, Rules, TwoHandRules
from crib_training.evaluation.aivat.terms import (
    DEALER_PLAY,
    DISCARD,
    FAMILY,
    KINDS,
    PLAYOUT,
    PLAYOUTS,
    PONE_PLAY,
    REFERENCE,
    TERMS,
    solve,
    terms_entry,
)

PEGGED = [PONE_PLAY, DEALER_PLAY]
Adjust = Literal["auto", "always", "never"]
ADJUSTED: dict[Adjust, bool | None] = {"auto": None, "always": True, "never": False}
REDRAWS = 8  # hands redrawn where a discard differs
# The subtracted share of the discard's term. Any share has mean zero. The reference's pegging and
# results predict the agents' only in part: the whole term widened the pegging's interval. Its hands
# and cribs predict theirs almost exactly.
SHARE_OF_PEGGING = 0.5
SHARE_OF_CHANCE = 0.7


@dataclass(frozen=True, eq=False)
class Corrections:
    """The effect of chance on agent ``first`` in each of N games, by term: AIVAT subtracts it."""

    won: Array  # float64[N, 3], change of its probability of winning by each of `TERMS`
    points: Array  # float64[N, 3, 2, 3], points of each for it and the other agent, by phase


@dataclass(frozen=True, eq=False)
class Reference:
    """A policy that replays the deals, and the mean points of its deals.

    The mean of every term is zero for any policy; a good one removes more luck.
    """

    agent: CompiledAgent  # of the two-hand games
    # Of deals in which it plays both seats; of other rules, there is no term of the reference.
    outcomes: ReferenceOutcomes
    redraws: int = REDRAWS  # of hands, where a discard differs; 0 for no such term

    def corrections(
        self,
        rules: TwoHandRules,
        deals: Deals,
        games: int,
        first: int,
        seed_seq: np.random.SeedSequence,
    ) -> Corrections:
        """Return the effect of the cards on the agent in seat ``first``, game by game."""
        points, probabilities = self.terms(rules, deals, seed_seq)
        is_dealer = deals.dealer == first
        won = np.zeros((games, len(TERMS)))
        np.add.at(won, deals.lane, np.where(is_dealer[:, None], -probabilities, probabilities))
        by_role = points.reshape(-1, len(TERMS), 2, KINDS // 2)
        by_agent = np.where(is_dealer[:, None, None, None], by_role[:, :, ::-1], by_role)
        made = np.zeros((games, *by_agent.shape[1:]))
        np.add.at(made, deals.lane, by_agent)
        return Corrections(won, made)

    def terms(
        self, rules: TwoHandRules, deals: Deals, seed_seq: np.random.SeedSequence
    ) -> tuple[Array, Array]:
        """Return the terms of each deal, float64[N, 3, 6]."""
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
            np.zeros(family.log_size, dtype=np.int64), np.zeros(WORDS, dtype=np.int64), words,
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


def adjusted_by(adjust: Adjust, duplicate: bool = True) -> bool | None:
    """Return whether to use AIVAT; None to use it if it is cheaper than more games."""
    if not duplicate and adjust == "never":
        raise ValueError("--no-duplicate shows only adjusted figures: leave --adjust never out")
    return ADJUSTED[adjust] if duplicate else True


def chosen_reference(
    rules: Rules, agents: Sequence[Agent], adjusted: bool | None
) -> Reference | None:
    """Return the reference that corrects these agents' games; None for no correction.

    It takes about a millisecond per game and saves from a fifth to a half of the games. That is
    negligible for most agents, but compiled ones play ten more games in that time.
    """
    if adjusted is False:
        return None
    known = usual_reference(rules)
    if adjusted and known is None:
        raise ValueError(
            f"luck is not known of games by the rules {rules.name}: it can be taken out of six and "
            "five cards"
        )
    family = find_family(rules.family)
    compiled = (
        isinstance(agent, CompiledAgent) and agent.entries_for(family) is not None
        for agent in agents
    )  # fmt: skip
    return known if adjusted or not all(compiled) else None


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

    deals: float  # how many there were, times the starters
    points: Array  # float64[KINDS], the mean of each kind
    ends: Array  # float64[P, D], in how many deals pone made p points and the dealer d
    reached: Array  # float64[P, D], in how many pone made its p-th when the dealer had made d
    exact: bool = True  # they come from exactly the rules that are played


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
    """Return the outcomes of `rule_based`: for rules with hands of as many cards."""
    held, game = load(REFERENCE_DEALS), DEALT.index(rules.dealt)
    deals = float(held["deals"][game])
    alike = (
        isinstance(preset, TwoHandRules)
        and all(getattr(preset, name) == getattr(rules, name) for name in OF_A_DEAL)
        for preset in PRESETS.values()
    )
    ends, reached = (np.ascontiguousarray(held[name][game]) for name in ("ends", "reached"))
    return ReferenceOutcomes(deals, held["points"][game] / deals, ends, reached, any(alike))


@dataclass(frozen=True)
class Deals:
    """Deals in which both seats had discarded, one a row, int64."""

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
        """Note the deals of the lanes just stepped in which the starter has now been turned."""
        states = games.states
        self._heels = bool(games.record["heels"][0])
        discarded = (states["phase"][lanes] != records.DISCARD) & (states["pile_n"][lanes] == 0)
        turned = lanes[discarded]
        self._lanes.append(turned)
        self._states.append(states[turned])

    def deals(self) -> Deals:
        """Return all recorded deals."""
        states = np.concatenate(self._states)
        scores = states["scores"].copy()
        heels = np.flatnonzero((states["starter"] // 4 == JACK) & self._heels)
        # Heels (C3) are the last points that the dealer has pegged, if any: the rear peg is before.
        dealer = states["dealer"][heels]
        scores[heels, dealer] = states["rear"][heels, dealer]
        return Deals(
            lane=np.concatenate(self._lanes),
            **{
                name: np.ascontiguousarray(states[name])
                for name in ("dealer", "dealt", "discarded", "starter")
            },
            scores=scores,
        )
