"""The moments of a game, each as every seat sees it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from crib_env.engine.record import NONE
from crib_env.render.svg.document import Scene
from crib_env.render.words import in_words
from crib_play.table.seats import names
from crib_play.table.session import Session, Turn

Calls = tuple[tuple[int, str], ...]  # side and words
Drawings = tuple[tuple[str, ...], ...]


class Eyes(NamedTuple):
    """Whose knowledge is shown."""

    label: str  # the reader's setting
    seats: tuple[int, ...]  # whose views are drawn; the first sits below
    all: bool = False  # whether cards hidden from all seats are shown too


class Frame(NamedTuple):
    """One moment."""

    drawings: Drawings  # the parts of its drawing for each pair of eyes
    calls: Calls  # the last call
    scores: tuple[int, ...]  # by side
    match_score: tuple[int, ...] | None  # game points by side in a match, else None
    turn: int | None  # the number of the turn that is taken next, None while cards are counted


def every_eyes(players: int, called: Sequence[str]) -> list[Eyes]:
    """Return the eyes of each seat, of all seats together, and of a spectator of all cards."""
    seats = tuple(range(players))
    together = "both" if players == 2 else f"all {in_words(players)}"
    return [
        *(Eyes(f"{called[seat]} (seat {seat})", (seat,)) for seat in seats),
        Eyes(f"{together} seats", seats),
        Eyes("everything", seats, all=True),
    ]


def frames(session: Session, eyes: Sequence[Eyes], title: str) -> Iterator[Frame]:
    """Yield the moments of a session, the first before its first turn."""
    drawer = _Drawer(session, eyes, title)
    calls = drawer.in_words(session.opening)
    for i, turn in enumerate(session.turns):
        drawer.game.restore(turn.before)
        yield drawer.position(calls, i)
        calls = drawer.in_words(turn.calls)
        if turn.counted:
            yield from drawer.count(turn, calls)
            calls = ()
    drawer.game.restore(session.game.snapshot())
    yield drawer.position(calls, None)


class _Drawer:
    def __init__(self, session: Session, eyes: Sequence[Eyes], title: str) -> None:
        self.session, self.eyes, self.title = session, eyes, title
        self.game = session.game.copy()
        self.names = tuple(names(session))
        self.sides = session.family.sides
        self.callers = self.names if self.sides is None else self.sides
        self.is_match = self.game.episode == "match"

    def in_words(self, calls: Sequence[Any]) -> Calls:
        side_of = self.game.sides
        return tuple(
            (side_of[call.seat], f"{self.names[call.seat]}: {call.text}") for call in calls
        )

    def position(self, calls: Calls, turn: int | None) -> Frame:
        """Return the position that the game is in."""
        game = self.game
        views = [game.view(seat) for seat in range(game.players)]
        hidden = game.family.hidden_card(game.states[0])
        drawn = self._draw(views, calls, hidden=None if hidden == NONE else hidden)
        return self._frame(drawn, calls, game.scores, turn)

    def count(self, turn: Turn, calls: Calls) -> Iterator[Frame]:
        """Yield the moments after the last turn of a deal: the last card, then count by count."""
        game = self.game
        closing = game.family.closing
        assert closing is not None
        views = [game.view(seat) for seat in range(game.players)]
        before = list(game.scores)
        target = int(game.rules.target)
        pegged_in_play = self.sides is None
        scores = list(before)
        if pegged_in_play:
            for call in turn.calls:
                side = game.sides[call.seat]
                scores[side] = min(target, scores[side] + call.points)
        seen = closing(views, turn.actions, before, scores, shown=False)
        yield self._frame(self._draw(seen, calls, says="The last card"), calls, scores)
        counts_difference = getattr(game.rules, "score_difference", False)
        counted = frozenset(card for one in turn.counted for card in one.cards)
        crib = next((one.cards for one in turn.counted if one.name == "crib"), ())
        for one in turn.counted:
            before = list(scores)
            side = game.sides[one.seat]
            if not counts_difference:
                most = target if pegged_in_play else scores[side] + one.points
                scores[side] = min(most, scores[side] + one.points)
            seen = closing(views, turn.actions, before, scores, shown=True)
            words = ((side, f"{self.callers[one.seat]}, {one.name}: {one.call}"),)
            marked = frozenset([*one.cards, *([] if one.starter is None else [one.starter])])
            whose = f"{self.callers[one.seat]}: {one.name}"
            drawn = self._draw(seen, words, says=whose, marked=marked, counted=counted, crib=crib)
            yield self._frame(drawn, words, scores)

    def _frame(
        self, drawn: Drawings, calls: Calls, scores: Sequence[int], turn: int | None = None
    ) -> Frame:
        match_score = self.game.match_score if self.is_match else None
        return Frame(drawn, calls, tuple(scores), match_score, turn)

    def _draw(
        self,
        views: Sequence[Any],
        calls: Calls,
        *,
        says: str | None = None,
        marked: frozenset[int] = frozenset(),
        hidden: int | None = None,
        counted: frozenset[int] | None = None,
        crib: Sequence[int] = (),
    ) -> Drawings:
        """Return the drawing for each pair of eyes; ``counted`` and ``crib`` lie open to all."""
        game = self.game
        drawn = []
        for eyes in self.eyes:
            scene = Scene(
                game.rules, self.title, game.deals, self.names, calls=calls, says=says,
                marked=marked, crib=crib, hidden=hidden if eyes.all else None,
            )  # fmt: skip
            seen = [views[seat] for seat in eyes.seats]
            if counted is not None:
                others = (seat for seat in range(game.players) if seat not in eyes.seats)
                seen += [_open_cards(views[seat], counted) for seat in others]
            drawn.append(tuple(game.family.draw(seen, scene)))
        return tuple(drawn)


def _open_cards(view: Any, counted: frozenset[int]) -> Any:
    """Return a view without cards that were not counted: a game won before shows no others."""
    view = view.copy()
    for field in {"hand", "discarded"}.intersection(view.dtype.names):
        cards = [card for card in view[field].tolist() if card in counted]
        view[field] = NONE
        view[field][: len(cards)] = cards
        view[f"{field}_n"] = len(cards)
    return view
