"""The environments against the slow referees, decision by decision, over random games."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np
import pytest

from crib_env import four_hand_v0, three_hand_v0
from crib_env.engine.hands.records import OVER
from crib_env.engine.record import NONE
from crib_env.rules import Rules
from decks import even_deck, low_deck
from reference import ManyHandReferee, Referee
from stacked import make, same_events

# Enough decks for the longest match; a referee that runs out raises an IndexError.
DECKS = {"deal": 1, "game": 60, "match": 400}
MANY_HAND: dict[str, dict[str, Any]] = {
    "three_hand": {"players": 3},
    "three_hand[target=61,second_go_ends=True]": {"players": 3, "target": 61, "second_go_ends": True},
    "four_hand": {"players": 4, "partners": True},
    "four_hand[second_go_ends=True,heels=1]": {"players": 4, "partners": True, "second_go_ends": True, "heels": 1},
    "four_hand[partners=False,match_target=2]": {"players": 4, "match_target": 2},
}


class Followed:
    """An episode that environment and referee play in step."""

    def __init__(self, env: Any, referee: Any) -> None:
        self.env, self.referee = env, referee
        self.agents = env.possible_agents
        self.players = len(self.agents)
        self.side: list[int] = getattr(referee, "side", [0, 1])
        self.sides = 1 + max(self.side)
        self.start, self.scores = list(referee.scores), list(referee.scores)
        view = env.view(0)  # its side's pegs first
        self.rear = np.roll(view["rear"][: self.sides], self.side[0]).tolist()
        self.played: list[tuple[int, int]] = []  # in this deal: the seats and their cards
        self.laid: list[list[int]] = [[] for _ in self.agents]
        assert env.scores == tuple(referee.scores)
        same_events(env.events, referee.events)
        assert env.game.gains == [0.0] * self.players

    def follow(self, rng: Random) -> int:
        """Play on both, comparing at every decision; return the number of decisions."""
        # A seat that keeps low cards causes goes and plays on alone for long.
        choose = [rng.choice((rng.choice, rng.choice, max, min)) for _ in self.agents]
        decisions, referee = 0, self.referee
        while referee.to_move is not None:
            seats = range(2) if self.players == 2 else [rng.randrange(self.players)]
            for seat in seats:
                self.check_view(seat)
            self.check_turn()
            self.step(choose[referee.to_move](referee.legal()))
            decisions += 1
        self.check_end()
        return decisions

    def check_turn(self) -> None:
        """Compare the seat to move, its legal actions, and the scores."""
        env, referee = self.env, self.referee
        assert env.agent_selection == self.agents[referee.to_move]
        assert (env.scores, env.dealer) == (tuple(referee.scores), referee.dealer)
        assert not any(env.terminations.values())
        for seat, agent in enumerate(self.agents):
            legal = np.flatnonzero(env.observe(agent)["action_mask"]).tolist()
            assert legal == (referee.legal() if seat == referee.to_move else [])

    def check_view(self, seat: int) -> None:
        """Compare a seat's observation with the referee's state."""
        view, referee = self.env.view(seat), self.referee

        def at(other: int) -> int:
            return (other - seat) % self.players

        pile = view["pile"][: view["pile_n"]].tolist()
        who = [int(view["pile_seats"]) >> 2 * i & 3 for i in range(len(pile))]
        assert list(zip(who, pile, strict=True)) == [(at(w), card) for w, card in self.played]
        assert pile[view["pile_from"] :] == referee.pile
        assert (view["count"], view["deals"]) == (referee.count, referee.deals)
        assert (view["mover"], view["dealer"]) == (at(referee.to_move), at(referee.dealer))
        assert view["starter"] == (NONE if referee.starter is None else referee.starter)
        assert sorted(view["hand"][: view["hand_n"]]) == sorted(referee.hands[seat])
        assert sorted(view["discarded"][: view["discarded_n"]]) == sorted(self.laid[seat])
        for cards in ("hand", "discarded", "pile"):
            assert (view[cards][view[f"{cards}_n"] :] == NONE).all()
        if self.players > 2:
            assert view["passed"] == sum(1 << at(other) for other in referee.passed)
        elif referee.game == "hoyle":
            assert view["go"] == referee._go_pegged
        if referee.starter is not None:
            left = [len(referee.hands[(seat + i) % self.players]) for i in range(self.players)]
            assert view["held_n"][: self.players].tolist() == left
            assert not view["held_n"][self.players :].any()
        first = self.side[seat]
        for name, by_side in (("scores", referee.scores), ("rear", self.rear), ("match_score", referee.games)):
            mine_first = [by_side[(first + i) % self.sides] for i in range(self.sides)]
            assert view[name][: self.sides].tolist() == mine_first, name
            assert not view[name][self.sides :].any(), name

    def step(self, card: int) -> None:
        """Play or discard a card on both; compare the points pegged and each seat's reward."""
        env, referee, seat = self.env, self.referee, self.referee.to_move
        pegged, deals = len(referee.events), referee.deals
        if referee.starter is None:
            self.laid[seat].append(card)
        else:
            self.played.append((seat, card))
        referee.step(card)
        env.step(card)
        expected = referee.events[pegged:]
        same_events(env.events, expected)
        made = [sum(e.points for e in expected if e.seat == side) for side in range(self.sides)]
        assert env.game.gains == pytest.approx(
            [made[side] - (sum(made) - made[side]) / (self.sides - 1) for side in self.side]
        )
        for event in expected:
            self.rear[event.seat] = self.scores[event.seat]
            self.scores[event.seat] += event.points
        if self.scores != referee.scores:  # those of the next game of a match
            self.scores, self.rear = list(referee.scores), [0] * self.sides
        if referee.deals != deals:
            self.played, self.laid = [], [[] for _ in self.agents]

    def check_end(self) -> None:
        """Compare scores, games and the winner of the ended episode."""
        env, referee = self.env, self.referee
        assert env.game.over
        assert all(env.terminations.values())
        assert not any(env.truncations.values())
        assert env.view(0)["phase"] == OVER
        assert env.scores == tuple(referee.scores)
        for agent in self.agents:
            assert not env.observe(agent)["action_mask"].any()
        if referee.episode == "match":
            assert env.game.match_score == tuple(referee.games)
        returns = list(env._cumulative_rewards.values())
        assert returns == env.game.returns
        assert sum(returns) == pytest.approx(0)
        if referee.winner is not None:
            loss = -1 / (self.sides - 1)
            assert returns == [1 if side == referee.winner else loss for side in self.side]
        elif self.players == 2:  # of a single deal the side with more points wins
            made = [score - first for score, first in zip(referee.scores, self.start, strict=True)]
            assert returns[0] == np.sign(made[0] - made[1])


