"""The names of the seats, for a person at the table or a spectator."""

from __future__ import annotations

from collections.abc import Sequence

from crib_play.table.session import Session

SELF = "you"
PARTNER = "partner"
# Where the others sit, to the left of whoever looks; the one player opposite needs no place.
PLACES = {2: (None,), 3: ("left", "right"), 4: ("left", "across", "right")}


def names(session: Session, me: int | None = None) -> list[str]:
    """Return the name of each seat: its agent's, with its place where more than two sit down."""
    called = [getattr(agent, "name", "person") for agent in session.seats]
    if me is None:
        twice = {name for name in called if called.count(name) > 1}
        return [f"{name} {i + 1}" if name in twice else name for i, name in enumerate(called)]
    sides, places = session.game.sides, (SELF, *PLACES[len(called)])
    found = []
    for seat, name in enumerate(called):
        place = places[(seat - me) % len(called)]
        if seat == me:
            found.append(SELF)
        elif place is None:
            found.append(name)
        else:
            found.append(f"{PARTNER if sides[seat] == sides[me] else place} ({name})")
    return found


def side_names(session: Session, me: int | None = None) -> list[str]:
    """Return the name of each side: the family's, or those of its seats together."""
    if session.family.sides is not None:
        return list(session.family.sides)
    return by_side(names(session, me), session.game.sides)


def by_side(called: Sequence[str], sides: Sequence[int]) -> list[str]:
    """Return the name of each side: its seats' together."""
    return [
        " and ".join(name for name, its in zip(called, sides, strict=True) if its == side)
        for side in range(1 + max(sides))
    ]
