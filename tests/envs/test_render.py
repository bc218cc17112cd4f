"""A game in text, without colours, and as SVG: only the seat's own knowledge is shown."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from crib_env import format_card, parse_cards, scoring, six_card_v0
from crib_env.engine.table_top import text as table_top
from crib_env.events import REASONS, Event
from crib_env.game import Game
from crib_env.render.svg.board import Pegs, board, place
from crib_env.render.words import pegged, track
from hidden import redraw_hands, redraw_turns
from stacked import Table, deal

HANDS = ("7C 5S 9D 2H / KC QC", "8C TD 3C 3D / KD QD")


def table(starter: str = "9S", **keywords: Any) -> Table:
    """Return a six-card deal, player_1 dealing, with its cards discarded."""
    made = Table(deal(*HANDS, starter), render_mode="ansi", **keywords)
    made.discard()
    return made


def render(env: Any, seat: int | None = None) -> str:
    """Return an environment's game as a seat, by default the one to move, may see it."""
    text: str = env.game.text(seat, env.metadata["name"])
    return text


def line(text: str, label: str) -> str:
    """Return the text after a label in the first column, with single spaces."""
    (found,) = re.findall(rf"^{label:<12}(.*)$", text, re.MULTILINE)
    return " ".join(found.split())


def random_action(env: Any, draw: random.Random) -> int:
    mask = env.observe(env.agent_selection)["action_mask"]
    return int(draw.choice(mask.nonzero()[0]))


# --- two-hand games -----------------------------------------------------------------------------


def test_render_mode_ansi_returns_the_seat_to_moves_view() -> None:
    game = table()
    text = game.env.render()
    assert text == render(game.env, seat=0)
    assert text.startswith("six_card_v0, hoyle to 121, deal 1 by player_1\n")
    assert line(text, "player_0") == "7C 5S 9D 2H"
    assert line(text, "player_1") == "?? ?? ?? ??"
    assert line(text, "discarded") == "KC QC"
    assert line(text, "crib") == "?? ?? ?? ?? of player_1"
    assert line(text, "starter") == "9S"
    assert "player_0 to move: play one of 7C 5S 9D 2H" in text
    assert line(render(game.env, seat=1), "player_1") == "8C TD 3C 3D"
    assert "player_0 to move" in render(game.env, seat=1)


@pytest.mark.parametrize("rules", ["hoyle", "five_card"])
def test_h1_f2_nothing_hidden_from_the_seat_changes_its_text(rules: str) -> None:
    env = six_card_v0.raw_env(rules=rules, render_mode="ansi")
    draw, rng = random.Random(3), np.random.default_rng(3)
    changed = 0
    env.reset(seed=0)
    while not all(env.terminations.values()):
        for seat in (0, 1):
            text = render(env, seat)
            before = env.snapshot()
            changed += redraw_hands(env.game.states[0], rng, seat, env.rules.dealt)
            assert render(env, seat) == text
            env.restore(before)
        env.step(random_action(env, draw))
    assert changed > 50


def test_h1_pones_progress_is_hidden_until_the_dealer_discards() -> None:
    game = Table(deal(*HANDS, "9S"), render_mode="ansi")
    texts = [render(game.env, seat=1)]
    game.play("p:KC")
    texts.append(render(game.env, seat=1))
    assert texts[0] == texts[1]
    assert line(texts[0], "crib") == "none yet of player_1"
    assert line(texts[0], "starter") == "??"
    assert "discard one of 7C 5S 9D 2H QC" in render(game.env)


def test_h7_cards_out_of_play_are_shadowed() -> None:
    game = table()
    game.play("p:9D d:TD p:5S d:3C p:2H")  # 29, and neither can play
    text = game.env.render()
    assert line(text, "count") == "0"
    assert "\n  played    (9D)    (5S)    (2H)\n" in text
    assert "\n  played        (TD)    (3C)\n" in text
    game.play("d:8C")
    text = game.env.render()
    assert line(text, "count") == "8"
    assert "\n  played        (TD)    (3C)     8C\n" in text


def test_c3_heels_named_nobs_too() -> None:
    game = table(starter="JS")
    assert line(game.env.render(), "calls") == "player_1: heels for two (JS)"


