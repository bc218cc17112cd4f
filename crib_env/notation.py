"""Any position of any game as one line of text that parses back.

    hoyle game #3 d1 m0 pegging 5h(6C)7D8S(9C)kd/AC(2C)3C(4C)ts6d JC 5HTSKD6D| 30-34/58-60
    table_top game #2 d0 m0 p2 turn <29 cards> ...../..7H../..2C../.8H.../..... 4S 20/29

docs/observations.md lists the fields, with examples. A line is redundant: the seat to move, the
start of the count and its points all follow from the cards. The parser plays the deal over on the
engine and refuses a line that contradicts it. So every parsed position is one that a game can
reach. Points already paid as rewards are not part of it: see `canonical`.
"""

from __future__ import annotations

import re
from dataclasses import fields, replace
from typing import Any, NamedTuple
from urllib.parse import quote

import numpy as np
import numpy.typing as npt

from crib_env.batch import GameBatch
from crib_env.cards import DECK_SIZE, format_card
from crib_env.engine.family import find_family
from crib_env.engine.notation import Deal, Line, Notation, Scores, format_scores, read_number, read_scores
from crib_env.engine.record import NONE, count_sides
from crib_env.events import Event, read_log
from crib_env.options import ResetOptions
from crib_env.rules import LARGEST_TARGET, PRESETS, Rules

State = npt.NDArray[np.void]

LANE = np.zeros(1, dtype=np.int64)
HEAD = ("rules", "episode", "deal", "dealer", "mover")


class Position(NamedTuple):
    """A position with the game it belongs to.

    Attributes:
        state: the engine's record, shape [1], of the family's ``state``.
        rules: the rules.
        episode: the name of an episode.
        players: the number of seats.
    """

    state: State
    rules: Rules
    episode: str
    players: int

    def refuse_other(self, game: Any) -> None:
        """Raise a ValueError unless ``game`` has the rules, episode and players of the position."""
        differing = [
            f"{name} {getattr(self, name)!r}, not {getattr(game, name)!r}"
            for name in ("rules", "episode", "players")
            if getattr(self, name) != getattr(game, name)
        ]
        if differing:
            raise ValueError(f"the position is of another game: {'; '.join(differing)}")


def format_state(state: State, rules: Rules, episode: str, *, check: bool = True) -> str:
    """Return the notation of a position.

    Args:
        state: the engine's record, shape [1].
        rules: the rules it is played by.
        episode: the name of an episode.
        check: read the text back and compare, which plays the deal over.

    Raises:
        ValueError: a record that no game reaches, such as one without a deal; the message says
            the error, or the fields that would not be restored.
    """
    family = find_family(rules.family)
    if state.dtype != family.state:
        raise ValueError(
            f"a state of the rules {rules.name!r} is a record of the family {rules.family!r}, got {state.dtype}"
        )
    if not state[0]["deals"]:
        raise ValueError("the state holds no deal yet: start an episode first")
    try:
        text = " ".join([format_rules(rules), *_words(state, rules, episode)])
        if not check:
            return text
        back = canonical(parse_state(text).state)[0]
    except ValueError as error:
        raise ValueError(f"the state is not a position of a game: {error}") from error
    given = canonical(state)[0]
    lost = [name for name in family.state.names or () if np.any(back[name] != given[name])]
    if lost:
        raise ValueError(f"the state is not a position of a game: see its {', '.join(lost)}")
    return text


