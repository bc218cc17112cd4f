"""Rewards without the starter's luck: the play as it is pegged, the show as its mean.

``"expected"`` pays the mean when both have discarded, ``"expected_at_show"`` when it is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np
import pytest

from crib_env import (
    discard_v0,
    five_card_v0,
    four_hand_v0,
    pegging_v0,
    sample_legal,
    six_card_v0,
    table_top_v0,
    three_hand_v0,
)
from crib_env.cards import parse_cards
from crib_env.engine.hands.records import DISCARD
from crib_env.engine.two_hand import HAND
from crib_env.rules import Rules
from decks import even_deck
from hidden import redraw_hands
from reference.scoring import JACK, rank, score_show
from vector_walks import InPython

MEANS = ("expected", "expected_at_show")


GREEDY = InPython("greedy")


def episode_sums(make: Any, reward: str, steps: int) -> list[float]:
    """Return the sum of rewards of each episode that a vector environment ends."""
    env = make(reward=reward)
    _, info = env.reset(seed=4)
    rng = np.random.default_rng(4)
    sums, found = np.zeros(env.num_envs), []
    for _ in range(steps):
        _, rewards, dones, _, info = env.step(sample_legal(info["action_mask"], rng))
        sums += rewards
        found += sums[dones].tolist()
        sums[dones] = 0
    return found


@pytest.mark.parametrize("module", [six_card_v0, five_card_v0, discard_v0])
def test_expected_rewards_have_the_mean_of_points_and_less_variance(module: Any) -> None:
    def make(reward: str) -> Any:
        return module.vector_env(2048, reward=reward, episode="deal", opponent="greedy")

    expected, points = (np.array(episode_sums(make, one, 12)) for one in ("expected", "points"))
    assert len(expected) == len(points) > 4000
    apart = expected - points  # same deals: the difference is the starter's luck
    assert abs(apart.mean()) < 4 * apart.std() / len(apart) ** 0.5
    assert expected.var() < 0.9 * points.var()


def test_expected_rewards_equal_points_in_pegging() -> None:
    envs = [pegging_v0.raw_env(reward=one) for one in ("expected", "points")]
    rng = np.random.default_rng(1)
    for seed in range(8):
        for env in envs:
            env.reset(seed=seed)
        while not envs[0].game.over:
            card = int(rng.choice(envs[0].game.legal_actions))
            for env in envs:
                env.step(card)
            assert envs[0].rewards == envs[1].rewards


@pytest.mark.parametrize("reward", MEANS)
def test_expected_rewards_are_rejected_by_table_top(reward: str) -> None:
    for make in (table_top_v0.vector_env, table_top_v0.gym_env, table_top_v0.env):
        with pytest.raises(ValueError, match=f"reward='{reward}' is not for table_top"):
            make(reward=reward)
    with pytest.raises(ValueError, match=r"reward must be one of .*'expected_at_show', got 'mean'"):
        six_card_v0.env(reward="mean")


# --- the mean of a show, counted by the reference -------------------------------------------------


def mean_show(dealt: list[list[int]], discarded: list[list[int]], dealer: int, preset: str, heels: int = 2) -> float:
    """Return seat 0's mean of heels, hands and crib less seat 1's, over every card not dealt."""
    known = {card for hand in dealt for card in hand}
    kept = [[c for c in dealt[seat] if c not in discarded[seat]] for seat in range(2)]
    crib = [*discarded[0], *discarded[1]]
    starters = [card for card in range(52) if card not in known]
    first, second = mean_shows(kept, crib, starters, dealer, (0, 1), preset, heels)
    return first - second


def mean_shows(
    kept: Sequence[Sequence[int]],
    crib: Sequence[int],
    starters: Sequence[int],
    dealer: int,
    side_of: Sequence[int],
    preset: str = "hoyle",
    heels: int = 2,
) -> list[float]:
    """Return each side's mean of heels, hands and crib over the starters."""
    totals = [0] * (1 + max(side_of))
    for starter in starters:
        for seat, hand in enumerate(kept):
            totals[side_of[seat]] += score_show(hand, starter, False, preset)
        totals[side_of[dealer]] += score_show(crib, starter, True, preset)
        totals[side_of[dealer]] += heels * (rank(starter) == JACK)
    return [total / len(starters) for total in totals]


# --- paid when it is shown ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("module", "keywords"),
    [
        (six_card_v0, {"rules": "hoyle[heels=5]", "episode": "deal", "opponent": "greedy"}),
        (six_card_v0, {"rules": "hoyle[target=31,match_target=2]", "episode": "match", "opponent": "greedy"}),
        (five_card_v0, {"opponent": GREEDY}),
        (five_card_v0, {"opponent": [("greedy", 1), ("greedy", 1)]}),
        (discard_v0, {"opponent": "greedy"}),
        (three_hand_v0, {"episode": "deal", "opponent": GREEDY}),
        (four_hand_v0, {"opponent": GREEDY}),
    ],
    ids=["deal", "match", "in_python", "several", "discard", "three_hand", "four_hand"],
)
def test_episode_reward_sum_is_independent_of_payment_time(module: Any, keywords: dict[str, Any]) -> None:
    def make(reward: str) -> Any:
        return module.vector_env(8, reward=reward, **keywords)

    expected, shown = (episode_sums(make, reward, 100) for reward in MEANS)
    assert len(expected) > 5
    assert shown == pytest.approx(expected)
    assert any(abs(one % 1) > 0.01 for one in expected)  # means are fractions


