"""`crib_env.notation`: each position is one line that parses back; other lines are rejected."""

from __future__ import annotations

import dataclasses
import random
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from crib_env import EpisodeOverError, Game, discard_v0, notation, pegging_v0, six_card_v0, table_top_v0
from crib_env.engine.hands.records import DISCARD
from crib_env.engine.two_hand import STATE as TWO_HAND
from crib_env.notation import canonical, format_state, parse_state
from crib_env.rules import PRESETS, Rules

# A position of each phase and game, as one line of text.
LAYING = "hoyle game #1 d1 0/0 QSQC4STDQHAH/3HTH6D5CJD7H 7C -"
PLAYING = "hoyle game #2 d1 31/58 5H(6C)7D8S(9C)KD/AC(2C)3C(4C)TS6D JC 5HTSKD6D rear=27/58"
DECK = "4S7H8HAD6CKC5STD9S4C5CQH5DAHTC6DJSJCJH7D9HJD2HTHQS3S3H6S2C"
TABLE = f"table_top game #2 d0 20/29 {DECK} ...../..7H../..2C../.8H.../..... 4S"
FULL = "hoyle deal #1 d1 0/0 8C4H5H9D(AD)(AC)/(4D)6CTH9HKD(2S) TD 4H6C5H9H8CTH9DKD"
THREE = "three_hand game #1 d1 0/0/0 4H(TH)AD2S3C/6C9D(KD)TDAS/4D5H9HAC(JD) QD 3D 9H4HTD5H3C"

HOUSE = dataclasses.replace(PRESETS["hoyle"], name="Aunt May's [91]", target=91, next_dealer="winner", for_last=3)
# Rules, episode, players: every family and every kind of episode.
GAMES: list[tuple[Rules, str, int]] = [
    *((PRESETS["hoyle"], episode, 2) for episode in ("deal", "game", "match", "pegging")),
    (PRESETS["five_card"], "pegging", 2),
    (Rules.preset("five_card", match_target=7, skunk_points=2, double_skunk_points=4), "match", 2),
    (Rules.preset("hoyle", single_count=True, for_last=4, target=40, match_target=2), "match", 2),
    (HOUSE, "game", 2),
    (PRESETS["table_top"], "game", 2),
    (PRESETS["table_top"], "round", 4),
    (PRESETS["table_top_ship"], "game", 4),
    (PRESETS["three_hand"], "deal", 3),
    (PRESETS["three_hand"], "match", 3),
    (PRESETS["four_hand"], "game", 4),
    (Rules.preset("four_hand", partners=False, second_go_ends=True, target=31), "game", 4),
]


