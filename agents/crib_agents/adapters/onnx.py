"""Network agents as ONNX files, which play without the library that trained them."""

from __future__ import annotations

import io
import json
import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from crib_agents import policy_net
from crib_agents.adapters.models import MASKS, SB3Score, TorchScore
from crib_agents.files import check_format, name_of, naming, shown, write_whole
from crib_agents.honours import one_line
from crib_env.arrays import Array
from crib_env.engine.family import find_family
from crib_env.errors import comes_with
from crib_env.game import Game
from crib_env.policy import Opponent, Views, find_agent
from crib_env.rules import PRESETS, Rules

TRIED = 24  # decisions on which a network is tried: several deals, with discards and pegging
ABOUT = "crib_env"  # key of our metadata in an .onnx file: game, rules, observations

DTYPES = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(uint8)": np.uint8,
    "tensor(int8)": np.int8,
    "tensor(int64)": np.int64,
    "tensor(bool)": np.bool_,
}
CLOSE = 1e-3  # tolerance of scores, absolute and relative
OPSET = 18  # PyTorch writes it without conversion, and onnxruntime 1.20 reads it
WAYS = (
    "what can be exported is a .safetensors policy of `crib train` by any method but "
    "deep_monte_carlo and monte_carlo (their networks read features that are computed in compiled "
    "code), a model of Stable-Baselines3 and a PyTorch module"
)


def from_onnx(path: str | Path, *, name: str | None = None, sample: bool | None = None) -> policy_net.ScoredAgent:
    """Return the agent of a network in an ``.onnx`` file; it needs the extra ``onnx``.

    The first input takes observations [B, size], a second, if there is one, masks [B, actions]; the
    first output is logits or values, [B, actions]. A network with a fixed B of 1 runs on one
    observation at a time. A file written by `to_onnx` plays the rules that it names,
    and no others; any other file plays every game with observations of its size.

    Args:
        path: of the file.
        name: its name in tables; by default the file's name, or its run's (`name_of`).
        sample: draw by the softmax of the logits instead of taking the highest; None: the file's
            value, or False.

    Raises:
        ValueError: no such file, a network of another form, or one that fails on observations.
    """
    _onnxruntime()  # report a missing package before a missing file
    if not Path(path).is_file():
        raise ValueError(f"there is no file {str(path)!r}")
    return read_onnx(Path(path).read_bytes(), str(path), name or name_of(path), sample)


def _onnxruntime() -> Any:
    """Return the package that runs ONNX files, or say how to install it."""
    with comes_with("onnx"):
        import onnxruntime
    return onnxruntime


def read_onnx(data: bytes, path: str, name: str, sample: bool | None = None) -> policy_net.ScoredAgent:
    """Return the agent of a file's contents; see `from_onnx`."""
    onnxruntime = _onnxruntime()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # networks of this size gain nothing from more
    # Graph optimisations gain nothing either, and some change results: onnxruntime 1.31 wrongly
    # fuses a transposition with the product of a vector.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
        noted = session.get_modelmeta().custom_metadata_map.get(ABOUT)
    except Exception as error:  # onnxruntime's errors have no common class
        raise ValueError(f"{path} is not a network that can run: {one_line(error)}") from None
    inputs = session.get_inputs()
    if len(inputs) > 2 or any(one.type not in DTYPES or len(one.shape) != 2 for one in inputs):
        read = ", ".join(f"{one.name} {one.type}{one.shape}" for one in inputs)
        raise ValueError(f"{path} must read observations [B, size] and at most masks: it reads {read}")
    size = inputs[0].shape[1]

    def score(observations: Array, masks: npt.NDArray[np.int8]) -> Array:
        def run(rows: slice) -> Array:
            given: dict[str, Array] = {
                one.name: part[rows].astype(DTYPES[one.type])
                for one, part in zip(inputs, (observations, masks), strict=False)
            }
            return np.asarray(session.run(None, given)[0])

        if inputs[0].shape[0] != 1:
            return run(slice(None))
        return np.concatenate([run(slice(k, k + 1)) for k in range(len(observations))])

    with naming(path):
        if noted is None:
            known = size if isinstance(size, int) else None
            agent = policy_net.ScoredAgent(score, name, size=known, sample=bool(sample))
            tried = readable(agent)[:1]
        else:
            about = _metadata(noted)
            rules = policy_net.rules_of_header(about)
            policy_net.family_of_header(about, rules)
            agent = policy_net.ScoredAgent(
                score,
                name,
                features=about.get("features"),
                rules=rules,
                sample=policy_net.samples(about) if sample is None else sample,
                suits=str(about.get("suits", "real")),
            )
            tried = [rules]
        for rules in tried:
            agent.action_values(trial_views(rules))
    return agent


