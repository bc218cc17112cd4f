"""Any position of any game as one line of text that parses back.

    hoyle game #3 d1 31/58 5H(6C)7D8S(9C)KD/AC(2C)3C(4C)TS6D JC 5HTSKD6D rear=27/58
    table_top game #2 d0 20/29 <29 cards> ...../..7H../..2C../.8H.../..... 4S

A line holds the board before the deal, the cards, and the moves since. The parser makes the moves
on the engine: the seat to move, the count, the points and the pegs follow from them.
docs/observations.md lists the fields, with examples. Points not yet paid as rewards are not part of
a position: see `canonical`.
"""

from __future__ import annotations

import re
from dataclasses import fields
from operator import le
from typing import Any, NamedTuple
from urllib.parse import quote

import numpy as np
import numpy.typing as npt

from crib_env.batch import GameBatch
from crib_env.cards import DECK_SIZE
from crib_env.engine.family import ONE_DEAL, find_family
from crib_env.engine.notation import Scores, format_scores, read_number, read_scores
from crib_env.engine.record import count_sides
from crib_env.options import ResetOptions
from crib_env.rules import PRESETS, HandRules, Rules, TableTopRules

State = npt.NDArray[np.void]

LANE = np.zeros(1, dtype=np.int64)
HEAD = ("rules", "episode", "deal", "dealer", "scores")
BOARD = {"rear": "rear", "games": "match_score"}  # optional fields, one number a side, and their names in the state


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
        check: read the text back, which replays the deal, and compare.

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

    The moves are made on the engine, so the rules allow every deal that is returned.

    Raises:
        ValueError: not such a line, or no position of a game; the message says why.
    """
    words = text.split()
    if len(words) < len(HEAD):
        raise ValueError(f"a position begins with {', '.join(HEAD)}: {text!r}")
    rules, episode = Rules.preset(words[0]), words[1]
    family = find_family(rules.family)
    family.check_episode(rules, episode)
    size = len(HEAD) + len(family.notation.fields)
    if len(words) < size:
        raise ValueError(f"a position of {rules.name} has {', '.join(HEAD + family.notation.fields)}: {text!r}")
    board = {name: field for name, field in BOARD.items() if field in (family.state.names or ())}
    extras = _read_extras(words[size:], {"players", "rng", *board})
    given = extras.get("players")
    sides = rules.sides_for(None if given is None else read_number("players", given, "", 2, 4))
    players, n = len(sides), count_sides(sides)
    number = read_number("deal", words[2], "#", 1, 10**9)
    if number > 1 and episode in (*ONE_DEAL, "pegging"):
        raise ValueError(f"an episode of one {episode} has no deal #{number}")
    dealer = read_number("dealer", words[3], "d", 0, players - 1)
    scores = read_scores("scores", words[4], n)
    before = {field: read_scores(name, extras[name], n) for name, field in board.items() if name in extras}
    _check_board(rules, episode, number, scores, before)
    deck, actions = family.notation.read_fields(words[len(HEAD) : size], rules, dealer, players)
    rng = _read_rng(extras["rng"]) if "rng" in extras else 0

    deck = deck + [card for card in range(DECK_SIZE) if card not in deck]
    games = GameBatch(rules, 1, players=players, episode=episode, seed=0)
    # `reset` would refuse a tie at or past the target, after which Table Top continues (T9).
    games.reset_each([ResetOptions(np.array([deck], dtype=np.int64), dealer, scores)])
    state = games.states
    state["deals"] = number
    for field, by_side in before.items():
        state[field][:, :n] = state[f"{field}_before"][:, :n] = by_side
    _make_moves(games, actions)
    if actions or number > 1:
        state["gain"] = 0  # paid already
    state["given"] = state["given_end"] = 0
    state["rng"] = rng
    return Position(state, rules, episode, players)


def canonical(state: State) -> State:
    """Return a copy with 0 in the fields that are no part of a position.

    These are points not yet paid as rewards, the number of given decks used, and fields that no
    rule reads: after an episode's first deal the scores at its start, and the pile beyond its last
    card.
    """
    copy = state.copy()
    copy["given"] = copy["given_end"] = 0
    copy["gain"] = 0
    copy["start"][copy["deals"] > 1] = 0
    if "pile" in (state.dtype.names or ()):
        copy["pile"][0, copy["pile_n"][0] :] = 0
    return copy


def _check_board(rules: Rules, episode: str, number: int, scores: Scores, before: dict[str, Scores]) -> None:
    """Raise a ValueError unless deal ``number`` of an episode can follow these numbers by side."""
    tie = number > 1 and isinstance(rules, TableTopRules) and len(set(scores)) == 1  # continues past the target (T9)
    if max(scores) >= rules.target and not tie:
        raise ValueError(f"no deal #{number} follows {format_scores(scores)} in a game to {rules.target}")
    rear = before.get("rear", scores)
    if not all(map(le, rear, scores)):
        raise ValueError(f"rear pegs are not past the front ones, {format_scores(scores)}: got {format_scores(rear)}")
    won = before.get("match_score", ())
    most = rules.match_target - 1 if isinstance(rules, HandRules) and episode == "match" else 0
    if any(points > most for points in won):
        raise ValueError(f"before a deal of this {episode} a side has at most {most} games, got {format_scores(won)}")


def _make_moves(games: GameBatch, actions: list[int]) -> None:
    """Make the moves of a deal."""
    state = games.states
    number, n = int(state["deals"][0]), len(actions)
    for k, action in enumerate(actions):
        if state["over"][0]:
            raise ValueError(f"the episode is over after {k} of the line's {n} moves")
        if games.step(LANE, np.array([action])) is not None:
            raise ValueError(f"move {k + 1} of {n} is not allowed: {games.why_illegal(0, action)}")
        if state["deals"][0] != number:
            raise ValueError(f"the deal is over after move {k + 1} of {n}, but the game is not: write its next deal")


# --- words --------------------------------------------------------------------------------------


def _words(state: State, rules: Rules, episode: str) -> list[str]:
    """Return the words of a line after the rules."""
    family, s = find_family(rules.family), state[0]
    names = family.state.names or ()
    sides = rules.sides_for(int(s["players"]) if "players" in names else None)
    n = count_sides(sides)
    scores = format_scores(s["scores_before"][:n])
    words = [episode, f"#{s['deals']}", f"d{s['dealer']}", scores, *family.notation.format_fields(s, rules)]
    if len(sides) != len(rules.sides_for()):
        words.append(f"players={len(sides)}")
    usual = {"rear": scores, "games": format_scores([0] * n)}
    shown = {name: format_scores(s[f"{field}_before"][:n]) for name, field in BOARD.items() if field in names}
    words += [f"{name}={value}" for name, value in shown.items() if value != usual[name]]
    if any(s["rng"]):
        words.append("rng=" + ".".join(f"{word:x}" for word in s["rng"]))
    return words


def _read_extras(words: list[str], known: set[str]) -> dict[str, str]:
    """Return the values of the fields that are given by name."""
    found: dict[str, str] = {}
    for word in words:
        name, _, value = word.partition("=")
        if name not in known or name in found:
            again = "is given twice" if name in found else "is no field of this position"
            raise ValueError(f"{name!r} {again}: {word!r}")
        found[name] = value
    return found


def _read_rng(value: str) -> list[int]:
    """Return the words of a generator."""
    if not re.fullmatch(r"[0-9a-f]{1,8}(\.[0-9a-f]{1,8}){3}", value):
        raise ValueError(f"rng must be four hexadecimal words, '1f.2.3.4', got {value!r}")
    return [int(part, 16) for part in value.split(".")]


def format_rules(rules: Rules) -> str:
    """Return rules as a word: a preset's name, with the changed fields in brackets."""
    alike = [preset for preset in PRESETS.values() if type(preset) is type(rules)]
    if not alike:
        raise ValueError(f"the text needs a preset, and no preset is a {type(rules).__name__}")
    base = next((preset for preset in alike if preset.name == rules.name), alike[0])
    changed = {f.name: getattr(rules, f.name) for f in fields(rules) if getattr(rules, f.name) != getattr(base, f.name)}
    shown = ",".join(f"{name}={quote(str(value), safe='')}" for name, value in changed.items())
    return f"{base.name}[{shown}]" if shown else base.name