@pytest.mark.parametrize(("rules", "episode", "players"), GAMES)
def test_notation_round_trips_every_position(rules: Rules, episode: str, players: int) -> None:
    """All but points already paid, and fields that no rule reads: see `canonical`."""
    draw = random.Random(1)
    game = Game(rules, players=players, episode=episode, seed=1)
    for _ in range(100):  # short episodes to their end
        text = format_state(game.states, game.rules, episode)
        assert "\n" not in text
        back = parse_state(text)
        kept = canonical(game.states)
        assert back.state.dtype == game.states.dtype
        assert canonical(back.state).tobytes() == kept.tobytes()
        assert back[1:] == (game.rules, episode, players)
        assert format_state(*back[:3]) == text
        for name in set(kept.dtype.names) - {"pile", "gain", "start"}:
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
    assert s["scores"].tolist() == [31, 64]  # two for heels, 15 and 31
    assert s["rear"].tolist() == [27, 62]
    assert s["winner"] == -1
    won = FULL.replace("0/0", "118/120").replace("4H6C5H9H8CTH9DKD", "4H6C5H")
    over = parse_state(won).state[0]
    assert (over["over"], over["winner"], over["scores"].tolist()) == (1, 0, [121, 120])
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
        (LAYING, " game", " round", "episode must be one of 'deal', 'game', 'match'"),
        (LAYING, "d1", "d2", "dealer must be d0 to d1, got 'd2'"),
        (LAYING, "7H 7C", "7H", "has rules, episode, deal, dealer, scores, hands, starter, pile: 'hoyle game"),
        (LAYING, "QSQC4S", "QSQC", "seat 0's hand must be 6 cards"),
        (LAYING, "QSQC4S", "QSQC7C", "7C given more than once"),
        (LAYING, "QSQC4S", "qsQC4S", "6 cards, such as 7D, or .6C. discarded; got 'qs"),
        (LAYING, "7C -", "- -", "the starter must be one card, got '-'"),
        (LAYING, "0/0", "0-0", "scores must be two whole numbers such as 3/5, got '0-0'"),
        (LAYING, "7C -", "7C - rear=9/0", "rear pegs are not past the front ones, 0/0: got 9/0"),
        (LAYING, "7C -", "7C - rng=1.2.3", "rng must be four hexadecimal words"),
        (LAYING, "7C -", "7C - luck=1", "'luck' is no field of this position"),
        (LAYING, "7C -", "7C - rear=0/0 rear=0/0", "'rear' is given twice"),
        (LAYING, "7C -", "7C - players=3", "has 2 players, got players=3"),
        (PLAYING, "5HTSKD6D", "5H10SKD6D", "pile must be cards such as 5HTS, or - for none, got '5H10S"),
        (TABLE, "..2C..", "..3C..", "must hold the first cards of the deck"),
        (TABLE, "4S7H8H", "4S7H", "28 cards and the starter, got 28"),
        (TABLE, ".....", "....", "five rows of five cells, a card or '.'; got '..../"),
        (TABLE, ".... 4S", ".... 4S games=1/0", "'games' is no field of this position"),
        # Lines that can be read, of positions that no game reaches.
        (LAYING, "5CJD7H", "(5C)(JD)7H", "mark those of seat 0, as .6C."),
        (PLAYING, "5H(6C)7D8S(9C)KD", "5H(6C)7D8S9CKD", "mark those of seat 0, as .6C."),
        (LAYING, "7C -", "-7C -", "starter must be cards such as 5HTS"),
        (TABLE, "#2 d0 20/29", "#1 d0 145/145", "no deal #1 follows 145/145"),
        (PLAYING, "5H(6C)7D8S(9C)KD", "(5H)(6C)7D8S9CKD", "move 5 of 8 is not allowed: 5H .action 18. is not held"),
        (PLAYING, "5HTSKD6D", "TS5HKD6D", "move 5 of 8 is not allowed: TS .action 39. is not held: player_0 holds 5H"),
        (PLAYING, "5HTSKD6D", "KDTS8S6D", "move 8 of 8 is not allowed: 6D .* from 28 to 34, past 31"),
        (PLAYING, "31/58", "31/121", "no deal #2 follows 31/121 in a game to 121"),
        (PLAYING, "31/58", "31/120", "the episode is over after 4 of the line's 8 moves"),
        (PLAYING, " game ", " deal ", "an episode of one deal has no deal #2"),
        (PLAYING, "rear=27/58", "games=1/0", "a side has at most 0 games, got 1/0"),
        (TABLE, "...../..7H../..2C../.8H.../..... 4S", "....8H/..7H../..2C../...../..... 4S", "touches no card"),
        (
            TABLE,
            "...../..7H../..2C../.8H.../..... 4S",
            "...../..7HAD./..2C../...../..... 4S8H6C",
            "move 5 of 5 .* owes the crib no more",
        ),
        (TABLE, "20/29", "145/29", "no deal #2 follows 145/29 in a game to 121"),
        (THREE, " QD 3D ", " - 3D ", "1 cards are dealt to the crib"),
        (FULL, " deal ", " game ", "the deal is over after move 12 of 12, but the game is not: write its next deal"),
    ],
)
def test_parse_state_rejects_invalid_and_impossible_lines_naming_the_fault(
    line: str, old: str, new: str, message: str
) -> None:
    assert old in line
    with pytest.raises(ValueError, match=message):
        parse_state(line.replace(old, new, 1))


# --- positions that no game reaches, and of other games -------------------------------------------


def lines(rules: Rules, episode: str, players: int, draw: random.Random) -> list[str]:
    """Return a fifth of the lines of a random episode, its first among them."""
    game = Game(rules, players=players, episode=episode, seed=draw.randrange(99))
    found = [game.notation()]
    while not game.over:
        game.step(draw.choice(game.legal_actions))
        if draw.random() < 0.2:
            found.append(game.notation().partition(" rng=")[0])
    return found


def cards_of(state: np.void, game: Game) -> list[int]:
    """Return the cards of a deal that must be different."""
    if "deck" in state.dtype.names:
        return [int(card) for card in state["deck"]]
    rules: Any = game.rules
    slots, size = len(state["dealt"]) // len(state["held"]), rules.dealt if rules.family == "two_hand" else 5
    hands = [state["dealt"][slots * seat :][:size] for seat in range(game.players)]
    return [int(card) for card in (*np.ravel(hands), state["starter"])]


def check_sound(position: notation.Position, draw: random.Random) -> None:
    """Raise unless the position comes back from its text and plays to the episode's end."""
    text = format_state(*position[:3])
    assert parse_state(text).state.tobytes() == position.state.tobytes()
    game = Game.from_notation(text)
    game.seed(np.random.SeedSequence(draw.randrange(2**32)))
    for _ in range(3000):
        cards = cards_of(game.states[0], game)
        assert len(set(cards)) == len(cards)
        if game.over:
            break
        game.step(draw.choice(game.legal_actions))
    assert game.over, text
    assert sum(game.returns) == pytest.approx(0)


LETTERS = "0123456789-/|().+=#pdmACDHSTJQKacdhstjqk[], go"


