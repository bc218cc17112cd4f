"""Agents from models of Stable-Baselines3, PyTorch and ONNX, also where a name or path is given."""

from __future__ import annotations

import warnings
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import gymnasium
import numpy as np
import pytest
import stable_baselines3
import torch
from crib_agents import PhasedAgent, from_onnx, from_sb3, from_torch
from crib_agents.loading import TakesAgents, load_agent, trusted
from crib_training import COMMANDS
from crib_training.evaluation import evaluate
from crib_training.methods import METHODS
from sb3_contrib import QRDQN, MaskablePPO
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

import learned_nets
from checkout import ROOT
from crib_env import Agent, Game, Rules, encode, find_agent, five_card_v0, six_card_v0, table_top_v0
from onnx_files import write_layer

torch.set_num_threads(1)


def views_of(rules: str = "hoyle", n: int = 40) -> Any:
    """Return views of seats to move, each somewhere in a deal."""
    return learned_nets.views_of(rules, 6, 1)[:n]


def assert_legal(agent: Agent, views: Any) -> None:
    _, masks = encode(views)
    actions = agent.act(views, np.random.default_rng(1))
    assert actions.shape == (len(views),)
    assert masks[np.arange(len(views)), actions].all()


def gym_env(**keywords: Any) -> Any:
    return six_card_v0.gym_env(opponent="random", episode="deal", **keywords)


MADE = {
    "MaskablePPO": lambda: MaskablePPO("MlpPolicy", six_card_v0.sb3_env(2, opponent="random")),
    "MaskablePPO with features": lambda: MaskablePPO(
        "MlpPolicy", six_card_v0.sb3_env(2, opponent="random", features=True)
    ),
    "PPO": lambda: stable_baselines3.PPO("MlpPolicy", gym_env()),
    "PPO of the mask too": lambda: stable_baselines3.PPO("MultiInputPolicy", gym_env(mask_in_observation=True)),
    "DQN": lambda: stable_baselines3.DQN("MlpPolicy", gym_env(), buffer_size=10),
    "QRDQN": lambda: QRDQN("MlpPolicy", gym_env(), buffer_size=10),
}


@pytest.mark.parametrize("kind", MADE)
def test_model_agent_plays_as_in_training_also_from_its_file(kind: str, tmp_path: Path) -> None:
    model = MADE[kind]()
    model.save(tmp_path / "mine.zip")
    views = views_of()
    given = six_card_v0.gym_env(opponent=model, seat=1).opponent
    agents = from_sb3(model), given, from_sb3(tmp_path / "mine.zip", trust=True)
    assert [agent.name for agent in agents] == [type(model).__name__] * 2 + ["mine"]
    chosen = [agent.act(views, np.random.default_rng(1)) for agent in agents]
    assert (np.array(chosen) == chosen[0]).all()
    for agent in agents:
        assert_legal(agent, views)
    if kind.startswith("MaskablePPO"):
        observations, masks = encode(views, "features" in kind)
        theirs, _ = model.predict(observations, action_masks=masks == 1, deterministic=True)
        assert np.array_equal(chosen[0], theirs)


def test_model_agent_can_sample_and_gives_probabilities() -> None:
    agent = from_sb3(MADE["MaskablePPO"](), sample=True)
    views = np.repeat(views_of(n=1), 2000)
    _, masks = encode(views[:1])
    probabilities = agent.action_probabilities(views[:1])[0]
    assert probabilities.sum() == pytest.approx(1.0)
    assert not probabilities[masks[0] == 0].any()
    drawn = np.bincount(agent.act(views, np.random.default_rng(1)), minlength=52) / 2000
    assert np.abs(drawn - probabilities).max() < 0.05


