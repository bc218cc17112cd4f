"""An agent from anything that scores actions, such as a network from any library."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from crib_agents.checks import one_line
from crib_env.arrays import Array, Doubles
from crib_env.encoding import canonical_views, encode, family_of
from crib_env.engine.family import SUITS, Family, find_family
from crib_env.errors import check_choice
from crib_env.honours import refuse_undeclared
from crib_env.policy import Actions, Views, check_rng, one_or_many
from crib_env.rules import Rules

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
        """Raise a ValueError unless it plays by these rules; see `crib_env.honours`."""
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
