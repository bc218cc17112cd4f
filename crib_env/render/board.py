"""The cribbage board: laps of sixty holes and a last one, two pegs a player (H9, H12)."""

from __future__ import annotations

LAP = 60
GROUP = 10
HOLE = "."
FRONT = "O"
REAR = "o"


def track(score: int, rear: int, target: int) -> list[str]:
    """Return a player's holes as lines, one a lap; the last line ends in the winning hole.

    The front peg ``O`` shows the score, the rear peg ``o`` the score before the last points;
    a peg that has not left the start stands before the first hole.
    """
    holes = [HOLE] * target
    start = ""
    for peg, at in ((REAR, rear), (FRONT, score)):
        if at == 0:
            start += peg
        else:
            holes[min(at, target) - 1] = peg
    lines = []
    for lap in range(0, max(target - 1, 1), LAP):
        some = "".join(holes[lap : min(lap + LAP, target - 1)])
        groups = [some[at : at + GROUP] for at in range(0, len(some), GROUP)]
        lines.append(f"{'' if lap else start:>2} {' '.join(groups)}".rstrip())
    lines[-1] += f" {holes[-1]}"
    return lines
