"""`crib train`: learn a game by one of several methods.

    crib train --env six_card_v0 --out runs/six_card
    crib train --method ppo --env six_card_v0 --timesteps 1000000

Without ``--method`` it learns by deep Monte Carlo. Each method has its own settings:
``crib train --method ppo --help``.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from crib_env.errors import unknown
from crib_training.command_line import start

METHODS = {
    "deep_monte_carlo": "crib_training.learn.deep_monte_carlo.loop",
    "ppo": "crib_training.methods.ppo",
    "selfplay_ppo": "crib_training.methods.selfplay_ppo",
    "mmd": "crib_training.methods.mmd",
    "mmd_tree": "crib_training.methods.mmd_tree",
    "vrpo": "crib_training.methods.vrpo",
    "r_nad": "crib_training.methods.r_nad",
    "nfsp": "crib_training.methods.nfsp",
    "escher": "crib_training.methods.escher",
    "deep_cfr": "crib_training.methods.deep_cfr",
    "monte_carlo_q": "crib_training.methods.monte_carlo_q",
    "monte_carlo": "crib_training.methods.monte_carlo",
}
BEST = "deep_monte_carlo"
OPTION = "--method"


def split(words: Sequence[str]) -> tuple[str, list[str]]:
    """Return the method that the words of a command line name, and the others."""
    method, rest = BEST, list(words)
    for i, word in enumerate(rest):
        option, _, value = word.partition("=")
        if option == OPTION:
            taken = 1 if value else 2
            method = value or "".join(rest[i + 1 : i + 2])
            del rest[i : i + taken]
            break
    if method not in METHODS:
        raise unknown("method", method, METHODS)
    return method, rest


def main(words: Sequence[str]) -> None:
    """Learn with the options of a command line."""
    method, rest = split(words)
    if not {"-h", "--help"}.isdisjoint(rest):
        print(f"{OPTION} is one of {', '.join(METHODS)}; each has its own settings.\n")
    module = import_module(METHODS[method])
    start(module.Settings, module.run, rest, f"crib train {OPTION} {method}")
