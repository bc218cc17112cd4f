"""A learned agent: the observation and a small network, read from a safetensors file.

The network is the policy half of an MLP: ReLU layers, and a last linear layer with one logit per
action. A policy trained with features also reads the highest and the lowest value of each feature,
and an `ActionHead` adds to its logits. It runs in NumPy, so no training library is necessary to
play against it. It plays only the game and the rules of its training.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from crib_agents.adapters.action_head import ActionHead, summary
from crib_agents.adapters.first_layer import first_layer
from crib_agents.adapters.scored import ScoredAgent
from crib_agents.checks import fields_of, read_rules, refuse_other_views
from crib_agents.files import check_format, read_header, shown, to_bytes, write_whole
from crib_env.arrays import Array, Doubles, Floats
from crib_env.engine.family import Family, find_family
from crib_env.policy import Views
from crib_env.rules import PRESETS, Rules, as_rules

FORMAT = "crib_env policy"
FORMAT_VERSION = 1
MANY = 256  # observations for which the first layer is worth a pass of its own
PART = 2048  # observations at a time, which fit into a processor's cache
WITH_FEATURES = 2  # what reads version 1 alone must refuse these

Layers = list[tuple[Floats, Floats]]


def header(
    environment: str,
    rules: str | Rules,
    family: Family,
    features: bool | str | None = None,
    suits: str = "real",
    sample: bool = False,
) -> dict[str, Any]:
    """Return the header of a weights file."""
    level = family.level_of(features)
    chosen = as_rules(rules)
    return {
        "format": FORMAT,
        "version": WITH_FEATURES if level else FORMAT_VERSION,
        "environment": environment,
        "rules": chosen.name,
        "rules_fields": fields_of(chosen),
        "family": family.name,
        "observation_layout": [[name, size] for name, size, _ in family.layout_at(level)],
        "features": list(family.features)[level - 1] if level else None,
        "actions": family.actions,
        "suits": suits,
        "sample": sample,
    }


class PolicyNetAgent(ScoredAgent):
    """Plays the most likely legal action of a trained policy, or samples from it.

    Args:
        layers: weight [out, in] and bias [out] of every layer, the last with one row an action.
        about: the header of the weights file; see `header`.
        name: its name in tables.
        sample: draw from the policy instead of taking its most likely action; None for what the
            header says.
        head: what reads the features of each action, where the header names features.

    Raises:
        ValueError: the header is of another observation, of other actions or of unknown rules, or
            the layers do not fit it or each other.
    """

    other_rules = "`crib train` makes policies for any rules"

    def __init__(
        self,
        layers: Layers,
        about: dict[str, Any],
        name: str = "learned",
        sample: bool | None = None,
        head: ActionHead | None = None,
    ) -> None:
        self.layers = layers
        self.head = head
        self.about = about
        rules = rules_of_header(about)
        self._family, self._level = family_of_header(about, rules)
        super().__init__(
            self._logits,
            name,
            features=about.get("features"),
            sample=samples(about) if sample is None else sample,
            rules=rules,
            suits=str(about.get("suits", "real")),
        )
        self._features = len(self._family.features_at(self._level))
        inputs = self._family.obs_size + 2 * self._features
        _check_layers(layers, inputs, self._family.actions)
        if (head is not None) != bool(self._level):
            raise ValueError(f"its header names the features {about.get('features')!r}, and it has "
                             f"{'a' if head else 'no'} head for them")  # fmt: skip
        if head is not None:
            head.check(layers[-1][0].shape[1], self._features)

    @classmethod
    def load(
        cls, path: str | Path, name: str | None = None, sample: bool | None = None
    ) -> PolicyNetAgent:
        """Read an agent from a file written by `save`.

        Raises:
            ValueError: the file is no such file, or does not fit this version; the message says
                what was expected and what was found.
        """
        about, tensors = read_header(path)
        try:
            check_format(about, FORMAT, version_of(about))
        except ValueError as error:
            raise ValueError(f"{path} is not a policy: {error}") from None
        heads = ActionHead.names() if about.get("features") else set()
        count = max(1, (len(tensors) - len(heads)) // 2)
        expected = {f"{i}.{part}" for i in range(count) for part in ("weight", "bias")} | heads
        if set(tensors) != expected:
            raise ValueError(
                f"{path} holds the tensors {', '.join(sorted(tensors)) or 'none'}, expected "
                f"{', '.join(sorted(expected))}"
            )
        layers = [(tensors[f"{i}.weight"], tensors[f"{i}.bias"]) for i in range(count)]
        try:
            head = ActionHead.of(tensors) if heads else None
            return cls(layers, about, name or Path(path).stem, sample, head)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None

    def to_bytes(self) -> bytes:
        """Return the file."""
        tensors = self.head.tensors() if self.head else {}
        for i, (weight, bias) in enumerate(self.layers):
            tensors[f"{i}.weight"] = np.ascontiguousarray(weight)
            tensors[f"{i}.bias"] = np.ascontiguousarray(bias)
        return to_bytes(self.about, tensors)

    def save(self, path: str | Path) -> None:
        """Write the weights with their header, for `load`."""
        write_whole(Path(path), self.to_bytes())

    def _scores(self, views: Views) -> Doubles:
        refuse_other_views(self.name, views, self._family)
        if len(views) <= PART:
            return super()._scores(views)
        parts = [super(PolicyNetAgent, self)._scores(views[at : at + PART])
                 for at in range(0, len(views), PART)]  # fmt: skip
        return np.concatenate(parts)

    def _logits(self, observations: Array, masks: npt.NDArray[np.int8]) -> Floats:
        """Return the network's logits, float32[B, actions]."""
        family = self._family
        features = observations[:, family.obs_size :].reshape(len(masks), -1, family.actions)
        rest = self.layers[:-1]
        if len(masks) >= MANY and rest:
            x = first_layer(observations, family.obs_size, self._features, *rest[0])
            np.maximum(x, 0.0, out=x)
            rest = rest[1:]
        else:
            x = observations[:, : family.obs_size].astype(np.float32)
            if self._level:
                x = np.concatenate([x, summary(features)], axis=1)
        for weight, bias in rest:
            x = np.maximum(x @ weight.T + bias, 0.0)
        weight, bias = self.layers[-1]
        logits = x @ weight.T + bias
        if self.head is not None:
            logits += self.head.logits(x, features, masks)
        found: Floats = logits
        return found


