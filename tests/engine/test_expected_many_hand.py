"""Rewards without the starter's luck among three and four, against the mean counted slowly."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

from crib_env import four_hand_v0, three_hand_v0
from crib_env.rules import Rules
from decks import even_deck
from shows import mean_shows

GAMES: dict[str, Any] = {
    "three_hand": three_hand_v0,
    "four_hand[heels=1]": four_hand_v0,
    "four_hand[partners=False]": four_hand_v0,
}
LUCK = ("heels", "hand", "crib")


def paid(side_of: Any, made: Any) -> Any:
    """Return what each seat is paid for the points made by side: its side's less the mean."""
    made = np.asarray(made, dtype=float)
    others = (made.sum() - made) / (len(made) - 1)
    return (made - others)[np.array(side_of)]


@pytest.mark.parametrize("ahead", [False, True], ids=["", "near_the_target"])
@pytest.mark.parametrize("reward", ["expected", "expected_at_show"])
@pytest.mark.parametrize("rules", GAMES)
def test_a_deal_pays_its_play_and_the_mean_of_its_show(
    rules: str, reward: str, ahead: bool
) -> None:
    """Whoever wins on the way, and in a sum over the seats of nothing."""
    known: Any = Rules.preset(rules)
    envs = [GAMES[rules].raw_env(rules=rules, episode="deal", reward=one)
            for one in (reward, "points")]  # fmt: skip
    players = len(envs[0].possible_agents)
    side_of = known.seating[players]
    sides = 1 + max(side_of)
    rng = Random(players)
    ended_early = 0
    for deal in range(10):
        deck, dealer = even_deck(rng), deal % players
        options: dict[str, Any] = {"decks": [deck], "dealer": dealer}
        if ahead:
            options["scores"] = tuple(known.target - rng.randint(1, 20) for _ in range(sides))
        for env in envs:
            env.reset(options=options)
        in_hands = 5 * players
        dealt = [deck[(seat - dealer - 1) % players : in_hands : players]
                 for seat in range(players)]  # fmt: skip
        dead = deck[in_hands : in_hands + 4 - players]
        laid: dict[int, int] = {}
        mean = None
        while not envs[0].game.over:
            seat = envs[0].game.seat
            card = rng.choice([int(a) for a in envs[0].game.legal_actions])
            discarding = len(laid) < players
            if discarding:
                laid[seat] = card
            for env in envs:
                env.step(card)
            luck = np.zeros(sides)
            for event in envs[0].events:
                luck[event.seat] += event.points * (event.reason in LUCK)
            rewards, points = (list(env.rewards.values()) for env in envs)
            expected = np.array(points) - paid(side_of, luck)
            over = envs[0].game.over
            if len(laid) == players and mean is None:
                kept = [[c for c in dealt[s] if c != laid[s]] for s in range(players)]
                starters = deck[in_hands + len(dead) :]
                crib = [*dead, *laid.values()]
                mean = paid(side_of, mean_shows(
                    kept, crib, starters, dealer, side_of, heels=known.heels
                ))  # fmt: skip
                if reward == "expected":
                    expected += mean
            if over and reward == "expected_at_show":
                expected += mean
            assert rewards == pytest.approx(expected.tolist())
            assert sum(rewards) == pytest.approx(0)
        ended_early += max(envs[0].scores) >= known.target
    assert bool(ended_early) == ahead
