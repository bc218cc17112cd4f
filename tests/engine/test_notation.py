"""`crib_env.notation`: any position of any game in one line that parses back exactly, no other."""

from __future__ import annotations

import dataclasses
import random
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from crib_env import EpisodeOverError, Game, discard_v0, five_card_v0, notation, pegging_v0, six_card_v0, table_top_v0
from crib_env.cards import pip
from crib_env.engine.hands.records import DISCARD
from crib_env.engine.two_hand import STATE as TWO_HAND
from crib_env.notation import canonical, format_state, parse_state
from crib_env.rules import PRESETS, Rules

# A position of each phase and game, as one line of text.
LAYING = "hoyle game #1 d1 m0 discard QSQC4STDQHAH/3HTH6D5CJD7H 7C - 0-0/0-0"
PLAYING = "hoyle game #2 d1 m0 pegging 5h(6C)7D8S(9C)kd/AC(2C)3C(4C)ts6d JC 5HTSKD6D| 30-34/58-60"
DECK = "4S7H8HAD6CKC5STD9S4C5CQH5DAHTC6DJSJCJH7D9HJD2HTHQS3S3H6S2C"
TABLE = f"table_top game #2 d0 m0 p2 turn {DECK} ...../..7H../..2C../.8H.../..... 4S 20/29"
THREE = "three_hand game #1 d1 m1 pegging 4h(TH)AD2S3c/6C9D(KD)tdAS/4D5h9hAC(JD) QD 3D 9H4HTD5H3C| 0-2/0-0/0-0"

HOUSE = dataclasses.replace(PRESETS["hoyle"], name="Aunt May's [91]", target=91, next_dealer="winner", for_last=3)
ALL = ("deal", "game", "match", "pegging")
# Rules, episode, players: every family and every kind of episode.
GAMES: list[tuple[Rules, str, int]] = [
    *((PRESETS["hoyle"], episode, 2) for episode in ALL),
    *((PRESETS["five_card"], episode, 2) for episode in ALL if episode != "match"),
    (Rules.preset("five_card", match_target=7, skunk_points=2, double_skunk_points=4), "match", 2),
    (Rules.preset("hoyle", target=25, match_target=2), "match", 2),
    (Rules.preset("hoyle", single_count=True, for_last=4, target=40), "game", 2),
    *(
        (PRESETS[name], episode, players)
        for name in ("table_top", "table_top_ship")
        for episode in ("round", "game")
        for players in (2, 4)
    ),
    *(
        (PRESETS[name], episode, players)
        for name, players in (("three_hand", 3), ("four_hand", 4))
        for episode in ("deal", "game", "match")
    ),
    (Rules.preset("four_hand", partners=False, second_go_ends=True, target=31), "game", 4),
    (HOUSE, "game", 2),
]


@pytest.mark.parametrize(("rules", "episode", "players"), GAMES)
def test_notation_round_trips_every_position(rules: Rules, episode: str, players: int) -> None:
    """All but the pile's places beyond its end and points already paid, which no rule reads."""
    draw = random.Random(1)
    game = Game(rules, players=players, episode=episode, seed=1)
    for _ in range(250):  # short episodes to their end
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
        (
            PLAYING,
            "5h(6C)7D8S(9C)kd/AC(2C)3C(4C)ts6d JC 5HTSKD6D|",
            "5h(6C)7d8S(9C)kd/AC(2C)3C(4C)ts6d JC 5HTSKD6D7D",
            "mover must be m1",
        ),
        (TABLE, "p2", "p3", "has p2 or p4"),
        (TABLE, " turn ", " discard ", "phase must be one of 'turn', 'over', got 'discard'"),
        (TABLE, "...../..7H", "..../..7H", "five rows of five cells"),
        (TABLE, "..2C..", "..3C..", "must hold the first cards of the deck"),
        (TABLE, "4S7H8H", "4S7H", "28 cards and the starter, got 28"),
        (TABLE, "m0", "m1", "mover must be m0 after these cards, got 'm1'"),
        (TABLE, " turn ", " over ", "nobody has won"),
        (TABLE, "20/29", "20/29 games=1/0", "'games' is no field of this position"),
        # Lines that can be read, of positions that no game reaches.
        (PLAYING, "m0", "m1", "mover must be m0"),
        (PLAYING, "(9C)kd", "(9C)KD", "must hold the cards that the hands show"),
        (PLAYING, "5h(6C)7D8S(9C)kd", "5h(6C)7D8S9Ckd", "each seat discards two cards"),
        (LAYING, "3HTH6D5CJD7H", "(3H)TH6D5CJD7H", "pone both before the dealer"),
        (PLAYING, "5HTSKD6D|", "TS5HKD6D|", "seat 1 used TS when seat 0 was to move"),
        (PLAYING, " pegging ", " over ", "the episode goes on"),
        (PLAYING, "58-60", "58-121", "the episode is over"),
        (PLAYING, "58-60", "60-60", "rear pegs must be at 30/58"),
        (PLAYING, "30-34", "30-121", "a game goes on below 121 points"),
        (PLAYING, "58-60", "58-60 gain=2/0", "a position does not hold points already paid"),
        (PLAYING, "58-60", "58-60 games=1/0", "of an episode of one game that goes on"),
        (PLAYING, "58-60", "58-60 start=40/0", "below the episode's start"),
        (PLAYING, "#2", "#1", "do not follow from start=0/0"),
        (PLAYING, " game ", " deal ", "an episode of one deal has no deal #2"),
        (LAYING, "0-0/0-0", "0-1/0-0", "before this first deal they would have been 1/0"),
        (LAYING, "0-0/0-0", "0-0/0-0 start=1/1 start=0/0", "'start' is given twice"),
        (TABLE, "20/29", "20/121", "is over"),
        (TABLE, "20/29", "420/420", "do not follow from the episode's start"),
        (TABLE, "...../..7H../..2C../.8H.../..... 4S", "....8H/..7H../..2C../...../..... 4S", "touches no card"),
        (TABLE, "...../..7H../..2C../.8H.../..... 4S", "...../..7H../..2C../...../..... 8H4S", "crib must be 4S8H"),
        (THREE, "(TH)AD", "THAD", "each seat discards"),
        (THREE, " QD 3D ", " - 3D ", "1 cards are dealt to the crib"),
        (THREE, "0-2/0-0/0-0", "0-2/0-0/0-0 games=3/0/0", "are not the games won of"),
    ],
)
def test_parse_state_rejects_invalid_and_impossible_lines_naming_the_fault(
    line: str, old: str, new: str, message: str
) -> None:
    assert old in line
    with pytest.raises(ValueError, match=message):
        parse_state(line.replace(old, new, 1))


