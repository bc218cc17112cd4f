"""Play a game between two agents and write it down to be looked at: `crib replay FIRST SECOND`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from crib_env.settings import NewFile, Positional, Seat, Seed
from crib_play.replay.page import replay_page
from crib_play.table import find_game
from crib_play.table.seating import sit_down


@dataclass(frozen=True)
class Settings:
    """Write a game between two agents as one HTML file: step through it with the expert's opinion.

    Attributes:
        first: the agent of side 0: its name, a file of weights, or package.module:Class.
        second: the agent of side 1.
        game: six, match, five, table-top, partners, ship or ship-partners.
        seed: deals these cards.
        out: the file.
        opinions: with the expert's opinion of every choice, which takes some seconds.
        seats: whose knowledge the file holds; by default everybody's.
    """

    first: Positional[str]
    second: Positional[str]
    game: str = "six"
    seed: Seed = 1
    out: NewFile = Path("replay.html")
    opinions: bool = True
    seats: tuple[Seat, ...] = ()


def run(settings: Settings) -> None:
    """Play the game and write the file.

    Raises:
        ValueError: no such game, agent, seat or folder.
    """
    kind = find_game(settings.game)
    for seat in settings.seats:
        if not 0 <= seat < kind.players:
            raise ValueError(f"seats are from 0 to {kind.players - 1} in this game, got {seat}")
    session = sit_down(kind, None, settings.second, settings.first, settings.seed)
    while not session.over:
        session.answer()
    title = f"{kind.title}, seed {settings.seed}"
    page = replay_page(session, title, judged=settings.opinions, seats=settings.seats or None)
    settings.out.write_text(page, "utf-8")
    print(
        f"{settings.first} against {settings.second}, {session.result(0)}: {settings.out} "
        f"({len(page) / 1e6:.1f} MB)"
    )