def play(rules: str, episode: str, episodes: int, seed: int) -> int:
    """Play a number of episodes in lock-step; return the decisions."""
    rng, target = Random(seed), Rules.preset(rules).target
    if rules in MANY_HAND:
        module = three_hand_v0 if MANY_HAND[rules]["players"] == 3 else four_hand_v0
        env = module.raw_env(rules=rules, episode=episode)
    else:
        env = make(rules, episode=episode)
    decisions = 0
    for i in range(episodes):
        decks = [(low_deck if i % 3 == 2 else even_deck)(rng) for _ in range(DECKS[episode])]
        dealer = rng.randrange(len(env.possible_agents))
        scores: Sequence[int] | None = None
        if i % 2:  # from anywhere on the board, mostly from the last holes
            scores = [target - 1 - min(int(rng.expovariate(0.05)), target - 1) for _ in range(1 + max(env.game.sides))]
        options = {"decks": decks, "dealer": dealer}
        env.reset(options=options if scores is None else options | {"scores": scores})
        if rules in MANY_HAND:
            referee: Any = ManyHandReferee(
                decks=decks, dealer=dealer, episode=episode, scores=scores, **MANY_HAND[rules]
            )
        else:
            referee = Referee(rules, decks, dealer, episode, scores)
        decisions += Followed(env, referee).follow(rng)
    return decisions


@pytest.mark.parametrize(
    ("rules", "episode", "episodes", "seed"),
    [
        ("hoyle", "deal", 20, 0),  # a few of each, which `research.mutants` plays as Python
        ("hoyle", "game", 4, 0),
        ("hoyle", "match", 1, 0),
        ("five_card", "deal", 20, 0),
        ("five_card", "game", 4, 0),
        ("hoyle", "deal", 100, 1),
        ("hoyle", "game", 30, 1),
        ("hoyle", "match", 4, 1),
        ("five_card", "deal", 100, 1),
        ("five_card", "game", 40, 1),
        *(
            (rules, episode, episodes, 5)
            for rules in MANY_HAND
            for episode, episodes in (("deal", 30), ("game", 8), ("match", 2))
        ),
    ],
)
def test_lockstep_with_the_referee(rules: str, episode: str, episodes: int, seed: int) -> None:
    assert play(rules, episode, episodes, seed) > (10 if rules in MANY_HAND else 5) * episodes


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 110))
@pytest.mark.parametrize(
    ("rules", "episode", "episodes"),
    [
        ("hoyle", "match", 60),
        ("hoyle", "deal", 4000),
        ("five_card", "game", 800),
        # Over all seeds 20,000 games by each preset's rules, and 4,000 by the others'.
        *((rules, "game", 400 if "[" in rules else 2000) for rules in MANY_HAND),
    ],
)
def test_lockstep_long(rules: str, episode: str, episodes: int, seed: int) -> None:
    # A game of three to 61 has about 50 decisions.
    assert play(rules, episode, episodes, seed) > (40 if rules in MANY_HAND else 5) * episodes


def test_reset_decks_are_followed_by_seeded_deals() -> None:
    """Given decks first, then the seed's own deals: the same for the same seed."""
    seed, rng = 1, Random(1)
    deck = even_deck(rng)
    trajectories = []
    for _ in range(2):
        env = make("hoyle")
        env.reset(seed=seed, options={"decks": [deck], "dealer": 0})
        play, hands = Random(seed), []
        while not any(env.terminations.values()):
            legal = np.flatnonzero(env.observe(env.agent_selection)["action_mask"]).tolist()
            hands.append(legal)
            env.step(play.choice(legal))
        trajectories.append(hands)
    assert trajectories[0] == trajectories[1]
    assert set(trajectories[0][0]) == set(deck[0:12:2])
    assert len(trajectories[0]) > 50
