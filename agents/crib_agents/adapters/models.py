"""Agents from models in PyTorch: your own network, or a model of Stable-Baselines3."""

from __future__ import annotations

import copy
import inspect
import json
import warnings
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from crib_agents.files import name_of
from crib_agents.honours import one_line, read_rules
from crib_agents.policy_net import ScoredAgent
from crib_env.arrays import Array
from crib_env.envs.spaces import RULES
from crib_env.errors import comes_with
from crib_env.rules import Rules, as_rules

# The algorithm that reads a file, by the module of its policy's class.
ALGORITHMS = {
    "sb3_contrib.common.maskable.policies": ("sb3_contrib", "MaskablePPO"),
    "crib_agents.card_policy": ("sb3_contrib", "MaskablePPO"),
    "sb3_contrib.qrdqn.policies": ("sb3_contrib", "QRDQN"),
    "stable_baselines3.common.policies": ("stable_baselines3", "PPO"),
    "stable_baselines3.dqn.policies": ("stable_baselines3", "DQN"),
}
MASKS = ("action_mask", "mask")  # keys of the action mask in dictionary observations
UNTRUSTED = (
    "a model of Stable-Baselines3 holds a pickle, which can run any code as it is read: if it is "
    "your own, or you trust who made it, say --trust (in Python trust=True, or 'trust:' before the "
    "path)"
)

UNKNOWN = (
    "the model {!r} does not say which game it was trained for: make sure that it plays that one. "
    "Models trained in environments of this version of crib-env say so"
)


def from_torch(
    function: Callable[..., Any],
    *,
    name: str | None = None,
    features: bool | None = None,
    masks: bool | None = None,
    sample: bool = False,
    device: str | None = None,
    suits: str = "real",
    rules: str | Rules | None = None,
) -> ScoredAgent:
    """Return the agent of a network in PyTorch.

    Args:
        function: a module or function of observations, a tensor float32[B, size], and optionally
            of masks, bool[B, actions]. It returns logits or values, [B, actions], and need not
            apply the mask. A call switches a module to evaluation mode and back.
        name: its name in tables; by default the function's name.
        features: the environment's keyword ``features``.
        masks: whether it takes masks; None: it does if its signature has two required arguments,
            or a second one with "mask" in its name.
        sample: draw by the softmax of the logits instead of taking the highest.
        device: of the tensors; None: that of a module's parameters, or the CPU.
        suits: the environment's keyword ``suits`` in its training.
        rules: the rules that it was trained under, such as ``envs.rules``; it plays no others.
            None: it plays any.

    Raises:
        TypeError: its signature does not say whether it takes masks, or it takes other arguments.
    """
    with comes_with("train"):
        import torch  # noqa: F401 - one error for all who lack it

    called = str(name or getattr(function, "__name__", type(function).__name__))
    takes_masks = _takes_masks(function, called) if masks is None else masks
    score = TorchScore(function, takes_masks, device)
    known = None if rules is None else as_rules(rules)
    return ScoredAgent(score, called, features=features, sample=sample, suits=suits, rules=known)


@dataclass(frozen=True)
class TorchScore:
    """The scores of a PyTorch network; a deep copy of an agent copies the network."""

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
    compiled = getattr(function, "_orig_mod", function)  # the module that torch.compile wrapped
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


