"""Every agent: one view gives one action, probabilities sum to 1, and no view is refused."""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar

import numpy as np
import pytest
from crib_agents import PhasedAgent, PolicyNetAgent, ScoredAgent
from crib_agents.adapters.agent_wrappers import Timed
from crib_agents.adapters.plain import PlainAgent
from crib_agents.bot import process_agent
from crib_agents.policy_net import header

from crib_env import Agent, Game, agent_names, encode, find_agent, six_card_v0
from crib_env.engine.family import find_family
from crib_env.engine.hands.encode import ACTIONS
from crib_env.policy import Act, Actions, CompiledAgent, Views, action_probabilities
from learned_nets import views_of
from two_hand_views import legal_cards

BOTH = ("hoyle", "five_card", "table_top")
TWO_HAND = ("hoyle", "five_card")


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def view_of(game: str, moves: int = 0) -> Any:
    played = Game(game, seed=3)
    for _ in range(moves):
        played.step(played.legal_actions[0])
    return played.view(played.seat)


def lowest(view: Any, rng: np.random.Generator) -> int:
    return int(np.flatnonzero(encode(view)[1][0])[0])


class Plain(PlainAgent):
    def choose_discard(self, hand: Any, is_dealer: Any, scores: Any) -> Any:
        return hand[:2]

    def choose_card(self, hand: Any, pile: Any, count: Any, *others: Any) -> Any:
        return next(c for c in hand if count + min(10, "A23456789TJQK".index(c[0]) + 1) <= 31)


def trained() -> PolicyNetAgent:
    family, drawn = find_family("two_hand"), rng()
    layers = [(drawn.normal(size=(52, family.obs_size)).astype(np.float32), np.zeros(52, dtype=np.float32))]
    return PolicyNetAgent(layers, header("six_card_v0", "hoyle", family))


def of_torch() -> Agent:
    import torch

    return find_agent(torch.nn.Linear(425, 52))


def of_sb3() -> Agent:
    import crib_agents
    import sb3_contrib as contrib

    model = contrib.MaskablePPO("MlpPolicy", six_card_v0.sb3_env(2, opponent="random"))
    made: Agent = crib_agents.from_sb3(model)
    return made


ADAPTERS = {
    "PhasedAgent": (lambda: PhasedAgent("random", "greedy"), TWO_HAND),
    "PolicyNetAgent": (trained, ("hoyle",)),
    "ScoredAgent": (lambda: ScoredAgent(lambda obs, masks: masks, "scored"), BOTH),
    "from_torch": (of_torch, TWO_HAND),
    "from_sb3": (of_sb3, ("hoyle",)),
    "PlainAgent": (Plain, TWO_HAND),
    "CommandAgent": (lambda: process_agent("greedy"), BOTH),
    "Timed": (lambda: Timed(find_agent("greedy")), BOTH),
    "function": (lambda: find_agent(lowest), BOTH),
}
AGENTS = {name: (lambda name=name: find_agent(name), BOTH) for name in agent_names()} | ADAPTERS
for one in ("equilibrium", "learned_mixed"):
    AGENTS[one] = AGENTS[one][0], TWO_HAND
every_agent = pytest.mark.parametrize("made", AGENTS)


@cache
def agent_of(made: str) -> Any:
    """Return an agent, made once: some take a process or a model."""
    return AGENTS[made][0]()


@every_agent
def test_act_takes_one_view_none_and_read_only_ones(made: str) -> None:
    """Read-only arrays come from Ray and `numpy.broadcast_to`."""
    agent, games = agent_of(made), AGENTS[made][1]
    for game in games:
        for moves in (0, 5):
            view = view_of(game, moves)
            views = np.array([view])
            (expected,) = agent.act(views, rng())
            views.setflags(write=False)
            assert agent.act(views, rng()) == expected
            none = agent.act(views[:0], rng())
            assert (none.shape, none.dtype) == ((0,), np.int64)
            for one in (view, np.array(view)):
                action = agent.act(one, rng())
                assert action.shape == ()
                assert action.dtype == np.int64
                assert action == expected
            assert encode(view)[1][0, action]


