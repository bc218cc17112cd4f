"""The games with hands as text, from one seat's view and the points pegged."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

from crib_env.arrays import View
from crib_env.cards import DECK_SIZE, format_card, format_cards, pip
from crib_env.engine.hands.records import CRIB, DISCARD, MATCH, OVER
from crib_env.engine.record import NONE
from crib_env.events import Event
from crib_env.render.words import LABEL, call_lines, line_of, shown, split_events, track
from crib_env.rules import Rules
from crib_env.scoring import score_hand

WIDTH = 100
COUNTED = ("hand", "crib")  # the reasons of points in the show


def hand_of(view: View) -> list[int]:
    """Return the cards that the seat of a view holds."""
    return [int(card) for card in view["hand"][: view["hand_n"]]]


def legal_of(view: View) -> list[int]:
    """Return the cards that the seat of a view may use now."""
    return [card for i, card in enumerate(hand_of(view)) if view["legal"] >> i & 1]


def why_illegal(view: View, card: int) -> str:
    """Return why ``card`` may not be used by the seat of a view (H3)."""
    if not 0 <= card < DECK_SIZE:
        return f"{card} is not an action: actions are the card ids 0 to 51"
    hand = hand_of(view)
    name = f"{format_card(card)} (action {card})"
    holds = f"player_{int(view['seat'])} holds {format_cards(hand)}"
    if card not in hand:
        return f"{name} is not held: {holds}"
    count = int(view["count"])
    return (
        f"{name} would take the count from {count} to {count + pip(card)}, past 31: "
        f"legal are {format_cards(legal_of(view))}"
    )


def played(view: View, place: int) -> str:
    """Return the cards a seat has played, each in its turn's column; out of play in brackets."""
    columns = ""
    for i, card in enumerate(map(format_card, view["pile"][: view["pile_n"]].tolist())):
        shadowed = f"({card})" if i < view["pile_from"] else f" {card} "
        columns += shadowed if view["pile_seats"] >> 2 * i & 3 == place else "    "
    return columns


def board_lines(view: View, place: int, name: str, games: str) -> list[str]:
    """Return the board of one side, ``place`` sides after the view's own."""
    score, rear = int(view["scores"][place]), int(view["rear"][place])
    target = int(view["target"])
    head = f"{name}  {score} (rear peg {rear}), needs {target - score}"
    if games:
        head += f", {games} {int(view['match_score'][place])} of {int(view['match_target'])}"
    return [head, *track(score, rear, target)]


def show_lines(events: Sequence[Event], rules: Rules, deal: int, names: Sequence[str]) -> list[str]:
    """Return the end of a deal: points pegged in play, then hands and crib counted aloud."""
    turned = next((one for one in events if one.reason == "heels" and not one.points), None)
    if turned is None:  # events without those of 0 points, as for pictures
        return [*call_lines(events, names), ""]
    starter = turned.cards[0]
    play = [one for one in events if one.reason not in COUNTED and one is not turned]
    lines = [f"the show of deal {deal} by {names[turned.seat]}, starter {format_card(starter)}"]
    lines += call_lines(play, names)
    for one in events:
        if one.reason in COUNTED:
            crib = one.reason == "crib"
            score = score_hand(one.cards, starter, rules, crib=crib)
            pegs = f" (pegs {one.points} to win)" if one.points < score.points else ""
            label = "crib" if crib else names[one.seat]
            cards = f"{format_cards(one.cards)}  "
            words = wrap(score.call + pegs, WIDTH - LABEL - len(cards))
            lines.append(line_of(label, cards + words[0]))
            lines += [line_of("", " " * len(cards) + more) for more in words[1:]]
    return [*lines, ""]


def players_of(view: View) -> int:
    """Return the number of players; a view for two has no such field."""
    return int(view["players"]) if len(view["held_n"]) > 2 else 2


def sides_of(view: View) -> int:
    """Return the number of sides; a view for two has no such field."""
    return int(view["sides"]) if len(view["held_n"]) > 2 else 2


def side_at(view: View, place: int) -> int:
    """Return the side of the seat ``place`` to the left of a view's; sides are seated in turn."""
    return (int(view["seat"]) + place) % sides_of(view)


