"""A game as SVG: well formed, for the eyes of one seat alone, the pegs where the points are."""

from __future__ import annotations

import random
import re
from xml.etree import ElementTree

import numpy as np
import pytest

from crib_env.cards import format_card
from crib_env.engine.table_top.records import TO_CRIB
from crib_env.game import Game
from crib_env.render.svg.board import Pegs, board, place
from crib_env.render.svg.cards import symbols
from crib_env.render.svg.document import document, lines
from hidden import redraw_hands, redraw_turns

GAMES = [("hoyle", 2), ("five_card", 2), ("table_top", 2), ("table_top", 4), ("table_top_ship", 2)]
TWO_HAND = ("hoyle", "five_card")
every_game = pytest.mark.parametrize(("rules", "players"), GAMES)


def shown(svg: str) -> list[str]:
    """Return the cards that a drawing shows, ``"back"`` for one that lies face down."""
    return re.findall(r'<use href="#crib-(\w+)"', svg)


def play(game: Game, draw: random.Random, turns: int) -> None:
    for _ in range(turns):
        if not game.over:
            game.step(draw.choice(game.legal_actions))


@every_game
def test_every_position_of_a_game_is_a_well_formed_drawing(rules: str, players: int) -> None:
    game, draw = Game(rules, players=players, seed=1), random.Random(1)
    while not game.over:
        for knows in ("seat", "seats", "all"):
            root = ElementTree.fromstring(game.svg(knows=knows))
            ids = {e.get("id") for e in root.iter() if e.get("id")}
            assert {f"crib-{name}" for name in shown(game.svg(knows=knows))} == ids
        play(game, draw, 19)
    winner = game.returns.index(1.0)
    won = "rows have" if winner == 0 else "columns have"
    assert f">{f'player_{winner} has' if rules in TWO_HAND else won} won<" in game.svg()


@pytest.mark.parametrize("rules", TWO_HAND)
def test_h1_f2_hidden_cards_redrawn_leave_the_drawing_byte_for_byte(rules: str) -> None:
    draw, rng = random.Random(4), np.random.default_rng(4)
    game = Game(rules, episode="match", seed=4)
    changed = 0
    for _ in range(40):
        for seat in (0, 1):
            before, svg = game.snapshot(), game.svg(seat)
            changed += redraw_hands(game.states[0], rng, seat, game.rules.dealt)
            assert game.svg(seat) == svg
            game.restore(before)
        play(game, draw, 1)
    assert changed > 100


@pytest.mark.parametrize(("rules", "players"), GAMES[2:])
def test_t2_t7_cards_of_others_and_those_to_come_redrawn_leave_it_too(
    rules: str, players: int
) -> None:
    draw, rng = random.Random(5), np.random.default_rng(5)
    game = Game(rules, players=players, seed=5)
    changed = 0
    for _ in range(28):
        for seat in range(players):
            before, svg = game.snapshot(), game.svg(seat)
            changed += redraw_turns(game.states[0], game.view(seat), rng)
            assert game.svg(seat) == svg
            game.restore(before)
        play(game, draw, 1)
    assert changed > 100


def test_a_spectator_sees_by_choice_what_all_seats_know_or_everything() -> None:
    game = Game("hoyle", seed=2)
    hands = {format_card(int(c)) for p in (0, 1) for c in game.view(p)["hand"]}
    starter = format_card(int(game.states[0]["starter"]))
    assert set(shown(game.svg())) < hands | {"back"}
    assert set(shown(game.svg(knows="seats"))) == hands | {"back"}
    assert set(shown(game.svg(knows="all"))) == hands | {starter}
    with pytest.raises(ValueError, match="knows must be one of 'seat', 'seats', 'all'"):
        game.svg(knows="god")


def test_h7_cards_out_of_play_are_shadowed() -> None:
    game, draw = Game("hoyle", seed=3), random.Random(3)
    while int(game.states[0]["pile_from"]) == 0:
        play(game, draw, 1)
    view = game.view(game.seat)
    out = int(view["pile_from"])
    assert game.svg().count('class="shadow"') == out


