"""Small random nets of the learned agent and of a policy, and their inputs."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from crib_agents.files import HEADER
from crib_agents.learned.weights import Weights, find_learned
from crib_agents.policy_net import Layers, PolicyNetAgent, header
from safetensors.numpy import load_file, save_file

from crib_env import find_agent
from crib_env.batch import GameBatch
from crib_env.encoding import ObservationLayout, layout_of
from crib_env.engine.family import find_family
from crib_env.rules import PRESETS, Rules
from reference import learned as slow_nets
from reference import learned_table_top as slow

TWO_HAND = find_family("two_hand")
HIDDEN = 3


def drawn_weights(rules: Rules, seed: int = 1) -> Weights:
    rng = np.random.default_rng(seed)
    nets = {}
    for name, net in find_learned(rules.family).nets.items():
        sizes = (net.inputs, 24, 10, net.outputs)
        nets[name] = [
            (rng.normal(size=(n, m)).astype(np.float32) / np.float32(np.sqrt(m)), rng.normal(size=n).astype(np.float32))
            for m, n in pairwise(sizes)
        ]
    tables = {
        name: rng.normal(size=shape).astype(np.float32) for name, shape in find_learned(rules.family).tables.items()
    }
    return Weights(rules, nets, "a test", tables)


def layers(inputs: int = TWO_HAND.obs_size, actions: int = TWO_HAND.actions) -> Layers:
    """Return a small network with random weights."""
    rng = np.random.default_rng(1)
    sizes = (inputs, HIDDEN, actions)
    return [(rng.normal(size=(n, m)).astype(np.float32), np.zeros(n, dtype=np.float32)) for m, n in pairwise(sizes)]


def policy(rules: str | Rules = "hoyle", environment: str = "six_card_v0") -> PolicyNetAgent:
    family = find_family((PRESETS[rules] if isinstance(rules, str) else rules).family)
    about = header(environment, rules, family)
    return PolicyNetAgent(layers(family.obs_size, family.actions), about)


def saved_but_for(nets: Weights | PolicyNetAgent, path: Path, about: dict[str, Any], tensors: dict[str, Any]) -> Path:
    """Save nets with header entries and tensors changed; a tensor of None is left out."""
    nets.save(path)
    held = {**load_file(path), **tensors}
    sound = nets.header() if isinstance(nets, Weights) else nets.about
    save_file(
        {name: array for name, array in held.items() if array is not None},
        path,
        metadata={HEADER: json.dumps({**sound, **about})},
    )
    return path


def random_network(
    seed: int, features: bool = False, *, blind: bool = False, suits: str = "canonical"
) -> PolicyNetAgent:
    """Return a network for five-card deals with random weights, which mixes nearly everywhere.

    Args:
        seed: of the weights.
        features: see `DealBatch`.
        blind: it sees neither its discards nor the suits of the starter and the pile, whose
            canonical numbers depend on the discards.
        suits: of the games that it plays.
    """
    import torch
    from crib_training.learn.deal_batch import DealBatch
    from crib_training.learn.deal_learners import Policy

    torch.manual_seed(seed)
    rules = PRESETS["five_card"]
    policy = Policy(DealBatch(rules, 1, seed, features, suits), (16, 16))
    with torch.no_grad():
        for weights in policy.parameters():
            weights.normal_(0, 0.4)
        if blind:
            hide_discards(policy.net, layout_of(TWO_HAND, features))
    settings: Any = SimpleNamespace(env="five_card_v0", rules=rules, features=features, suits=suits)
    return policy.agent("random network", settings)


OF_UNSEEN = ("share", "reply", "risk", "answer", "fits", "mean_reply", "mean_answer", "scoring")


def hide_discards(net: Any, layout: ObservationLayout) -> None:
    """Set weights so that a network ignores all inputs that depend on its seat's discards."""
    for name, part in layout.items():
        at = slice(part.start - layout.first, part.stop - layout.first)
        if name == "rows" or at.start < 0:
            continue
        weight = net.encode.weight if layout.rows[0] else net[0].weight.T  # a view, by output
        of_part = weight[:, at]
        if name in ("discarded", "discarded_ranks", "unseen_ranks"):
            of_part[:] = 0
        elif name == "starter":
            of_part.view(16, 13, 4)[:] = of_part.reshape(16, 13, 4)[:, :, :1].clone()
        elif name == "pile":
            of_part.view(16, 8, 19)[:, :, 13:17] = 0
    for name in OF_UNSEEN if layout.rows[0] else ():
        part = layout.row[name]
        for layer in (net.of_row, net.sure):
            layer.weight[:, part.start - 1 : part.stop - 1] = 0


def views_of(
    rules: str | Rules, n: int, seed: int, players: int = 2, episode: str = "deal", agent: str = "random"
) -> np.ndarray[Any, Any]:
    """Return the views of all decisions of n episodes as an agent plays them against itself."""
    games = GameBatch(rules, n, players=players, episode=episode, seed=seed)
    games.reset()
    rng = np.random.default_rng(seed)
    found = []
    running = games.running()
    while len(running):
        found.append(games.views(running))
        games.ask(find_agent(agent), running, rng)
        running = games.running(running)
    return np.concatenate(found)


def choices_differ(one: Any, other: Any, views: np.ndarray[Any, Any]) -> float:
    """Return the greatest loss of the choices of ``one`` by the values of ``other``.

    Equal cards have equal values up to rounding, and processors round differently.
    """
    values = other.action_values(views)
    rows, chosen = np.arange(len(views)), one.act(views, np.random.default_rng(0))
    assert (one.action_probabilities(views)[rows, chosen] == 1.0).all()
    return float((np.nanmax(values, axis=1) - values[rows, chosen]).max())


def slow_crib(view: Any, weights: Weights, cards: list[int]) -> float:
    points = slow.points_of(cards, int(view["starter"]), int(view["crib_flush_size"]))
    seen = slow_nets.dense(slow.crib_seen(view, cards), slow.place_in(slow.CRIB_PLACES), 108)
    return points + slow_nets.forward(weights.nets["crib"], seen)[0]
