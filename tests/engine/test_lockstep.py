"""The environments against the slow referee, decision by decision, over random games."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import numpy as np
import pytest

from decks import even_deck, low_deck
from reference import Referee
from stacked import make

AGENTS = ("player_0", "player_1")
# Enough decks for the longest match; a referee that runs out raises an IndexError.
DECKS = {"deal": 1, "game": 60, "match": 400}

Choose = Callable[[Sequence[int], Random], int]


def anything(cards: Sequence[int], rng: Random) -> int:
    return rng.choice(cards)


def high_first(cards: Sequence[int], rng: Random) -> int:
    return max(cards)  # keeps low cards, so that goes and long plays alone come about


def low_first(cards: Sequence[int], rng: Random) -> int:
    return min(cards)


CHOICES: tuple[Choose, ...] = (anything, anything, high_first, low_first)


def follow(env: Any, referee: Referee, choose: Sequence[Choose], rng: Random) -> int:
    """Play one episode on both, comparing at every decision; return the number of decisions."""
    decisions = 0
    while referee.to_move is not None:
        seat = referee.to_move
        assert env.agent_selection == AGENTS[seat]
        assert env.scores == tuple(referee.scores)
        assert env.dealer == referee.dealer
        assert not any(env.terminations.values())
        legal = referee.legal()
        for agent in AGENTS:
            mask = env.observe(agent)["action_mask"]
            assert np.flatnonzero(mask).tolist() == (legal if agent == AGENTS[seat] else [])
        pegged = len(referee.events)
        card = choose[seat](legal, rng)
        referee.step(card)
        env.step(card)
        expected = [(e.seat, e.points, e.reason) for e in referee.events[pegged:]]
        assert [(e.seat, e.points, e.reason) for e in env.events] == expected
        for event, theirs in zip(env.events, referee.events[pegged:], strict=True):
            if event.reason not in ("hand", "crib"):  # there the referee names the starter too
                assert set(event.cards) == set(theirs.cards)
        decisions += 1
    return decisions


def check_end(env: Any, referee: Referee, start: Sequence[int]) -> None:
    """Check that the ended episode has the referee's scores, games and winner."""
    assert all(env.terminations.values())
    assert not any(env.truncations.values())
    assert env.scores == tuple(referee.scores)
    for agent in AGENTS:
        assert not env.observe(agent)["action_mask"].any()
    if referee.episode == "match":
        assert env.game.match_score == tuple(referee.games)
    if referee.winner is not None:
        lead = 1 - 2 * referee.winner
    else:  # a deal by itself goes to who made more points in it
        made = [score - first for score, first in zip(referee.scores, start, strict=True)]
        lead = int(np.sign(made[0] - made[1]))
    assert env._cumulative_rewards == {"player_0": lead, "player_1": -lead}


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    ("game", "episode", "episodes"),
    [
        ("hoyle", "deal", 200),
        ("hoyle", "game", 80),
        ("hoyle", "match", 8),
        ("five_card", "deal", 200),
        ("five_card", "game", 100),
    ],
)
def test_lockstep_with_the_referee(game: str, episode: str, episodes: int, seed: int) -> None:
    env = make(game, episode=episode)
    rng = Random(seed)
    decisions = 0
    for i in range(episodes):
        shuffle = low_deck if i % 3 == 2 else even_deck
        decks = [shuffle(rng) for _ in range(DECKS[episode])]
        dealer = rng.randrange(2)
        scores = None
        if i % 2:  # from anywhere on the board, the last holes most of all
            target = 121 if game == "hoyle" else 61
            scores = [target - 1 - min(int(rng.expovariate(0.05)), target - 1) for _ in range(2)]
        options = {"decks": decks, "dealer": dealer}
        if scores is not None:
            options["scores"] = scores
        env.reset(options=options)
        referee = Referee(game, decks, dealer, episode, scores)
        start = tuple(referee.scores)
        assert env.scores == start
        begun = [(e.seat, e.points, e.reason) for e in env.events]
        assert begun == [(e.seat, e.points, e.reason) for e in referee.events]
        choose = [rng.choice(CHOICES) for _ in range(2)]
        decisions += follow(env, referee, choose, rng)
        check_end(env, referee, start)
    assert decisions > 5 * episodes


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 110))
@pytest.mark.parametrize(
    ("game", "episode", "episodes"),
    [("hoyle", "match", 60), ("hoyle", "deal", 4000), ("five_card", "game", 800)],
)
def test_lockstep_long(game: str, episode: str, episodes: int, seed: int) -> None:
    test_lockstep_with_the_referee(game, episode, episodes, seed)


@pytest.mark.parametrize("seed", range(3))
def test_decks_that_run_out_are_continued_by_the_seeded_generator(seed: int) -> None:
    """Given decks first, then the seed's own deals: the same for the same seed."""
    rng = Random(seed)
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
