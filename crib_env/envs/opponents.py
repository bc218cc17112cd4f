"""The opponents of a batch's learners: one agent, or one drawn for each episode."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from crib_env.arrays import Array
from crib_env.engine.sampling import draw_shares
from crib_env.policy import Agent, Opponent, find_agent

OpponentSpec = Opponent | Sequence[tuple[Opponent, float]]

ALL = 1 << 32  # the bound of the last share: every word is below it


class Opponents:
    """The opponents of N games.

    Args:
        n: how many games. given: one opponent, or several with their shares.

    Attributes:
        agents: all that play in some game, K of them.
        drawn: int64[N], which of them plays in each.
        names: of all that have ever been given, each once, in that order.
        playing: int64[N], the number of who plays in each game: its name's place in ``names``.
    """

    def __init__(self, n: int, given: OpponentSpec) -> None:
        self.agents: list[Agent] = []
        self.drawn = np.zeros(n, dtype=np.int64)
        self.playing = np.zeros(n, dtype=np.int64)
        self.names: list[str] = []
        self._shares = np.zeros((n, 0))
        self.put(given, np.arange(n))

    def put(self, given: OpponentSpec, lanes: Array) -> None:
        """Let others play in some games; which of several plays in each is for `draw` to say.

        Shapes: lanes int64[K].
        """
        pairs = parse_opponents(given)
        agents, shares = list(self.agents), self._shares.copy()
        shares[lanes] = 0.0
        for agent, share in pairs:
            if not any(agent is known for known in agents):
                agents.append(agent)
                shares = np.column_stack([shares, np.zeros(len(shares))])
            at = next(k for k, known in enumerate(agents) if known is agent)
            shares[lanes, at] += share
        played = np.flatnonzero(shares.any(axis=0))
        self.agents = [agents[k] for k in played]
        self.names = list(dict.fromkeys([*self.names, *(agent.name for agent, _ in pairs)]))
        self._numbers = np.array([self.names.index(agent.name) for agent in self.agents])
        self._shares = shares[:, played]
        self.drawn = np.searchsorted(played, self.drawn)
        self.drawn[lanes] = self._shares[lanes].argmax(axis=1)  # right where there is but one
        sums = np.cumsum(self._shares, axis=1)
        self.playing[:] = self._numbers[self.drawn]
        self._bounds = np.ceil(sums / sums[:, -1:] * ALL).astype(np.int64, order="C")

    def draw(self, rngs: Array, lanes: Array) -> None:
        """Draw who plays in each of the lanes, int64[K], from its generator of ``rngs``."""
        if len(self.agents) > 1:
            draw_shares(rngs, self._bounds, lanes, self.drawn)
            self.playing[lanes] = self._numbers[self.drawn[lanes]]

    def __getitem__(self, lane: int) -> Agent:
        """Return who plays in a game."""
        return self.agents[int(self.drawn[lane])]


def parse_opponents(given: OpponentSpec) -> list[tuple[Agent, float]]:
    """Return opponents with their shares, checked."""
    if not isinstance(given, (list, tuple)):
        return [(find_agent(given), 1.0)]  # type: ignore[arg-type]
    if not given:
        raise ValueError("opponent is an empty list: name one opponent or more")
    pairs = []
    for pair in given:
        if not isinstance(pair, (list, tuple)) or len(pair) != 2:
            raise ValueError(
                "several opponents are given as pairs [(agent, share), ...], such as "
                f"[('greedy', 0.5), ('expert', 0.5)]; got {pair!r}"
            )
        agent, share = pair
        number = isinstance(share, (int, float, np.integer, np.floating))
        if not number or isinstance(share, bool) or not 0 < share < float("inf"):
            raise ValueError(f"the share of {agent!r} must be a number above 0, got {share!r}")
        pairs.append((find_agent(agent), float(share)))
    return pairs