@pytest.mark.parametrize("mask", [False, True])
def test_model_agent_states_its_game_and_rejects_others(mask: bool, tmp_path: Path) -> None:
    """The shape cannot tell: observations of six-card and five-card cribbage have the same."""
    policy = "MultiInputPolicy" if mask else "MlpPolicy"
    env = VecNormalize(five_card_v0.sb3_env(2, mask_in_observation=mask), norm_obs=False)
    MaskablePPO(policy, env, n_steps=8, batch_size=8).save(tmp_path / "five.zip")
    agent = from_sb3(tmp_path / "five.zip", trust=True)
    assert_legal(agent, views_of("five_card"))
    with pytest.raises(ValueError, match=r"five does not play where target is 121 .*: it plays five_card"):
        agent.act(views_of("hoyle"), np.random.default_rng(1))
    with pytest.raises(ValueError, match="it plays five_card"):
        agent.action_probabilities(views_of("hoyle"))
    with pytest.raises(ValueError, match="five does not play table_top or table_top_ship: "):
        agent.act(views_of("table_top", 2), np.random.default_rng(1))
    house = Game(Rules.preset("five_card", flush_size=4), seed=1)
    with pytest.raises(ValueError, match=r"where flush_size is 4: it plays five_card \(flush_size 3\)"):
        agent.act(np.array([house.view(house.seat)]), np.random.default_rng(1))


def test_model_agent_without_game_warns() -> None:
    model = MADE["PPO"]()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        from_sb3(model)
    model.observation_space = gymnasium.spaces.Box(0, 1, (425,), np.uint8)
    with pytest.warns(UserWarning, match="'PPO' does not say which game it was trained for"):
        agent = from_sb3(model)
    for rules in ("hoyle", "five_card"):
        assert_legal(agent, views_of(rules))


def test_model_agent_rejects_damaged_sb3_file_by_name(tmp_path: Path) -> None:
    """Cut, overwritten, and without its parts."""
    path, less = tmp_path / "mine.zip", tmp_path / "less.zip"
    PPO("MlpPolicy", six_card_v0.sb3_env(1), n_steps=2, batch_size=2).save(path)
    data = path.read_bytes()
    with ZipFile(path) as whole, ZipFile(less, "w") as few:
        few.writestr("data", whole.read("data"))
    at = len(data) // 2
    for damaged in (data[:at] + data[at + 60 :], data[:at] + bytes(30) + data[at + 30 :], less.read_bytes()):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"^[^\n]*$") as refused:
            from_sb3(path, trust=True)
        assert str(refused.value).startswith(str(path))


def test_model_agent_does_not_read_untrusted_files(tmp_path: Path) -> None:
    path = tmp_path / "mine.zip"
    path.write_bytes(b"anything")
    name = str(path)
    for ask in (
        lambda: from_sb3(path),
        lambda: find_agent(name),
        lambda: load_agent(name),
        lambda: six_card_v0.gym_env(opponent=name),
    ):
        with pytest.raises(ValueError, match=r"pickle.*--trust.*trust=True"):
            ask()
    with pytest.raises(ValueError, match="not a model saved by Stable-Baselines3"):
        from_sb3(path, trust=True)
    with pytest.raises(ValueError, match="there is no file"):
        find_agent(f"trust:{tmp_path}/none.zip")


def test_network_agent_takes_torch_function_or_module() -> None:
    def highest_card(observations: Any, masks: Any) -> Any:
        assert observations.dtype == torch.float32
        assert masks.dtype == torch.bool
        return torch.arange(52.0).expand(len(observations), 52)

    views = views_of()
    agent = from_torch(highest_card)
    assert agent.name == "highest_card"
    _, masks = encode(views)
    assert np.array_equal(agent.act(views, np.random.default_rng(1)), 51 - masks[:, ::-1].argmax(axis=1))

    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(425, 52)

        def forward(self, observations: Any, masks: Any) -> Any:
            assert not self.training
            return self.layer(observations)

    assert_legal(from_torch(Net(), name="net"), views)
    assert_legal(from_torch(highest_card, features=True), views)
    with pytest.raises(ValueError, match=r"52 actions .* \(40, 52\) .* \(40,\)"):
        from_torch(lambda observations, masks: observations[:, 0]).act(views, None)
    with pytest.raises(ValueError, match="not a number"):
        from_torch(lambda observations, masks: masks * float("nan")).act(views, None)


