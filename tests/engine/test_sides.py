"""Any number of sides: the returns and rewards of each seat, from kernels to learners."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from crib_env import Game, GameBatch, three_hand_v0
from crib_env.engine.family import FAMILIES, find_family
from crib_env.engine.jit import plain
from crib_env.engine.record import win_return
from crib_env.policy import find_agent
from vector_walks import InPython

NOBODY = -1
SHORT = "three_hand[target=21]"


def shares(made: tuple[int, ...]) -> list[float]:
    """Return the returns of sides with these points: 1 for the first place, the loss shared.

    Sides that tie get the mean over all orders of placing them.
    """
    n = len(made)
    orders = [order for order in permutations(range(n)) if made[order[0]] == max(made)]
    loss = Fraction(-1, n - 1)
    return [
        float(sum(Fraction(1) if order[0] == side else loss for order in orders) / len(orders)) for side in range(n)
    ]


@pytest.mark.parametrize(
    "made", [(5, 3), (3, 5), (4, 4), (5, 3, 1), (1, 5, 3), (5, 5, 1), (1, 5, 5), (2, 2, 2), (7, 7, 7, 2)]
)
def test_deal_is_won_by_most_points_and_ties_share(made: tuple[int, ...]) -> None:
    size = len(made)
    fields = [("scores", "i8", size), ("start", "i8", size), ("winner", "i8")]
    state, rules = np.zeros(1, dtype=fields), np.zeros(1, dtype=[("sides", "i8")])
    state["start"], state["scores"], state["winner"] = 3, np.array(made) + 3, NOBODY
    rules["sides"] = size
    kernel = plain(win_return)
    found = [kernel(state[0], rules[0], side) for side in range(size)]
    assert found == pytest.approx(shares(made))
    assert sum(found) == pytest.approx(0)


def test_returns_of_a_game_reward_the_winner_only() -> None:
    fields = [("scores", "i8", 3), ("start", "i8", 3), ("winner", "i8")]
    state, rules = np.zeros(1, dtype=fields), np.zeros(1, dtype=[("sides", "i8")])
    state["scores"], state["winner"], rules["sides"] = (9, 2, 2), 1, 3
    kernel = plain(win_return)
    assert [kernel(state[0], rules[0], side) for side in range(3)] == [-0.5, 1.0, -0.5]


@pytest.mark.parametrize(
    ("rules", "players", "sides"),
    [
        ("hoyle", 2, (0, 1)),
        ("table_top", 2, (0, 1)),
        ("table_top", 4, (0, 1, 0, 1)),
        ("three_hand", 3, (0, 1, 2)),
        ("four_hand", 4, (0, 1, 0, 1)),
        ("four_hand[partners=False]", 4, (0, 1, 2, 3)),
    ],
)
def test_family_gives_the_side_of_each_seat(rules: str, players: int, sides: tuple[int, ...]) -> None:
    game = Game(rules, players=players, seed=1)
    assert game.sides == sides
    assert len(game.scores) == len(set(sides))
    batch = GameBatch(rules, 2, players=players)
    assert batch.sides.tolist() == list(sides)
    assert batch.tally.shape == (2, len(set(sides)), 3)
    assert batch.record["side_of"][0, :players].tolist() == list(sides)


@pytest.mark.parametrize("episode", ["deal", "game"])
def test_gains_of_three_are_own_points_less_the_mean_of_the_others(episode: str) -> None:
    rng = np.random.default_rng(5)
    for seed in range(20):
        game = Game(SHORT, episode=episode, seed=seed)
        total = np.zeros(3)
        while not game.over:
            assert game.returns == [0.0, 0.0, 0.0]
            events = game.step(int(rng.choice(game.legal_actions)))
            pegged = [sum(e.points for e in events if e.seat == seat) for seat in range(3)]
            others = [(sum(pegged) - mine) / 2 for mine in pegged]
            assert game.gains == [mine - mean for mine, mean in zip(pegged, others, strict=True)]
            total += game.gains
        made = np.array(game.scores)
        assert total == pytest.approx(made - (made.sum() - made) / 2)
        assert game.returns == pytest.approx(shares(tuple(made.tolist())))


def test_gains_and_returns_are_shared_by_partners() -> None:
    game = Game("table_top", players=4, episode="round", seed=2)
    while not game.over:
        game.step(game.legal_actions[0])
        assert game.gains[:2] == game.gains[2:]
        assert sum(game.gains) == 0
    rows, columns = game.scores
    assert game.gains[0] != 0
    assert game.returns == [np.sign(rows - columns), np.sign(columns - rows)] * 2


def test_restore_clears_gains() -> None:
    game = Game(SHORT, seed=1)
    start = game.snapshot()
    while not any(game.gains):
        game.step(game.legal_actions[0])
    game.restore(start)
    assert game.gains == [0.0, 0.0, 0.0]


def test_batch_returns_equal_single_games() -> None:
    batch = GameBatch(SHORT, 30, seed=3)
    batch.reset()
    assert batch.returns().dtype == np.float64
    assert not batch.returns().any()
    for _ in batch.play(find_agent("greedy"), np.random.default_rng(1)):
        going = batch.running()
        assert not batch.returns()[going].any()
    returns = batch.returns()
    assert returns.shape == (30, 3)
    scores = batch.states["scores"][:, :3]
    expected = [shares(tuple(row)) for row in scores.tolist()]
    assert returns.tolist() == expected
    assert (batch.tally.sum(axis=2) == scores).all()


def test_reset_takes_scores_of_three() -> None:
    game = Game(SHORT, seed=1)
    game.reset(scores=(1, 2, 3))
    assert game.scores == (1, 2, 3)
    assert Game.from_notation(game.notation()) == game
    assert " 1/2/3 " in game.notation()
    batch = GameBatch(SHORT, 2)
    batch.reset(scores=(1, 2, 3))
    assert batch.states["scores"][:, :3].tolist() == [[1, 2, 3]] * 2
    with pytest.raises(ValueError, match="'scores' must be three whole numbers from 0 to 20"):
        game.reset(scores=(1, 2))


def test_parse_state_rejects_another_number_of_sides() -> None:
    line = Game("three_hand", seed=1).notation()
    assert Game.from_notation(line).players == 3
    with pytest.raises(ValueError, match="scores must be three whole numbers such as 3/5/7"):
        Game.from_notation(line.replace("0/0/0", "0/0"))
    with pytest.raises(ValueError, match="rear must be three whole numbers"):
        Game.from_notation(f"{line} rear=1/2")
    with pytest.raises(ValueError, match="hands must be given for 3 seats"):
        Game.from_notation(line.replace("/6H2H2C7D4H", ""))


# --- a learner among three ------------------------------------------------------------------------


def walked(opponent: Any, reward: str, episode: str) -> list[Any]:
    """Return observations and rewards of a vector environment of three seats, two opponents."""
    env = three_hand_v0.vector_env(8, rules=SHORT, opponent=opponent, reward=reward, episode=episode, seat=None)
    _, info = env.reset(seed=4)
    rng = np.random.default_rng(4)
    seen: list[Any] = []
    for _ in range(120):
        action = (rng.random(info["action_mask"].shape) * info["action_mask"]).argmax(axis=1)
        obs, rewards, ends, _, info = env.step(action)
        final = info.get("final_info", {})
        seen.append(
            (
                obs.tolist(),
                rewards.tolist(),
                ends.tolist(),
                [final[key][ends].tolist() for key in ("scores", "winner", "skunk", "seat") if final],
            )
        )
    return seen


@pytest.mark.parametrize(("reward", "episode"), [("win", "game"), ("points", "deal")])
def test_opponents_two_seats_equal_compiled_and_in_python(reward: str, episode: str) -> None:
    seen = walked(find_agent("greedy"), reward, episode)
    assert seen == walked(InPython(find_agent("greedy")), reward, episode)
    assert seen == walked([(find_agent("greedy"), 1.0), (find_agent("greedy"), 1.0)], reward, episode)
    ended, totals = 0, np.zeros(8)
    for _, rewards, ends, final in seen:
        totals += rewards
        if not final:
            continue
        paid = totals[ends].tolist()
        totals[ends] = 0
        for made, scores, winner, skunk, seat in zip(paid, *final, strict=True):
            ended += 1
            assert len(scores) == 3
            expected = shares(tuple(scores))
            first = [side for side in range(3) if scores[side] == max(scores)]
            assert winner == (first[0] if len(first) == 1 else -1)
            assert skunk == 0
            if reward == "win":
                assert made == expected[seat]
            elif episode == "deal":
                assert made == scores[seat] - (sum(scores) - scores[seat]) / 2
    assert ended > 20


@pytest.mark.parametrize("name", FAMILIES)
def test_rules_fields_have_other_names_than_state_fields(name: str) -> None:
    family = find_family(name)
    rules, state = set(family.rules.names or ()), set(family.state.names or ())
    assert rules & state <= {"dealt", "players"}