def test_h4_h5_h7_calls_use_the_words_of_players() -> None:
    game = table()
    game.play("p:7C")
    assert "calls" not in game.env.render()
    for move, call in (
        ("d:8C", "player_1: fifteen for two (7C 8C)"),
        ("p:9D", "player_0: run of three for three (7C 8C 9D)"),
        ("d:3C p:2H", "player_0: go for one (2H)"),
        ("d:TD p:5S", "player_0: fifteen for two (5S TD)"),
        ("d:3D", "player_1: last card for one (3D)"),
    ):
        game.play(move)
        assert line(game.env.render(), "calls") == call
    # The show follows: 2-5-7-9 with the nine turned up, 3-3-8-10, and the crib of queens and kings.
    assert "player_0    2H 5S 7C 9D  a pair for two\n" in game.env.render()
    assert "crib        QC QD KC KD  two pairs for four\n" in game.env.render()


@pytest.mark.parametrize(
    ("reason", "points", "cards", "call"),
    [
        ("for_last", 3, 0, "three for last"),
        ("heels", 2, 1, "heels for two"),
        ("fifteen", 2, 3, "fifteen for two"),
        ("pair", 2, 2, "pair for two"),
        ("pair", 6, 3, "pair royal for six"),
        ("pair", 12, 4, "double pair royal for twelve"),
        ("pair", 1, 3, "pair royal for one"),  # the target was one away (C5)
        ("run", 5, 5, "run of five for five"),
        ("thirty_one", 2, 4, "thirty-one for two"),
        ("go", 1, 1, "go for one"),
        ("last", 1, 1, "last card for one"),
        ("hand", 29, 4, "hand for twenty-nine"),
        ("crib", 8, 4, "crib for eight"),
        ("line", 21, 5, "line for twenty-one"),
    ],
)
def test_calls_cover_every_reason(reason: str, points: int, cards: int, call: str) -> None:
    assert reason in REASONS
    assert pegged(reason, points, cards) == call
    assert all(pegged(one, 2, 3) for one in REASONS)  # none is without a call


# --- the show -----------------------------------------------------------------------------------


def shows(text: str) -> list[str]:
    """Return the lines of the show that ended a deal, before the next deal's; none if there are."""
    whole = re.sub(r"\n {20,}", " ", text.partition("\n\n")[0])  # a long count takes two lines
    return whole.splitlines() if text.startswith("the show") else []


@pytest.mark.parametrize("form", ["AEC", "Gymnasium"])
def test_h8_show_counts_the_ended_deal_aloud(form: str) -> None:
    """The show of an ended deal has its starter and every hand, also hands of 0 points."""
    keywords: dict[str, Any] = {"render_mode": "ansi"}
    raw = six_card_v0.raw_env(**keywords)
    gym = six_card_v0.gym_env(opponent="greedy", seat=0, **keywords)
    env: Any = raw if form == "AEC" else gym
    env.reset(seed=1)
    seen = 0
    for _ in range(400):
        states = (raw.game if form == "AEC" else gym.batch).states[0].copy()
        if form == "AEC":
            env.step(random_action(env, random.Random(seen)))
            done, events = all(env.terminations.values()), env.events
        else:
            *_, done, _, _ = env.step(int(env.action_masks().argmax()))
            events = env.events
        messages = shows(env.render())
        assert bool(messages) >= any(event.reason in ("hand", "crib") for event in events)
        if messages and not done:
            seen += 1
            starter = format_card(int(states["starter"]))
            dealer = int(states["dealer"])
            assert messages[0] == (f"the show of deal {states['deals']} by player_{dealer}, starter {starter}")
            counts = [row for row in messages if re.match(r"player_\d +..\b|crib ", row)]
            assert len(counts) == 3
            points = 0
            for row, crib in zip(counts, (False, False, True), strict=True):
                cards, _, call = row[12:].partition("  ")
                score = scoring.score_hand(cards, starter, crib=crib)
                assert call == score.call
                points += score.points
            assert points == sum(e.points for e in events if e.reason in ("hand", "crib"))
            assert "\n\nsix_card_v0, hoyle to 121, deal " in env.render()
        if done:
            env.reset()
    assert seen > 10


