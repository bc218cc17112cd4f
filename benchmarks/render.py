"""How many frames per second does ``render_mode="rgb_array"`` make, 640 by 480?

Every frame is of another position: a random legal action, then ``render``; a spectator sees all
cards, which is the most there is to draw.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.aec import sample
from benchmarks.timing import FULL, Contender, Findings, Settings, race, rate_of
from crib_env import five_card_v0, six_card_v0, table_top_v0

PAGES = (six_card_v0, five_card_v0, table_top_v0)
FRAMES = 8


def frames(env: Any) -> Callable[[], int]:
    """Return a piece of work: some moves, each with its frame."""
    env.reset(seed=1)
    env.render()

    def piece() -> int:
        for _ in range(FRAMES):
            observation, _, over, _, _ = env.last()
            if over:
                env.reset()
                continue
            env.step(sample(observation["action_mask"]))
            assert env.render().shape == (480, 640, 3)
        return FRAMES

    return piece


def measure(settings: Settings = FULL) -> Findings:
    """Measure every game."""
    contenders = []
    for page in PAGES:
        env = page.env(render_mode="rgb_array", viewer="all")
        contenders.append(Contender(env.metadata["name"], rate_of(frames(env))))
    return Findings("Pictures of 640 by 480", race(contenders, "frames/s", settings))
