"""A reference policy, and the corrections that its values give for the deals of games."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from crib_agents.rule_based import RuleBasedAgent

from crib_env.arrays import Array
from crib_env.engine.family import find_family
from crib_env.engine.record import NO_DECKS
from crib_env.engine.rng import WORDS
from crib_env.engine.show import show_table
from crib_env.policy import Agent, CompiledAgent
from crib_env.rules import LARGEST_TARGET, Rules, TwoHandRules
from crib_training.evaluation.aivat.course import COURSE, DEALER_PLAY, KINDS, PONE_PLAY
from crib_training.evaluation.aivat.deals import Deals
from crib_training.evaluation.aivat.outcomes import ReferenceOutcomes, shipped_outcomes, win_table
from crib_training.evaluation.aivat.terms import (
    COURSES,
    DISCARD,
    FAMILY,
    REFERENCE,
    TERMS,
    terms_entry,
)

PEGGED = [PONE_PLAY, DEALER_PLAY]
REDRAWS = 8  # hands redrawn where a discard differs
# How much of the discard's term is subtracted. Any share of it has mean zero. What the reference
# pegs from other cards, or makes of a game, says less of what the agents do than the whole of it
# claims: the whole made the pegging wider than it was. Hands and cribs it tells almost exactly.
SHARE_OF_PEGGING = 0.5
SHARE_OF_CHANCE = 0.7


@dataclass(frozen=True, eq=False)
class Corrections:
    """The effect of chance on agent ``first`` in each of N games, by term: AIVAT subtracts it.

    Attributes:
        won: float64[N, 3], what each of `TERMS` added to its probability of winning.
        points: float64[N, 3, 2, 3], the points that each brought it and the other agent, by phase.
    """

    won: Array
    points: Array


@dataclass(frozen=True, eq=False)
class Reference:
    """A policy that replays the deals, and the points of its own deals.

    The mean of every term is zero for any policy; a good one removes more luck.

    Attributes:
        agent: a compiled agent of the two-hand games.
        outcomes: points of deals in which it plays both seats; if they come from other rules, there
            is no term of the reference.
        redraws: how many hands are redrawn where a discard differs; 0 for no such term.
    """

    agent: CompiledAgent
    outcomes: ReferenceOutcomes
    redraws: int = REDRAWS

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
            rules.target - deals.scores, self.redraws, np.zeros(COURSES, dtype=COURSE), points,
            probabilities,
        )  # fmt: skip
        points[:, DISCARD, PEGGED] *= SHARE_OF_PEGGING
        probabilities[:, DISCARD] *= SHARE_OF_CHANCE
        if not self.outcomes.exact:
            points[:, REFERENCE] = probabilities[:, REFERENCE] = 0.0
        return points, probabilities


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
    family = find_family(rules.engine)
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
