"""Cribbage as an OpenEnv server: single decisions, deals and games, in words.

    python -m examples.libraries.openenv_server --port 8000

``reset(split="test", index=12, kind="discard")`` begins a task, ``step(reply=...)`` answers it. The
kinds ``discard`` and ``pegging`` are one decision; the reward is minus its cost in probability of
winning. ``deal`` and ``game`` are played to the end against `rule_based`, a deal for its points.
"""

from __future__ import annotations

import argparse
from typing import Any
from uuid import uuid4

import uvicorn
from crib_play.drill import KINDS
from crib_play.tasks import SIZES, UNREADABLE, Task, task
from openenv.core.env_server import Action, Environment, Observation, State
from openenv.core.env_server.http_server import create_fastapi_app

from crib_env.envs.text import TextEnv, text_env
from crib_env.text import ReplyError

LONG = {"deal": "points", "game": "win"}  # kinds of many decisions, with their rewards
SESSIONS = 64


class Reply(Action):  # type: ignore[misc]
    """The model's reply."""

    reply: str


class Prompt(Observation):  # type: ignore[misc]
    """The prompt to the model."""

    prompt: str


class Cribbage(Environment[Reply, Prompt, State]):  # type: ignore[misc]
    """One task after another."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self) -> None:
        super().__init__()
        self._task: Task | None = None
        self._game: TextEnv | None = None
        self._state = State(episode_id=None, step_count=0)

    def reset(
        self,
        seed: int | None = None,
        episode_id: str | None = None,
        split: str = "train",
        index: int = 0,
        kind: str = "discard",
        style: str = "full",
        **_: Any,
    ) -> Prompt:
        """Begin a task."""
        self._state = State(episode_id=episode_id or str(uuid4()), step_count=0)
        self._task = self._game = None
        if kind in LONG:
            self._game = text_env("six_card_v0", opponent="rule_based", episode=kind, reward=LONG[kind], style=style)
            # The splits have different deals: even seeds and odd ones.
            shown, _info = self._game.reset(seed=2 * (index + (seed or 0)) + (split == "test"))
            return Prompt(prompt=shown)
        self._task = task(kind, split, index, seed or 0)
        return Prompt(prompt=self._task.prompt(style))

    def step(self, action: Reply, timeout_s: float | None = None, **_: Any) -> Prompt:
        """Take the model's reply."""
        self._state.step_count += 1
        if self._game is not None:
            shown, reward, done, _cut, _info = self._game.step(action.reply)
            return Prompt(prompt=shown, reward=reward, done=done)
        if self._task is None:
            raise ValueError("step() without a running task: reset the environment first")
        answered, self._task = self._task, None  # one reply each
        try:
            return Prompt(prompt="Done.", reward=answered.reward(action.reply), done=True)
        except ReplyError as error:
            return Prompt(prompt=str(error), reward=UNREADABLE, done=True)

    @property
    def state(self) -> State:
        """The episode's id and number of steps."""
        return self._state

    def list_splits(self) -> list[str]:
        """Return the names of the splits."""
        return list(SIZES)

    def num_tasks(self, split: str) -> int:
        """Return how many tasks a split has, of each kind."""
        return SIZES[split]

    def get_task(self, split: str, index: int) -> dict[str, Any]:
        """Return the arguments of `reset` for a task, and the kinds."""
        return {"split": split, "index": index, "kinds": [*KINDS, *LONG]}

    def list_tasks(self, split: str) -> list[dict[str, Any]]:
        """Return the first tasks of a split."""
        return [self.get_task(split, index) for index in range(10)]


def app() -> Any:
    """Return the server's application."""
    return create_fastapi_app(Cribbage, Reply, Prompt, max_concurrent_envs=SESSIONS)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Serve cribbage to OpenEnv's clients.")
    parser.add_argument("--port", type=int, default=8000)
    uvicorn.run(app(), host="127.0.0.1", port=parser.parse_args().port)