@pytest.mark.parametrize("sample", [False, True])
def test_network_agent_rejects_infinite_best_scores(sample: bool) -> None:
    """`act` and `action_probabilities` answer alike, or raise alike."""
    views, rng = views_of(), np.random.default_rng(1)
    _, masks = encode(views)
    lowest = masks.argmax(axis=1)

    def scores(value: float, others: float) -> Any:
        found = np.full(masks.shape, others)
        found[np.arange(len(views)), lowest] = value
        return from_torch(lambda observations: torch.as_tensor(found), name="mine", sample=sample)

    for agent in (scores(np.inf, 0.0), scores(np.inf, np.inf), scores(-np.inf, -np.inf)):
        with pytest.raises(ValueError, match="some scores of mine are infinite"):
            agent.act(views, rng)
        with pytest.raises(ValueError, match="some scores of mine are infinite"):
            agent.action_probabilities(views)
    certain = scores(1.0, -np.inf)  # as of a network with its own masking
    assert np.array_equal(certain.act(views, rng), lowest)
    assert (certain.action_probabilities(views)[np.arange(len(views)), lowest] == 1).all()


class Recorded(torch.nn.Module):
    """A network that records its inputs, in training mode."""

    def __init__(self, size: int = 425, actions: int = 52) -> None:
        super().__init__()
        self.layer = torch.nn.Sequential(torch.nn.Dropout(0.5), torch.nn.Linear(size, actions))
        self.seen: list[Any] = []

    def score(self, *given: Any) -> Any:
        assert not self.layer[0].training
        self.seen = [one.dtype for one in given]
        return self.layer(given[0])


def recorded(name: str, forward: Any) -> type[Recorded]:
    """Return a network with the forward method given."""
    return type(name, (Recorded,), {"forward": forward})


OfObservations = recorded("OfObservations", lambda net, observations: net.score(observations))
OfMasksToo = recorded("OfMasksToo", lambda net, observations, masks: net.score(observations, masks))
OfMasksIfGiven = recorded(
    "OfMasksIfGiven", lambda net, observations, action_mask=None: net.score(observations, action_mask)
)
OfActionsIfGiven = recorded(
    "OfActionsIfGiven",
    lambda net, observations, action=None: net.score(*(one for one in (observations, action) if one is not None)),
)
OfAnything = recorded("OfAnything", lambda net, *given: net.score(*given))
OfThree = recorded("OfThree", lambda net, observations, masks, state: None)

ONE, TWO = [torch.float32], [torch.float32, torch.bool]


@pytest.mark.parametrize(
    ("kind", "given"), [(OfObservations, ONE), (OfMasksToo, TWO), (OfMasksIfGiven, TWO), (OfActionsIfGiven, ONE)]
)
def test_network_agent_is_an_opponent_and_gets_its_forward_arguments(kind: type[Recorded], given: list[Any]) -> None:
    net = kind()
    net.layer[1].eval()
    before = [part.training for part in net.modules()]
    env = gymnasium.make("crib_env/SixCard-v0", opponent=net, seat=1)
    env.reset(seed=1, options={"dealer": 1})
    assert net.seen == given
    views = views_of()
    assert np.array_equal(
        find_agent(net).act(views, np.random.default_rng(1)), from_torch(net).act(views, np.random.default_rng(1))
    )
    assert [part.training for part in net.modules()] == before  # its training modes are unchanged
    assert PhasedAgent(net, "greedy").discard.name == kind.__name__


def test_network_is_evaluated_by_its_name() -> None:
    result = evaluate.evaluate(six_card_v0.maker, "hoyle", OfObservations(), "greedy", 2, seed=1)
    assert result["first"] == "OfObservations"


def test_network_agent_keyword_sets_passing_of_masks() -> None:
    net = OfAnything()
    with pytest.raises(TypeError, match=r"OfAnything does not say whether.*masks=True"):
        find_agent(net)
    for masks, given in ((True, TWO), (False, ONE)):
        from_torch(net, masks=masks).act(views_of(n=2), np.random.default_rng(1))
        assert net.seen == given
    with pytest.raises(TypeError, match=r"\(observations, masks\); OfThree takes .*state"):
        find_agent(OfThree())