def parse_state(text: str) -> Position:
    """Return the position that a line of notation describes.

    The deal is replayed on the engine, so that only reachable positions are returned.

    Raises:
        ValueError: not such a line, or no position of a game; the message says why.
    """
    words = text.split()
    if len(words) < len(HEAD):
        raise ValueError(f"a position begins with rules, episode, deal, dealer and mover: {text!r}")
    rules = Rules.preset(words[0])
    family = find_family(rules.family)
    notation = family.notation
    size = len(HEAD) + len(notation.fields)
    episode = words[1]
    family.check_episode(rules, episode)
    if len(words) < size:
        raise ValueError(f"a position of {rules.name} has at least {size} fields: {text!r}")
    body = words[len(HEAD) : size]
    players = notation.read_players(body)
    sides = count_sides(rules.sides_for(players))
    extras = _read_extras(words[size:], notation.extras, sides)
    number = read_number("deal", words[2], "#", 1, 10**9)
    dealer = read_number("dealer", words[3], "d", 0, players - 1)
    read_number("mover", words[4], "m", 0, players - 1)
    rng = extras.pop("rng", (0, 0, 0, 0))
    deal = notation.read_body(body, rules, dealer, players)
    start, match_score = (extras.get(name, (0,) * sides) for name in ("start", "games"))
    line = Line(rules, episode, players, number, dealer, deal, start, match_score, extras.get("winner"))
    state = _play_over(line, notation)
    state["rng"] = rng
    names = HEAD[1:] + notation.fields
    for name, given, found in zip(names, words[1:size], _words(state, rules, episode), strict=False):
        if given != found:
            raise ValueError(f"{name} must be {found} after these cards, got {given!r}")
    return Position(state, rules, episode, players)


def canonical(state: State) -> State:
    """Return a copy with 0 in the fields that are no part of a position.

    That is points not yet paid as rewards, how many given decks have been used, and the pile's
    places beyond its last card, which no rule reads.
    """
    copy = state.copy()
    copy["given"] = copy["given_end"] = 0
    copy["gain"] = 0
    if "pile" in (state.dtype.names or ()):
        copy["pile"][0, copy["pile_n"][0] :] = 0
    return copy


# --- words --------------------------------------------------------------------------------------


def _words(state: State, rules: Rules, episode: str) -> list[str]:
    """Return the words of a line after the rules."""
    family = find_family(rules.family)
    s, notation = state[0], family.notation
    body = notation.format_body(s, rules)
    sides = count_sides(rules.sides_for(notation.read_players(body)))
    head = [episode, f"#{s['deals']}", f"d{s['dealer']}", f"m{s['to_move']}"]
    tail = [
        f"{name}={format_scores(s[field][:sides])}"
        for name, field in (("games", "match_score"), ("start", "start"))
        if name in notation.extras and any(s[field])
    ]
    if s["winner"] != NONE:
        tail.append(f"winner={s['winner']}")
    if any(s["rng"]):
        tail.append("rng=" + ".".join(f"{word:x}" for word in s["rng"]))
    return [*head, *body, *tail]


def _read_extras(words: list[str], known: tuple[str, ...], sides: int) -> dict[str, Any]:
    """Return the values of the fields that are given by name."""
    found: dict[str, Any] = {}
    for word in words:
        name, _, value = word.partition("=")
        if name == "gain":
            raise ValueError("a position does not hold points already paid: leave gain= out")
        if name not in known or name in found:
            again = "is given twice" if name in found else "is no field of this position"
            raise ValueError(f"{name!r} {again}: {word!r}")
        if name == "rng":
            if not re.fullmatch(r"[0-9a-f]{1,8}(\.[0-9a-f]{1,8}){3}", value):
                raise ValueError(f"rng must be four hexadecimal words, '1f.2.3.4', got {value!r}")
            found[name] = [int(part, 16) for part in value.split(".")]
        elif name == "winner":
            found[name] = read_number(name, value, "", 0, sides - 1)
        else:
            found[name] = read_scores(name, value, sides)
    return found


def format_rules(rules: Rules) -> str:
    """Return rules as a word: a preset's name, with what differs from it in brackets."""
    alike = [preset for preset in PRESETS.values() if type(preset) is type(rules)]
    if not alike:
        raise ValueError(f"the text needs a preset, and no preset is a {type(rules).__name__}")
    base = next((preset for preset in alike if preset.name == rules.name), alike[0])
    changed = {f.name: getattr(rules, f.name) for f in fields(rules) if getattr(rules, f.name) != getattr(base, f.name)}
    shown = ",".join(f"{name}={quote(str(value), safe='')}" for name, value in changed.items())
    return f"{base.name}[{shown}]" if shown else base.name


# --- the deal played over -----------------------------------------------------------------------


