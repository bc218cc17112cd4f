"""The agent `equilibrium`: complete, drawing by the chances it states; files that do not fit."""

from __future__ import annotations

import copy
import json
import pickle
import zlib
from pathlib import Path

import numpy as np
import pytest
from crib_agents.equilibrium import Equilibrium, Solved
from crib_agents.equilibrium.agent import SHIPPED, shipped
from crib_agents.files import HEADER, read_header
from crib_agents.loading import load_agent
from safetensors.numpy import save

from crib_env.engine.family import find_family
from crib_env.game import Game
from crib_env.policy import MixedPolicy, find_agent
from crib_env.rules import TwoHandRules


@pytest.fixture(scope="module")
def agent() -> Equilibrium:
    return Equilibrium()


def some_views(deals: int, seed: int, preset: str = "five_card") -> np.ndarray:
    """Return views of random play: positions that the strategy itself would not come to as well."""
    rng = np.random.default_rng(seed)
    game = Game(preset, episode="deal", seed=seed)
    views = []
    for _ in range(deals):
        game.reset()
        while not game.over:
            views.append(game.view(game.seat).copy())
            game.step(int(rng.choice(game.legal_actions)))
    return np.array(views, dtype=views[0].dtype)


@pytest.mark.parametrize("preset", ["five_card", "hoyle"])
def test_it_has_a_choice_in_every_position(agent: Equilibrium, preset: str) -> None:
    views = some_views(300, 1, preset)
    probabilities = agent.action_probabilities(views)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    for view, row in zip(views, probabilities, strict=True):
        legal = {int(c) for i, c in enumerate(view["hand"]) if view["legal"] >> i & 1}
        assert set(np.flatnonzero(row).tolist()) <= legal
    assert isinstance(agent, MixedPolicy)


def test_it_mixes_and_draws_by_its_chances(agent: Equilibrium) -> None:
    views = some_views(400, 2)
    probabilities = agent.action_probabilities(views)
    mixed = views[(probabilities.max(axis=1) < 0.8) & (views["phase"] == 1)][:5]
    assert len(mixed) == 5
    expected = agent.action_probabilities(mixed)
    n = 4000
    drawn = agent.act(np.repeat(mixed, n), np.random.default_rng(3)).reshape(5, n)
    for row, actions in zip(expected, drawn, strict=True):
        share = np.bincount(actions, minlength=52) / n
        np.testing.assert_allclose(share, row, atol=4.5 * 0.5 / n**0.5)


def test_alone_it_plays_what_makes_most(agent: Equilibrium) -> None:
    """F5: pone is out of cards after a go; of 2 and A on 26 both fit, and the order matters."""
    views = some_views(1500, 4)
    alone = views[(views["held_n"][:, 1] == 0) & (views["hand_n"] > 1)]
    probabilities = agent.action_probabilities(alone)
    assert set(np.unique(probabilities)) <= {0.0, 1.0}


def test_both_cards_laid_away_are_of_one_split(agent: Equilibrium) -> None:
    """The second card goes with the first: together they are drawn as the strategy has it."""
    game = Game("five_card", episode="deal", seed=9)
    strategy = agent.solved[0].strategy
    for seed in range(60):
        game.reset(seed=seed)
        for seat in (0, 1):
            pair = 1.0
            for _ in range(2):
                view = np.array([game.view(game.seat)])
                probabilities = agent.action_probabilities(view)[0]
                card = int(probabilities.argmax())
                pair *= probabilities[card]
                game.step(card)
            assert pair > 0.45, seat
    assert strategy.discard.max(axis=2).min() > 0


def test_it_plays_inside_the_batch() -> None:
    """The environment's own lanes draw for it, and the strategy does not lose to a greedy one."""
    from crib_training.evaluation.duplicate import estimate, play_pairs

    rules = TwoHandRules.preset("five_card")
    first, second = find_agent("equilibrium"), find_agent("greedy")
    deals = play_pairs(rules, "deal", first, second, 400, 5, players=2)
    lead = (deals.points[:, :, 0] - deals.points[:, :, 1]).sum(axis=2).mean(axis=1)
    assert estimate(lead).mean > 0.2


def test_where_it_has_no_strategy_it_says_so(agent: Equilibrium) -> None:
    views = np.zeros(1, dtype=find_family("table_top").view)
    with pytest.raises(
        ValueError, match="equilibrium does not play table_top or table_top_ship: it plays"
    ):
        agent.act(views, np.random.default_rng(1))
    rules = TwoHandRules.preset("five_card", flush_size=4)
    game = Game(rules, episode="deal", seed=1)
    view = np.array([game.view(game.seat)])
    with pytest.raises(ValueError, match=r"does not play where flush_size is 4: .*crib solve"):
        agent.action_probabilities(view)


def test_a_file_comes_back_as_it_was(tmp_path: Path) -> None:
    solved = shipped()[0]
    path = tmp_path / "mine.safetensors"
    path.write_bytes(solved.to_bytes())
    again = Solved.load(path)
    np.testing.assert_array_equal(again.strategy.play, solved.strategy.play)
    np.testing.assert_array_equal(again.strategy.discard, solved.strategy.discard)
    assert load_agent(str(path)).name == "mine"


def test_what_is_pickled_is_small(agent: Equilibrium, tmp_path: Path) -> None:
    """An agent is sent to every worker: of what ships its name alone, else as much as its file."""
    assert len(pickle.dumps(agent)) < 1_000
    assert pickle.loads(pickle.dumps(agent)).weights is agent.weights
    path = tmp_path / "mine.safetensors"
    path.write_bytes(next(one for one in shipped() if one.rules == "five_card").to_bytes())
    mine = Equilibrium.load(path)
    sent = pickle.dumps(mine)
    assert len(sent) < path.stat().st_size + 2_000 < mine.weights.nbytes / 4
    path.unlink()
    again = pickle.loads(sent)
    assert (again.name, again.solved[0].header()) == ("mine", mine.solved[0].header())
    np.testing.assert_array_equal(again.weights, mine.weights)
    assert copy.deepcopy(mine).weights is mine.weights


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"version": 99}, "expected the format"),
        ({"shapes": {"discard": [1], "pegging": [1]}}, "expected the table 'discard'"),
        ({"rules_fields": {"single_count": True}}, "lacks 'dealt'"),
    ],
)
def test_a_file_that_does_not_fit_is_refused(
    tmp_path: Path, change: dict[str, object], why: str
) -> None:
    about, _ = read_header(next(SHIPPED.glob("five_card.safetensors")))
    about.update(change)
    one = np.frombuffer(zlib.compress(bytes(1)), dtype=np.uint8)
    empty = {"discard": one, "pegging": one}
    path = tmp_path / "bad.safetensors"
    path.write_bytes(save(empty, metadata={HEADER: json.dumps(about)}))
    with pytest.raises(ValueError, match=why):
        Solved.load(path)