@pytest.mark.parametrize(
    ("module", "opponent", "reward"),
    [
        (six_card_v0, "greedy", "expected"),
        (six_card_v0, GREEDY, "expected_at_show"),
        (five_card_v0, GREEDY, "expected"),
        (five_card_v0, "greedy", "expected_at_show"),
    ],
)
def test_expected_rewards_are_equal_in_all_forms(module: Any, opponent: Any, reward: str) -> None:
    """The learner's reward per turn is the sum of the AEC rewards since its last turn."""
    keywords = {"reward": reward, "episode": "deal", "opponent": opponent, "seat": 1}
    gym, sb3 = module.gym_env(**keywords), module.sb3_env(1, **keywords)
    aec = module.env(reward=reward, episode="deal")
    for seed in range(5):
        _, info = gym.reset(seed=seed)
        sb3.seed(seed)
        sb3.reset()
        state = gym.batch.states[0]
        hands = state["dealt"].reshape(2, HAND)[:, : gym.rules.dealt]
        deck, dealer = deck_of(hands, int(state["starter"]), int(state["dealer"]))
        aec.reset(options={"decks": [deck], "dealer": dealer})
        paid, theirs, over = [], [], False
        while not over:
            action = int(info["action_mask"].argmax())
            _, one, over, _, info = gym.step(action)
            paid.append(one)
            theirs += sb3.step(np.array([action]))[1].tolist()
        rng, seats = np.random.default_rng(0), []
        for agent in aec.agent_iter():
            observation, one, done, _, _ = aec.last()
            if agent == "player_1":
                seats.append(one)
                action = int(observation["action_mask"].argmax())
            else:
                action = int(GREEDY.act(np.array([aec.view(0)]), rng)[0]) if not done else 0
            aec.step(None if done else action)
        assert theirs == pytest.approx(paid, abs=1e-5)
        assert seats == pytest.approx([0.0, *paid])


Deck = tuple[list[int], int]


def deck_of(hands: Any, starter: int, dealer: int) -> Deck:
    """Return a deck that deals these hands by seat, and the dealer."""
    both = zip(hands[1 - dealer].tolist(), hands[dealer].tolist(), strict=True)
    known = [card for pair in both for card in pair] + [starter]
    return known + [card for card in range(52) if card not in known], dealer


def play_slots(env: Any, dealt: Deck, slots: list[tuple[int, int]]) -> Any:
    """Play cards by seat and slot; return the rewards of each seat up to each card.

    None where another seat is to move: a "go" has then revealed the cards.
    """
    env.reset(options={"decks": [dealt[0]], "dealer": dealt[1]})
    paid = [np.zeros(2)]
    for seat, slot in slots:
        if env.game.over or env.game.seat != seat:
            return None
        card = int(env.game.states[0]["dealt"][HAND * seat + slot])
        if card not in env.game.legal_actions:
            return None
        env.step(card)
        paid.append(paid[-1] + [env.rewards[agent] for agent in env.possible_agents])
    return np.array(paid)


def deals_with_hidden_cards_redrawn(env: Any, seed: int) -> Any:
    """Yield deals, each stopped where a seat is to play, and again with other hidden cards.

    Yields:
        the seat, the slots played so far, a deck and its dealer, and another such deck.
    """
    rng = np.random.default_rng(seed)
    for one in range(8):
        env.reset(seed=seed + one)
        game = env.game
        dealt = game.rules.dealt
        first = game.states[0]["dealt"].reshape(2, HAND)[:, :dealt].copy()
        starter, dealer = int(game.states[0]["starter"]), game.dealer
        slots: list[tuple[int, int]] = []
        while not game.over:
            seat = game.seat
            if game.states[0]["phase"] != DISCARD:
                state = game.states[0].copy()
                redraw_hands(state, rng, seat, dealt)
                other = state["dealt"].reshape(2, HAND)[:, :dealt]
                yield (seat, list(slots), deck_of(first, starter, dealer), deck_of(other, starter, dealer))
            slot = int(rng.choice([k for k in range(dealt) if first[seat][k] in game.legal_actions]))
            slots.append((seat, slot))
            env.step(int(first[seat][slot]))