def test_t8_count_of_a_round_is_shown_before_the_next_round() -> None:
    game = Game("table_top", seed=3)
    while not game.over and game.deals == 1:
        last = game.view(game.seat)
        game.step(game.legal_actions[0])
    placed = last["layout"].copy()
    placed[placed == -1] = last["card"]
    title, layout, calls, rest = game.text().split("\n\n", 3)
    assert title == "the count of round 1"
    *rows, _, bottom = layout.splitlines()
    cards = [re.findall(r"[A2-9TJQK][CDHS]", row) for row in rows]
    assert cards == [[format_card(int(c)) for c in row] for row in placed.reshape(5, 5)]
    for side, points in enumerate(([row.split("|")[1] for row in rows], bottom.split())):
        lines = placed.reshape(5, 5) if side == 0 else placed.reshape(5, 5).T
        for i, (line, number) in enumerate(zip(lines, points, strict=True)):
            starter = int(placed[12]) if i == 2 else None
            score = scoring.score_line(line.tolist(), game.rules, starter=starter)
            assert int(number) == score.points
    crib, *calls = calls.splitlines()
    assert re.fullmatch(r"crib        (.. ){4} of the (rows|columns)", crib)
    assert calls[0].startswith("calls       ")
    assert len(calls) == len([e for e in game.events if e.reason != "heels"])
    assert rest.startswith("table_top, table_top to 121, 2 players, round 2 dealt by")
    game.step(game.legal_actions[0])
    assert "the count" not in game.text()


def test_c5_show_ends_with_the_winning_hand() -> None:
    game = table(scores=(120, 0), episode="game")
    game.finish()
    assert game.env.scores[0] == 121
    messages = shows(game.env.render())
    assert not any(row.startswith("crib") for row in messages)


# --- the board ----------------------------------------------------------------------------------


def test_h12_pegs_show_previous_score() -> None:
    game = table(scores=(30, 57))
    game.play("p:7C d:8C p:9D")
    text = game.env.render()
    assert "player_1  59 (rear peg 57), needs 62\n" in text
    assert "player_0  33 (rear peg 30), needs 88\n" in text
    holes = text.replace(" ", "")
    assert f"\n{'.' * 29}o..O{'.' * 27}\n" in holes
    assert f"\n{'.' * 56}o.O.\n" in holes


