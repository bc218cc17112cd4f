"""A network for cards in PyTorch: it scores every card, or place, with the same weights.

Import it, or copy this file. It reads observations with ``features=True``.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from crib_env.encoding import ObservationLayout

SCORE = ("need", "other_need", "match_score", "other_games")  # slices that state the score
WITH_FEATURES = "give observation_layout, the environment and from_torch features=True"


class CardNet(nn.Module):
    """The logits of all actions and the value of a state.

    Each row of features gets a score: its certain points plus the network's correction. So the
    value of a pair in hand is learned once, and not for each of 52 cards. The logits are the scores
    divided by a temperature. The value is that of the state and the rows, plus the policy's mean
    score: thus rewards train the scores directly, as in Monte Carlo methods.

    Args:
        layout: `crib_env.observation_layout` of the environment, with features.
        hidden: units of the layers that read the state and the rows.
        inner: units of the layer after them.
        temperature: points by which a card must be better to be e times as likely. None learns
            it: it falls during training, and the policy explores less and less.
        reads_score: False for training on single deals. They begin at 0-0, so they cannot teach
            how the score matters in a game.

    Raises:
        ValueError: a layout without features, a temperature that is not positive and finite, or
            observations of another size than the layout's, or scaled ones.
    """

    def __init__(
        self,
        layout: ObservationLayout,
        hidden: int = 128,
        inner: int = 64,
        temperature: float | None = None,
        reads_score: bool = True,
    ) -> None:
        super().__init__()
        if "rows" not in layout:
            raise ValueError(f"CardNet scores the rows of features: {WITH_FEATURES}")
        self.size = layout["rows"].stop
        self.state = slice(layout.first, layout["rows"].start)
        self.rows, self.width = layout.rows
        self.actions, self.legal = layout.actions, layout.get("legal")
        self.encode = nn.Linear(self.state.stop - self.state.start, hidden)
        self.of_state = nn.Linear(hidden, hidden)
        self.of_row = nn.Linear(self.width - 1, hidden, bias=False)
        self.inner = nn.Linear(hidden, inner)
        self.out = nn.Linear(inner, 2, bias=False)  # the score, and the row's part of the value
        self.sure = nn.Linear(self.width - 1, 2, bias=False)
        self.base = nn.Linear(hidden, 1)
        self.scale = nn.Parameter(torch.tensor(1.0))  # -log(temperature)
        places = (
            torch.eye(self.actions)
            if layout.places is None
            else torch.zeros(1 + max(map(max, layout.places)), self.actions)
        )
        for action, those in enumerate(layout.places or ()):
            places[list(those), action] = 1.0
        self.register_buffer("places", places, persistent=False)
        self.places: Tensor
        self.begin()
        if temperature is not None:
            if not 0 < temperature < math.inf:
                raise ValueError(f"temperature must be positive and finite, got {temperature}")
            self.scale.data.fill_(-math.log(temperature))
            self.scale.requires_grad_(False)
        read = torch.ones(self.encode.in_features)
        for name in () if reads_score else SCORE:
            if name in layout and layout[name].start >= layout.first:
                read[layout[name].start - layout.first : layout[name].stop - layout.first] = 0.0
        self.encode.weight.data *= read  # these stay 0, so a file of weights needs no mask
        self.register_buffer("read", read, persistent=False)
        self.read: Tensor

    def begin(self) -> None:
        """Initialise the policy to score a row by its certain points, its first feature."""
        nn.init.normal_(self.out.weight, std=0.01)
        nn.init.zeros_(self.sure.weight)
        with torch.no_grad():
            self.sure.weight[0, 0] = 1.0

    def forward(self, observations: Tensor) -> Tensor:
        """Return the logits, float32[B, actions], of observations, float32[B, size]."""
        return self.logits_and_value(observations)[0]

    def logits_and_value(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """Return the logits, float32[B, actions], and the value, float32[B]."""
        if observations.ndim != 2 or observations.shape[1] != self.size:
            raise ValueError(
                f"CardNet reads observations of shape [B, {self.size}], got {list(observations.shape)}: {WITH_FEATURES}"
            )
        state = observations[:, self.state] * self.read
        rows = observations[:, self.state.stop :].reshape(-1, self.rows, self.width)
        ids, features = rows[:, :, 0], rows[:, :, 1:]
        encoded = torch.relu(self.encode(state))
        context, used = self.of_state(encoded), ids != 0
        if torch.compiler.is_exporting():  # all rows: shapes must not depend on the data
            found = self.score(features, context.unsqueeze(1)) * used.unsqueeze(2)
        else:
            if not torch.equal(ids, ids.round()):
                raise ValueError(
                    "the first number of a row is a card's or place's, and whole: leave "
                    "observations unscaled, as VecNormalize(norm_obs=False) does"
                )
            i, k = used.nonzero(as_tuple=True)
            scored = self.score(features[i, k], context[i])
            found = scored.new_zeros(*used.shape, 2).index_put((i, k), scored)
        found = found * ids.sign().unsqueeze(2)  # a negative id counts for the other side
        of_places = found.new_zeros(observations.shape[0], 1 + self.places.shape[0])
        places = ids.abs().long()
        scores = of_places.scatter(1, places, found[:, :, 0])[:, 1:] @ self.places
        if self.legal is None:
            legal = torch.zeros_like(of_places).scatter(1, places, 1.0)[:, 1:]
        else:
            legal = observations[:, self.legal]
        logits = self.scale.exp() * scores
        chances = logits.detach().masked_fill(legal == 0, torch.finfo(logits.dtype).min).softmax(1)
        value = self.base(encoded).squeeze(1) + found[:, :, 1].sum(1) + (chances * scores).sum(1)
        return logits, value

    def score(self, features: Tensor, context: Tensor) -> Tensor:
        """Return each row's score and its part of the value, [..., 2]."""
        hidden = torch.relu(self.of_row(features) + context)
        found: Tensor = self.out(torch.relu(self.inner(hidden))) + self.sure(features)
        return found
