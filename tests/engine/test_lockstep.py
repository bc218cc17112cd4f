"""The environments against the slow referee, decision by decision, over random games."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import numpy as np
import pytest

from crib_env.engine.hands.records import OVER, PEGGING
from crib_env.engine.record import NONE
from decks import even_deck, low_deck
from reference import Referee
from stacked import make, same_events

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
    decisions, scores = 0, list(referee.scores)
    rear = env.view(0)["rear"].tolist()
    played: list[tuple[int, int]] = []  # in this deal, each card with its seat
    while referee.to_move is not None:
        seat = referee.to_move
        assert env.agent_selection == AGENTS[seat]
        assert env.scores == tuple(referee.scores)
        assert env.dealer == referee.dealer
        assert not any(env.terminations.values())
        pegging = bool(env.view(0)["phase"] == PEGGING)
        played = played if pegging else []
        for at in range(2):
            view = env.view(at)
            assert view["deals"] == referee.deals
            assert view["rear"].tolist() == [rear[at], rear[1 - at]]
            assert sorted(view["hand"][: view["hand_n"]]) == sorted(referee.hands[at])
            laid = referee.crib[2:] if at == referee.dealer else referee.crib[:2]
            assert sorted(view["discarded"][: view["discarded_n"]]) == sorted(laid)
            for cards in ("hand", "discarded"):
                assert (view[cards][view[f"{cards}_n"] :] == NONE).all()
            pile, present = view["pile"][: view["pile_n"]].tolist(), view["pile_from"]
            mine = [view["pile_seats"] >> 2 * i & 1 == 0 for i in range(len(pile))]
            assert list(zip(pile, mine, strict=True)) == [(c, who == at) for c, who in played]
            assert pile[present:] == referee.pile
            if referee.game == "hoyle":
                assert view["go"] == referee._go_pegged
        legal = referee.legal()
        for agent in AGENTS:
            mask = env.observe(agent)["action_mask"]
            assert np.flatnonzero(mask).tolist() == (legal if agent == AGENTS[seat] else [])
        pegged = len(referee.events)
        card = choose[seat](legal, rng)
        referee.step(card)
        env.step(card)
        played += [(card, seat)] * pegging
        same_events(env.events, referee.events[pegged:])
        begun, scores = tuple(scores), list(scores)
        for event in referee.events[pegged:]:
            rear[event.seat] = scores[event.seat]
            scores[event.seat] += event.points
        made = [score - first for score, first in zip(scores, begun, strict=True)]
        assert env.game.gains == [made[0] - made[1], made[1] - made[0]]
        if scores != referee.scores:  # of the next game of a match
            scores, rear = list(referee.scores), [0, 0]
        decisions += 1
    return decisions


def check_end(env: Any, referee: Referee, start: Sequence[int]) -> None:
    """Check that the ended episode has the referee's scores, games and winner."""
    assert all(env.terminations.values())
    assert not any(env.truncations.values())
    assert env.view(0)["phase"] == OVER
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


@pytest.mark.parametrize(
    ("game", "episode", "episodes", "seed"),
    [
        ("hoyle", "deal", 20, 0),  # a few of each, which `benchmarks.mutants` plays as Python
        ("hoyle", "game", 4, 0),
        ("hoyle", "match", 1, 0),
        ("five_card", "deal", 20, 0),
        ("five_card", "game", 4, 0),
        ("hoyle", "deal", 200, 1),
        ("hoyle", "game", 80, 1),
        ("hoyle", "match", 8, 1),
        ("five_card", "deal", 200, 1),
        ("five_card", "game", 100, 1),
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
        same_events(env.events, referee.events)
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
