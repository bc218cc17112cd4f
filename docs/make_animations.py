"""Make the moving pictures that open the environments' pages: `docs/pictures/*_v0.webp`.

    python -m docs.make_animations

Needs the extra `render`. One deal each, or a round, played by `rule_based` with open cards.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from crib_env import ENVIRONMENTS, find_agent
from crib_env.registration import env_module

PICTURES = Path(__file__).parent / "pictures"
AGENT, SEED = "rule_based", 11
PAUSE, LAST = 900, 3000  # milliseconds
MOST = 28  # frames
EPISODES = {"table_top_v0": "round", "discard_v0": "game"}  # the others: a deal


def frames(name: str) -> list[Any]:
    """Return what an environment renders before each decision of an episode, and at its end."""
    env = env_module(name).raw_env(
        render_mode="rgb_array", viewer="all", episode=EPISODES.get(name, "deal")
    )
    env.reset(seed=SEED)
    plays = env.game.family.name in find_agent(AGENT).acts
    agent, rng = find_agent(AGENT if plays else "random"), np.random.default_rng(SEED)
    shown = [env.render()]
    while not any(env.terminations.values()) and len(shown) < MOST:
        env.step(int(agent.act(env.view(int(env.agent_selection[-1])), rng)))
        shown.append(env.render())
    return [Image.fromarray(frame) for frame in shown]


def main() -> None:
    """Make them all."""
    for name in ENVIRONMENTS:
        first, *others = frames(name)
        path = PICTURES / f"{name}.webp"
        first.save(
            path, save_all=True, append_images=others, loop=0, lossless=True, quality=100, method=6,
            duration=[PAUSE] * len(others) + [LAST],
        )  # fmt: skip
        print(f"{path}: {1 + len(others)} frames, {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
