"""The settings of `crib solve`, and the game and checks that follow from them."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import numpy as np
from crib_agents.equilibrium.classes import hand_classes
from crib_agents.equilibrium.tree import PAIRS, multisets, public_tree

from crib_env.rules import TwoHandRules
from crib_env.settings import Count, CountOrNone, Folder, NewFolder, NotNegative, checked_dataclass
from crib_training.loading import find_game

FREE = ("out", "resume", "progress", "save_seconds")  # what changes nothing about the strategy


@checked_dataclass(frozen=True, kw_only=True)
class Settings:
    """Solve a deal of a two-hand game: near-perfect play for points.

    Attributes:
        env: the environment whose game to solve.
        rules: a preset other than the environment's own, or a preset with changes, such as
            five_card[flush_size=4].
        iterations: iterations in all.
        out: the folder for results.
        refine: iterations per rank of the starter that solve the pegging again, by the cards
            discarded; 0 for none.
        resume: the folder of a stopped run to continue.
        eval_interval: iterations between measurements of the best response's gain within the
            abstraction; 0 measures only at the end.
        save_seconds: seconds between checkpoints.
        progress: show progress.
    """

    env: str = "five_card_v0"
    rules: str | None = None
    iterations: Count = 60
    out: NewFolder = Path("runs/solve")
    refine: CountOrNone = 0
    resume: Folder | None = None
    eval_interval: CountOrNone = 20
    save_seconds: NotNegative = 300.0
    progress: bool = True


def memory(rules: TwoHandRules, by_starter: bool, refine: bool = False) -> int:
    """Return an estimate of a run's peak memory in bytes, without running it.

    The peak comes while it writes, since it copies the output twice.
    """
    cards = rules.dealt - 2
    tree = public_tree(cards, rules.single_count)
    starters = 13 if by_starter else 1
    chooses = tree.left > 1
    sizes = np.array([multisets(left) * left for left in range(cards + 1)])
    one = 4 * (tree.size + 2 * int(sizes[tree.left[chooses]].sum()))
    play = one * (3 * starters + PAIRS * refine)
    classes = hand_classes(rules.dealt)
    splits = len(classes.codes) * len(classes.splits)
    hands = {5: 6_175, 6: 18_395}[rules.dealt]
    ranges = hands * (2 * hands + 2 * 4 * (multisets(cards) + PAIRS))
    return play + 22 * 4 * splits + ranges + 4 * 8 * multisets(cards) ** 2 + 450_000_000


def unset(settings: Settings) -> list[str]:
    """Return the settings that the environment fixes."""
    return [name for name, value in asdict(settings).items() if value is None]


def check(settings: Settings) -> TwoHandRules:
    """Return the rules to solve."""
    _, rules = find_game(settings.env, settings.rules)
    if not isinstance(rules, TwoHandRules):
        raise ValueError(f"crib solve solves games in which two cards are discarded, not "
                         f"{settings.env}: choose five_card_v0 or six_card_v0")  # fmt: skip
    if settings.refine and rules.dealt != 5:
        raise ValueError(f"refine must be 0 for games of more than five cards: there is no memory "
                         f"for it; got {settings.refine}")  # fmt: skip
    return rules
