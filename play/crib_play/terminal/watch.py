"""Watch two agents play, with every card open: `crib watch FIRST SECOND`."""

from __future__ import annotations

from dataclasses import KW_ONLY, replace

from crib_agents.loading import TakesAgents

from crib_env.settings import Seed, checked_dataclass
from crib_play.preferences import Speed, load_preferences
from crib_play.table import TakesGame
from crib_play.table.seats import names, sit_down
from crib_play.terminal.boards import boards_of
from crib_play.terminal.screen import Screen


@checked_dataclass(frozen=True)
class Settings(TakesGame, TakesAgents):
    """Watch two agents play; with four players, each has two seats.

    Attributes:
        first: the agent of side 0: its name, a file of weights, or package.module:Class.
        second: the agent of side 1, and of any other.
        seed: the seed of the deals; by default random.
        speed: the count speed, 1 (fastest, without a pause) to 3; by default as saved.
    """

    first: str
    second: str
    _: KW_ONLY
    seed: Seed | None = None
    speed: Speed | None = None


def run(settings: Settings) -> None:
    """Show the game turn by turn."""
    chosen = load_preferences().with_those_given(speed=settings.speed)
    kind = settings.table_game(chosen.game)
    first, second = map(settings.trusted, (settings.first, settings.second))
    session = sit_down(kind, None, second, first, settings.seed)
    screen = Screen(chosen.speed)
    called = names(session)
    screen.title(f"{kind.title}: {', '.join(called)}")
    screen.say(session.opening, called)
    try:
        while not session.over:
            turn = session.answer()
            if not turn.calls[0].cards:  # cards hidden from the players
                spoken = session.family.spoken(turn.view, turn.actions)
                screen.line(f"  {called[turn.seat]}: {spoken}", style="dim")
                turn = replace(turn, calls=turn.calls[1:])
            screen.calls(session, turn, called)
            if turn.counted:
                boards_of(session).score(screen, session.sight(0), called)
    except KeyboardInterrupt:
        screen.line("")
        screen.line("You stop watching.")
        return
    winner = session.winner
    if winner is not None:
        name = called[session.game.sides.index(winner)]
        screen.title(f"{name} wins, {session.result(winner)}.")