def _play_over(line: Line, notation: Notation) -> State:
    """Return the state that the moves of a line lead to, a record [1]."""
    deal, episode = line.deal, line.episode
    if episode not in notation.one_deal:
        episode = notation.one_deal[0]
    elif line.number > 1:
        raise ValueError(f"an episode of one {episode} has no deal #{line.number}")
    # First to a target out of reach, for the points scored; then to the line's target.
    none = (0,) * len(deal.scores)
    trial = _games(line, replace(line.rules, target=LARGEST_TARGET), episode, none)
    last = _make_moves(trial, deal)
    made = trial.states["scores"][0]
    if trial.states["over"][0] and not deal.over:
        raise ValueError("every card has been used: a game that goes on has its next deal")
    error = ValueError("nobody has won the game, nor is the deal over")
    for before in _scores_before(line, made, last):
        try:
            return _reach(line, notation, before)
        except ValueError as reason:
            error = reason
    raise error


def _reach(line: Line, notation: Notation, before: Scores) -> State:
    """Return the state that the moves lead to from the scores ``before`` the deal."""
    if line.number == 1 and before != line.start:
        raise ValueError(
            f"the scores {format_scores(line.deal.scores)} do not follow from start="
            f"{format_scores(line.start)}: before this first deal they would have been "
            f"{format_scores(before)}"
        )
    board = notation.read_before(line, before)
    games = _games(line, line.rules, line.episode, before)
    state = games.states
    for name, by_side in board.items():
        state[name][:, : len(by_side)] = by_side
    _make_moves(games, line.deal)
    state["start"][:, : len(line.start)] = line.start
    state["deals"] = line.number
    state["given"] = state["given_end"] = 0
    if line.deal.moves or line.number > 1:
        state["gain"] = 0  # paid already
    over, winner = bool(state["over"][0]), int(state["winner"][0])
    if over != line.deal.over:
        raise ValueError("the episode is over" if over else "nobody has won: the episode goes on")
    if winner != (NONE if line.winner is None else line.winner):
        raise ValueError("nobody has won, so there is no winner=" if winner == NONE else f"winner={winner} has won")
    rear = line.deal.rear
    if rear and tuple(state["rear"][0, : len(rear)]) != rear:
        raise ValueError(
            f"the rear pegs must be at {format_scores(state['rear'][0])} after these cards, got {format_scores(rear)}"
        )
    return state


def _games(line: Line, rules: Rules, episode: str, scores: Scores) -> GameBatch:
    """Return one game in which the deal of the line has just been dealt."""
    known = line.deal.deck
    deck = known + [card for card in range(DECK_SIZE) if card not in known]
    games = GameBatch(rules, 1, players=line.players, episode=episode, seed=0)
    # `reset` would refuse a tie at the target or past it, after which Table Top goes on (T9).
    games.reset_each([ResetOptions(np.array([deck], dtype=np.int64), line.dealer, scores)])
    return games


def _make_moves(games: GameBatch, deal: Deal) -> list[Event]:
    """Make the moves; return the points of the last one."""
    for seat, action, card in deal.moves:
        if games.states["over"][0]:
            raise ValueError(f"{format_card(card)} was used after the end")
        mover = int(games.states["to_move"][0])
        if mover != seat:
            raise ValueError(f"seat {seat} used {format_card(card)} when seat {mover} was to move")
        if games.step(LANE, np.array([action])) is not None:
            raise ValueError(f"a move was not allowed: {games.why_illegal(0, action)}")
    return read_log(games.log) if deal.moves else []


def _scores_before(line: Line, made: Any, last: list[Event]) -> list[Scores]:
    """Return the possible scores before the deal, in which ``made`` was scored at most.

    Where the game ends as soon as a side has the target, the last points of the winner are cut off
    there and nothing after them is scored (C5): they moved its peg from the rear to the front.
    """
    scores, rear, w = line.deal.scores, line.deal.rear, line.winner
    if w is None or rear is None:
        return [tuple(peg - int(points) for peg, points in zip(scores, made, strict=False))]
    found = []
    for k, event in enumerate(last):
        if event.seat == w:
            before = [int(made[side]) for side in range(len(scores))]
            for later in last[k:]:
                before[later.seat] -= later.points
            left = [peg - points for peg, points in zip(scores, before, strict=True)]
            left[w] = rear[w] - before[w]
            found.append(tuple(left))
    return found
