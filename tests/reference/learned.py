"""The inputs of the learned agent's nets, by slow definition and by name; and the nets in NumPy."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from .pegging import pip
from .scoring import score_play, score_show

RANKS = 13
Named = dict[tuple[Any, ...], float]


def thermometer(name: str, ranks: Sequence[int]) -> Named:
    """Return an input for the first, the second, ... card of each rank."""
    return {(name, n, r): 1.0 for r, many in Counter(ranks).items() for n in range(many)}


def mean_hand(dealt: Sequence[int], discarded: Sequence[int], rules_name: str) -> float:
    """Return the mean of the hand kept over every starter not dealt to the seat."""
    hand = [c for c in dealt if c not in discarded]
    starters = [c for c in range(52) if c not in dealt]
    return sum(score_show(hand, c, False, rules_name) for c in starters) / len(starters)


def discard(dealt: Sequence[int], discarded: Sequence[int], rules_name: str) -> Named:
    """Return the inputs for discarding two cards."""
    hand = [c for c in dealt if c not in discarded]
    seen = thermometer("kept", [c // 4 for c in hand])
    seen |= thermometer("discarded", [c // 4 for c in discarded])
    seen["pair", *sorted(c // 4 for c in discarded)] = 1.0
    seen["suited",] = float(len({c % 4 for c in discarded}) == 1)
    seen["flush",] = float(len({c % 4 for c in hand}) == 1)
    seen["mean",] = mean_hand(dealt, discarded, rules_name) / 10
    return seen


def discard_place(name: tuple[Any, ...]) -> int:
    """Return which input of the net a named one is."""
    kind, *rest = name
    if kind in ("kept", "discarded"):
        return {"kept": 0, "discarded": 52}[kind] + RANKS * rest[0] + rest[1]
    if kind == "pair":
        cells = [(a, b) for b in range(RANKS) for a in range(b + 1)]
        return 78 + cells.index((rest[0], rest[1]))
    return {"suited": 169, "flush": 170, "mean": 171}[kind]


def counts(view: Any) -> list[list[tuple[int, bool]]]:
    """Return the counts of the play: cards with whether this seat played them."""
    found: list[list[tuple[int, bool]]] = [[]]
    for i in range(view["pile_n"]):
        card = (int(view["pile"][i]) // 4, bool(view["pile_seats"] >> 2 * i & 1 == 0))
        full = sum(pip(r) for r, _ in found[-1])
        if full == 31 or full + pip(card[0]) > 31:
            found.append([])
        found[-1].append(card)
    return found


def least_pip(view: Any) -> int:
    """Return the least pip value the other seat's cards can have, by the counts of its gos."""
    least = 1
    all_counts = counts(view)
    for n, cards in enumerate(all_counts):
        total = 0
        for (rank, mine), (_, next_mine) in pairwise(cards):
            total += pip(rank)
            if mine and next_mine:
                least = max(least, 32 - total)
        if n < len(all_counts) - 1 or sum(pip(r) for r, _ in cards) == 31:
            least = max(least, 32 - sum(pip(r) for r, _ in cards))
    return least