@pytest.mark.parametrize(("target", "laps"), [(121, 2), (61, 1), (91, 2), (31, 1), (1, 1)])
def test_h9_f7_board_has_a_hole_for_every_point(target: int, laps: int) -> None:
    for score in range(target + 1):
        for rear in {0, score // 2, max(score - 1, 0)}:
            lines = track(score, rear, target)
            assert len(lines) == laps
            start, holes = lines[0][:3], "".join(lines)[3:].replace(" ", "")
            if len(lines) > 1:
                assert lines[1].startswith("   ")
            assert len(holes) == target
            assert ("O" in start) == (score == 0)
            assert score == 0 or holes[score - 1] == "O"
            assert rear in (0, score) or holes[rear - 1] == "o"
            assert holes.count("O") + start.count("O") == 1


def test_h12_the_game_peg_is_shown_in_a_match() -> None:
    env = six_card_v0.raw_env(render_mode="ansi", episode="match")
    env.reset(seed=1)
    env.game.states["match_score"][0] = (2, 4)
    seat = env.possible_agents.index(env.agent_selection)
    mine, theirs = ("player_0", "player_1") if seat == 0 else ("player_1", "player_0")
    points = {"player_0": 2, "player_1": 4}
    text = env.render()
    for player in (mine, theirs):
        assert f"{player}  0 (rear peg 0), needs 121, game points {points[player]} of 7" in text
    single_game = table()
    assert "game points" not in single_game.env.render()


# --- Table Top ----------------------------------------------------------------------------------

DECK = "4S7H8HAD6CKC5STD9S4C5CQH5DAHTC6DJSJCJH7D9HJD2HTHQS3S3H6S2C"


def table_top_text(position: str, seat: int, events: Sequence[Event] = ()) -> str:
    """Return a Table Top position as a seat may see it."""
    game = Game.from_notation(position)
    return table_top.render(game.view(seat), game.rules, "table_top_v0", game.deals, events)


def test_table_top_shows_the_layout_with_its_lines_values_so_far() -> None:
    position = f"table_top game #2 d0 20/29 {DECK} ...../..7H../..2C8H./.KC6CAD./..... 4S"
    text = table_top_text(position, 1)
    assert text.splitlines()[0] == ("table_top_v0, table_top to 121, 2 players, round 2 dealt by player_0")
    assert text.splitlines()[2:9] == [
        "   .    1    2    3    .   |   0",
        "   .    6   7H    8    9   |   0",
        "  10   11  [2C]  8H   14   |   0",
        "  15   KC   6C   AD   19   |   0",
        "  20   21   22   23   24   |   0",
        "  -------------------------",
        "   0    0    2    0    0",
    ]
    assert line(text, "scores") == "rows 20, columns 29"


def test_t5_open_cells_carry_their_numbers_for_the_seat_to_move() -> None:
    position = f"table_top game #1 d1 0/0 {DECK} ...../...../..2C../...../..... -"
    text = table_top_text(position, 0)
    grid = " ".join(row.partition("|")[0] for row in text.splitlines()[2:7])
    assert re.findall(r"\b\d+\b", grid) == ["6", "7", "8", "11", "13", "16", "17", "18"]
    assert "player_0 (rows) to move 4S: place it on a numbered cell or lay it in the crib (25)" in text
    other = table_top_text(position, 1)
    assert "4S" not in other
    assert not re.search(r"\d", other.splitlines()[3].partition("|")[0])


def test_t6_owed_crib_cards_are_shown() -> None:
    position = f"table_top game #2 d0 20/29 {DECK} ...../..7H../..2C../.8H.../..... 4S"
    text = table_top_text(position, 0)
    assert line(text, "owed") == "player_0 2, player_1 1 of 4 crib cards"
    assert line(text, "crib") == "?? of the rows"
    assert line(table_top_text(position, 1), "crib") == "4S of the rows"


def test_t7_partners_who_confer_see_each_others_cards() -> None:
    position = f"table_top game #1 d0 0/0 {DECK} ...../..7H../..2C../.AD6C../..... 4S8HKC players=4"
    shown = [table_top_text(position, seat) for seat in range(4)]
    assert "player_3 (columns) to move, whose card is 5S" in shown[1]
    assert "player_3 (columns) to move 5S: " in shown[3]
    assert "5S" not in shown[0] + shown[2]
    assert [line(text, "crib") for text in shown] == [
        "?? ?? KC of the rows",
        "4S 8H ?? of the rows",
        "?? ?? KC of the rows",
        "4S 8H ?? of the rows",
    ]


def test_c3_t3_table_top_calls_name_the_side() -> None:
    position = f"table_top game #1 d1 0/0 {DECK} ...../...../..2C../...../..... -"
    events = (Event(1, 2, "heels", tuple(parse_cards("JH"))),)
    text = table_top_text(position, 0, events)
    assert line(text, "calls") == "columns: heels for two (JH)"


@pytest.mark.parametrize(("rules", "players"), [("table_top", 2), ("table_top", 4), ("table_top_ship", 2)])
def test_t2_future_cards_are_hidden(rules: str, players: int) -> None:
    draw = random.Random(players)
    deck = [format_card(card) for card in draw.sample(range(52), 29)]
    game = Game.from_notation(
        f"{rules} round #1 d0 0/0 {''.join(deck)} ...../...../..{deck[28]}../...../..... - players={players}"
    )
    while not game.over:
        to_come = set(deck[int(game.states["turn"][0]) + 1 : 28])
        for seat in range(players):
            assert not to_come & set(re.findall(r"[A2-9TJQK][CDHS]", game.text(seat)))
        game.step(draw.choice(game.legal_actions))
    columns = table_top.line_values(game.view(0), game.rules)[1]
    if rules == "table_top":  # its crib is the dealer's, so the columns have their lines alone (T8)
        assert game.scores[1] == sum(columns)


# --- as SVG: well formed, with only the cards a seat may see, pegs at the scores ------------------


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
def test_svg_of_every_position_is_well_formed(rules: str, players: int) -> None:
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


@every_game
def test_h1_f2_t2_t7_svg_is_identical_when_hidden_cards_are_redrawn(rules: str, players: int) -> None:
    draw, rng = random.Random(4), np.random.default_rng(4)
    episode = "match" if rules == "hoyle" else "game"
    game = Game(rules, players=players, episode=episode, seed=4)
    changed = 0
    for _ in range(40 if rules in TWO_HAND else 28):
        for seat in range(players):
            before, svg = game.snapshot(), game.svg(seat)
            if rules in TWO_HAND:
                changed += redraw_hands(game.states[0], rng, seat, game.rules.dealt)
            else:
                changed += redraw_turns(game.states[0], game.view(seat), rng)
            assert game.svg(seat) == svg
            game.restore(before)
        play(game, draw, 1)
    assert changed > 100


def test_svg_viewer_shows_public_knowledge_or_everything() -> None:
    game = Game("hoyle", seed=2)
    hands = {format_card(int(c)) for p in (0, 1) for c in game.view(p)["hand"]}
    starter = format_card(int(game.states[0]["starter"]))
    assert set(shown(game.svg())) < hands | {"back"}
    assert set(shown(game.svg(knows="seats"))) == hands | {"back"}
    assert set(shown(game.svg(knows="all"))) == hands | {starter}
    with pytest.raises(ValueError, match="knows must be one of 'seat', 'seats', 'all'"):
        game.svg(knows="god")


def test_h7_cards_out_of_play_are_shadowed_in_the_drawing() -> None:
    game, draw = Game("hoyle", seed=3), random.Random(3)
    while int(game.states[0]["pile_from"]) == 0:
        play(game, draw, 1)
    view = game.view(game.seat)
    out = int(view["pile_from"])
    assert game.svg().count('class="shadow"') == out


def test_h12_two_pegs_leapfrog_and_a_third_counts_games() -> None:
    sides = (Pegs(33, 30, match_score=2), Pegs(121, 117))
    drawn = "".join(board(sides, 121, match_target=7))
    assert drawn.count('class="side0 peg"') == drawn.count('class="side1 peg"') == 3
    for x, y in (place(0, 33, 121), place(0, 30, 121), place(1, 117, 121), place(0, 121, 121)):
        assert f'cx="{x:.1f}" cy="{y:.1f}"' in drawn
    assert place(0, 121, 121) == place(1, 121, 121)  # one last hole, which wins (H9)


@pytest.mark.parametrize("target", [1, 2, 31, 61, 91, 121, 181, 999])
def test_h9_f7_holes_have_distinct_places_on_the_board(target: int) -> None:
    holes = [place(side, hole, target) for side in (0, 1) for hole in range(target)]
    assert len(set(holes)) == 2 * target
    for x, y in [*holes, place(0, target, target), place(0, 0, target, rear=True)]:
        assert 14 < x < 786
        assert 460 < y < 588
    board((Pegs(0, 0), Pegs(target, 0)), target)


def test_svg_names_are_escaped_cut_and_valid_xml() -> None:
    game = Game("hoyle", seed=1)
    root = ElementTree.fromstring(game.svg(names=["<script>alert(1)</script>", "a\x00b"]))
    words = [e.text or "" for e in root.iter() if e.tag.endswith("text")]
    assert "<script>alert(…" in words
    assert not any(e.tag.endswith("script") for e in root.iter())
    with pytest.raises(ValueError, match="names must be 2"):
        game.svg(names=["one"])


def test_svg_theme_is_light_dark_or_auto() -> None:
    game = Game("hoyle", seed=1)
    light, dark, auto = (game.svg(theme=t) for t in ("light", "dark", "auto"))
    assert "prefers-color-scheme" in auto
    assert "prefers-color-scheme" not in light + dark
    assert "#14201c" in dark
    assert "#14201c" not in light
    with pytest.raises(ValueError, match="theme must be one of 'auto', 'light', 'dark'"):
        game.svg(theme="blue")


def test_repr_html_shows_the_game() -> None:
    game = Game("table_top", seed=1)
    assert game.svg() in game._repr_html_()
