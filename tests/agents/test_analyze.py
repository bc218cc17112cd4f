"""`crib analyze`: lists every legal action, the expert's first; reads positions as text."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import asdict
from math import comb
from typing import Any

import numpy as np
import pytest
from crib_agents.analyze import CardChoice, CellChoice, DiscardChoice, analyze, discard_view, layout_view, pegging_view
from crib_training.command_line import main
from hypothesis import given, settings
from hypothesis import strategies as st

from checkout import ROOT
from commands import crib
from crib_env import five_card_v0, six_card_v0, table_top_v0
from crib_env.cards import format_card, format_cards, parse_cards
from crib_env.engine.hands.records import DISCARD
from crib_env.engine.record import NONE
from crib_env.envs.aec import CribbageAEC
from crib_env.game import Game
from crib_env.policy import ask_agent, find_agent
from reference.scoring import score_show

HAND = "5H 5D JC 4S 6S KH"
LINE = "hoyle game #1 d1 0/0 QSQC4STDQHAH/3HTH6D5CJD7H 7C -"


RNG = np.random.default_rng(0)


def positions(rules: str, decisions: int, episode: str = "game") -> Iterator[tuple[Game, Any]]:
    """Yield positions of a game of `rule_based`, with the choices in each."""
    game, agent = Game(rules, episode=episode, seed=4), find_agent("rule_based")
    for _ in range(decisions):
        if game.over:
            return
        view = np.array([game.view(game.seat)])
        yield game, analyze(view)
        game.step(int(ask_agent(agent, view, RNG)[0]))


def actions_of(choice: Any) -> list[int]:
    if isinstance(choice, CellChoice):
        return [choice.action]
    return parse_cards(choice.discard if isinstance(choice, DiscardChoice) else choice.card)


@pytest.mark.parametrize("rules", ["hoyle", "five_card", "table_top", "three_hand", "four_hand"])
def test_analyze_lists_every_legal_action_with_the_agents_first(rules: str) -> None:
    best = find_agent("learned" if rules in ("three_hand", "four_hand") else "expert")
    kinds = set()
    for game, choices in positions(rules, 30):
        listed, kind = [actions_of(choice) for choice in choices], type(choices[0])
        laid = game.view(game.seat)["discarded"].tolist() if len(listed[0]) == 2 else []
        known = {*game.legal_actions, *laid} - {NONE}  # a pair includes the first discard
        assert {action for actions in listed for action in actions} == known
        assert len({frozenset(actions) for actions in listed}) == len(listed)
        if len(listed[0]) == 2 and set(laid) == {NONE}:
            assert len(listed) == comb(len(known), 2)  # every pair
        worth = [one.value if kind is CellChoice else one.win for one in choices]
        assert worth == sorted(worth, reverse=True)
        assert kind is CellChoice or 0 <= worth[-1] <= worth[0] <= 1
        chosen = int(best.act(np.array([game.view(game.seat)]), RNG)[0])
        own = max(value for value, actions in zip(worth, listed, strict=True) if chosen in actions)
        # `expert` judges pairs and cells a little more coarsely than `analyze`.
        coarser = 0.3 if kind is CellChoice else 0.005 if len(listed[0]) == 2 else 0
        assert chosen in listed[0] or worth[0] - own <= coarser
        kinds.add(kind)
    assert kinds == ({CellChoice} if rules == "table_top" else {DiscardChoice, CardChoice})


@pytest.mark.parametrize("rules", ["hoyle", "three_hand"])
def test_analyze_mean_of_a_hand_is_over_its_starters(rules: str) -> None:
    game, choices = next(positions(rules, 1))
    dealt = list(game.legal_actions)
    starters = [card for card in range(52) if card not in dealt]
    for choice in choices:
        keep = parse_cards(choice.keep)
        assert sorted([*keep, *actions_of(choice)]) == sorted(dealt)
        counted = [score_show(keep, one, crib=False, rules_name="hoyle") for one in starters]
        assert choice.hand == pytest.approx(np.mean(counted))
        assert choice.points == pytest.approx(choice.hand + choice.crib + choice.pegging)
        assert choice.crib < 0  # the dealer's left discards first


def test_analyze_rejects_view_without_choice() -> None:
    env = six_card_v0.raw_env()
    env.reset(seed=1)
    waiting = 1 - env.possible_agents.index(env.agent_selection)
    with pytest.raises(ValueError, match="not to move"):
        analyze(np.array([env.view(waiting)]))
    both = np.concatenate([discard_view(HAND, dealer=True)] * 2)
    with pytest.raises(ValueError, match="one view"):
        analyze(both)


def test_crib_analyze_prints_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    main(["analyze", HAND, "--dealer", "--scores", "60", "75"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["discard", "keep", "hand", "crib", "pegging", "points", "win"]
    assert len(lines) == 16
    assert lines[1].startswith("KH JC")
    main(["analyze", "6D 4S 9C", "--discarded", "KC QC", "--starter", "JH", "--dealer", "--pile",
          "(TS) 5D (7H)", "--json"])  # fmt: skip
    choices = json.loads(capsys.readouterr().out)
    assert choices[0]["card"] == "6D"


def test_crib_analyze_takes_notation_of_any_game(capsys: pytest.CaptureFixture[str]) -> None:
    for rules in ("hoyle", "three_hand", "table_top"):
        game = Game(rules, seed=6)
        main(["analyze", "--notation", game.notation(), "--json"])
        found = json.loads(capsys.readouterr().out)
        assert found == [asdict(one) for one in analyze(np.array([game.view(game.seat)]))]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "name the cards held"),
        (["5H", "--notation", LINE], "leave the cards out"),
        (["--dealer", "--notation", LINE], "leave --dealer out"),
        (["--notation", "whist"], "whist"),
        (["5H", "--env", "three_hand_v0"], "no position of 'three_hand'"),
        (["5H", "--env", "table_top_v0"], "--layout gives one of Table Top"),
        (["5H", "--layout", "x", "--env", "five_card_v0"], "no position of 'five_card'"),
        (["5H", "--partners-crib", "1"], "--partners-crib is for Table Top, with --layout"),
        (["5H", "--layout", "x", "--dealer"], "--dealer is for six and five cards"),
    ],
)
def test_crib_analyze_rejects_invalid_or_combined_notation(words: list[str], message: str) -> None:
    run = crib("analyze", *words)
    assert run.returncode == 2
    assert message in run.stderr


def test_analyze_page_equals_command_output(capsys: pytest.CaptureFixture[str]) -> None:
    page = (ROOT / "docs" / "agents.md").read_text()
    shown = re.findall(r"```sh\ncrib (analyze .*)\n```\n\n```\n(.*)\.\.\.\n```", page, flags=re.DOTALL)
    assert shown
    for words, lines in shown:
        main(shlex.split(words))
        assert capsys.readouterr().out.startswith(lines)


# --- any position of a game comes back from its text ----------------------------------------------


GAMES = {"hoyle": six_card_v0, "five_card": five_card_v0}


def as_text(view: Any, rules: str) -> np.ndarray[Any, Any]:
    """Return the view rebuilt from its own text, as a user would write it."""
    common: dict[str, Any] = {
        "dealer": bool(view["dealer"] == 0),
        "scores": tuple(view["scores"].tolist()),
        "rules": rules,
    }
    held = format_cards(view["hand"][: view["hand_n"]].tolist())
    discarded = format_cards(view["discarded"][: view["discarded_n"]].tolist())
    if view["phase"] == DISCARD:
        return discard_view(held, **common)
    pile = [
        format_card(card) if view["pile_seats"] >> 2 * i & 1 == 0 else f"({format_card(card)})"
        for i, card in enumerate(view["pile"][: view["pile_n"]].tolist())
    ]
    return pegging_view(
        held, discarded=discarded, starter=format_card(int(view["starter"])), pile=" ".join(pile), **common
    )


@pytest.mark.parametrize("rules", GAMES)
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_position_text_round_trips_every_view_of_a_game(rules: str, seed: int) -> None:
    env = GAMES[rules].raw_env()
    env.reset(seed=seed)
    game = env.unwrapped
    assert isinstance(game, CribbageAEC)
    rng = np.random.default_rng(seed)
    for _ in range(60):
        if any(env.terminations.values()):
            break
        view = game.view(env.possible_agents.index(env.agent_selection))
        if view["phase"] != DISCARD or view["discarded_n"] == 0:
            again = as_text(view, rules)[0]
            # The text omits the seat, the rear pegs and the number of the deal.
            for field in again.dtype.names:
                if field not in ("seat", "rear", "deals"):
                    assert np.array_equal(again[field], view[field]), field
        mask = env.observe(env.agent_selection)["action_mask"]
        env.step(int(rng.choice(np.flatnonzero(mask))))


HELD: dict[str, Any] = {"discarded": "KC QC", "starter": "JH", "dealer": True}


@pytest.mark.parametrize(
    ("hand", "changed", "words"),
    [
        ("6D 4S 9C", {"pile": "5D (TS)"}, "5D cannot have been played"),
        ("6D 4S", {"pile": "(TS) 5D (TC) 7C"}, "past 31"),
        ("6D 4S", {"pile": "(TS) 5D"}, "keeps 4 cards"),
        ("6D 4S 9C", {"pile": "(TS) 5D", "discarded": "KC"}, "discarded must be 2 cards"),
        ("6D 4S", {"pile": "(TS) 5D (7H) 9C"}, "not this seat's turn"),
        ("6D 4S 9C", {"pile": "(TS) 5X"}, "'5X' is not a card"),
        ("6D 4S 9C", {"pile": "(TS) 5D (7H)", "scores": (121, 0)}, "0 to 120"),
        ("6D 4S 9C", {"pile": "(TS) 5D (7H)", "rules": "table_top"}, "table_top"),
    ],
)
def test_position_text_rejects_impossible_positions(hand: str, changed: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        pegging_view(hand, **{**HELD, **changed})


def test_position_text_rejects_wrong_number_of_cards() -> None:
    with pytest.raises(ValueError, match="6 cards dealt, got 5"):
        discard_view("5H 5D JC 4S 6S", dealer=True)
    with pytest.raises(ValueError, match="more than once"):
        discard_view("5H 5D JC 4S 6S 6S", dealer=True)


# --- Table Top ------------------------------------------------------------------------------------


LAYOUT = "...../.4C.../..7H../...8H./....."
# The text omits which turn placed a card and, of four players, which opponent discarded one.
UNSAID = {"seat", "turns", "crib_turns"}


def layout_text(layout: Any) -> str:
    rows = np.asarray(layout).reshape(5, 5).tolist()
    return "/".join("".join("." if c == NONE else format_card(c) for c in row) for row in rows)


def discarded_by(view: Any, players: int) -> list[int]:
    """Return the number of discards of each seat: this one first, then from its left on."""
    return [4 // players - int(owed) for owed in view["owed"][:players]]


@pytest.mark.parametrize(("rules", "players"), [("table_top", 2), ("table_top_ship", 4)])
@settings(max_examples=4, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_layout_text_round_trips_every_view_of_a_round(rules: str, players: int, seed: int) -> None:
    env = table_top_v0.raw_env(rules=rules, players=players, episode="round")
    env.reset(seed=seed)
    rng = np.random.default_rng(seed)
    while not any(env.terminations.values()):
        view = env.view(env.possible_agents.index(env.agent_selection))
        discarded = discarded_by(view, players)
        cards = view["crib"][: view["crib_n"]].tolist()
        by = [(int(view["dealer"]) + 1 + int(t)) % players for t in view["crib_turns"]]
        mine = [card for card, seat in zip(cards, by, strict=False) if seat == 0]
        partners = [c for c, seat in zip(cards, by, strict=False) if seat == 2 and players == 4]
        again = layout_view(
            layout_text(view["layout"]),
            format_card(int(view["card"])),
            rows=bool(view["scores_rows"]),
            crib=format_cards(mine),
            partners_crib=format_cards(partners),
            others_crib=sum(discarded[1::2]),
            players=players,
            scores=tuple(view["scores"].tolist()),
            rules=rules,
            episode="round",
        )[0]
        for field in again.dtype.names:
            if field == "crib":
                assert sorted(again["crib"]) == sorted(view["crib"])
            elif field == "owed":
                assert again["owed"][0] == view["owed"][0]
                assert again["owed"][1::2].sum() == view["owed"][1::2].sum()
            elif field not in UNSAID:
                assert np.array_equal(again[field], view[field]), field
        mask = env.observe(env.agent_selection)["action_mask"]
        env.step(int(rng.choice(np.flatnonzero(mask))))


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"layout": "...../.4C.../..7H../...8H./2C...."}, "row 4, column 0"),
        ({"layout": "...../.4C.../...../...8H./....."}, "the starter lies in the centre"),
        ({"layout": "...../.4C.../..7H../...8H./...."}, "a row is 5 cells"),
        ({"card": "4C"}, "4C given more than once"),
        ({"crib": "2C 3C 4D"}, "a seat puts 2 cards"),
        ({"partners_crib": "2C"}, "nobody has a partner"),
        ({"players": 3}, "players must be 2 or 4"),
        ({"rules": "hoyle"}, "hoyle"),
        ({"scores": (-1, 0)}, "from 0 up"),
    ],
)
def test_layout_text_rejects_impossible_layouts(changed: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        layout_view(**{"layout": LAYOUT, "card": "6D", **changed})


def test_layout_text_rejects_too_many_crib_cards_owed() -> None:
    full = "AC2C3C4C5C/6C7C8C9CTC/JCQC7HKC2D/3D4D5D6D7D/8D9DTDJDQD"
    with pytest.raises(ValueError, match="still owes the crib 2 cards with 1 to come"):
        layout_view(full, "AS", crib="KD AD")


def test_crib_analyze_takes_a_layout(capsys: pytest.CaptureFixture[str]) -> None:
    main(["analyze", "6D", "--layout", LAYOUT, "--columns", "--others-crib", "1"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["place", "action", "mine", "theirs", "value", "win"]
    assert len(lines) > 10
    assert "no matches" in crib("analyze", "6D", "--layout", LAYOUT, "--episode", "match").stderr