@every_agent
def test_act_rejects_other_objects_and_views_of_other_games(made: str) -> None:
    agent, view = agent_of(made), view_of("hoyle")
    for given in ([view], np.zeros(425), None, np.array([[view]]), {"observation": 1}):
        with pytest.raises(ValueError, match=r"views are records .* env\.unwrapped\.view\(\)"):
            agent.act(given, rng())
    others = [np.zeros(2, dtype=[("cell", np.int64)])]
    if "table_top" not in AGENTS[made][1]:
        others.append(np.array([view_of("table_top")]))
    for views in others:
        with pytest.raises((ValueError, RuntimeError), match=r"fields|alone|number|shape|not play"):
            agent.act(views, rng())


def by_weight(view: Any, rng: Any, table: Any, weights: Any) -> Any:
    return view["hand"][int(weights[0])]


class ByWeight(CompiledAgent):
    name = "by_weight"
    acts: ClassVar[dict[str, Act]] = {"two_hand": by_weight}


def test_compiled_agent_takes_read_only_weights() -> None:
    weights, view = np.ones(1), view_of("hoyle")
    weights.setflags(write=False)
    assert ByWeight(weights).act(view, rng()) == view["hand"][1]


@pytest.mark.parametrize("made", ["random", "equilibrium", "learned_mixed", "PhasedAgent", "from_torch", "greedy"])
def test_action_probabilities_single_view_gives_one_row(made: str) -> None:
    agent, view = agent_of(made), view_of("hoyle")
    (expected,) = action_probabilities(agent, np.array([view]), 52, rng())
    found = action_probabilities(agent, view, 52, rng())  # type: ignore[arg-type]
    assert found.shape == (52,)
    assert np.array_equal(found, expected)
    if made != "greedy":
        assert np.array_equal(agent.action_probabilities(view), expected)
        none = agent.action_probabilities(np.array([view])[:0])
        assert none.shape == (0, 52)


def test_action_values_single_view_gives_one_row() -> None:
    view = view_of("hoyle")
    agent: Any = find_agent("learned")
    assert agent.action_values(view).shape == (52,)


def test_act_rejects_a_seed_as_generator() -> None:
    for given in (1, None, np.random.RandomState(1)):
        with pytest.raises(TypeError, match=r"rng must be a numpy\.random\.Generator.*default_rng"):
            find_agent("random").act(view_of("hoyle"), given)  # type: ignore[arg-type]


# --- action_probabilities -------------------------------------------------------------------------


def test_action_probabilities_of_random_are_uniform() -> None:
    views = views_of("five_card", 40, 3)
    probabilities = action_probabilities(find_agent("random"), views, ACTIONS, rng())
    for view, row in zip(views, probabilities, strict=True):
        legal = legal_cards(view)
        assert set(np.nonzero(row)[0]) == set(legal)
        assert row[legal] == pytest.approx(1 / len(legal))


def test_action_probabilities_of_deterministic_agent_call_act() -> None:
    views = views_of("five_card", 40, 3, agent="greedy")
    greedy = find_agent("greedy")
    probabilities = action_probabilities(greedy, views, ACTIONS, rng())
    assert (probabilities.sum(axis=1) == 1).all()
    assert (probabilities.argmax(axis=1) == greedy.act(views, rng())).all()


def test_action_probabilities_of_agent_of_two_come_from_its_part() -> None:
    views = views_of("five_card", 40, 3)
    both = PhasedAgent(discard="greedy", pegging="random")
    probabilities = action_probabilities(both, views, ACTIONS, rng())
    discarding = views["phase"] == 0
    assert set(probabilities[discarding].max(axis=1)) == {1.0}
    theirs = find_agent("random")
    assert (probabilities[~discarding] == theirs.action_probabilities(views[~discarding])).all()  # type: ignore[attr-defined]


def test_action_probabilities_rejects_random_agent_without_them() -> None:
    class Drawing:
        name = "drawing"
        draws = True

        def act(self, views: Views, rng: np.random.Generator) -> Actions:
            raise AssertionError("it is not asked")

    with pytest.raises(ValueError, match="'drawing' draws its choices"):
        action_probabilities(Drawing(), views_of("five_card", 40, 3, agent="greedy"), ACTIONS, rng())
