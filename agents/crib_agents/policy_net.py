"""Agents that score every action of an observation, and the policy network as a file.

`ScoredAgent` takes scores from any function. `PolicyNetAgent` is a network in NumPy, read from a
safetensors file: an MLP over the bits, or with features a `crib_agents.card_net.CardNet`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import float32, void

from crib_agents.files import check_format, name_of, reading, shown, to_bytes, write_whole
from crib_agents.honours import fields_of, one_line, read_rules, refuse_waiting_seats
from crib_env.arrays import Array, Doubles, Floats
from crib_env.encoding import ObservationLayout, canonical_views, encode, layout_of
from crib_env.engine.family import SUITS, Family, check_family, family_of, find_family
from crib_env.engine.jit import entry
from crib_env.errors import check_choice
from crib_env.policy import Actions, Views, check_rng, one_or_many
from crib_env.rules import PRESETS, Rules, as_rules
from crib_env.supported_rules import refuse_undeclared

LEAST = float(np.finfo(np.float64).min)  # lowest score of a legal action; illegal ones have -inf
Score = Callable[[Array, npt.NDArray[np.int8]], Any]
"""``score(observations, masks) -> scores``, logits or values, [B, actions]; higher is better."""


class ScoredAgent:
    """Takes the legal action with the highest score, or draws by the softmax of the scores.

    Args:
        score: a function of observations [B, size] and masks int8[B, actions]; see `Score`.
        name: its name in tables.
        features: the environment's keyword ``features``.
        size: the length of its observations; if given, it decides whether they have features.
        sample: draw by the softmax instead of taking the highest score.
        rules: those that it was trained under; it plays no others. None if unknown: it plays any.
        suits: the environment's keyword ``suits`` in its training.
    """

    def __init__(
        self,
        score: Score,
        name: str,
        *,
        features: bool | None = None,
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
        family = find_family(rules.family)
        if self.size is not None:
            self.features_of(family, self.size)

    @one_or_many
    def act(self, views: Views, rng: np.random.Generator) -> Actions:
        """Return one legal action for each view, int64[B].

        Raises:
            ValueError: the views are of a game whose observations it does not read, or of other
                rules than its own, or its scores have a wrong shape, are NaN or infinite.
        """
        scores = self._scores(views)
        if self.sample:  # the Gumbel trick: the argmax of logits plus noise is a draw
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
        """Return the scores, float64[B, actions]; -inf where an action is illegal."""
        family = family_of(views)
        features = self.features if self.size is None else self.features_of(family, self.size)
        seen = views if self.suits == "real" else canonical_views(views, self.suits)
        observations, masks = encode(seen, features)
        if not len(views):
            return np.zeros(masks.shape)
        try:
            scores = np.asarray(self.score(observations, masks), dtype=np.float64)
        except Exception as error:  # a network may raise anything for a wrong shape
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
            refuse_waiting_seats(self.name, views)
            raise ValueError(f"some scores of {self.name} are infinite: the best legal action must have a finite one")
        found = np.where(masks == 1, np.maximum(legal, LEAST), -np.inf)
        return found if seen is views else of_real_cards(found, seen, views)

    def features_of(self, family: Family, size: int) -> bool:
        """Return whether observations of length ``size`` have features."""
        more = family.features.size
        if size not in (family.obs_size, family.obs_size + more):
            raise ValueError(
                f"{self.name} reads observations of {size} numbers; those of this game have "
                f"{family.obs_size}, {family.obs_size + more} with features"
            )
        return size != family.obs_size


def of_real_cards(scores: Doubles, seen: Views, views: Views, other: float = -np.inf) -> Doubles:
    """Map the scores of canonical cards, of ``seen``, to the real cards in the same hand places."""
    real = np.full_like(scores, other)
    for place in range(views["hand"].shape[1]):
        rows = np.flatnonzero(place < views["hand_n"])
        real[rows, views["hand"][rows, place]] = scores[rows, seen["hand"][rows, place]]
    return real


FORMAT = "crib_env policy"
FORMAT_VERSION = 1
MANY = 256  # the smallest batch for which the kernel `add_rows` is faster
PART = 2048  # observations per pass, so that they fit into the CPU's cache
WITH_FEATURES = 3  # the version with features; version 2 had others, and is refused

Layers = list[tuple[Floats, Floats]]
Tensors = dict[str, Floats]


def header(
    environment: str,
    rules: str | Rules,
    family: Family,
    features: bool | None = None,
    suits: str = "real",
    sample: bool = False,
) -> dict[str, Any]:
    """Return the header of a weights file."""
    chosen = as_rules(rules)
    return {
        "format": FORMAT,
        "version": WITH_FEATURES if features else FORMAT_VERSION,
        "environment": environment,
        "rules": chosen.name,
        "rules_fields": fields_of(chosen),
        "family": family.name,
        "observation_layout": [[one.name, one.size] for one in family.layout_with(features)],
        "features": bool(features),
        "actions": family.actions,
        "suits": suits,
        "sample": sample,
    }


class PolicyNetAgent(ScoredAgent):
    """Plays the most likely legal action of a trained policy, or samples from it.

    Args:
        layers: weight [out, in] and bias [out] of every layer of an MLP over the bits, the last
            with one row per action; or the tensors of a `CardNet` by name, if the header says
            features.
        about: the header of the weights file; see `header`.
        name: its name in tables.
        sample: draw from the policy instead of taking its most likely action; None for the
            header's value.

    Raises:
        ValueError: the header states another observation, other actions or unknown rules, or the
            layers do not fit it or each other.
    """

    other_rules = "`crib train` makes policies for any rules"

    def __init__(
        self, layers: Layers | Tensors, about: dict[str, Any], name: str = "learned", sample: bool | None = None
    ) -> None:
        self.layers = layers
        self.about = about
        rules = rules_of_header(about)
        family = family_of_header(about, rules)
        super().__init__(
            self._logits,
            name,
            features=bool(about.get("features")),
            sample=samples(about) if sample is None else sample,
            rules=rules,
            suits=str(about.get("suits", "real")),
        )
        self.family = family
        if isinstance(layers, dict) != self.features:
            raise ValueError(f"its header says features {self.features}, which its layers are not for")
        if isinstance(layers, dict):
            self._layout = layout_of(family, True)
            _check_tensors(layers, self._layout)
        else:
            _check_layers(layers, family.obs_size, family.actions)

    @classmethod
    def load(cls, path: str | Path, name: str | None = None, sample: bool | None = None) -> PolicyNetAgent:
        """Read an agent from a file written by `save`.

        Raises:
            ValueError: the file is of another kind, or does not fit this version; the message
                gives the expected and the found value.
        """
        with reading(path) as (about, tensors):
            check_format(about, FORMAT, version_of(about))
            count = max(1, len(tensors) // 2)
            plain = {f"{i}.{part}" for i in range(count) for part in ("weight", "bias")}
            expected = set(CARD_NET) if about.get("features") else plain
            if set(tensors) != expected:
                raise ValueError(
                    f"it holds the tensors {', '.join(sorted(tensors)) or 'none'}, "
                    f"expected {', '.join(sorted(expected))}"
                )
            layers: Layers | Tensors = dict(tensors)
            if not about.get("features"):
                layers = [(tensors[f"{i}.weight"], tensors[f"{i}.bias"]) for i in range(count)]
            return cls(layers, about, name or name_of(path), sample)

    def to_bytes(self) -> bytes:
        """Return the bytes of the file that `save` writes."""
        if isinstance(self.layers, dict):
            return to_bytes(self.about, self.layers)
        tensors = {}
        for i, (weight, bias) in enumerate(self.layers):
            tensors[f"{i}.weight"] = np.ascontiguousarray(weight)
            tensors[f"{i}.bias"] = np.ascontiguousarray(bias)
        return to_bytes(self.about, tensors)

    def save(self, path: str | Path) -> None:
        """Write the weights with their header, for `load`."""
        write_whole(Path(path), self.to_bytes())

    def _scores(self, views: Views) -> Doubles:
        check_family(self.name, views, [self.family.name])
        if len(views) <= PART:
            return super()._scores(views)
        parts = [super(PolicyNetAgent, self)._scores(views[at : at + PART]) for at in range(0, len(views), PART)]
        return np.concatenate(parts)

    def _logits(self, observations: Array, masks: npt.NDArray[np.int8]) -> Floats:
        """Return the network's logits, float32[B, actions]."""
        if isinstance(self.layers, dict):
            return card_logits(self.layers, self._layout, observations)
        x = observations.astype(np.float32)
        *rest, (weight, bias) = self.layers
        for i, layer in enumerate(rest):
            x = np.maximum(linear(x, *layer, sparse=i == 0), 0.0)
        logits: Floats = x @ weight.T + bias
        return logits


