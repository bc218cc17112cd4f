"""Inputs of the learned agent's Table Top nets, by slow definition, as named inputs."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from .learned import Named, thermometer
from .scoring import JACK, fifteens, line_flush, pairs, rank, runs, suit

SIZE = 5
RANKS = 13
TURNS = 28
CRIB = 25

LINE_AT = {"cards": 0, "ranks": 6, "suit": 19, "nob": 23, "next": 26, "mean_next": 52}
LINE_SIZE = 54  # including the changes by the card in turn, here 0
LINE_PLACES = (
    ("phase", 14),
    ("unseen", 13),
    ("on turn", 1),
    ("owed", 1),
    ("owed by other", 1),
    ("rank", 52),
    ("line", LINE_SIZE),
)
CRIB_PLACES = (("rank", 52), ("line", LINE_SIZE), ("mine", 1), ("theirs", 1))


def place_in(places: Sequence[tuple[str, int]]) -> Any:
    """Return the function from an input's name to its index among the net's inputs."""

    def place(name: tuple[Any, ...]) -> int:
        kind, *rest = name
        at = 0
        for block, size in places:
            if block == kind:
                break
            at += size
        if kind == "rank":
            return at + RANKS * rest[0] + rest[1]
        return at + (rest[0] if rest else 0)

    return place


def points_of(cards: Sequence[int], starter: int | None, flush_size: int) -> int:
    """Return the points of at most five cards; a given ``starter`` is among them (T8, T12)."""
    points = fifteens(cards) + pairs(cards) + runs(cards) + line_flush(cards, flush_size)
    if starter is None or rank(starter) == JACK:
        return points
    return points + sum(rank(c) == JACK and suit(c) == suit(starter) for c in cards)


def cells_of(line: int) -> list[int]:
    """Return the cells of a line: rows 0 to 4, columns 5 to 9."""
    return [SIZE * line + i if line < SIZE else SIZE * i + line - SIZE for i in range(SIZE)]


def lines_of(view: Any) -> list[list[int]]:
    """Return the cards of each line."""
    layout = view["layout"].tolist()
    return [[layout[c] for c in cells_of(line) if layout[c] >= 0] for line in range(2 * SIZE)]


def unseen_of(view: Any) -> set[int]:
    """Return the cards a seat to move has not seen."""
    known = {*view["layout"].tolist(), *view["crib"].tolist(), int(view["card"])}
    return set(range(52)) - known


def lying(cards: Sequence[int], left: set[int], starter: int | None, flush_size: int) -> dict[str, list[float]]:
    """Return the features of a line, or of the crib, without the card in turn, by name.

    ``starter`` is the card whose suit scores for nobs in it, ``left`` the unseen cards.
    """
    nob = None if starter is None or rank(starter) == JACK else 4 * JACK + suit(starter)

    def by_rank(held: Sequence[int]) -> int:
        return fifteens(held) + pairs(held) + runs(held)

    more = dict.fromkeys(range(RANKS), 0.0)
    if len(cards) < SIZE:
        more |= {rank(c): (by_rank([*cards, c]) - by_rank(cards)) / 4 for c in left}
    most = max(Counter(suit(c) for c in cards).values(), default=0)
    return {
        "points": [points_of(cards, starter, flush_size) / 4 if cards else 0.0],
        "cards": [float(len(cards) == k) for k in range(SIZE + 1)],
        "ranks": [float(sum(rank(c) == r for c in cards)) for r in range(RANKS)],
        "suit": [float(most == len(cards)), most / 4],
        "nob": [float(nob in cards), float(nob in left)],
        "next": list(more.values()),
        "mean_next": [sum(more[rank(c)] for c in left) / len(left)],
    }


def as_inputs(cards: Sequence[int], numbers: dict[str, list[float]]) -> Named:
    """Return the net's inputs for the features that `lying` returns."""
    seen = thermometer("rank", [rank(c) for c in cards])
    for name, at in LINE_AT.items():
        seen |= {("line", at + i): number for i, number in enumerate(numbers[name])}
    return seen


def line_seen(view: Any, line: int, cards: Sequence[int]) -> Named:
    """Return the inputs for a line that holds these cards."""
    unseen = unseen_of(view)
    is_mine = (line < SIZE) == bool(view["scores_rows"])
    owed = [int(view["owed"][side] + view["owed"][side + 2]) for side in range(2)]
    starter = int(view["starter"]) if line % SIZE == SIZE // 2 else None
    seen = as_inputs(cards, lying(cards, unseen, starter, int(view["flush_size"])))
    seen["phase", (TURNS - 1 - int(view["turn"])) // 2] = 1.0
    seen["on turn",] = float(not is_mine)
    for r in range(RANKS):
        share = sum(rank(c) == r for c in unseen) / len(unseen)
        seen["unseen", r] = RANKS * share - 1
    seen["owed",] = owed[not is_mine] / 2
    seen["owed by other",] = owed[is_mine] / 2
    return seen


def crib_seen(view: Any, cards: Sequence[int]) -> Named:
    """Return the inputs for a crib with these known cards."""
    size = int(view["crib_flush_size"])
    seen = as_inputs(cards, lying(cards, unseen_of(view), int(view["starter"]), size))
    seen["mine" if view["my_crib"] else "theirs",] = 1.0
    return seen
