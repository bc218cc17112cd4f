"""`crib_env.notation`: any position of any game in one line that parses back exactly."""

from __future__ import annotations

import dataclasses
import random
import re
from itertools import product

import numpy as np
import pytest

from crib_env import EpisodeOverError, Game, notation, six_card_v0
from crib_env.engine.hands.records import DISCARD
from crib_env.engine.two_hand import STATE as TWO_HAND
from crib_env.notation import canonical, format_state, parse_state
from crib_env.rules import PRESETS, Rules
from notation_lines import DECK, LAYING, PLAYING, TABLE

HOUSE = dataclasses.replace(
    PRESETS["hoyle"], name="Aunt May's [91]", target=91, next_dealer="winner", for_last=3
)


@pytest.mark.parametrize(
    ("rules", "episode", "players"),
    [
        *product(("hoyle[target=45]", "five_card", HOUSE), ("deal", "game", "pegging"), (2,)),
        *((f"{name}[target=31,match_target=2]", "match", 2) for name in ("hoyle", "five_card")),
        *product(("table_top[target=61]", "table_top_ship"), ("round", "game"), (2, 4)),
    ],
)
def test_notation_round_trips_every_position(
    rules: str | Rules, episode: str, players: int
) -> None:
    """All but the pile's places beyond its end and points already paid, which no rule reads."""
    draw = random.Random(1)
    game = Game(rules, players=players, episode=episode, seed=1)
    while True:
        text = format_state(game.states, game.rules, episode)
        assert "\n" not in text
        back = parse_state(text)
        kept = canonical(game.states)
        assert back.state.dtype == game.states.dtype
        assert canonical(back.state).tobytes() == kept.tobytes()
        assert back[1:] == (game.rules, episode, players)
        assert format_state(*back[:3]) == text
        for name in set(kept.dtype.names) - {"pile", "gain"}:
            assert np.array_equal(game.states[name], kept[name]), name
        if "pile" in kept.dtype.names:
            n = kept["pile_n"][0]
            assert np.array_equal(game.states["pile"][0, :n], kept["pile"][0, :n])
        if game.over:
            break
        game.step(draw.choice(game.legal_actions))


def test_parse_state_reads_positions_written_by_hand() -> None:
    s = parse_state(PLAYING).state[0]
    assert (s["dealer"], s["to_move"], s["phase"], s["deals"]) == (1, 0, 1, 2)
    assert s["count"] == 0
    assert (s["pile_n"], s["pile_from"], s["pile_seats"]) == (4, 4, 0b01000100)
    assert s["scores"].tolist() == [34, 60]
    assert s["rear"].tolist() == [30, 58]
    assert s["winner"] == -1
    assert format_state(*parse_state(PLAYING)[:3]) == PLAYING
    assert format_state(*parse_state(LAYING)[:3]) == LAYING
    assert parse_state(LAYING).state["phase"][0] == DISCARD
    table = parse_state(TABLE).state[0]
    assert (table["turn"], table["crib_n"], table["owed"].tolist()) == (3, 1, [2, 1, 0, 0])
    assert format_state(*parse_state(TABLE)[:3]) == TABLE


def test_parse_state_reads_documented_lines() -> None:
    assert notation.__doc__
    hoyle, table_top = re.findall(r"^    (\S.*)$", notation.__doc__, re.MULTILINE)
    assert parse_state(hoyle).rules == PRESETS["hoyle"]
    assert format_state(*parse_state(hoyle)[:3]) == hoyle
    assert table_top.replace("<29 cards>", DECK) == TABLE


def test_notation_lists_changed_rules() -> None:
    env = six_card_v0.raw_env(rules=Rules.preset("hoyle", target=91))
    env.reset(seed=1)
    text = format_state(env.game.states, env.rules, "game")
    assert text.startswith("hoyle[target=91] game #1 ")
    for rules in (HOUSE, dataclasses.replace(PRESETS["hoyle"], name="five_card")):
        env = six_card_v0.raw_env(rules=rules)
        env.reset(seed=1)
        assert parse_state(format_state(env.game.states, rules, "game")).rules == rules


