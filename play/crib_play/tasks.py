"""Single decisions as tasks for language models: positions of `crib drill`, graded by their cost.

    python -m crib_play.tasks    # the regret of three agents as a histogram

A task is fixed by its kind, split, index and seed. A position belongs to ``test`` or ``train`` by a
digest of its seat's view, so no position is in both, for any seeds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import count
from typing import Any

import numpy as np
from crib_agents.loading import load_agent

from crib_env.errors import check_choice, whole_number
from crib_env.policy import ask_agent
from crib_env.text import ReplyError, parse_actions, prompt
from crib_play.drill import KINDS, Exercise, exercise_of
from crib_play.table import actions_of
from crib_play.table.games import table_game

SPLITS = {"train": range(1, 5), "test": range(1)}  # of five parts
SIZES = {"train": 1_000_000, "test": 1_000}
UNREADABLE = -1.0  # the reward of a reply that names no choice: as if it lost the game
BOUNDS = (0.0, 0.01, 0.02, 0.04, 0.08)  # of the histogram, in probability of winning


@dataclass(frozen=True)
class Task:
    """A position to choose in."""

    kind: str
    split: str
    index: int  # its number in the split
    exercise: Exercise  # the position with the value of every choice

    @property
    def view(self) -> Any:
        """The view of the seat to move."""
        return self.exercise.session.game.view(self.exercise.seat)

    @property
    def difficulty(self) -> float:
        """How much the choice matters: the mean cost of a random choice."""
        values = [choice.win for choice in self.exercise.choices]
        return max(values) - sum(values) / len(values)

    def prompt(self, style: str = "compact") -> str:
        """Return the position in words."""
        return prompt(self.view, self.exercise.session.game.rules, style)

    def reward(self, reply: str) -> float:
        """Return minus the cost of a reply's choice, in probability of winning.

        Raises:
            ReplyError: the reply names no legal choice, or one card of two.
        """
        actions = parse_actions(reply, self.view)
        if len(actions) < len(actions_of(self.exercise.choices[0])):
            raise ReplyError("missing", "Your reply names one card: name both cards to discard.")
        return -self.exercise.loss(frozenset(actions))


def split_of(view: Any) -> str:
    """Return the split of a position."""
    part = sha256(view.tobytes()).digest()[0] % 5
    return next(name for name, parts in SPLITS.items() if part in parts)


def task(kind: str, split: str, index: int, seed: int = 0) -> Task:
    """Return a task; the same arguments give the same one.

    Args:
        kind: ``"discard"``, ``"pegging"`` or ``"table-top"``.
        split: ``"train"`` or ``"test"``.
        index: from 0 up to the split's size.
        seed: another seed gives other tasks.

    Raises:
        ValueError: no such kind, split or index.
    """
    check_choice("kind", kind, KINDS)
    check_choice("split", split, SPLITS)
    index = whole_number("index", index, 0, SIZES[split] - 1)
    for attempt in count():
        seed_seq = np.random.SeedSequence([seed, list(SPLITS).index(split), index, attempt])
        found = exercise_of(table_game(KINDS[kind].game), KINDS[kind].phase, seed_seq)
        if found is not None:
            one = Task(kind, split, index, found)
            if split_of(one.view) == split:
                return one
    raise AssertionError  # count() does not end


def regrets(tasks: Sequence[Task], agent: str) -> Iterator[float]:
    """Yield the cost of an agent's choice in each task."""
    player, rng = load_agent(agent), np.random.default_rng(1)
    for one in tasks:
        game = one.exercise.session.game.copy()
        actions: set[int] = set()
        for _ in actions_of(one.exercise.choices[0]):
            action = int(ask_agent(player, np.array([game.view(game.seat)]), rng)[0])
            actions.add(action)
            game.step(action)
        yield one.exercise.loss(frozenset(actions))


def histogram(kind: str, agents: tuple[str, ...], n: int, split: str = "test") -> str:
    """Return a Markdown table of each agent's costs in the first ``n`` tasks, as a histogram."""
    tasks = [task(kind, split, index) for index in range(n)]
    ends = [f"to {100 * end:g} %" for end in BOUNDS[1:]]
    lines = [f"| {kind}, {n} tasks | mean | nothing | {' | '.join(ends)} | more |", "|---" * (len(BOUNDS) + 3) + "|"]
    for agent in agents:
        costs = np.array(list(regrets(tasks, agent)))
        places = np.bincount(np.searchsorted(BOUNDS, costs), minlength=len(BOUNDS) + 1)
        lines.append(f"| `{agent}` | {100 * costs.mean():.2f} % | {' | '.join(map(str, places))} |")
    return "\n".join(lines)


if __name__ == "__main__":
    for shown in ("discard", "pegging"):
        print(histogram(shown, ("random", "greedy", "rule_based"), 100), end="\n\n")
