"""Watch two agents play, with every card open: `crib play AGENT AGENT`."""

from __future__ import annotations

from dataclasses import replace

from crib_play.table import Session
from crib_play.table.seats import names
from crib_play.terminal.boards import boards_of
from crib_play.terminal.screen import Screen


def watch(session: Session, screen: Screen, title: str) -> None:
    """Show the game turn by turn."""
    called = names(session)
    screen.title(f"{title}: {', '.join(called)}")
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
