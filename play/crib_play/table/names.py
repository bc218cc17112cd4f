"""What those at a table are called by one who sits there, or looks on."""

from __future__ import annotations

from crib_play.table.session import Session

SELF = "you"
PLACES = {1: "left", 2: "partner", 3: "right"}


def names(session: Session, me: int | None = None) -> list[str]:
    """Return the name of each seat: its agent's, with its place where four sit down.

    Args:
        me: the seat of whoever looks; None for one who looks on, to whom alike names are numbered.
    """
    called = [getattr(agent, "name", "person") for agent in session.seats]
    if me is None:
        twice = {name for name in called if called.count(name) > 1}
        return [f"{name} {i + 1}" if name in twice else name for i, name in enumerate(called)]
    players = len(called)
    found = []
    for seat, name in enumerate(called):
        if seat == me:
            found.append(SELF)
        elif players == len(PLACES) + 1:
            found.append(f"{PLACES[(seat - me) % players]} ({name})")
        else:
            found.append(name)
    return found