def side_names(view: View) -> list[str]:
    """Return the name of each side: a player, or the partners together."""
    players, sides = players_of(view), sides_of(view)
    if sides == players:
        return [f"player_{seat}" for seat in range(players)]
    return ["seats " + ", ".join(str(seat) for seat in range(side, players, sides)) for side in range(sides)]


def ending(view: View, names: Sequence[str]) -> str:
    """Return the winner, by the names of the sides, or that the deal is over without one."""
    won = [i for i in range(sides_of(view)) if view["scores"][i] >= view["target"]]
    if not won:
        return "the deal is over"
    return f"{names[side_at(view, won[0])]} {'has' if len(names) == players_of(view) else 'have'} won"


def render(view: View, rules: Rules, name: str, deals: int, events: Sequence[Event]) -> str:
    """Return the game as the seat of ``view`` may see it."""
    names = side_names(view)
    dealer = _player(view, int(view["dealer"]))
    counted, events = split_events(events, COUNTED)
    counted_deal = deals - (view["phase"] != OVER)
    games = "game points" if players_of(view) == 2 else "games"
    boards = (
        board_lines(view, i, names[side_at(view, i)], games if view["episode"] == MATCH else "")
        for i in range(sides_of(view))
    )
    lines = [
        *(show_lines(counted, rules, counted_deal, names) if counted else ()),
        f"{name}, {rules.name} to {rules.target}, deal {deals} by {dealer}",
        "",
        *(_two_seats if players_of(view) == 2 else _many_seats)(view, dealer),
        "",
        _turn(view, names),
        *call_lines(events, names),
        "",
        *(line for board in boards for line in board),
    ]
    return "\n".join(line.rstrip() for line in lines)


def _two_seats(view: View, dealer: str) -> list[str]:
    """Return the hands and the pile, the other's above the crib and this seat's below."""
    return [
        line_of(_player(view, 1), _hand(view, 1)),
        line_of("  played", played(view, 1)),
        line_of("crib", f"{_crib(view)}  of {dealer}"),
        line_of("starter", shown([view["starter"]])),
        line_of("count", str(int(view["count"])) + (", go pegged" if view["go"] else "")),
        line_of("  played", played(view, 0)),
        line_of(_player(view, 0), _hand(view, 0)),
        _discarded(view),
    ]


def _many_seats(view: View, dealer: str) -> list[str]:
    """Return the hands and the pile, seat by seat from this one's left, then the crib."""
    lines = []
    for place in (*range(1, players_of(view)), 0):
        go = view["passed"] >> place & 1 and view["held_n"][place] and view["phase"] != OVER
        lines += [
            line_of(_player(view, place), _hand(view, place) + ("  go" if go else "")),
            line_of("  played", played(view, place)),
        ]
    return [
        *lines,
        _discarded(view),
        "",
        line_of("crib", f"{_crib(view)}  of {dealer}"),
        line_of("starter", shown([view["starter"]])),
        line_of("count", str(int(view["count"]))),
    ]


def _player(view: View, place: int) -> str:
    return f"player_{(int(view['seat']) + place) % players_of(view)}"


def _hand(view: View, place: int) -> str:
    return shown([NONE] * int(view["held_n"][place]) if place else hand_of(view))


def _discarded(view: View) -> str:
    return line_of("discarded", shown(view["discarded"][: view["discarded_n"]]))


def _crib(view: View) -> str:
    # While seats discard, this seat may not know how far the others have got (H1, M3).
    before = CRIB - players_of(view) * len(view["discarded"]) + int(view["discarded_n"])
    return shown([NONE] * (before if view["phase"] == DISCARD else CRIB)) or "none yet"


def _turn(view: View, names: Sequence[str]) -> str:
    if view["phase"] == OVER:
        return ending(view, names)
    mover = _player(view, int(view["mover"]))
    if not view["to_move"]:
        return f"{mover} to move"
    verb = "discard one of" if view["phase"] == DISCARD else "play one of"
    return f"{mover} to move: {verb} {format_cards(legal_of(view))}"