# --- positions that no game reaches, and of other games -------------------------------------------


MUTATIONS = 300
OF_ALL = 0.2  # of an episode's lines: writing them takes longest


def lines(rules: Rules, episode: str, players: int, seed: int) -> list[str]:
    """Return lines of a random episode, its first among them, some without their generator."""
    draw = random.Random(seed)
    game = Game(rules, players=players, episode=episode, seed=seed)
    options: dict[str, Any] = {}
    if draw.random() < 0.3:
        options["scores"] = tuple(draw.randrange(rules.target) for _ in game.scores)
    game.reset(dealer=draw.randrange(players), **options)
    found = []
    while True:
        if not found or draw.random() < OF_ALL:
            line = game.notation()
            found.append(line if draw.random() < 0.5 else line.partition(" rng=")[0])
        if game.over:
            return found
        game.step(draw.choice(game.legal_actions))


def cards_of(state: np.void, rules: Any) -> list[list[int]]:
    """Return cards that must be of one deck: those dealt with the starter, and those played."""
    if rules.family == "table_top":
        turn, placed = int(state["turn"]), [int(card) for card in state["layout"] if card >= 0]
        crib = [int(state["deck"][t]) for t in state["crib"] if t >= 0]
        assert len(placed) - 1 + len(crib) == turn
        assert sum(state["owed"]) == 4 - len(crib)
        assert {*placed, *crib} == {int(c) for c in (*state["deck"][:turn], state["deck"][28])}
        return [[int(card) for card in state["deck"]]]
    players, size = (2, rules.dealt) if rules.family == "two_hand" else (rules.players, 5)
    slots = len(state["dealt"]) // len(state["held"])
    dealt = [int(c) for p in range(players) for c in state["dealt"][slots * p :][:size]]
    pile = [int(card) for card in state["pile"][: int(state["pile_n"])]]
    assert set(pile) <= set(dealt)
    assert state["count"] == sum(map(pip, pile[int(state["pile_from"]) :])) <= 31
    assert (state["rear"] <= state["scores"]).all()
    assert max(state["scores"]) <= rules.target
    assert (max(state["scores"]) == rules.target) == (state["winner"] >= 0)
    for held, discarded in zip(state["held"], state["discarded"], strict=True):
        assert int(held) & int(discarded) == 0
    return [[*dealt, int(state["starter"])], pile]


def check_sound(position: notation.Position, draw: random.Random) -> None:
    """Raise unless the position comes back from its text and plays to the episode's end."""
    text = format_state(*position[:3])
    assert parse_state(text).state.tobytes() == position.state.tobytes()
    game = Game.from_notation(text)
    game.seed(np.random.SeedSequence(draw.randrange(2**32)))
    for _ in range(3000):
        for cards in cards_of(game.states[0], position.rules):
            assert len(set(cards)) == len(cards)
        if game.over:
            break
        game.step(draw.choice(game.legal_actions))
    assert game.over, text
    assert sum(game.returns) == pytest.approx(0)


