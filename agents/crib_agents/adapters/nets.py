"""Agents from networks: a function of PyTorch tensors, or a file in the ONNX format."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from crib_agents.adapters.learned import (
    FORMAT,
    family_of_header,
    rules_of_header,
    samples,
    version_of,
)
from crib_agents.adapters.scored import ScoredAgent
from crib_agents.checks import one_line
from crib_agents.files import check_format, shown
from crib_env.arrays import Array
from crib_env.errors import comes_with
from crib_env.game import Game
from crib_env.policy import Views
from crib_env.rules import PRESETS, Rules, as_rules

TRIED = 24  # decisions on which a network is tried: several deals, with discards and pegging
ABOUT = "crib_env"  # the metadata of an .onnx file that say what it plays by

DTYPES = {"tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(uint8)": np.uint8,
          "tensor(int8)": np.int8, "tensor(int64)": np.int64, "tensor(bool)": np.bool_}  # fmt: skip


def from_torch(
    function: Callable[..., Any],
    *,
    name: str | None = None,
    features: bool | str | None = None,
    masks: bool | None = None,
    sample: bool = False,
    device: str | None = None,
    suits: str = "real",
    rules: str | Rules | None = None,
) -> ScoredAgent:
    """Return the agent of a network in PyTorch.

    Args:
        function: a module, or a function, of observations, a tensor float32[B, size]; and if it
            takes them, of masks too, bool[B, actions]. It returns logits or values, [B, actions],
            and need not apply the mask. A call switches a module to
            evaluation mode and back.
        name: its name in tables; by default the function's name.
        features: what is observed besides bits, as the environment was made with.
        masks: whether it takes masks; None reads that off its signature: it does if it takes two
            arguments, or its second one is named after a mask.
        sample: draw by the softmax of the logits instead of taking the highest.
        device: where the tensors are put; None: where a module's parameters are, or the CPU.
        suits: ``"canonical"`` or ``"ranks"`` if the network was trained in games made with that.
        rules: the rules that it was trained under, such as ``envs.rules``; it plays no others.
            None: it may play any.

    Raises:
        TypeError: its signature does not say whether it takes masks, or it takes other arguments.
    """
    with comes_with("train"):
        import torch  # noqa: F401 - one error for all who lack it

    called = str(name or getattr(function, "__name__", type(function).__name__))
    takes_masks = _takes_masks(function, called) if masks is None else masks
    score = TorchScore(function, takes_masks, device)
    known = None if rules is None else as_rules(rules)
    return ScoredAgent(
        score, called, features=features, sample=sample, suits=suits, rules=known
    )  # fmt: skip


@dataclass(frozen=True)
class TorchScore:
    """The scores of a PyTorch network; a deep copy of an agent holds a network of its own.

    Attributes:
        function: the network; see `from_torch`.
        masks: whether it takes masks.
        device: where the tensors are put; None: where its parameters are.
    """

    function: Callable[..., Any]
    masks: bool
    device: str | None = None

    def __call__(self, observations: Array, masks: npt.NDArray[np.int8]) -> Array:
        """Return logits or values, [B, actions]."""
        import torch

        module = self.function if isinstance(self.function, torch.nn.Module) else torch.nn.Module()
        place = self.device or next((p.device for p in module.parameters()), "cpu")
        given = [torch.as_tensor(observations, dtype=torch.float32, device=place)]
        if self.masks:
            given.append(torch.as_tensor(masks, dtype=torch.bool, device=place))
        training = [part for part in module.modules() if part.training]
        module.eval()
        try:
            with torch.no_grad():
                scores = self.function(*given)
        finally:
            for part in training:
                part.training = True
        if not isinstance(scores, torch.Tensor):
            raise TypeError(
                f"it returned a {type(scores).__name__} and not a tensor of logits or values "
                "[B, actions]: pass a function that picks them out, such as "
                "from_torch(lambda observations: net(observations)[0])"
            )
        values: Array = scores.cpu().numpy()
        return values


def _takes_masks(function: Any, called: str) -> bool:
    """Return whether a function, or a module's ``forward``, takes masks after observations."""
    compiled = getattr(function, "_orig_mod", function)  # the module that torch.compile was given
    try:
        taken = inspect.signature(getattr(compiled, "forward", compiled)).parameters.values()
    except (TypeError, ValueError):
        taken = ()  # type: ignore[assignment]
    places = [one for one in taken if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    needed = [one for one in taken if one.default is one.empty and one.kind != one.VAR_KEYWORD]
    if not places or any(one.kind == one.VAR_POSITIONAL for one in taken):
        raise TypeError(
            f"the signature of {called} does not say whether it takes masks after observations: "
            "say from_torch(net, masks=True) or masks=False"
        )
    if len(needed) > 2 or any(one not in places[:2] for one in needed):
        raise TypeError(
            f"a network takes (observations) or (observations, masks); {called} takes "
            f"({', '.join(one.name for one in taken)})"
        )
    return len(needed) == 2 or (len(places) > 1 and "mask" in places[1].name)


def from_onnx(
    path: str | Path, *, name: str | None = None, sample: bool | None = None
) -> ScoredAgent:
    """Return the agent of a network in an ``.onnx`` file; it needs the extra ``onnx``.

    The first input takes observations [B, size], a second, if there is one, masks [B, actions]; the
    first output is logits or values, [B, actions]. A file for one observation (B is 1) gets
    one after the other. A file written by `to_onnx` plays the rules that it names,
    and no others; any other file is taken to play every game whose observations are as long.

    Args:
        path: of the file.
        name: its name in tables; by default the file's name.
        sample: draw by the softmax of the logits instead of taking the highest; None: as the file
            says, or do not draw.

    Raises:
        ValueError: no such file, or its network is none of this form, or fails on observations.
    """
    _onnxruntime()  # what is not installed is said before what is not there
    if not Path(path).is_file():
        raise ValueError(f"there is no file {str(path)!r}")
    return read_onnx(Path(path).read_bytes(), str(path), name or Path(path).stem, sample)


def _onnxruntime() -> Any:
    """Return the package that runs ONNX files, or say how to install it."""
    with comes_with("onnx"):
        import onnxruntime
    return onnxruntime


def read_onnx(data: bytes, path: str, name: str, sample: bool | None = None) -> ScoredAgent:
    """Return the agent of what a file holds; see `from_onnx`."""
    onnxruntime = _onnxruntime()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # networks of this size gain nothing from more
    # Nor from its rewriting of graphs, of which some changes results: onnxruntime 1.31 fuses a
    # transposition with the product of a vector wrongly.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
        noted = session.get_modelmeta().custom_metadata_map.get(ABOUT)
    except Exception as error:  # onnxruntime's errors have no class in common
        raise ValueError(f"{path} is not a network that can run: {one_line(error)}") from None
    inputs = session.get_inputs()
    if len(inputs) > 2 or any(one.type not in DTYPES or len(one.shape) != 2 for one in inputs):
        read = ", ".join(f"{one.name} {one.type}{one.shape}" for one in inputs)
        raise ValueError(
            f"{path} must read observations [B, size] and at most masks: it reads {read}"
        )
    size = inputs[0].shape[1]

    def score(observations: Array, masks: npt.NDArray[np.int8]) -> Array:
        def run(rows: slice) -> Array:
            given: dict[str, Array] = {one.name: part[rows].astype(DTYPES[one.type])
                     for one, part in zip(inputs, (observations, masks), strict=False)}  # fmt: skip
            return np.asarray(session.run(None, given)[0])

        if inputs[0].shape[0] != 1:
            return run(slice(None))
        return np.concatenate([run(slice(k, k + 1)) for k in range(len(observations))])

    if noted is None:
        known = size if isinstance(size, int) else None
        agent = ScoredAgent(score, name, size=known, sample=bool(sample))
        try:
            for rules in readable(agent)[:1]:
                agent.action_values(trial_views(rules))
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
        return agent
    try:
        about = json.loads(noted)
        if not isinstance(about, dict):
            raise ValueError(f"its metadata are not a JSON object: {shown(about)}")
        check_format(about, FORMAT, version_of(about))
        rules = rules_of_header(about)
        family_of_header(about, rules)
        agent = ScoredAgent(
            score, name, features=about.get("features"), rules=rules,
            sample=samples(about) if sample is None else sample,
            suits=str(about.get("suits", "real")),
        )  # fmt: skip
        agent.action_values(trial_views(rules))
    except RecursionError:
        raise ValueError(f"{path}: its metadata are nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    return agent


def readable(agent: ScoredAgent) -> list[Rules]:
    """Return the presets whose observations are as long as an agent reads; none if that is free."""
    found = []
    for rules in PRESETS.values() if agent.size else ():
        with suppress(ValueError):
            agent.refuse_rules(rules)
            found.append(rules)
    return found


def trial_views(rules: Rules, count: int = TRIED) -> Views:
    """Return the views of the first decisions of games, on which a network is tried."""
    game = Game(rules, seed=1)
    views: list[np.void] = []
    while len(views) < count:
        if game.over:
            game.reset()
        views.append(game.view(game.seat))
        game.step(int(game.legal_actions[0]))
    return np.array(views)
