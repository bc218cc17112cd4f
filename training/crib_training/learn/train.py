"""`crib train`: learn a game by one of several methods.

    crib train --env six_card_v0 --out runs/six_card
    crib train --method ppo --env six_card_v0 --timesteps 1000000

Without ``--method`` it learns by deep Monte Carlo. Each method has its own settings:
``crib train --method ppo --help``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from crib_env.errors import unknown
from crib_training import methods
from crib_training.command_line import start

# The modules of the methods by name, found by their files: a new file is a new method.
METHODS = {name: f"{methods.__name__}.{name}" for _, name, _ in iter_modules(methods.__path__)}
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
    start(module.Settings, getattr(module, "run", partial(fit, module)), rest,
          f"crib train {OPTION} {method}")  # fmt: skip


def fit(module: Any, settings: Any) -> None:
    """Learn by a method, and print where the results are."""
    from crib_training.learn.run import learn

    learn(module.Learner(settings))