def family_of_header(about: dict[str, Any], rules: Rules) -> tuple[Family, int]:
    """Return the engine that a header names, and how many levels of its features."""
    family = find_family(rules.engine)
    level = family.level_of(about.get("features"))
    environment = str(about.get("environment"))[:100]
    layout = family.layout_at(level)
    found, expected = about.get("observation_layout"), [[n, size] for n, size, _ in layout]
    if found != expected:
        raise ValueError(f"it was trained on another observation of {environment}: its layout is "
                         f"{shown(found)}, this version's is {expected}")  # fmt: skip
    if about.get("actions") != family.actions:
        raise ValueError(f"it was trained on {shown(about.get('actions'))} actions of "
                         f"{environment}, which has {family.actions}")  # fmt: skip
    return family, level


def samples(about: dict[str, Any]) -> bool:
    """Return whether a header says that the agent draws; older headers say nothing."""
    said = about.get("sample", False)
    if not isinstance(said, bool):
        raise ValueError(f"its header must say true or false of 'sample', found {shown(said)}")
    return said


def version_of(about: dict[str, Any]) -> int:
    """Return the version that the header of a policy must have."""
    return WITH_FEATURES if about.get("features") else FORMAT_VERSION


def rules_of_header(about: dict[str, Any]) -> Rules:
    """Return the rules of a header; older headers name only a preset."""
    name, fields = about.get("rules"), about.get("rules_fields")
    if fields is None and isinstance(name, str) and name in PRESETS:
        fields = fields_of(PRESETS[name])
    if not isinstance(fields, dict):
        raise ValueError(f"it was trained under the rules {shown(name)}: its header must say what "
                         f"they are, or name one of {', '.join(PRESETS)}")  # fmt: skip
    return read_rules(about.get("family"), name, fields)


def _check_layers(layers: Layers, inputs: int, actions: int) -> None:
    """Raise a ValueError unless the layers lead from the inputs to the actions."""
    size = inputs
    for i, (weight, bias) in enumerate(layers):
        rows = actions if i == len(layers) - 1 else len(bias) if bias.ndim == 1 else -1
        if weight.shape != (rows, size) or bias.shape != (rows,):
            outs = "n" if rows < 0 else rows
            raise ValueError(
                f"layer {i} has a weight of shape {weight.shape} and a bias of shape {bias.shape}, "
                f"expected ({outs}, {size}) and ({outs},): the observation has {inputs} "
                f"entries, and there are {actions} actions"
            )
        if not (np.isfinite(weight).all() and np.isfinite(bias).all()):
            raise ValueError(f"layer {i} holds numbers that are not finite")
        size = rows
    if not layers:
        raise ValueError("there are no layers")