LETTERS = "0123456789-/|().+=#pdmACDHSTJQKacdhstjqk[], go"
MORE = ("winner=0", "games=2/1", "gain=2/0", "start=3/9", "rng=0.0.0.0", "rng=1.2.3.4")


def mutate(line: str, others: list[str], draw: random.Random) -> str:
    """Change a line: a letter or two, the case of a word, or a word for one of another line."""
    words, at, to = line.split(), draw.randrange(len(line) - 1), draw.randrange(len(line) - 1)
    k, how = draw.randrange(len(words)), draw.randrange(6)
    if how == 0:
        return line[:at] + draw.choice(LETTERS) + line[at + draw.randrange(2) :]
    if how == 1:
        return line[:at] + line[at + draw.choice((1, 1, 2, 3)) :]
    if how == 2:  # two cards, where letters are cards
        at, to, size = min(at, to), max(at, to), draw.choice((1, 2))
        if to - at < size:
            return line
        one, other = line[at : at + size], line[to : to + size]
        return line[:at] + other + line[at + size : to] + one + line[to + size :]
    if how == 3:
        other_words = draw.choice(others).split()
        words[k] = other_words[min(k, len(other_words) - 1)]
    elif how == 4:
        words[k] = words[k].swapcase()
    else:
        words.append(draw.choice(MORE))
    return " ".join(words)


def mutations(n: int, seed: int) -> Iterator[tuple[str, str, random.Random]]:
    """Yield a line, its mutation, and the random generator."""
    draw = random.Random(seed)
    pool = [lines(*game, seed=seed + i) for i in range(2) for game in GAMES]
    for _ in range(n):
        own = draw.choice(pool)
        line = draw.choice(own)
        others = own if draw.random() < 0.7 else draw.choice(pool)
        changed = mutate(line, others, draw)
        if draw.random() < 0.3:
            changed = mutate(changed or line, others, draw)
        yield line, changed, draw


def check_mutations(n: int, seed: int) -> None:
    refused = sound = 0
    for line, changed, draw in mutations(n, seed):
        try:
            position = parse_state(changed)
        except ValueError:
            refused += 1
            continue
        try:
            check_sound(position, draw)
        except Exception as error:
            raise AssertionError(f"seed {seed}: {line!r} made {changed!r}") from error
        sound += 1
    print(f"seed {seed}: {refused} refused, {sound} sound")
    assert refused > n / 2
    assert sound > n / 50


def test_parse_state_mutated_line_is_rejected_or_sound() -> None:
    check_mutations(MUTATIONS, seed=1)


def test_parse_state_unmutated_lines_are_sound() -> None:
    for game in GAMES:
        draw = random.Random(3)
        for line in draw.sample(found := lines(*game, seed=3), min(4, len(found))):
            check_sound(parse_state(line), draw)


def test_t9_parse_state_takes_a_tie_past_the_target() -> None:
    """Another round is played, so no side has won; `reset` lets no game begin there."""
    line = TABLE.replace("#2", "#9").replace("20/29", "145/145")
    tied = parse_state(line)
    assert not tied.state["over"][0]
    assert format_state(tied.state, tied.rules, tied.episode) == line


def test_parse_state_rejects_game_points_without_won_games() -> None:
    line = PLAYING.replace(" game #2", " match #4")
    assert parse_state(f"{line} games=4/8".replace("4/8", "4/5")).state["match_score"].tolist() == [[4, 5]]
    with pytest.raises(ValueError, match="take 4 games before deal #4"):
        parse_state(f"{line} games=6/6")
    with pytest.raises(ValueError, match="game points of a match to 7 that goes on"):
        parse_state(f"{line} games=7/0")


def test_table_top_heels_are_paid_with_the_first_turn() -> None:
    jack = DECK[:-2].replace("JS", "2C") + "JS"
    line = f"table_top game #1 d1 m0 p2 turn {jack} ...../...../..JS../...../..... - 0/2"
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
    hands = line.split()[6].translate(str.maketrans("", "", "()"))
    undiscarded = " ".join([*line.split()[:5], "discard", hands, *line.split()[7:]])
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
        (lambda: played(five_card_v0, 3), "rules .*five_card"),
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
    env.restore(played(six_card_v0, 2).snapshot())


def test_restore_rejects_snapshot_of_other_players_and_other_objects() -> None:
    env = played(table_top_v0, 2, players=4)
    with pytest.raises(ValueError, match="players 2, not 4"):
        env.restore(played(table_top_v0, 2).snapshot())
    for wrong in ({}, None, {"states": env.game.states}):
        with pytest.raises(ValueError, match="takes what snapshot"):
            env.restore(wrong)
