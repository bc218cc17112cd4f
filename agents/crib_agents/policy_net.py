"""Agents that score every action of an observation, and the policy network as a file.

`ScoredAgent` takes the scores of anything. `PolicyNetAgent` is an MLP in NumPy, read from a
safetensors file: ReLU layers and one logit per action. A policy trained with features also reads
the highest and the lowest value of each feature, and an `ActionHead` adds to its logits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import float32, int64, void

from crib_agents.checks import fields_of, one_line, read_rules, refuse_other_views
from crib_agents.files import check_format, reading, shown, to_bytes, write_whole
from crib_env.arrays import Array, Doubles, Floats
from crib_env.encoding import canonical_views, encode, family_of
from crib_env.engine.family import SUITS, Family, find_family
from crib_env.engine.jit import entry
from crib_env.errors import check_choice
from crib_env.policy import Actions, Views, check_rng, one_or_many
from crib_env.rules import PRESETS, Rules, as_rules
from crib_env.supported_rules import refuse_undeclared

LEAST = float(np.finfo(np.float64).min)  # of a legal action: above what is not legal
Score = Callable[[Array, npt.NDArray[np.int8]], Any]
"""``score(observations, masks) -> scores``, logits or values, [B, actions]; higher is better."""


class ScoredAgent:
    """Takes the legal action of the highest score, or draws by the softmax of the scores.

    Args:
        score: of observations [B, size] and masks int8[B, actions]; see `Score`.
        name: its name in tables.
        features: what is observed besides bits, as the environment was made with.
        size: the length of the observations that it reads; if given, the features are those that
            make an observation as long.
        sample: draw.
        rules: the rules that it was trained under; it plays no others. None where they are not
            known: it may play any.
        suits: ``"canonical"`` or ``"ranks"`` if it was trained in games made with that.
    """

    def __init__(
        self,
        score: Score,
        name: str,
        *,
        features: bool | str | None = None,
        size: int | None = None,
        sample: bool = False,
        rules: Rules | None = None,
        suits: str = "real",
    ) -> None:
        check_choice("suits", suits, SUITS)
        self.suits = suits
        self.score = score
        self.name = name
        self.features = features
        self.size = size
        self.sample = sample
        self.honours: frozenset[str] | None = None if rules is None else frozenset()
        self.known_rules = () if rules is None else (rules,)

    def refuse_rules(self, rules: Rules, episode: str | None = None) -> None:
        """Raise a ValueError unless it plays by these rules."""
        refuse_undeclared(self, rules, episode)
        family = find_family(rules.engine)
        if self.size is not None:
            self.features_of(family, self.size)

    @one_or_many
    def act(self, views: Views, rng: np.random.Generator) -> Actions:
        """Return one legal action for each view, int64[B].

        Raises:
            ValueError: the views are of a game whose observations it does not read, or of other
                rules than its own, or its scores are no number for each action, or infinite.
        """
        scores = self._scores(views)
        if self.sample:  # the Gumbel trick: the largest of logits and noise is a draw
            scores = scores + check_rng(rng).gumbel(size=scores.shape)
        best: Actions = scores.argmax(axis=1)
        return best

    @one_or_many
    def action_probabilities(self, views: Views) -> Doubles:
        """Return the probability of each action, float64[B, actions]."""
        scores = self._scores(views)
        best = scores.max(axis=1, keepdims=True)
        if self.sample:
            weights = np.exp(scores - best)
        else:
            weights = np.zeros_like(scores)
            weights[np.arange(len(scores)), scores.argmax(axis=1)] = 1.0
        probabilities: Doubles = weights / weights.sum(axis=1, keepdims=True)
        return probabilities

    @one_or_many
    def action_values(self, views: Views) -> Doubles:
        """Return the scores, float64[B, actions]; NaN where an action is illegal."""
        scores = self._scores(views)
        return np.where(np.isneginf(scores), np.nan, scores)

    def _scores(self, views: Views) -> Doubles:
        """Return the scores, float64[B, actions], of illegal actions -inf."""
        family = family_of(views)
        features = self.features if self.size is None else self.features_of(family, self.size)
        seen = views if self.suits == "real" else canonical_views(views, self.suits)
        observations, masks = encode(seen, features)
        if not len(views):
            return np.zeros(masks.shape)
        try:
            scores = np.asarray(self.score(observations, masks), dtype=np.float64)
        except Exception as error:  # whatever a network raises at what it cannot read
            raise ValueError(
                f"{self.name} failed on observations of shape {observations.shape}, of "
                f"{masks.shape[1]} actions: {type(error).__name__}: {one_line(error)}"
            ) from error
        if scores.shape != masks.shape:
            raise ValueError(
                f"{self.name} must give a score for each of {masks.shape[1]} actions of "
                f"{len(masks)} observations: an array of shape {masks.shape} is expected, got "
                f"{scores.shape}"
            )
        legal = np.where(masks == 1, scores, -np.inf)
        if np.isnan(legal).any():
            raise ValueError(f"some scores of {self.name} are not a number")
        if not np.isfinite(legal.max(axis=1)).all():
            raise ValueError(
                f"some scores of {self.name} are infinite: the best legal action must have a "
                "finite one"
            )
        found = np.where(masks == 1, np.maximum(legal, LEAST), -np.inf)
        return found if seen is views else of_real_cards(found, seen, views)

    def features_of(self, family: Family, size: int) -> str | None:
        """Return the level of features with which an observation is ``size`` long."""
        levels = [None, *family.features]
        sizes = [
            sum(part for _, part, _ in family.layout_at(level)) for level in range(len(levels))
        ]
        if size not in sizes:
            sizes_known = ", ".join(f"{n}{f' with {level!r}' if level else ''}"
                             for n, level in zip(sizes, levels, strict=True))  # fmt: skip
            raise ValueError(
                f"{self.name} reads observations of {size} numbers; those of this game have "
                f"{sizes_known}"
            )
        return levels[sizes.index(size)]


def of_real_cards(scores: Doubles, seen: Views, views: Views, other: float = -np.inf) -> Doubles:
    """Return the scores of the cards that canonical cards, in the same places, stand for."""
    real = np.full_like(scores, other)
    for place in range(views["hand"].shape[1]):
        rows = np.flatnonzero(place < views["hand_n"])
        real[rows, views["hand"][rows, place]] = scores[rows, seen["hand"][rows, place]]
    return real


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
        with reading(path) as (about, tensors):
            check_format(about, FORMAT, version_of(about))
            heads = ActionHead.names() if about.get("features") else set()
            count = max(1, (len(tensors) - len(heads)) // 2)
            expected = {f"{i}.{part}" for i in range(count) for part in ("weight", "bias")} | heads
            if set(tensors) != expected:
                raise ValueError(f"it holds the tensors {', '.join(sorted(tensors)) or 'none'}, "
                                 f"expected {', '.join(sorted(expected))}")  # fmt: skip
            layers = [(tensors[f"{i}.weight"], tensors[f"{i}.bias"]) for i in range(count)]
            head = ActionHead.of(tensors) if heads else None
            return cls(layers, about, name or Path(path).stem, sample, head)

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


@dataclass(frozen=True)
class ActionHead:
    """The part of a logit that comes from an action's features, with weights shared by all actions.

    That is ``skip @ f + out @ relu(features @ f + state @ hidden + bias)``: ``f`` are the action's
    K features, ``hidden`` is the last hidden layer of the network over the state.
    """

    features: Floats  # [H, K]
    state: Floats  # [H, W]
    bias: Floats  # [H]
    out: Floats  # [H]
    skip: Floats  # [K]

    def logits(self, hidden: Floats, features: Floats, masks: npt.NDArray[np.int8]) -> Floats:
        """Return what to add to the logits, [B, actions], of [B, W] and [B, K, actions]."""
        rows, actions = masks.nonzero()
        of_each = features[rows, :, actions]
        inner = of_each @ self.features.T + (hidden @ self.state.T + self.bias)[rows]
        added = np.zeros(masks.shape, dtype=np.float32)
        added[rows, actions] = np.maximum(inner, 0.0) @ self.out + of_each @ self.skip
        return added

    def tensors(self) -> dict[str, Floats]:
        """Return the weights by the names under which a file holds them."""
        return {f"head.{one.name}": np.ascontiguousarray(getattr(self, one.name))
                for one in fields(self)}  # fmt: skip

    @classmethod
    def names(cls) -> set[str]:
        """Return the names of the tensors."""
        return {f"head.{one.name}" for one in fields(cls)}

    @classmethod
    def of(cls, tensors: Mapping[str, Array]) -> ActionHead:
        """Return the head that the tensors of a file hold."""
        return cls(**{one.name: tensors[f"head.{one.name}"] for one in fields(cls)})

    def check(self, width: int, count: int) -> None:
        """Raise a ValueError unless it fits a hidden layer of ``width`` and ``count`` features."""
        inner = len(self.bias)
        shapes = {"features": (inner, count), "state": (inner, width), "bias": (inner,),
                  "out": (inner,), "skip": (count,)}  # fmt: skip
        for name, shape in shapes.items():
            found = getattr(self, name)
            if found.shape != shape:
                raise ValueError(f"head.{name} is of shape {found.shape}, expected {shape}")
            if not np.isfinite(found).all():
                raise ValueError(f"head.{name} holds numbers that are not finite")


def summary(features: Floats) -> Floats:
    """Return the highest and lowest of each feature, [B, 2 * K], of [B, K, actions]."""
    return np.concatenate([features.max(axis=2), features.min(axis=2)], axis=1)


FLOATS_T = float32[:, ::1]


@entry(void(FLOATS_T, int64, int64, FLOATS_T, float32[::1], FLOATS_T))
def add_rows(  # type: ignore[no-untyped-def]
    observations, bits, count, weights, bias, out
):
    """Write the first layer's outputs before the ReLU, float32[B, W].

    Shapes: observations float32[B, bits + count * actions]; weights float32[bits + 2 * count, W];
    bias float32[W].
    """
    actions = (observations.shape[1] - bits) // count if count else 0
    for k in range(observations.shape[0]):
        row = out[k]
        seen = observations[k]
        for j in range(row.shape[0]):
            row[j] = bias[j]
        for i in range(bits):
            value = seen[i]
            if value != 0.0:
                of_input = weights[i]
                for j in range(row.shape[0]):
                    row[j] += value * of_input[j]
        for f in range(count):
            high = seen[bits + f * actions]
            low = high
            for a in range(1, actions):
                value = seen[bits + f * actions + a]
                high = max(high, value)
                low = min(low, value)
            of_high = weights[bits + f]
            of_low = weights[bits + count + f]
            for j in range(row.shape[0]):
                row[j] += high * of_high[j] + low * of_low[j]


def first_layer(
    observations: npt.NDArray[Any], bits: int, count: int, weight: npt.NDArray[Any],
    bias: npt.NDArray[Any],
) -> npt.NDArray[np.float32]:  # fmt: skip
    """Return the first layer's outputs before the ReLU, float32[B, W]; see `add_rows`."""
    out = np.empty((len(observations), len(bias)), dtype=np.float32)
    seen = np.ascontiguousarray(observations, dtype=np.float32)
    weights = np.array(weight.T, dtype=np.float32, order="C")  # by input; those of a file are fixed
    add_rows(seen, bits, count, weights, np.array(bias, dtype=np.float32), out)
    return out
