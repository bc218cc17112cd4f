"""Cribbage for reinforcement learning: exact rules, a compiled engine, standard interfaces.

Importing this package registers the environments with Gymnasium and PettingZoo. The engine (and
Numba with it) loads with the first environment made.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from crib_env.cards import card_name, format_card, format_cards, parse_card, parse_cards
from crib_env.errors import EpisodeOverError, IllegalActionError
from crib_env.events import Event
from crib_env.policy import Agent, CompiledAgent, agent_names, compile_policy, find_agent, sample_legal
from crib_env.registration import ENVIRONMENTS, env_module, register_environment, register_environments
from crib_env.rules import PRESETS, ManyHandRules, Rules, TableTopRules, TwoHandRules

if TYPE_CHECKING:
    from crib_env.batch import GameBatch
    from crib_env.encoding import encode, observation_layout
    from crib_env.game import Game

__version__ = "1.0.0"

__all__ = [
    "ENVIRONMENTS",
    "PRESETS",
    "Agent",
    "CompiledAgent",
    "EpisodeOverError",
    "Event",
    "Game",
    "GameBatch",
    "IllegalActionError",
    "ManyHandRules",
    "Rules",
    "TableTopRules",
    "TwoHandRules",
    "agent_names",
    "card_name",
    "compile_policy",
    "encode",
    "find_agent",
    "format_card",
    "format_cards",
    "observation_layout",
    "parse_card",
    "parse_cards",
    "register_environment",
    "sample_legal",
]

register_environments()


# Names that load the engine, and Numba with it, are imported on first use.
_LAZY = {"Game": "game", "GameBatch": "batch", "encode": "encoding", "observation_layout": "encoding"}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(f"crib_env.{_LAZY[name]}"), name)
    if name in ENVIRONMENTS:
        return env_module(name)
    if name in ("notation", "scoring"):
        return import_module(f"crib_env.{name}")
    raise AttributeError(f"module 'crib_env' has no attribute {name!r}")
