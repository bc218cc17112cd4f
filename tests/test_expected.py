"""``reward="expected"``: the play as it is pegged, the show as its mean over every starter."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from crib_env import (
    discard_v0,
    find_agent,
    five_card_v0,
    pegging_v0,
    sample_legal,
    six_card_v0,
    table_top_v0,
)
from crib_env.engine.two_hand.records import LAY_AWAY
from crib_env.rules import PRESETS
from reference.scoring import JACK, rank, score_show


def greedy(view: Any, rng: np.random.Generator) -> int:
    return int(find_agent("greedy").act(np.array([view]), rng)[0])


def split(events: list[Any]) -> tuple[int, int]:
    """Return seat 0's points less seat 1's: pegged in the play, and of heels and show."""
    play = show = 0
    for event in events:
        points = event.points if event.seat == 0 else -event.points
        if event.reason in ("heels", "show", "crib"):
            show += points
        else:
            play += points
    return play, show


def mean_show(dealt: list[list[int]], laid: list[list[int]], dealer: int, preset: str) -> float:
    """Return seat 0's mean of heels, hands and crib less seat 1's, over every card not dealt."""
    known = {card for hand in dealt for card in hand}
    total = 0
    starters = [card for card in range(52) if card not in known]
    for starter in starters:
        for seat, sign in ((0, 1), (1, -1)):
            kept = [card for card in dealt[seat] if card not in laid[seat]]
            total += sign * score_show(kept, starter, False, preset)
        crib = score_show([*laid[0], *laid[1]], starter, True, preset)
        total += (1 if dealer == 0 else -1) * (crib + 2 * (rank(starter) == JACK))
    return total / len(starters)


@pytest.mark.parametrize("preset", ["hoyle", "five_card"])
@pytest.mark.parametrize("opponent", ["rule_based", greedy], ids=["compiled", "asked"])
def test_each_deal_pays_its_play_and_its_mean(preset: str, opponent: Any) -> None:
    module = six_card_v0 if preset == "hoyle" else five_card_v0
    size = PRESETS[preset].dealt  # type: ignore[attr-defined]
    kinds = ("expected", "points")
    envs = [module.gym_env(opponent=opponent, episode="deal", reward=one) for one in kinds]
    rng = np.random.default_rng(5)
    for seed in range(12):
        info, _ = (env.reset(seed=seed)[1] for env in envs)
        state = envs[0].batch.states[0]
        dealt = [[int(c) for c in state["dealt"][6 * s :][:size]] for s in range(2)]
        dealer, seat = int(state["dealer"]), envs[0].seat
        rewards: list[list[float]] = [[], []]
        phases, over = [LAY_AWAY], False
        while not over:
            action = int(sample_legal(info["action_mask"][None], rng)[0])
            for one, env in zip(rewards, envs, strict=True):
                _, reward, over, _, info = env.step(action)
                one.append(reward)
            phases.append(int(envs[0].batch.states["phase"][0]))
        both = envs[0].batch.states[0]
        laid = [[c for i, c in enumerate(dealt[s]) if both["laid"][s] >> i & 1] for s in range(2)]
        sign = 1 if seat == 0 else -1
        starter = int(both["starter"])
        kept = [[c for c in dealt[s] if c not in laid[s]] for s in range(2)]
        hands = [score_show(kept[s], starter, False, preset) for s in range(2)]
        crib = score_show(laid[0] + laid[1], starter, True, preset)
        heels = 2 * (rank(starter) == JACK)
        shown = hands[0] - hands[1] + (1 if dealer == 0 else -1) * (crib + heels)
        mean = mean_show(dealt, laid, dealer, preset)
        assert sum(rewards[0]) == pytest.approx(sum(rewards[1]) - sign * (shown - mean))
        # The mean is paid as soon as both have laid away, with the play up to the learner's turn.
        paid = next(i for i, phase in enumerate(phases[1:]) if phase != LAY_AWAY)
        turned = sign * (heels if dealer == 0 else -heels)
        assert rewards[0][paid] == pytest.approx(rewards[1][paid] - turned + sign * mean)
        assert rewards[0][:paid] == rewards[1][:paid]
        assert rewards[0][paid + 1 : -1] == rewards[1][paid + 1 : -1]


def returns(module: Any, reward: str, deals: int, **keywords: Any) -> Any:
    """Return the sums of rewards of so many deals, dealt alike whatever the reward is."""
    n = 4096
    env = module.vector_env(n, reward=reward, episode="deal", opponent="greedy", **keywords)
    _, info = env.reset(seed=6)
    rng = np.random.default_rng(6)
    sums = np.zeros(n)
    found: list[Any] = []
    while sum(len(ended) for ended in found) < deals:
        _, rewards, dones, _, info = env.step(sample_legal(info["action_mask"], rng))
        sums += rewards
        found.append(sums[dones])
        sums[dones] = 0
    return np.concatenate(found)


@pytest.mark.parametrize("module", [six_card_v0, five_card_v0, discard_v0])
def test_the_mean_is_that_of_points_and_the_variance_less(module: Any) -> None:
    expected, points = (returns(module, one, 60_000) for one in ("expected", "points"))
    assert len(expected) == len(points)
    apart = expected - points  # the same deals: what the starter's luck was
    assert abs(apart.mean()) < 4 * apart.std() / len(apart) ** 0.5
    assert expected.var() < 0.9 * points.var()


def test_games_pay_every_deal_and_matches_go_on() -> None:
    for episode in ("game", "match"):
        env = six_card_v0.vector_env(64, opponent="rule_based", episode=episode, reward="expected")
        whole = six_card_v0.vector_env(64, opponent="rule_based", episode=episode, reward="points")
        _, info = env.reset(seed=1)
        whole.reset(seed=1)
        rng = np.random.default_rng(1)
        sums: Any = np.zeros((2, 64))
        for _ in range(200):
            actions = sample_legal(info["action_mask"], rng)
            _, rewards, dones, _, info = env.step(actions)
            sums += [rewards, whole.step(actions)[1]]
            assert (dones == whole.batch.dones).all()
            assert (env.batch.states["scores"] == whole.batch.states["scores"]).all()
        # Some thirty deals a lane: luck evens out, to less than the show of two of them.
        assert abs((sums[0] - sums[1]).mean()) < 20
        assert np.corrcoef(sums)[0, 1] > 0.5


def test_the_play_alone_has_no_luck_to_leave_out() -> None:
    envs = [pegging_v0.vector_env(64, reward=one) for one in ("expected", "points")]
    infos = [env.reset(seed=1)[1] for env in envs]
    rng = np.random.default_rng(1)
    for _ in range(50):
        actions = sample_legal(infos[0]["action_mask"], rng)
        steps = [env.step(actions) for env in envs]
        assert (steps[0][1] == steps[1][1]).all()
        infos[0] = steps[0][4]


def test_table_top_refuses_it_and_says_why() -> None:
    with pytest.raises(ValueError, match="reward='expected' is not for table_top"):
        table_top_v0.vector_env(2, reward="expected")


def test_copies_and_pickles_go_on_alike() -> None:
    env = six_card_v0.gym_env(opponent="greedy", episode="deal", reward="expected", features=True)
    _, info = env.reset(seed=3)
    others = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
    over = False
    while not over:
        action = int(info["action_mask"].argmax())
        observation, reward, over, _, info = env.step(action)
        for other in others:
            again = other.step(action)
            assert (again[0] == observation).all()
            assert again[1] == reward