def test_h12_two_pegs_leap_frog_and_a_third_keeps_the_games() -> None:
    sides = (Pegs(33, 30, match_score=2), Pegs(121, 117))
    drawn = "".join(board(sides, 121, match_target=7))
    assert drawn.count('class="side0 peg"') == drawn.count('class="side1 peg"') == 3
    for x, y in (place(0, 33, 121), place(0, 30, 121), place(1, 117, 121), place(0, 121, 121)):
        assert f'cx="{x:.1f}" cy="{y:.1f}"' in drawn
    assert place(0, 121, 121) == place(1, 121, 121)  # one last hole, which wins (H9)


@pytest.mark.parametrize("target", [1, 2, 31, 61, 91, 121, 181, 999])
def test_h9_f7_every_hole_has_a_place_of_its_own_on_the_board(target: int) -> None:
    holes = [place(side, hole, target) for side in (0, 1) for hole in range(target)]
    assert len(set(holes)) == 2 * target
    for x, y in [*holes, place(0, target, target), place(0, 0, target, rear=True)]:
        assert 14 < x < 786
        assert 460 < y < 588
    board((Pegs(0, 0), Pegs(target, 0)), target)


def test_table_top_shows_lines_values_open_cells_and_the_crib() -> None:
    game = Game.from_notation(
        "table_top game #2 d0 m1 p2 turn 4S7H8HAD6CKC5STD9S4C5CQH5DAHTC6DJSJCJH7D9HJD2HTHQS3S3H6S2C"
        " ...../..7H../..2C8H./.KC6CAD./..... 4S 20/29"
    )
    svg = game.svg()
    assert svg.count('class="open"') == len([a for a in game.legal_actions if a != TO_CRIB])
    assert [int(v) for v in re.findall(r'<text class="side1"[^>]*>(\d+)<', svg)] == [0, 0, 2, 0, 0]
    assert shown(svg).count("back") == 0
    assert shown(game.svg(0)).count("back") == 2  # the other's card in turn, and in the crib
    assert "or the crib (25)" in svg


def test_every_card_has_a_face_of_its_own_that_needs_no_font() -> None:
    faces = symbols()
    assert len(set(faces.values())) == 53
    assert not any("<text" in face for face in faces.values())


def test_names_are_escaped_cut_and_without_characters_no_xml_may_hold() -> None:
    game = Game("hoyle", seed=1)
    root = ElementTree.fromstring(game.svg(names=["<script>alert(1)</script>", "a\x00b"]))
    words = [e.text or "" for e in root.iter() if e.tag.endswith("text")]
    assert "<script>alert(…" in words
    assert not any(e.tag.endswith("script") for e in root.iter())
    with pytest.raises(ValueError, match="names must be 2"):
        game.svg(names=["one"])


def test_a_theme_is_light_dark_or_the_readers() -> None:
    game = Game("hoyle", seed=1)
    light, dark, auto = (game.svg(theme=t) for t in ("light", "dark", "auto"))
    assert "prefers-color-scheme" in auto
    assert "prefers-color-scheme" not in light + dark
    assert "#14201c" in dark
    assert "#14201c" not in light
    with pytest.raises(ValueError, match="theme must be one of 'auto', 'light', 'dark'"):
        game.svg(theme="blue")


def test_a_notebook_shows_a_game() -> None:
    game = Game("table_top", seed=1)
    assert game._repr_svg_() == game.svg()
    assert game.svg() in game._repr_html_()


def test_a_family_without_a_picture_is_drawn_as_its_text() -> None:
    drawn = ElementTree.fromstring(document(lines("one & two\n  three"), "title"))
    assert [e.text for e in drawn.iter() if e.tag.endswith("text")] == ["one & two", "  three"]


def test_drawing_changes_nothing() -> None:
    game = Game("hoyle", seed=1)
    before = game.states.copy()
    game.svg(knows="all")
    assert np.array_equal(game.states, before)