def family_of_header(about: dict[str, Any], rules: Rules) -> Family:
    """Return the family of ``rules``; a ValueError if the header's layout or actions differ."""
    family = find_family(rules.family)
    environment = str(about.get("environment"))[:100]
    layout = family.layout_with(about.get("features"))
    found, expected = about.get("observation_layout"), [[one.name, one.size] for one in layout]
    if found != expected:
        raise ValueError(
            f"it was trained on another observation of {environment}: its layout is "
            f"{shown(found)}, this version's is {expected}"
        )
    if about.get("actions") != family.actions:
        raise ValueError(
            f"it was trained on {shown(about.get('actions'))} actions of {environment}, which has {family.actions}"
        )
    return family


def samples(about: dict[str, Any]) -> bool:
    """Return the header's ``sample``: whether the agent draws; False in older headers."""
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
        raise ValueError(
            f"it was trained under the rules {shown(name)}: its header must say what "
            f"they are, or name one of {', '.join(PRESETS)}"
        )
    return read_rules(about.get("family"), name, fields)


def _check_layers(layers: Layers, inputs: int, actions: int) -> None:
    """Raise a ValueError unless the layers' shapes lead from ``inputs`` to ``actions``."""
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
        size = rows
    if not layers:
        raise ValueError("there are no layers")


