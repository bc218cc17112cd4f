"""A replay as one file of HTML: the moments, the opinions, and the code that shows them.

    crib replay expert learned --out replay.html

The file holds everything and makes no network request. Text from outside, such as names, is data in
it and never markup.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any, NamedTuple

from crib_agents.files import write_whole
from crib_agents.loading import TakesAgents

from crib_env.engine.record import NONE
from crib_env.notation import format_rules
from crib_env.policy import Agent
from crib_env.render.svg.cards import symbols
from crib_env.render.svg.document import FONT, HEIGHT, WIDTH, Scene, page_sheet
from crib_env.render.words import in_words
from crib_env.rules import Rules, as_rules
from crib_env.settings import AgentName, NewFile, Seat, Seed, checked_dataclass
from crib_play.table import TableGame, TakesGame, advice
from crib_play.table.advice import Opinion, choices
from crib_play.table.seats import names, side_names, sit_down
from crib_play.table.session import Session, Turn

__all__ = ["replay_page", "write_replay"]

MOST = 12  # options shown of a turn, besides the one taken
DIGITS = 7  # of a probability; the page averages losses, and shows hundredths of a per cent


def write_replay(
    path: str | Path,
    rules: str | Rules,
    agents: Sequence[Agent],
    seed: int,
    *,
    players: int | None = None,
    episode: str = "game",
    opinions: bool = True,
) -> None:
    """Play a game between agents and write its replay.

    Args:
        path: the file.
        rules: the name of a preset, or `Rules`.
        agents: one a side; or two, of which the second plays every side but the first.
        seed: of the deals and of the agents' draws.
        players: seats; by default the fewest the rules allow.
        episode: ``"game"``, ``"match"``, ``"deal"``.
        opinions: add the expert's value of every choice, which takes some seconds; left out under
            rules that have no analysis.

    Raises:
        ValueError: a wrong number of agents, or an agent failed; the message names it.
    """
    rules = as_rules(rules)
    sides = rules.sides_for(players)
    if len(agents) not in (needed := sorted({2, len(set(sides))})):
        raise ValueError(f"this game needs {' or '.join(map(str, needed))} agents; got {len(agents)}")
    word = format_rules(rules)
    game = TableGame(word, f"{word}, a {episode}, seed {seed}", word, len(sides), episode)
    session = Session.begin(game, [agents[min(side, len(agents) - 1)] for side in sides], seed)
    if opinions:
        try:
            choices(session.game.view(session.seat))
        except ValueError:
            opinions = False
    session.go_on()
    write_whole(Path(path), replay_page(session, game.title, opinions=opinions).encode())


def replay_page(session: Session, title: str, *, opinions: bool = True, seats: Sequence[int] | None = None) -> str:
    """Return a game as one file of HTML.

    Args:
        session: the game, as far as it has been played.
        title: the heading.
        opinions: as `write_replay`.
        seats: the seats whose knowledge the file holds, with a menu entry each; by default that of
            each seat, of all seats together, and of a spectator of all cards (`every_eyes`).
    """
    called = names(session)
    eyes = every_eyes(session.game.players, called)
    if seats is not None:
        eyes = [eyes[seat] for seat in seats]
    moments = list(frames(session, eyes, session.game.rules.name))
    judged = advice.opinions(session) if opinions else [None] * len(session.turns)
    known = {seat for one in eyes for seat in one.seats}
    data = {
        "title": title,
        "names": called,
        "sides": side_names(session),
        "judge": session.family.judge,
        "sideOf": session.game.sides,
        "eyes": [{"label": one.label, "seats": one.seats} for one in eyes],
        "turns": [_turn(session, i, opinion, known) for i, opinion in enumerate(judged)],
        "inPoints": session.game.episode == "deal",
        "winner": session.winner,
        **_packed(moments),
    }
    return _filled(title, data)


def _turn(session: Session, i: int, opinion: Opinion | None, known: set[int]) -> dict[str, Any]:
    """Return a turn's data; only its seat and phase if the file lacks that seat's knowledge."""
    turn = session.turns[i]
    shown: dict[str, Any] = {"seat": turn.seat, "phase": turn.phase}
    if turn.seat in known:
        shown["did"] = session.family.spoken(turn.view, turn.actions)
        shown |= {} if opinion is None else _judged(opinion)
    return shown


def _judged(opinion: Opinion) -> dict[str, Any]:
    options = opinion.options
    shown = sorted({*range(min(MOST, len(options))), opinion.taken})
    return {
        "options": [[*one[:2], *map(_rounded, one[2:])] for one in map(options.__getitem__, shown)],
        "taken": shown.index(opinion.taken),
        "loss": _rounded(opinion.loss),
        "chance": _rounded(opinion.chance),
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, DIGITS)


def _packed(moments: Sequence[Frame]) -> dict[str, Any]:
    """Return the frames, each part of a drawing written once and named by its number."""
    numbers: dict[str, int] = {}
    packed = []
    for frame in moments:
        shown = frame._asdict()
        drawings = shown.pop("drawings")
        parts = [[numbers.setdefault(one, len(numbers)) for one in drawn] for drawn in drawings]
        packed.append({"d": parts, **shown})
    return {"frames": packed, "parts": list(numbers)}


def _filled(title: str, data: dict[str, Any]) -> str:
    """Return the page with its data, style, program and cards put in."""
    here = files(__package__) / "page"
    filling = {
        "TITLE": escape(title),
        "STYLE": page_sheet() + (here / "page.css").read_text("utf-8"),
        "SYMBOLS": "".join(symbols().values()),
        "VIEW": f"0 0 {WIDTH} {HEIGHT}",
        "FONT": FONT,
        "DATA": json.dumps(data, separators=(",", ":")).replace("<", "\\u003c"),
        "PROGRAM": (here / "page.js").read_text("utf-8"),
    }
    return Template((here / "page.html").read_text("utf-8")).substitute(filling)


# --- the moments of a game, each as every seat sees it -------------------------------------------

Calls = tuple[tuple[int, str], ...]  # side and words
Drawings = tuple[tuple[str, ...], ...]


class Eyes(NamedTuple):
    """Whose knowledge is shown."""

    label: str  # its name in the page's menu
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
        return tuple((side_of[call.seat], f"{self.names[call.seat]}: {call.text}") for call in calls)

    def position(self, calls: Calls, turn: int | None) -> Frame:
        """Return the frame of the game's present position."""
        game = self.game
        views = [game.view(seat) for seat in range(game.players)]
        hidden = game.family.hidden_card(game.states[0])
        drawn = self._draw(views, calls, hidden=None if hidden == NONE else hidden)
        return self._frame(drawn, calls, game.scores, turn)

    def count(self, turn: Turn, calls: Calls) -> Iterator[Frame]:
        """Yield the moments after the last turn of a deal: the last card, then count by count."""
        game = self.game
        closing = game.family.closing
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

    def _frame(self, drawn: Drawings, calls: Calls, scores: Sequence[int], turn: int | None = None) -> Frame:
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
                game.rules,
                self.title,
                game.deals,
                self.names,
                calls=calls,
                says=says,
                marked=marked,
                crib=crib,
                hidden=hidden if eyes.all else None,
            )
            seen = [views[seat] for seat in eyes.seats]
            if counted is not None:
                others = (seat for seat in range(game.players) if seat not in eyes.seats)
                seen += [_open_cards(views[seat], counted) for seat in others]
            drawn.append(tuple(game.family.draw(seen, scene)))
        return tuple(drawn)


