r"""The value of every choice in a position, best first.

    crib analyze "5H 5D JC 4S 6S KH" --dealer --scores 60 75
    crib analyze "6D 4S 9C" --discarded "KC QC" --starter JH --dealer --pile "(TS) 5D (7H)"
    crib analyze 6D --layout "...../.4C.../..7H../...8H./....." --columns
    crib analyze --notation "three_hand game #1 d1 0/0/0 ..."

The first form is a hand about to discard; the second (with ``--discarded`` and ``--starter``) a
hand about to play a card, the other seat's cards in the pile in brackets; the third (with
``--layout``) a card to place at Table Top; the last a position of any game, also of three and four
hands, as the seat to move knows it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import KW_ONLY, asdict, fields
from typing import Any, Literal

import numpy as np
from crib_agents.analyze import Choice, analyze, discard_view, layout_view, pegging_view

from crib_env.game import Game
from crib_env.policy import Views
from crib_env.rules import Rules, TableTopRules, TwoHandRules
from crib_env.settings import CountOrNone, EnvName, checked_dataclass
from crib_training.loading import find_game
from crib_training.outputs import padded, widths_of

Pair = tuple[CountOrNone, CountOrNone]


@checked_dataclass(frozen=True)
class Settings:
    """Show the value of every choice in a position, best first.

    Attributes:
        cards: the cards held, such as "5H 5D JC 4S 6S KH"; at Table Top the card in turn.
        scores: this side's score and the other's.
        env: the environment; by default six_card_v0, with layout table_top_v0.
        rules: a preset other than the environment's own, or a preset with changes.
        episode: the stakes.
        dealer: this seat deals (six and five cards).
        match_score: game points won, this seat's and the other's, in a match (six and five cards).
        discarded: in the pegging, the two cards discarded.
        starter: in the pegging, the card turned up.
        pile: in the pegging, the cards played, the other seat's in brackets: "5D (TS) 7H".
        layout: at Table Top, five rows separated by /; each cell is a card or ".".
        columns: this side scores the columns (Table Top).
        players: 2, or 4 (Table Top).
        crib: the cards that this seat has put in the crib (Table Top).
        partners_crib: the cards that its partner has put there (Table Top).
        others_crib: how many cards the other side has put there (Table Top).
        notation: a position of any game as one line; replaces all the options above.
        json: print JSON instead of a table.
    """

    cards: tuple[str, ...] = ()
    _: KW_ONLY
    scores: Pair = (0, 0)
    env: EnvName | None = None
    rules: str | None = None
    episode: Literal["deal", "game", "match"] = "game"
    dealer: bool = False
    match_score: Pair = (0, 0)
    discarded: str | None = None
    starter: str | None = None
    pile: str | None = None
    layout: str | None = None
    columns: bool = False
    players: Literal[2, 4] = 2
    crib: str = ""
    partners_crib: str = ""
    others_crib: CountOrNone = 0
    notation: str | None = None
    json: bool = False


# Settings that belong to one kind of game alone.
OF_CARDS = ("dealer", "discarded", "starter", "pile", "match_score")
OF_CELLS = ("columns", "crib", "partners_crib", "others_crib", "players")
DEFAULTS = {field.name: field.default for field in fields(Settings)}


def position(settings: Settings) -> Views:
    """Return the view that the settings describe."""
    if settings.notation is not None:
        return _noted(settings, settings.notation)
    if not settings.cards:
        raise ValueError("name the cards held, such as '5H 5D JC 4S 6S KH', or a --notation")
    strangers = OF_CELLS if settings.layout is None else OF_CARDS
    for name in strangers:
        if getattr(settings, name) != DEFAULTS[name]:
            game = "Table Top, with --layout" if strangers is OF_CELLS else "six and five cards"
            raise ValueError(f"--{name.replace('_', '-')} is for {game}")
    if settings.layout is not None:
        return _at_table_top(settings, settings.layout)
    cards = " ".join(settings.cards)  # in quotes or not
    common: dict[str, Any] = {
        "dealer": settings.dealer,
        "scores": settings.scores,
        "match_score": settings.match_score,
        "rules": _rules(settings, "six_card_v0", TwoHandRules),
        "episode": settings.episode,
    }
    if settings.discarded is None and settings.starter is None and settings.pile is None:
        return discard_view(cards, **common)
    if settings.discarded is None or settings.starter is None:
        raise ValueError("a position in the pegging needs both --discarded and --starter")
    return pegging_view(
        cards, discarded=settings.discarded, starter=settings.starter, pile=settings.pile or "", **common
    )


def _noted(settings: Settings, line: str) -> Views:
    """Return the view of the seat to move in a position given as notation."""
    for name in DEFAULTS.keys() - {"notation", "json"}:
        if getattr(settings, name) != DEFAULTS[name]:
            flag = "the cards" if name == "cards" else f"--{name.replace('_', '-')}"
            raise ValueError(f"--notation gives the whole position: leave {flag} out")
    game = Game.from_notation(line)
    if game.over:
        raise ValueError("the position is the end of an episode: there is nothing to choose")
    return np.array([game.view(game.seat)])


def _rules(settings: Settings, usual: str, kind: type[Rules]) -> Rules:
    """Return the rules of ``--env``, by default of ``usual``; refuse rules of another kind."""
    _, rules = find_game(settings.env or usual, settings.rules)
    if not isinstance(rules, kind):
        raise ValueError(
            f"this is no position of {rules.name!r}: cards alone are one of six or five cards, "
            "--layout gives one of Table Top, --notation one of any game"
        )
    return rules


def _at_table_top(settings: Settings, layout: str) -> Views:
    """Return the view of a seat at Table Top with a card to place."""
    if settings.episode == "match":
        raise ValueError("Table Top has no matches")
    return layout_view(
        layout,
        " ".join(settings.cards),
        rows=not settings.columns,
        crib=settings.crib,
        partners_crib=settings.partners_crib,
        others_crib=settings.others_crib,
        players=settings.players,
        scores=settings.scores,
        rules=_rules(settings, "table_top_v0", TableTopRules),
        episode="round" if settings.episode == "deal" else settings.episode,
    )


def in_columns(choices: Sequence[Choice]) -> str:
    """Return choices in columns: points to two places, probabilities of winning in per cent."""
    rows = [[shown(name, value) for name, value in asdict(choice).items()] for choice in choices]
    first = asdict(choices[0])
    left = [isinstance(value, str) for value in first.values()]
    cells = [list(first), *rows]
    widths = widths_of(cells)
    return "\n".join("  ".join(padded(row, widths, left)).rstrip() for row in cells)


def shown(name: str, value: str | int | float) -> str:
    """Return a column's value as text."""
    if not isinstance(value, float):
        return str(value)
    return f"{100 * value:.2f} %" if name == "win" else f"{value:.2f}"


def run(settings: Settings) -> None:
    """Print the choices."""
    choices = analyze(position(settings))
    if settings.json:
        print(json.dumps([asdict(choice) for choice in choices], indent=1))
    else:
        print(in_columns(choices))