def play(view: Any, card: int) -> tuple[Named, int]:
    """Return the inputs for playing a card, and the points that it pegs at once."""
    held = [int(c) for c in view["hand"][: view["hand_n"]]]
    rest = [c // 4 for c in held if c != card]
    at = int(view["pile_from"])
    pile = [int(c) for c in view["pile"][: view["pile_n"]]]
    line = [c // 4 for c in pile[at:]] + [card // 4]
    total, go = sum(map(pip, line)), bool(view["go"])
    last_mine = len(pile) > at and view["pile_seats"] >> 2 * (len(pile) - 1) & 1 == 0
    alone = view["held_n"][1] == 0 or bool(last_mine)

    def points(ranks: Sequence[int]) -> int:
        count = sum(map(pip, ranks))
        return sum(score_play(ranks, count)) + ((1 if go else 2) if count == 31 else 0)

    now = points(line)
    more = any(total + pip(r) <= 31 for r in rest)
    if total < 31 and not go and alone and not (view["single_count"] and more):
        now += 1
    discarded = [int(c) for c in view["discarded"][: view["discarded_n"]]]
    seen_cards = Counter(c // 4 for c in [*held, *discarded, *pile, int(view["starter"])])
    unseen = {r: 4 - seen_cards[r] for r in range(RANKS)}
    least = least_pip(view)
    holdable = {r: n for r, n in unseen.items() if pip(r) >= least}
    seen = thermometer("held", rest)
    seen |= {("sequence", i, r): 1.0 for i, r in enumerate(line[::-1][:7])}
    seen |= {("unseen", r, n): 1.0 for r, n in unseen.items()}
    seen |= {
        ("count", total): 1.0,
        ("other_n", int(view["held_n"][1])): 1.0,
        ("hand_n", len(held)): 1.0,
        ("least", min(least, 11)): 1.0,
        ("go",): float(go),
        ("alone",): float(alone),
        ("dealer",): float(view["dealer"] == 0),
        ("now",): now / 4,
    }
    for whose, mine in (("mine", 1), ("theirs", 0)):
        played = [
            c // 4 for i, c in enumerate(pile) if (view["pile_seats"] >> 2 * i & 1 == 0) == mine
        ]
        played += [card // 4] if mine else []
        seen |= {(whose, i, r): 1.0 for i, r in enumerate(played)}
    sums = [0.0] * 4
    for r, n in holdable.items():
        if not n:
            continue
        share = n / sum(holdable.values())
        seen["share", r] = 4 * share
        if alone or total == 31 or total + pip(r) > 31:
            continue
        reply = [*line, r]
        answers = [points([*reply, a]) for a in rest if sum(map(pip, reply)) + pip(a) <= 31]
        score, answer = points(reply), max(answers, default=0)
        seen |= {("fits", r): 1.0, ("reply", r): score / 4, ("answer", r): answer / 4}
        seen["risk", r] = score * share
        for i, part in enumerate((1, score, answer, score > 0)):
            sums[i] += share * part
    seen |= {("sum", i): value for i, value in enumerate(sums)}
    return seen, now


PLAY_PLACES = (
    ("held", 52), ("sequence", 91), ("count", 32), ("other_n", 5), ("hand_n", 4), ("unseen", 65),
    ("theirs", 52), ("mine", 52), ("go", 1), ("alone", 1), ("dealer", 1), ("now", 1), ("least", 12),
    ("reply", 13), ("fits", 13), ("answer", 13), ("share", 13), ("risk", 13), ("sum", 4),
)  # fmt: skip


def play_place(name: tuple[Any, ...]) -> int:
    """Return which input of the net a named one is."""
    kind, *rest = name
    at = 0
    for block, size in PLAY_PLACES:
        if block == kind:
            break
        at += size
    if kind in ("held", "sequence", "theirs", "mine"):
        return at + RANKS * rest[0] + rest[1]
    if kind == "unseen":
        return at + 5 * rest[0] + rest[1]
    if kind == "hand_n":
        return at + rest[0] - 1
    return at + (rest[0] if rest else 0)


def dense(seen: Named, place: Any, size: int) -> np.ndarray[Any, Any]:
    """Return named inputs as a vector, with a place for every name."""
    vector = np.zeros(size)
    places = [place(name) for name in seen]
    assert len(set(places)) == len(places)
    for name, value in seen.items():
        vector[place(name)] = value
    return vector


def forward(layers: Any, inputs: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return a net's outputs."""
    x = inputs
    for i, (weight, bias) in enumerate(layers):
        x = x @ weight.T.astype(np.float64) + bias
        if i < len(layers) - 1:
            x = np.maximum(x, 0)
    return x


def card_inputs(layout: Any, observation: Any, read: Sequence[str], row: int) -> Any:
    """Return the inputs of the card in a row of an observation with features."""
    numbers = observation[layout["rows"]].reshape(layout.rows)[row]
    kept, count = np.zeros((4, RANKS)), np.zeros(32)
    for r, halves in enumerate(numbers[layout.row["kept"]]):
        kept[: round(2 * halves), r] = 1.0
    count[round(31 * float(numbers[layout.row["count"]][0]))] = 1.0
    state = [observation[part] for name, part in layout.items() if name in read]
    return np.concatenate([*state, kept.ravel(), count, numbers[layout.row["card"].start :]])
