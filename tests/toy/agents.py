"""An agent of the toy game that plays inside the compiled batch."""

from __future__ import annotations

from typing import ClassVar

from crib_env.policy import Act, CompiledAgent


def act(v, rng, table, weights):
    """Return the higher of the cards held."""
    return max(v["hand"][0], v["hand"][1])


class HighCard(CompiledAgent):
    """Lays its higher card."""

    name = "high_card"
    acts: ClassVar[dict[str, Act]] = {"toy": act}