def _open_cards(view: Any, counted: frozenset[int]) -> Any:
    """Return a view without uncounted cards: once the game is won, no more hands are shown."""
    view = view.copy()
    for field in {"hand", "discarded"}.intersection(view.dtype.names):
        cards = [card for card in view[field].tolist() if card in counted]
        view[field] = NONE
        view[field][: len(cards)] = cards
        view[f"{field}_n"] = len(cards)
    return view


# --- `crib replay` --------------------------------------------------------------------------------

OPEN_SEED = 1  # of a game in which every card is shown


@checked_dataclass(frozen=True)
class Settings(TakesGame, TakesAgents):
    """Write a game between two agents as one HTML file, with the expert's value of every choice.

    Attributes:
        first: the agent of side 0: its name, a file of weights, or package.module:Class.
        second: the agent of side 1, and of any other.
        seed: the seed of the deals; by default 1, and with seats random: anyone who guesses the
            seed of a game can play it again and see every card.
        out: the file.
        opinions: add the expert's value of every choice, which takes some seconds.
        seats: the file holds only the knowledge of these seats; by default everything.
    """

    first: AgentName
    second: AgentName
    _: KW_ONLY
    seed: Seed | None = None
    out: NewFile = Path("replay.html")
    opinions: bool = True
    seats: tuple[Seat, ...] = ()


def run(settings: Settings) -> None:
    """Play the game and write the file."""
    kind = settings.table_game()
    for seat in settings.seats:
        if not 0 <= seat < kind.players:
            raise ValueError(f"seats are from 0 to {kind.players - 1} in this game, got {seat}")
    first, second = map(settings.trusted, (settings.first, settings.second))
    seed = settings.seed if settings.seats or settings.seed is not None else OPEN_SEED
    session = sit_down(kind, None, second, first, seed)
    session.go_on()
    title = kind.title if settings.seats else f"{kind.title}, seed {seed}"
    page = replay_page(session, title, opinions=settings.opinions, seats=settings.seats or None)
    write_whole(settings.out, page.encode())
    print(f"{settings.first} against {settings.second}, {session.result(0)}: {settings.out} ({len(page) / 1e6:.1f} MB)")
    if settings.seats and seed is not None:
        print(f"Who guesses the seed {seed} sees every card: leave --seed out to hand the file on.")