def mutate(line: str, other: str, draw: random.Random) -> str:
    """Change a letter, swap the case of a word, or take the word from another line."""
    words, at = line.split(), draw.randrange(len(line) - 1)
    how, k = draw.randrange(3), draw.randrange(len(words))
    if how == 0:
        return line[:at] + draw.choice(LETTERS) + line[at + draw.randrange(2) :]
    if how == 1:
        words[k] = words[k].swapcase()
    else:
        words[k] = other.split()[min(k, len(other.split()) - 1)]
    return " ".join(words)


def test_parse_state_mutated_line_is_rejected_or_sound() -> None:
    draw = random.Random(1)
    pool = [lines(*game, draw) for game in GAMES]
    refused = sound = 0
    for _ in range(200):
        own = draw.choice(pool)
        line = draw.choice(own)
        changed = mutate(line, draw.choice(own), draw)
        try:
            position = parse_state(changed)
        except ValueError:
            refused += 1
            continue
        try:
            check_sound(position, draw)
        except Exception as error:
            raise AssertionError(f"{line!r} made {changed!r}") from error
        sound += 1
    assert min(refused, sound) > 20


def test_t9_parse_state_takes_a_tie_past_the_target() -> None:
    """Another round is played, so no side has won; `reset` lets no game begin there."""
    line = TABLE.replace("20/29", "145/145")
    tied = parse_state(line)
    assert not tied.state["over"][0]
    assert format_state(tied.state, tied.rules, tied.episode) == line


def test_parse_state_reads_games_won_before_the_deal() -> None:
    line = PLAYING.replace(" game ", " match ")
    assert parse_state(f"{line} games=4/5").state["match_score"].tolist() == [[4, 5]]
    with pytest.raises(ValueError, match="a side has at most 6 games, got 7/0"):
        parse_state(f"{line} games=7/0")


def test_table_top_heels_are_paid_with_the_first_turn() -> None:
    jack = DECK[:-2].replace("JS", "2C") + "JS"
    line = f"table_top game #1 d1 0/0 {jack} ...../...../..JS../...../..... -"
    assert parse_state(line).state["gain"].tolist() == [[0, 2]]
    env = table_top_v0.raw_env(reward="points")
    env.set_position(line)
    env.step(7)
    assert env.rewards == {"player_0": -2.0, "player_1": 2.0}
    env.set_position(env.notation())  # paid once
    env.step(6)
    assert env.rewards == {"player_0": 0.0, "player_1": 0.0}


# ---------------------------------------------------------------- environments


def played(module: Any, decisions: int, **keywords: Any) -> Any:
    env = module.raw_env(**keywords)
    env.reset(seed=4)
    for _ in range(decisions):
        env.step(int(env.observe(env.agent_selection)["action_mask"].argmax()))
    return env


def test_phase_environment_rejects_positions_of_its_policys_phase() -> None:
    discarding = played(six_card_v0, 1, episode="deal")
    playing = played(six_card_v0, 6, episode="deal")
    discards = discard_v0.raw_env()
    discards.set_position(discarding.notation())
    before = canonical(discards.game.states).tobytes()
    for take in (discards.set_position, discards.restore):
        with pytest.raises(ValueError, match="plays that phase of the deal itself"):
            take(playing.notation() if take == discards.set_position else playing.snapshot())
    pegging = played(pegging_v0, 0)
    line = pegging.notation()
    pegging.set_position(line)
    undiscarded = line.translate(str.maketrans("", "", "()"))
    parse_state(undiscarded)  # reachable in the engine, not by the environment's seats
    with pytest.raises(ValueError, match="plays that phase of the deal itself"):
        pegging.set_position(undiscarded)
    with pytest.raises(ValueError, match=r"episode 'deal', not 'pegging'"):
        pegging.set_position(discarding.notation())
    assert canonical(discards.game.states).tobytes() == before


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (lambda: played(table_top_v0, 3), "of another game.*rules TableTopRules"),
        (lambda: played(six_card_v0, 3, rules=Rules.preset("hoyle", target=61)), "target=61"),
        (lambda: played(six_card_v0, 3, episode="match"), "episode 'match', not 'game'"),
    ],
)
def test_restore_rejects_snapshot_of_another_game_unchanged(other: Callable[[], Any], message: str) -> None:
    env = played(six_card_v0, 5)
    before = env.notation(), env.agent_selection
    with pytest.raises(ValueError, match=message):
        env.restore(other().snapshot())
    assert (env.notation(), env.agent_selection) == before
    env.restore((same := played(six_card_v0, 2)).snapshot())
    assert env.notation() == same.notation()


def test_restore_rejects_snapshot_of_other_players_and_other_objects() -> None:
    env = played(table_top_v0, 2, players=4)
    with pytest.raises(ValueError, match="players 2, not 4"):
        env.restore(played(table_top_v0, 2).snapshot())
    for wrong in ({}, None, {"states": env.game.states}):
        with pytest.raises(ValueError, match="takes what snapshot"):
            env.restore(wrong)
