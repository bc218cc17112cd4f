"""Positions of an AEC environment: saved and restored, made and taken back, written and read.

The functions behind the methods of `CribbageAEC` of the same names.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from crib_env.engine.two_hand.records import NONE
from crib_env.envs.checks import whole_action
from crib_env.errors import IllegalActionError

if TYPE_CHECKING:
    from crib_env.envs.aec import CribbageAEC
    from crib_env.rules import Rules

# What a snapshot holds besides the engine's record: PettingZoo's own bookkeeping.
_BOOKS = (
    "agents", "agent_selection", "rewards", "_cumulative_rewards", "terminations", "truncations",
    "infos", "_skip_agent_selection",
)  # fmt: skip


def snapshot(env: CribbageAEC) -> dict[str, Any]:
    """Return the position, the generator included, for `restore`; later play leaves it be."""
    books = {name: getattr(env, name) for name in _BOOKS if hasattr(env, name)}
    return copy.deepcopy(
        {
            "books": books, "states": env._states, "log": env._log, "decks": env._decks,
            "over": env._over, "seeded": env._seeded, "game": _game(env),
            "house_rng": getattr(env, "_house_rng", None),
        }
    )  # fmt: skip


def restore(env: CribbageAEC, taken: dict[str, Any]) -> None:
    """Go back to a position taken by `snapshot` of an environment of the same game.

    Raises:
        ValueError: no snapshot, or one of another game; nothing has changed then.
    """
    given: object = taken
    if not isinstance(given, dict) or not taken.keys() >= {"game", "states", "books", "over"}:
        raise ValueError("restore() takes what snapshot() returned")
    check_position(env, taken["states"], taken["game"], bool(taken["over"]))
    taken = copy.deepcopy(taken)
    for name, value in taken["books"].items():
        setattr(env, name, value)
    env._states = taken["states"]
    env._log = taken["log"]
    env._decks = taken["decks"]
    env._over = taken["over"]
    env._seeded = taken["seeded"]
    env._house_rng = taken["house_rng"]
    env._observed = NONE


def _game(env: CribbageAEC) -> tuple[Rules, str, int]:
    return env.rules, env.episode, env.players


def check_position(
    env: CribbageAEC, states: npt.NDArray[np.void], game: tuple[Rules, str, int], over: bool
) -> None:
    """Raise a ValueError unless a position is one of the environment's own game.

    Args:
        env: the environment that is to take it up.
        states: the full state, a record [1].
        game: the rules, the episode and the number of players it belongs to.
        over: whether its episode is over.
    """
    if tuple(game) != _game(env) or states.dtype != env.family.state or states.shape != (1,):
        names = ("rules", "episode", "players")
        other = [
            f"{name} {theirs!r}, not {ours!r}"
            for name, theirs, ours in zip(names, game, _game(env), strict=True)
            if theirs != ours
        ]
        raise ValueError(f"the position is of another game than this environment's: "
                         f"{'; '.join(other) or 'its record has other fields'}")  # fmt: skip
    if env.house is not None and not over and states["phase"][0] == env.house.phase:
        raise ValueError(f"{env.metadata['name']} plays this phase of the deal itself: a position "
                         "must leave the choice to the seats")  # fmt: skip


def push(env: CribbageAEC, action: int) -> None:
    """Make a move that `pop` takes back: for search, as in python-chess.

    Raises:
        IllegalActionError: an illegal action, whatever ``on_illegal`` says; nothing changed.
    """
    action = whole_action(action, env.family.actions)
    seat = env._seat_of[env.agent_selection]
    view = env.view(seat)
    if env._over or not (0 <= action < env.family.actions and env._mask[action]):
        raise IllegalActionError(env.family.why_illegal(view, action))
    env._pushed.append(snapshot(env))
    env.step(action)


def pop(env: CribbageAEC) -> None:
    """Take back the last move made by `push`.

    Raises:
        IndexError: there is none since the reset.
    """
    if not env._pushed:
        raise IndexError("there is no move to take back: push() makes one")
    restore(env, env._pushed.pop())


def notation(env: CribbageAEC) -> str:
    """Return the position as one line of text; see `crib_env.notation`."""
    from crib_env.notation import format_state

    return format_state(env._states, env.rules, env.episode)


def from_notation(env: CribbageAEC, text: str) -> None:
    """Take up a position written by `notation`; given decks are not part of it.

    Raises:
        ValueError: text that is no position, or one of another game than this environment's.
    """
    from crib_env.notation import parse_state

    position = parse_state(text)
    check_position(env, position.state, position[1:], bool(position.state["over"][0]))
    env.reset()
    rng = env._states["rng"].copy()
    env._states = position.state
    if not env._states["rng"].any():  # a text without its generator goes on with this one
        env._states["rng"] = rng
    env._log[0] = 0
    env._look(int(env._states["to_move"][0]))
    env.agent_selection = env.possible_agents[env._observed]
    if position.state["over"][0]:
        env._finish(0)
