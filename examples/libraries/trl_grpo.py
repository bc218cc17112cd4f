"""Single decisions for TRL's ``GRPOTrainer(environment_factory=CribbageDecisions)``.

The trainer makes one object per rollout, calls ``reset`` with a row of the data set, offers the
other public methods to the model as tools, and reads ``get_reward`` at the end. The class itself
needs no TRL:

    trainer = GRPOTrainer(model, train_dataset=rows(1000), environment_factory=CribbageDecisions)
"""

from __future__ import annotations

from typing import Any

from crib_play.tasks import UNREADABLE, Task, task

from crib_env.text import ReplyError


def rows(n: int, kind: str = "discard", split: str = "train") -> list[dict[str, Any]]:
    """Return the rows of a data set: ``datasets.Dataset.from_list(rows(1000))``."""
    words = "Choose well at cribbage. Call `choose` with your choice."
    prompt = [{"role": "user", "content": words}]
    return [{"prompt": prompt, "kind": kind, "split": split, "index": i} for i in range(n)]


class CribbageDecisions:
    """One decision: its prompt, a tool to answer it, and its reward."""

    def __init__(self) -> None:
        self._task: Task | None = None
        self._reward = UNREADABLE

    def reset(self, kind: str = "discard", split: str = "train", index: int = 0, **_: Any) -> str:
        """Begin a task and return its prompt."""
        self._task, self._reward = task(kind, split, index), UNREADABLE
        return self._task.prompt("full")

    def choose(self, cards: str) -> str:
        """Choose the cards to discard, or the card to play.

        Args:
            cards: The cards, such as "5H JC".

        Returns:
            What came of it.
        """
        if self._task is None or self._reward != UNREADABLE:
            return "The decision is made."
        try:
            self._reward = self._task.reward(cards)
        except ReplyError as error:
            return str(error)
        return "Done."

    def get_reward(self) -> float:
        """Return minus the cost of the choice in probability of winning; -1 without one."""
        return self._reward