@pytest.mark.parametrize("module", [six_card_v0, five_card_v0])
def test_rewards_before_the_show_depend_on_seen_cards_only(module: Any) -> None:
    envs = {reward: module.raw_env(reward=reward, episode="deal") for reward in MEANS}
    compared, apart = 0, 0
    stops = deals_with_hidden_cards_redrawn(module.raw_env(episode="deal"), seed=8)
    for seat, slots, given, redrawn in stops:
        for reward, env in envs.items():
            before, after = (play_slots(env, deck, slots) for deck in (given, redrawn))
            if after is None:
                break
            if reward == "expected":  # it reveals hidden cards, as documented
                apart += bool((before[:, seat] != after[:, seat]).any())
                continue
            compared += 1
            assert (before[:, seat] == after[:, seat]).all()
    assert compared > 25
    assert apart > 0.9 * compared


@pytest.mark.parametrize("reward", MEANS)
@pytest.mark.parametrize("episode", ["game", "match"])
def test_deal_decided_by_heels_pays_its_mean(reward: str, episode: str) -> None:
    """Also where the next game of a match begins in the same step."""
    env = six_card_v0.raw_env(reward=reward, episode=episode)
    hands = np.array([parse_cards("2C 3D 7H 8S 9C TD"), parse_cards("AC 4D 5H 6S QC KD")])
    deck, dealer = deck_of(hands, parse_cards("JH")[0], 1)
    env.reset(options={"decks": [deck], "dealer": dealer, "scores": (0, 120)})
    paid = 0.0
    for seat, k in ((0, 0), (0, 1), (1, 0), (1, 1)):
        env.step(int(hands[seat][k]))
        paid += env.rewards["player_0"]
    assert env.game.over == (episode == "game")
    mean = mean_show(hands.tolist(), hands[:, :2].tolist(), dealer, "hoyle")
    assert paid == pytest.approx(mean)


# --- against the mean counted slowly --------------------------------------------------------------


GAMES: dict[str, Any] = {
    "hoyle": six_card_v0,
    "hoyle[heels=5]": six_card_v0,
    "five_card": five_card_v0,
    "five_card[heels=0]": five_card_v0,
    "three_hand": three_hand_v0,
    "four_hand[heels=1]": four_hand_v0,
    "four_hand[partners=False]": four_hand_v0,
}
LUCK = ("heels", "hand", "crib")


def paid(side_of: Any, made: Any) -> Any:
    """Return the rewards for points by side: own points less the mean of the other sides."""
    made = np.asarray(made, dtype=float)
    others = (made.sum() - made) / (len(made) - 1)
    return (made - others)[np.array(side_of)]


@pytest.mark.parametrize(("reward", "ahead"), [("expected", True), ("expected_at_show", False)])
@pytest.mark.parametrize("rules", GAMES)
def test_deal_reward_is_pegging_plus_mean_of_show(rules: str, reward: str, ahead: bool) -> None:
    """Also when a side wins on the way; the rewards sum to zero over the seats.

    C3: what heels peg is a field of the rules.
    """
    known: Any = Rules.preset(rules)
    envs = [GAMES[rules].raw_env(rules=rules, episode="deal", reward=one) for one in (reward, "points")]
    players = len(envs[0].possible_agents)
    side_of = envs[0].game.sides
    each = known.dealt if players == 2 else 5
    discards = 2 if players == 2 else 1
    sides = 1 + max(side_of)
    rng = Random(players)
    ended_early = 0
    for deal in range(6):
        deck, dealer = even_deck(rng), deal % players
        options: dict[str, Any] = {"decks": [deck], "dealer": dealer}
        if ahead:
            options["scores"] = tuple(known.target - rng.randint(1, 20) for _ in range(sides))
        for env in envs:
            env.reset(options=options)
        in_hands = each * players
        dealt = [deck[(seat - dealer - 1) % players : in_hands : players] for seat in range(players)]
        dead = deck[in_hands : in_hands + 4 - players * discards]
        laid: list[int] = []
        mean = None
        while not envs[0].game.over:
            card = rng.choice([int(a) for a in envs[0].game.legal_actions])
            if len(laid) < players * discards:
                laid.append(card)
            for env in envs:
                env.step(card)
            luck = np.zeros(sides)
            for event in envs[0].events:
                luck[event.seat] += event.points * (event.reason in LUCK)
            rewards, points = (list(env.rewards.values()) for env in envs)
            expected = np.array(points) - paid(side_of, luck)
            over = envs[0].game.over
            if len(laid) == players * discards and mean is None:
                kept = [[card for card in hand if card not in laid] for hand in dealt]
                starters = deck[in_hands + len(dead) :]
                preset = "five_card" if "five_card" in rules else "hoyle"
                mean = paid(side_of, mean_shows(kept, [*dead, *laid], starters, dealer, side_of, preset, known.heels))
                if reward == "expected":
                    expected += mean
            if over and reward == "expected_at_show":
                expected += mean
            assert rewards == pytest.approx(expected.tolist())
            assert sum(rewards) == pytest.approx(0)
        ended_early += max(envs[0].scores) >= known.target
    assert bool(ended_early) == ahead
