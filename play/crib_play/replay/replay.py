"""Play a game between two agents and write it as a page: `crib replay FIRST SECOND`."""

from __future__ import annotations

from dataclasses import KW_ONLY
from pathlib import Path

from crib_agents.loading import TakesAgents

from crib_env.settings import AgentName, NewFile, Seat, Seed, checked_dataclass
from crib_play.replay.page import replay_page
from crib_play.table import TakesGame
from crib_play.table.seats import sit_down

OPEN_SEED = 1  # of a game in which every card is shown


@checked_dataclass(frozen=True)
class Settings(TakesGame, TakesAgents):
    """Write a game between two agents as one HTML file, with the expert's value of every choice.

    Attributes:
        first: the agent of side 0: its name, a file of weights, or package.module:Class.
        second: the agent of side 1, and of any other.
        seed: the seed of the deals; by default 1, and with seats random: anyone who guesses the
            seed of a game can play it again and see every card.
        out: the file.
        opinions: add the expert's value of every choice, which takes some seconds; not in games
            that have no analysis.
        seats: the file holds only the knowledge of these seats; by default everything.
    """

    first: AgentName
    second: AgentName
    _: KW_ONLY
    seed: Seed | None = None
    out: NewFile = Path("replay.html")
    opinions: bool = True
    seats: tuple[Seat, ...] = ()


def run(settings: Settings) -> None:
    """Play the game and write the file."""
    kind = settings.table_game()
    for seat in settings.seats:
        if not 0 <= seat < kind.players:
            raise ValueError(f"seats are from 0 to {kind.players - 1} in this game, got {seat}")
    first, second = map(settings.trusted, (settings.first, settings.second))
    seed = settings.seed if settings.seats or settings.seed is not None else OPEN_SEED
    session = sit_down(kind, None, second, first, seed)
    session.go_on()
    title = kind.title if settings.seats else f"{kind.title}, seed {seed}"
    page = replay_page(session, title, judged=settings.opinions, seats=settings.seats or None)
    settings.out.write_text(page, "utf-8")
    print(
        f"{settings.first} against {settings.second}, {session.result(0)}: {settings.out} "
        f"({len(page) / 1e6:.1f} MB)"
    )
    if settings.seats and seed is not None:
        print(f"Who guesses the seed {seed} sees every card: leave --seed out to hand the file on.")
