"""Make `docs/pictures`: a deal of each environment, the drawing in both themes, and replays.

    python -m docs.make_pictures

Needs the extras `play`, `render` and `dev` and a Chromium, by default Debian's.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from crib_agents.loading import load_agent
from crib_play.replay import write_replay
from PIL import Image
from playwright.sync_api import sync_playwright

from crib_env import ENVIRONMENTS, Game, find_agent
from crib_env.registration import env_module

PICTURES = Path(__file__).parent / "pictures"
CHROMIUM = "/usr/bin/chromium"
DESK, PHONE = (1400, 930), (390, 844)
PATIENCE = 300_000  # ms, on a busy machine
REPLAYS = (
    ("replay_six_card", "hoyle", 2, 31, DESK, "light"),
    ("replay_count", "hoyle", 2, 27, DESK, "dark"),
    ("replay_table_top", "table_top", 2, 23, DESK, "dark"),
    ("replay_phone", "hoyle", 2, 31, PHONE, "light"),
    ("replay_phone_dark", "table_top", 4, 23, PHONE, "dark"),
)
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


def animate() -> None:
    """Make the moving picture that opens each environment's page."""
    for name in ENVIRONMENTS:
        first, *others = frames(name)
        path = PICTURES / f"{name}.webp"
        first.save(
            path, save_all=True, append_images=others, loop=0, lossless=True, quality=100, method=6,
            duration=[PAUSE] * len(others) + [LAST],
        )  # fmt: skip
        print(f"{path}: {1 + len(others)} frames, {path.stat().st_size / 1000:.0f} kB")


def drawings() -> dict[str, str]:
    """Return SVGs by name: a position of two games, one theme each."""
    shown = {}
    for name, rules, players, moves, theme in (
        ("six_card", "hoyle", 2, 30, "light"),
        ("partners", "table_top", 4, 17, "dark"),
    ):
        episode = "match" if rules == "hoyle" else "game"
        game = Game(rules, players=players, episode=episode, seed=5)
        for _ in range(moves):
            game.step(game.legal_actions[len(game.legal_actions) // 2])
        shown[name] = game.svg(theme=theme)
    return shown


def shoot(browser: Any, page: Path, path: Path, size: tuple[int, int], theme: str, at: int) -> None:
    """Write a picture of a page, at a moment of it if it is a replay."""
    width, height = size
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=theme,
        device_scale_factor=2 if size == PHONE else 1,
    )  # fmt: skip
    context.set_default_timeout(PATIENCE)
    shown = context.new_page()
    shown.goto(page.as_uri())
    if at:
        shown.evaluate(f"show({at})")
    shown.screenshot(path=path)
    context.close()


def main() -> None:
    """Make all pictures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chromium", default=CHROMIUM, help="the browser")
    chosen = parser.parse_args()
    PICTURES.mkdir(exist_ok=True)
    animate()
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=chosen.chromium, args=["--no-sandbox"])
        for name, svg in drawings().items():
            page = Path(folder) / "drawing.html"
            page.write_text(f"<body style='margin:0'>{svg}</body>", "utf-8")
            shoot(browser, page, PICTURES / f"{name}.png", (800, 600), "light", 0)
        agents = load_agent("learned"), load_agent("rule_based")
        for name, rules, players, at, size, theme in REPLAYS:
            page = Path(folder) / f"{rules}_{players}.html"
            if not page.exists():
                write_replay(page, rules, agents, seed=3, players=players)
            shoot(browser, page, PICTURES / f"{name}.png", size, theme, at)
        browser.close()
    print(f"{len(list(PICTURES.glob('*.png')))} pictures in {PICTURES}")


if __name__ == "__main__":
    main()
