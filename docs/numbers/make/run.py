"""How much is played for a page of figures, and by whom."""

from __future__ import annotations

from dataclasses import dataclass

from crib_env.policy import Agent
from crib_env.rules import Rules
from docs.numbers.make.episodes import Episodes, self_play


@dataclass(frozen=True)
class Run:
    """How much is played, and by whom.

    Attributes:
        agent: who plays, in every seat.
        deals: single deals (at Table Top: rounds) from 0-0.
        games: whole games.
        cribs: deals for the means of cribs.
        seed: fixes everything.
        workers: threads; they change nothing but the time it takes.
    """

    agent: Agent
    deals: int
    games: int
    cribs: int
    seed: int
    workers: int

    def play(
        self,
        rules: Rules,
        episode: str,
        episodes: int,
        *,
        players: int = 2,
        first_dealer: int | None = None,
        scores: tuple[int, int] | None = None,
    ) -> Episodes:
        """Play episodes of one kind; see `self_play`."""
        return self_play(
            rules, episode, self.agent, episodes, self.seed,
            players=players, workers=self.workers, first_dealer=first_dealer, scores=scores,
        )  # fmt: skip