def test_network_agent_shape_error_names_both_shapes() -> None:
    env = six_card_v0.gym_env(opponent=OfObservations(100), seat=1)
    with pytest.raises(ValueError, match=r"'OfObservations' failed.*\(1, 425\).*52 actions.*1x425 and 100x52"):
        env.reset(seed=1, options={"dealer": 1})
    env = six_card_v0.gym_env(opponent=OfObservations(425, 51), seat=1)
    with pytest.raises(ValueError, match=r"'OfObservations' failed.*\(1, 52\).*\(1, 51\)"):
        env.reset(seed=1, options={"dealer": 1})
    pair = from_torch(lambda observations: (observations, None))
    with pytest.raises(ValueError, match=r"returned a tuple.*net\(observations\)\[0\]"):
        pair.act(views_of(n=2), np.random.default_rng(1))


@pytest.mark.parametrize("batch", [None, 1])
def test_onnx_file_is_an_agent(batch: int | None, tmp_path: Path) -> None:
    weights = np.random.default_rng(1).normal(size=(425, 52)).astype(np.float32)
    path = tmp_path / "layer.onnx"
    write_layer(path, weights, batch)
    views = views_of()
    observations, masks = encode(views)
    expected = np.where(masks == 1, observations @ weights, -np.inf).argmax(axis=1)
    agent = from_onnx(path)
    assert agent.name == "layer"
    assert np.array_equal(agent.act(views, np.random.default_rng(1)), expected)
    assert np.array_equal(load_agent(str(path)).act(views, np.random.default_rng(1)), expected)
    path.write_bytes(b"no network")
    with pytest.raises(ValueError, match=r"layer\.onnx is not a network"):
        from_onnx(path)


def test_opponent_may_be_a_path_everywhere(tmp_path: Path) -> None:
    model = MADE["MaskablePPO"]()
    path = f"{tmp_path}/mine.zip"
    model.save(path)
    opponent = f"trust:{path}"
    env = gymnasium.make("crib_env/SixCard-v0", opponent=opponent)
    _, info = env.reset(seed=1)
    env.step(int(info["action_mask"].argmax()))
    assert env.unwrapped.batch.opponents[0].name == "mine"
    six_card_v0.vector_env(2, opponent=[(opponent, 1), ("greedy", 1)]).reset(seed=1)
    envs = make_vec_env(lambda: gym_env(), 1)
    envs.env_method("set_opponent", opponent)
    assert load_agent(f"{opponent}/greedy").act(views_of(), np.random.default_rng(1)).shape == (40,)
    weights = "agents/crib_agents/data/learned/table_top.safetensors"
    env = table_top_v0.gym_env(opponent=str(ROOT / weights))
    assert env.unwrapped.batch.opponents[0].name == "table_top"


def test_trust_prefix_is_for_models_only() -> None:
    assert trusted("a/b.zip", True) == "trust:a/b.zip"
    assert trusted("process:a/b.zip", True) == "process:trust:a/b.zip"
    assert trusted("a+b.zip/greedy", True) == "trust:a+b.zip/greedy"
    assert trusted("a.onnx", True) == "a.onnx"
    assert trusted("a.zip", False) == "a.zip"
    assert trusted("trust:a.zip", True) == "trust:a.zip"
    for name in ("command:./bot data.zip", "text:my.zip", "process:command:./bot data.zip"):
        assert trusted(name, True) == name


def test_from_sb3_rejects_a_model_of_scalar_observations() -> None:
    model = PPO("MlpPolicy", DummyVecEnv([lambda: gymnasium.make("FrozenLake-v1")]))
    with pytest.raises(ValueError, match="must read one observation"):
        from_sb3(model)


def test_trust_prefix_works_in_every_command_with_agents() -> None:
    names = {"agent", "agents", "first", "second", "opponent", "partner", "fallback"}
    named = [COMMANDS[one][0].partition(":")[0] for one in COMMANDS if one != "warmup"]  # no models
    modules = [import_module(module) for module in named]
    settings = [one.Settings for one in modules if hasattr(one, "Settings")]
    settings += [import_module(one).Settings for one in METHODS.values()]
    taking = [one for one in settings if names & {field.name for field in fields(one)}]
    assert len(taking) >= 10
    assert [one for one in taking if not issubclass(one, TakesAgents)] == []