CARD_NET = (
    "encode.weight",
    "encode.bias",
    "of_state.weight",
    "of_state.bias",
    "of_row.weight",
    "inner.weight",
    "inner.bias",
    "out.weight",
    "sure.weight",
    "scale",
)
"""The tensors of a `CardNet` that its logits depend on."""


def card_logits(net: Tensors, layout: ObservationLayout, observations: Array) -> Floats:
    """Return the logits of a `CardNet`, float32[B, actions], as its ``forward`` does."""
    at = layout["rows"].start
    rows = observations[:, at:].reshape(-1, *layout.rows)
    i, k = rows[:, :, 0].nonzero()
    places, each = rows[i, k, 0], rows[i, k, 1:]
    state = observations[:, layout.first : at]
    encoded = linear(state, net["encode.weight"], net["encode.bias"], sparse=True)
    context = linear(np.maximum(encoded, 0.0), net["of_state.weight"], net["of_state.bias"])
    hidden = np.maximum(each @ net["of_row.weight"].T + context[i], 0.0)
    hidden = np.maximum(linear(hidden, net["inner.weight"], net["inner.bias"]), 0.0)
    scores = hidden @ net["out.weight"][0] + each @ net["sure.weight"][0]
    adds = layout.places or tuple((action,) for action in range(layout.actions))
    of_places = np.zeros((len(observations), 2 + max(map(max, adds))), dtype=np.float32)
    of_places[i, np.abs(places).astype(np.int64)] = np.sign(places) * scores
    by_action = [of_places[:, [1 + place for place in those]].sum(axis=1) for those in adds]
    logits: Floats = np.exp(net["scale"]) * np.stack(by_action, axis=1)
    return logits


def _check_tensors(net: Tensors, layout: ObservationLayout) -> None:
    """Raise a ValueError unless the tensors are those of a `CardNet` for this observation."""
    hidden, inner = len(net["encode.bias"]), len(net["inner.bias"])
    state, features = layout["rows"].start - layout.first, layout.rows[1] - 1
    shapes = ((hidden, state), (hidden,), (hidden, hidden), (hidden,), (hidden, features),
              (inner, hidden), (inner,), (2, inner), (2, features), ())  # fmt: skip
    for name, shape in zip(CARD_NET, shapes, strict=True):
        if net[name].shape != shape:
            raise ValueError(f"{name} is of shape {net[name].shape}, expected {shape}")


FLOATS_T = float32[:, ::1]


@entry(void(FLOATS_T, FLOATS_T, float32[::1], FLOATS_T))
def add_rows(observations, weights, bias, out):  # type: ignore[no-untyped-def]
    """Write a layer's outputs, float32[B, W], for mostly zero inputs, float32[B, size]."""
    for k in range(observations.shape[0]):
        row = out[k]
        for j in range(row.shape[0]):
            row[j] = bias[j]
        for i in range(observations.shape[1]):
            value = observations[k, i]
            if value != 0.0:
                of_input = weights[i]
                for j in range(row.shape[0]):
                    row[j] += value * of_input[j]


def linear(x: npt.NDArray[Any], weight: npt.NDArray[Any], bias: npt.NDArray[Any], sparse: bool = False) -> Floats:
    """Return a layer's outputs, float32[B, W]; ``sparse`` where most inputs are 0."""
    if not sparse or len(x) < MANY:
        found: Floats = x.astype(np.float32, copy=False) @ weight.T + bias
        return found
    out = np.empty((len(x), len(bias)), dtype=np.float32)
    weights = np.array(weight.T, dtype=np.float32, order="C")  # a row per input; a writable copy
    seen = np.ascontiguousarray(x, dtype=np.float32)
    add_rows(seen, weights, np.array(bias, dtype=np.float32), out)
    return out