def from_sb3(model: Any, *, name: str | None = None, sample: bool = False, trust: bool = False) -> ScoredAgent:
    """Return the agent of a trained model: MaskablePPO, PPO, A2C, DQN or QRDQN.

    It plays the game and the rules of the environment that the model was trained in, which the
    model's observation space names. If the space does not (models of earlier versions, or wrappers
    that replace it), the function warns, and the agent plays every game with observations of its
    size. Masks are always applied. Wrappers around the environment are not part of the model:
    observations that ``VecNormalize`` scaled are passed unscaled.

    Args:
        model: the model, or the path of its ``.zip`` file.
        name: its name in tables; by default the file's or its run's name, or the algorithm's.
        sample: draw from the policy instead of taking its most likely action.
        trust: read the file, whose pickle can run any code; without it a file is refused.

    Raises:
        ValueError: a file that is not trusted or is no such model, or a model that does not choose
            among our actions.
    """
    if isinstance(model, (str, Path)):
        name = name or name_of(model)
        model = _load(Path(model), trust)
    spaces = getattr(model.observation_space, "spaces", None)
    of = {key: space for key, space in (spaces or {}).items() if key not in MASKS}
    space = next(iter(of.values()), model.observation_space)
    if len(of) > 1 or len(space.shape or ()) != 1 or getattr(model.action_space, "n", None) is None:
        raise ValueError(
            "the model must read one observation, with or without its mask, and choose one of so "
            f"many actions: it reads {model.observation_space} for {model.action_space}"
        )

    name = name or type(model).__name__
    noted = vars(space).get(RULES)
    rules, suits = None, "real"
    if noted is None:
        warnings.warn(UNKNOWN.format(name), stacklevel=2)
    else:
        rules = read_rules(*(noted.get(key) for key in ("family", "rules", "rules_fields")))
        suits = str(noted.get("suits", suits))
    return ScoredAgent(
        SB3Score(model.policy, space, tuple(spaces or ())),
        name,
        size=int(space.shape[0]),
        sample=sample,
        rules=rules,
        suits=suits,
    )


@dataclass(frozen=True)
class SB3Score:
    """The scores of a Stable-Baselines3 policy; ``keys``: of a dictionary observation, or none."""

    policy: Any
    space: Any
    keys: tuple[str, ...]

    def __call__(self, observations: Array, masks: npt.NDArray[np.int8]) -> Array:
        """Return logits or values, [B, actions]."""
        import torch

        read: Any = observations.astype(self.space.dtype)
        if self.keys:
            read = {key: masks if key in MASKS else read for key in self.keys}
        self.policy.set_training_mode(False)
        with torch.no_grad():
            tensors, _ = self.policy.obs_to_tensor(read)
            values: Array = self.scores(tensors).cpu().numpy()
        return values

    def __deepcopy__(self, memo: dict[int, Any]) -> SB3Score:
        """Copy only the networks: after ``learn()`` the distribution cannot be copied."""
        policy = copy.copy(self.policy)
        policy.action_dist = policy.optimizer = None
        return SB3Score(copy.deepcopy(policy, memo), self.space, self.keys)

    def scores(self, tensors: Any) -> Any:
        """Return the logits or the values of all actions as a tensor [B, actions]."""
        policy = self.policy
        if hasattr(policy, "q_net"):
            return policy.q_net(tensors)
        if hasattr(policy, "quantile_net"):
            return policy.quantile_net(tensors).mean(dim=1)
        # As its distribution does; that class's checks cannot be exported.
        features = policy.extract_features(tensors, policy.pi_features_extractor)
        return policy.action_net(policy.mlp_extractor.forward_actor(features)).log_softmax(dim=1)


def _load(path: Path, trust: bool) -> Any:
    if not path.exists():
        raise ValueError(f"there is no file {str(path)!r}")
    if not trust:
        raise ValueError(f"{path}: {UNTRUSTED}")
    try:
        with zipfile.ZipFile(path) as file:
            about = json.loads(file.read("data"))
        made = about["policy_class"]["__module__"]
    except Exception as error:  # zipfile raises various errors for damaged files
        why = one_line(error)
        raise ValueError(f"{path} is not a model saved by Stable-Baselines3: {why}") from None
    if made not in ALGORITHMS:
        known = ", ".join(algorithm for _, algorithm in ALGORITHMS.values())
        raise ValueError(f"{path} has a policy of {made}; what can be read is {known}, A2C")
    module, algorithm = ALGORITHMS[made]
    with comes_with("train"):
        read = getattr(import_module(module), algorithm)
        try:
            model = read.load(path, device="cpu")
        except Exception as error:  # unpickling runs code of the file
            raise ValueError(f"{path} cannot be read: {one_line(error)}") from None
        for name, weights in model.policy.state_dict().items():
            if not bool(weights.isfinite().all()):
                raise ValueError(f"{path} holds weights that are not finite: {name}")
        return model
