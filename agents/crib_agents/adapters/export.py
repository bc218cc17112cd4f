"""Network agents as ONNX files, which play without the library that trained them."""

from __future__ import annotations

import io
import json
import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np

from crib_agents.adapters.learned import PolicyNetAgent, header, rules_of_header
from crib_agents.adapters.nets import ABOUT, TorchScore, read_onnx, trial_views
from crib_agents.adapters.sb3 import MASKS, SB3Score
from crib_agents.adapters.scored import ScoredAgent
from crib_agents.checks import one_line
from crib_agents.files import write_whole
from crib_env.engine.family import find_family
from crib_env.errors import comes_with
from crib_env.policy import Opponent, find_agent

CLOSE = 1e-3  # of scores, absolute or relative
OPSET = 18  # what PyTorch writes without translating, and what onnxruntime 1.20 reads
WAYS = (
    "what can be exported is a .safetensors policy of `crib train` by any method but "
    "deep_monte_carlo (its networks read features that are computed in compiled code), a model of "
    "Stable-Baselines3 and a PyTorch module"
)


def to_onnx(agent: Opponent | Any, path: str | Path) -> None:
    """Write an agent's network as an ``.onnx`` file; it needs the extras ``train`` and ``onnx``.

    The file's first input is ``observations``, float32[B, size]; a second is ``masks``,
    bool[B, actions], if the network takes them. Its output is ``scores``, [B, actions]: logits or
    values, higher is better. B is free. The file also holds the rules, the observation layout, the
    features, the suits and whether the agent samples. `from_onnx` reads all of it.

    Args:
        agent: `from_torch` of a module with ``rules=``, `from_sb3` of a model, a `PolicyNetAgent`,
            or the path of a file that one of them is read from.
        path: of the file to write; its folder is made.

    Raises:
        ValueError: the agent has no such network, names no rules or cannot play, or PyTorch cannot
            export it, or what it exports plays otherwise. A file that is there stays.
    """
    with comes_with("onnx"):
        import onnx  # noqa: F401 - one error for all who lack them
        import onnxscript  # noqa: F401
    with comes_with("train"):
        import torch

    agent = find_agent(agent)
    if not isinstance(agent, ScoredAgent):
        raise ValueError(f"{agent.name} is not a network of observations: {WAYS}")
    module, takes_masks = _module_of(agent)
    about = _about(agent)
    views = trial_views(rules_of_header(about))
    try:
        expected = agent.action_values(views)
    except ValueError as error:
        raise ValueError(
            f"{agent.name} cannot be exported, since it cannot play: {error}"
        ) from error
    sizes = sum(size for _, size in about["observation_layout"]), about["actions"]
    given: tuple[Any, ...] = (torch.zeros(2, sizes[0]),)
    if takes_masks:
        given = (*given, torch.ones(2, sizes[1], dtype=torch.bool))
    training = [part for part in module.modules() if part.training]
    module.eval()
    try:
        with _quiet():
            program = torch.onnx.export(
                module, given, opset_version=OPSET, dynamo=True, verbose=False,
                input_names=["observations", "masks"][: len(given)], output_names=["scores"],
                dynamic_shapes=[{0: torch.export.Dim("batch")}] * len(given),
            )  # fmt: skip
    except Exception as error:  # torch.export has an error class for every stage
        first: BaseException = error
        while first.__cause__ is not None:
            first = first.__cause__
        why = f"{type(first).__name__}: {one_line(first)}"
        raise ValueError(f"PyTorch cannot export {agent.name}: {why}") from None
    finally:
        for part in training:
            part.training = True
    assert program is not None
    program.model.metadata_props[ABOUT] = json.dumps(about)
    data = program.model_proto.SerializeToString()
    found = read_onnx(data, str(path), agent.name).action_values(views)
    if not np.allclose(found, expected, rtol=CLOSE, atol=CLOSE, equal_nan=True):
        worst = np.nanmax(np.abs(found - expected))
        raise ValueError(
            f"{path} is not written: the exported network's scores differ from {agent.name}'s by "
            f"up to {worst:.2g}"
        )
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    write_whole(Path(path), data)


def _about(agent: ScoredAgent) -> dict[str, Any]:
    """Return the header with an agent's rules and observation."""
    if isinstance(agent, PolicyNetAgent):
        return agent.about | {"sample": agent.sample}
    if not agent.known_rules:
        raise ValueError(
            f"{agent.name} does not say by which rules it plays: make it by "
            "from_torch(net, rules=envs.rules, features=envs.features, suits=envs.suits)"
        )
    rules = agent.known_rules[0]
    family = find_family(rules.engine)
    features = agent.features if agent.size is None else agent.features_of(family, agent.size)
    return header(rules.name, rules, family, features, agent.suits, agent.sample)


def _module_of(agent: ScoredAgent) -> tuple[Any, bool]:
    """Return the network as a PyTorch module, and whether it takes masks."""
    from torch import nn

    if isinstance(agent, PolicyNetAgent):
        from crib_agents.adapters.torch_policy import PolicyNet

        return PolicyNet(agent), False
    score = agent.score
    if isinstance(score, TorchScore) and isinstance(score.function, nn.Module):
        return score.function, score.masks
    if isinstance(score, SB3Score):
        from crib_agents.adapters.torch_policy import SB3Net

        return SB3Net(score), any(key in MASKS for key in score.keys)
    raise ValueError(f"the network of {agent.name} is not a PyTorch module: {WAYS}")


@contextmanager
def _quiet() -> Iterator[None]:
    """Suppress the exporter's messages: several loggers print whole graphs."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
                yield
    finally:
        logging.disable(before)
