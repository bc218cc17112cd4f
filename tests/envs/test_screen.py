"""``render_mode`` svg, rgb_array and human, with the tools people use them with."""

from __future__ import annotations

import copy
import io
import pickle
import re
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import DependencyNotInstalled
from pettingzoo.test import render_test
from pettingzoo.utils import CaptureStdoutWrapper

import crib_env
from crib_env import ENVIRONMENTS, six_card_v0, table_top_v0
from crib_env.envs import renderer
from crib_env.envs.renderer import FONTS, pixels
from crib_env.render.svg.document import document

ID = "crib_env/SixCard-v0"


@pytest.fixture(autouse=True)
def _no_display(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setattr("crib_env.envs.renderer.FPS", 1000)


def first_legal(env: Any) -> None:
    """Take the first legal action of the agent whose turn it is."""
    observation, _, over, _, _ = env.last()
    env.step(None if over else int(observation["action_mask"].nonzero()[0][0]))


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_pettingzoos_render_test_passes(name: str) -> None:
    modes = {"svg": lambda shown: shown.startswith("<svg ")}
    render_test(getattr(crib_env, name).env, custom_tests=modes)


@pytest.mark.parametrize("page", [six_card_v0, table_top_v0])
def test_pixels_show_the_drawing_as_resvg_draws_it_whole(page: Any) -> None:
    """Background, cards and other elements are drawn separately and combined without a trace."""
    import resvg_py
    from PIL import Image

    def drawn_whole(parts: list[str]) -> Any:
        png = resvg_py.svg_to_bytes(
            svg_string=document(parts, "", "light"), width=640, skip_system_fonts=True, font_files=FONTS
        )
        return np.asarray(Image.open(io.BytesIO(png)).convert("RGB")).astype(int)

    env = page.raw_env(render_mode="rgb_array", viewer="all")
    env.reset(seed=3)
    for turn in range(24):
        first_legal(env)
        if turn % 8:
            continue
        parts = env.game.drawing(**env._drawn)
        # Cards lie at whole pixels here, so their edges may differ by a shade; nothing else does.
        assert np.abs(pixels(parts) - drawn_whole(parts)).mean() < 3
        bare = [re.sub("<use [^>]*/>", "", part) for part in parts]
        assert np.abs(pixels(bare) - drawn_whole(bare)).max() < 4
        odd = [*bare, '<g><path class="ink" d="M90 90l50 9l-9 50z"/></g>']  # an unknown element
        assert np.abs(pixels(odd) - drawn_whole(odd)).max() < 4
        assert np.array_equal(pixels(parts), env.render())


def test_frames_follow_the_game_and_do_not_change_it() -> None:
    env = six_card_v0.raw_env(render_mode="rgb_array")
    plain = six_card_v0.raw_env()
    env.reset(seed=1)
    plain.reset(seed=1)
    frames = []
    for _ in range(12):
        frames.append(env.render())
        first_legal(env)
        first_legal(plain)
        assert env.notation() == plain.notation()
        for agent in env.agents:
            seen = env.observe(agent)["observation"]
            assert np.array_equal(seen, plain.observe(agent)["observation"])
    assert all((a != b).any() for a, b in pairwise(frames))


def test_viewer_selects_the_seat_shown() -> None:
    def shown(viewer: Any) -> str:
        env = six_card_v0.raw_env(render_mode="svg", viewer=viewer)
        env.reset(seed=1)
        return str(env.render())

    game = six_card_v0.raw_env()
    game.reset(seed=1)
    to_move = game.game.seat
    assert shown(None) == shown(to_move)
    assert shown(0) != shown(1)
    assert shown("all").count('<use href="#crib-back"') == 1  # the starter, still face down
    for wrong in (2, -1, True, "everyone"):
        with pytest.raises(ValueError, match="viewer must be a seat from 0 to 1, 'all' or None"):
            six_card_v0.env(viewer=wrong)


@pytest.mark.parametrize("seat", [0, 1])
def test_gymnasium_render_shows_the_learners_view(seat: int) -> None:
    env: Any = gymnasium.make(ID, render_mode="svg", seat=seat, viewer=None)
    assert env.unwrapped._repr_html_() is None
    env.reset(seed=1)
    assert f"player_{seat} to move: discard a card" in env.render()
    assert env.render() in env.unwrapped._repr_html_()


def test_record_video_writes_a_file_that_plays_back(tmp_path: Path) -> None:
    from gymnasium.wrappers import RecordVideo
    from moviepy import VideoFileClip

    env = RecordVideo(gymnasium.make(ID, episode="deal", render_mode="rgb_array"), str(tmp_path))
    _, info = env.reset(seed=1)
    steps = 0
    over = False
    while not over:
        _, _, over, _, info = env.step(int(info["action_mask"].nonzero()[0][0]))
        steps += 1
    env.close()
    (path,) = tmp_path.glob("*.mp4")
    with VideoFileClip(str(path)) as clip:
        assert clip.size == [640, 480]
        frames = [frame.astype(int) for frame in clip.iter_frames()]
    assert abs(len(frames) - (steps + 1)) <= 1
    moved = [np.abs(a - b).mean() > 0.1 for a, b in pairwise(frames)]
    assert sum(moved) > 0.9 * len(moved)


def test_stable_baselines3_tiles_the_pictures_of_its_environments() -> None:
    import stable_baselines3.common.env_util as env_util

    envs = env_util.make_vec_env(ID, n_envs=2)
    envs.reset()
    assert envs.render(mode="rgb_array").shape == (960, 640, 3)


def test_human_window_shows_every_position_and_is_not_copied() -> None:
    import pygame

    env = six_card_v0.env(render_mode="human")
    env.reset(seed=1)
    first = pygame.surfarray.array3d(pygame.display.get_surface())
    first_legal(env)
    assert (pygame.surfarray.array3d(pygame.display.get_surface()) != first).any()
    for other in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        first_legal(other)
        assert other.notation() != env.notation()
    env.close()
    assert not pygame.display.get_init()
    assert env.render() is None  # opens it again
    env.close()
    learner: Any = gymnasium.make(ID, render_mode="human")
    learner.reset(seed=1)
    assert pygame.display.get_surface().get_size() == (640, 480)
    learner.close()


def test_capture_stdout_takes_human_mode() -> None:
    import pygame

    env = CaptureStdoutWrapper(six_card_v0.raw_env(render_mode="human"))
    env.reset(seed=1)
    assert env.render() == ""  # nothing is printed: it has a window
    assert pygame.display.get_init()
    env.close()


def test_render_without_extra_rejects_pixels_and_draws_svg(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    monkeypatch.setattr(renderer, "_ground", renderer._ground.__wrapped__)  # nothing kept
    env = six_card_v0.env(render_mode="rgb_array")  # SB3's make_vec_env always asks for it
    env.reset(seed=1)
    with pytest.raises(DependencyNotInstalled, match=r'resvg_py.*pip install "crib-env\[render\]"'):
        env.render()
    svg = six_card_v0.env(render_mode="svg")
    svg.reset(seed=1)
    assert str(svg.render()).startswith("<svg")


def test_render_without_mode_asks_for_render_mode() -> None:
    single = gymnasium.make(ID)
    single.reset(seed=1)
    seats = six_card_v0.env()
    seats.reset(seed=1)
    for env in (single.unwrapped, seats):
        with pytest.warns(UserWarning, match="render_mode='ansi'"):
            assert env.render() is None
