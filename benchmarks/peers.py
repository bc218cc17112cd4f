"""Other libraries' environments, each in the shortest loop that it allows.

All are optional: the extra ``bench`` installs OpenSpiel, Shimmy, RLCard and what PettingZoo's
classic games need; pgx is measured if it is installed.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

from benchmarks.timing import Contender, rate_of

PETTINGZOO = ("connect_four_v3", "leduc_holdem_v4", "texas_holdem_v4")
PGX = ("connect_four", "leduc_holdem")
PGX_LANES = 8192
PGX_STEPS = 20
A_PIECE = 200

_random = random.Random(2).random


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


def open_spiel_cribbage(players: int = 2) -> Callable[[], int]:
    """Return a piece of OpenSpiel's cribbage: random play over its states, no observation.

    Counted is what a player decides: a card played, a discard (of two players a pair, one action
    there, two with us), but no chance node and no pass, which is forced. Chance is drawn from legal
    actions: all are as likely here, and asking for the chance outcomes takes longer.
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


def rlcard_game(name: str) -> Callable[[], int]:
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


def pgx_game(name: str) -> Callable[[], int]:
    """Return a piece of a pgx game on the CPU: compiled random play, finished episodes reset."""
    jax = import_module("jax")
    pgx = import_module("pgx")
    env = pgx.make(name)
    step = jax.vmap(import_module("pgx.experimental").auto_reset(env.step, env.init))

    def one(carry: Any, _: Any) -> tuple[Any, None]:
        state, key = carry
        key, draw, reset = jax.random.split(key, 3)
        logits = jax.numpy.where(state.legal_action_mask, 0.0, -jax.numpy.inf)
        action = jax.random.categorical(draw, logits, axis=-1)
        return (step(state, action, jax.random.split(reset, PGX_LANES)), key), None

    play = jax.jit(lambda carry: jax.lax.scan(one, carry, None, length=PGX_STEPS)[0])
    keys = jax.random.split(jax.random.key(1), PGX_LANES)
    carry = jax.jit(jax.vmap(env.init))(keys), jax.random.key(2)

    def piece() -> int:
        nonlocal carry
        carry = jax.block_until_ready(play(carry))
        return PGX_LANES * PGX_STEPS

    return piece


def _found(
    games: list[tuple[str, Callable[[], Callable[[], int]]]],
) -> tuple[list[Contender], list[str]]:
    contenders, notes = [], []
    for name, make in games:
        try:
            piece = make()
        except ImportError as error:
            notes.append(f"{name} was not measured: {error}")
        else:
            contenders.append(Contender(name, rate_of(piece), peer=True))
    return contenders, notes


def single_games() -> tuple[list[Contender], list[str]]:
    """Return the peers outside PettingZoo that play one game at a time, and who is missing."""
    return _found(
        [
            ("OpenSpiel cribbage, states only", open_spiel_cribbage),
            ("RLCard gin-rummy", partial(rlcard_game, "gin-rummy")),
        ]
    )


def open_spiel(players: tuple[int, ...]) -> tuple[list[Contender], list[str]]:
    """Return OpenSpiel's cribbage for so many players, and what is missing."""
    return _found(
        [
            (f"OpenSpiel cribbage for {n}, states only", partial(open_spiel_cribbage, n))
            for n in players
        ]
    )


def batches() -> tuple[list[Contender], list[str]]:
    """Return the peers that play many games at once, and who is missing."""
    return _found(
        [(f"pgx {name}, N={PGX_LANES}, all cores", partial(pgx_game, name)) for name in PGX]
    )