def _metadata(noted: str) -> dict[str, Any]:
    """Return a file's metadata, of the form of `policy_net.header`."""
    try:
        about = json.loads(noted)
    except RecursionError:
        raise ValueError("its metadata are nested too deeply") from None
    if not isinstance(about, dict):
        raise ValueError(f"its metadata are not a JSON object: {shown(about)}")
    check_format(about, policy_net.FORMAT, policy_net.version_of(about))
    return about


def readable(agent: policy_net.ScoredAgent) -> list[Rules]:
    """Return the presets with observations of an agent's size; none if its size is not fixed."""
    found = []
    for rules in PRESETS.values() if agent.size else ():
        with suppress(ValueError):
            agent.refuse_rules(rules)
            found.append(rules)
    return found


def trial_views(rules: Rules) -> Views:
    """Return the views of the first decisions of games, on which a network is tried."""
    game = Game(rules, seed=1)
    views: list[np.void] = []
    while len(views) < TRIED:
        if game.over:
            game.reset()
        views.append(game.view(game.seat))
        game.step(int(game.legal_actions[0]))
    return np.array(views)


def to_onnx(agent: Opponent | Any, path: str | Path) -> None:
    """Write an agent's network as an ``.onnx`` file; it needs the extras ``train`` and ``onnx``.

    The file's first input is ``observations``, float32[B, size]; a second is ``masks``,
    bool[B, actions], if the network takes them. Its output is ``scores``, [B, actions]: logits or
    values, higher is better. B is free. The file also holds the rules, the observation layout, the
    features, the suits and whether the agent samples. `from_onnx` reads all of it.

    Args:
        agent: `from_torch` of a module with ``rules=``, `from_sb3` of a model, a `PolicyNetAgent`,
            or the path of a file that one of them is read from.
        path: of the file to write; its folder is created.

    Raises:
        ValueError: the agent has no such network, names no rules or cannot play, or PyTorch cannot
            export it, or the exported file plays other actions. An existing file stays.
    """
    with comes_with("onnx"):
        import onnx  # noqa: F401 - one error for all who lack them
        import onnxscript  # noqa: F401
    with comes_with("train"):
        import torch

    agent = find_agent(agent)
    if not isinstance(agent, policy_net.ScoredAgent):
        raise ValueError(f"{agent.name} is not a network of observations: {WAYS}")
    module, takes_masks = _module_of(agent)
    about = _about(agent)
    views = trial_views(policy_net.rules_of_header(about))
    try:
        expected = agent.action_values(views)
    except ValueError as error:
        raise ValueError(f"{agent.name} cannot be exported, since it cannot play: {error}") from error
    sizes = sum(size for _, size in about["observation_layout"]), about["actions"]
    given: tuple[Any, ...] = (torch.zeros(2, sizes[0]),)
    if takes_masks:
        given = (*given, torch.ones(2, sizes[1], dtype=torch.bool))
    training = [part for part in module.modules() if part.training]
    module.eval()
    try:
        with _quiet():
            program = torch.onnx.export(
                module,
                given,
                opset_version=OPSET,
                dynamo=True,
                verbose=False,
                input_names=["observations", "masks"][: len(given)],
                output_names=["scores"],
                dynamic_shapes=[{0: torch.export.Dim("batch")}] * len(given),
            )
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
            f"{path} is not written: the exported network's scores differ from {agent.name}'s by up to {worst:.2g}"
        )
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    write_whole(Path(path), data)


def _about(agent: policy_net.ScoredAgent) -> dict[str, Any]:
    """Return the header that states an agent's rules and observation."""
    if isinstance(agent, policy_net.PolicyNetAgent):
        return agent.about | {"sample": agent.sample}
    if not agent.known_rules:
        raise ValueError(
            f"{agent.name} does not say by which rules it plays: make it by "
            "from_torch(net, rules=envs.rules, features=envs.features, suits=envs.suits)"
        )
    rules = agent.known_rules[0]
    family = find_family(rules.family)
    features = agent.features if agent.size is None else agent.features_of(family, agent.size)
    return policy_net.header(rules.name, rules, family, features, agent.suits, agent.sample)


def _module_of(agent: policy_net.ScoredAgent) -> tuple[Any, bool]:
    """Return the network as a PyTorch module, and whether it takes masks."""
    from torch import nn

    if isinstance(agent, policy_net.PolicyNetAgent):
        from crib_agents.torch_nets import PolicyNet

        return PolicyNet.of(agent), False
    score = agent.score
    if isinstance(score, TorchScore) and isinstance(score.function, nn.Module):
        return score.function, score.masks
    if isinstance(score, SB3Score):
        from crib_agents.torch_nets import SB3Net

        return SB3Net(score), any(key in MASKS for key in score.keys)
    raise ValueError(f"the network of {agent.name} is not a PyTorch module: {WAYS}")


@contextmanager
def _quiet() -> Iterator[None]:
    """Suppress the exporter's messages: several loggers print entire graphs."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
                yield
    finally:
        logging.disable(before)