def test_write_rejects_unreachable_record_naming_fields() -> None:
    env = six_card_v0.raw_env()
    with pytest.raises(ValueError, match="holds no deal yet"):
        format_state(np.zeros(1, dtype=TWO_HAND), env.rules, "game")
    with pytest.raises(EpisodeOverError, match="reset"):
        env.notation()
    env.reset(seed=1)
    env.game.states["count"] = 7
    with pytest.raises(ValueError, match="not a position of a game: see its count"):
        format_state(env.game.states, env.rules, "game")
    with pytest.raises(ValueError, match="is a record of the family 'two_hand'"):
        format_state(env.game.record, env.rules, "game")


@pytest.mark.parametrize(
    ("line", "old", "new", "message"),
    [
        (LAYING, "hoyle", "whist", "no rules are called 'whist'"),
        (LAYING, "hoyle", "hoyle[aim=3]", "no field 'aim'"),
        (LAYING, "hoyle", "hoyle[target=0]", "target must be"),
        (LAYING, " game", " round", "episode must be one of 'deal', 'game', 'match'"),
        (LAYING, "#1", "#0", "deal must be #1"),
        (LAYING, "d1", "d2", "dealer must be d0 to d1, got 'd2'"),
        (LAYING, " discard ", " cut ", "one of 'discard', 'pegging', 'over', got 'cut'"),
        (LAYING, "7H 7C", "7H", "has at least 10 fields"),
        (LAYING, LAYING[10:], "", "a position begins with"),
        (LAYING, "QSQC4S", "QSQC", "seat 0's hand must be 6 cards"),
        (LAYING, "QSQC4S", "QSQC7C", "7C given more than once"),
        (LAYING, "/3H", "3H", "given for 2 seats"),
        (LAYING, "QSQC4S", "qsQC4S", "must hold the cards that the hands show as played"),
        (LAYING, "QSQC4S", "(QS)(QC)4S", "mover must be m1 after these cards, got 'm0'"),
        (LAYING, " discard ", " pegging ", "phase must be discard after these cards"),
        (LAYING, "0-0/0-0", "0/0", "pegs must be two whole numbers such as 3-5, got '0'"),
        (LAYING, "0-0/0-0", "9-7/0-0", "and then the front one, at most 121, got '9-7/0-0'"),
        (LAYING, "0-0/0-0", "0-0/0-0 winner=2", "winner must be 0 to 1"),
        (LAYING, "0-0/0-0", "0-0/0-0 games=2", "games must be two whole numbers"),
        (LAYING, "0-0/0-0", "0-0/0-0 rng=1.2.3", "rng must be four hexadecimal words"),
        (LAYING, "0-0/0-0", "0-0/0-0 luck=1", "'luck' is no field of this position"),
        (PLAYING, "5HTSKD6D|", "5H?|", "pile must be cards"),
        (PLAYING, "5HTSKD6D|", "5HTSKD6D", "pile must be 5HTSKD6D. after these cards"),
        (PLAYING, "5h(6C)7D8S(9C)kd/AC(2C)3C(4C)ts6d JC 5HTSKD6D|",
         "5h(6C)7d8S(9C)kd/AC(2C)3C(4C)ts6d JC 5HTSKD6D7D", "mover must be m1"),
        (TABLE, "p2", "p3", "has p2 or p4"),
        (TABLE, " turn ", " discard ", "phase must be one of 'turn', 'over', got 'discard'"),
        (TABLE, "...../..7H", "..../..7H", "five rows of five cells"),
        (TABLE, "..2C..", "..3C..", "must hold the first cards of the deck"),
        (TABLE, "4S7H8H", "4S7H", "28 cards and the starter, got 28"),
        (TABLE, "m0", "m1", "mover must be m0 after these cards, got 'm1'"),
        (TABLE, " turn ", " over ", "nobody has won"),
        (TABLE, "20/29", "20/29 games=1/0", "'games' is no field of this position"),
    ],
)  # fmt: skip
def test_parse_state_rejects_invalid_lines_naming_the_field(
    line: str, old: str, new: str, message: str
) -> None:
    assert old in line
    with pytest.raises(ValueError, match=message):
        parse_state(line.replace(old, new, 1))
