"""Other libraries' environments, each in the shortest loop that it allows.

All are optional: the extra ``bench`` installs OpenSpiel, Shimmy, RLCard and the packages that
PettingZoo's classic games need.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import Any

from benchmarks.timing import Piece, Settings

PETTINGZOO = ("connect_four_v3", "leduc_holdem_v4", "texas_holdem_v4")
A_PIECE = 200

_random = random.Random(2).random


def installed(makers: Mapping[str, Callable[[], Piece]], settings: Settings) -> tuple[dict[str, Piece], list[str]]:
    """Return the installed peers, if peers are measured, and a note on each missing one."""
    pieces, notes = {}, []
    for name, make in makers.items() if settings.peers else ():
        try:
            pieces[name] = make()
        except ImportError as error:
            notes.append(f"{name} was not measured: {error}")
    return pieces, notes


def pettingzoo_env(module: str, kind: str) -> Any:
    """Return ``env()`` or ``raw_env()`` of a PettingZoo classic game."""
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    return getattr(import_module(f"pettingzoo.classic.{module}"), kind)()


def shimmy_cribbage() -> Any:
    """Return OpenSpiel's cribbage as an AEC environment, by Shimmy.

    Its observation is a text, its action mask (int8[2757], for discards are pairs) in ``info``.
    """
    game = import_module("pyspiel").load_game("cribbage")
    return import_module("shimmy").OpenSpielCompatibilityV0(env=game)


def open_spiel_cribbage(players: int = 2) -> Piece:
    """Return a piece of OpenSpiel's cribbage: random play over its states, no observation.

    It counts a player's decisions: a card played, a discard (with two players a pair, one action
    there, two with us), but no chance node and no pass, which is forced. Chance is drawn from the
    legal actions: all are equally likely here, and reading the chance outcomes takes longer.
    """
    game = import_module("pyspiel").load_game("cribbage", {"players": players})
    forced = game.num_distinct_actions() - 1

    def piece() -> int:
        done = 0
        while done < A_PIECE:
            state = game.new_initial_state()
            while not state.is_terminal():
                legal = state.legal_actions()
                action = legal[int(_random() * len(legal))]
                if action != forced and not state.is_chance_node():
                    done += 1
                state.apply_action(action)
        return done

    return piece


def rlcard_game(name: str) -> Piece:
    """Return a piece of an RLCard game: random play through its own environment."""
    env = import_module("rlcard").make(name, config={"seed": 1})

    def piece() -> int:
        done = 0
        while done < A_PIECE:
            state, _ = env.reset()
            while not env.is_over():
                legal = list(state["legal_actions"])
                state, _ = env.step(legal[int(_random() * len(legal))])
                done += 1
        return done

    return piece


CRIBBAGE: dict[str, Callable[[], Piece]] = {"OpenSpiel cribbage, states only": open_spiel_cribbage}
SINGLE_GAMES = CRIBBAGE | {"RLCard gin-rummy": partial(rlcard_game, "gin-rummy")}
