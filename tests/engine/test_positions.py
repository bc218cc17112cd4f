"""Unreachable positions, and positions of another game, are rejected and change nothing."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from crib_env import (
    Rules,
    discard_v0,
    five_card_v0,
    notation,
    pegging_v0,
    six_card_v0,
    table_top_v0,
)
from crib_env.batch import GameBatch
from crib_env.cards import pip
from crib_env.engine.hands.records import DISCARD, OVER, PEGGING
from crib_env.notation import canonical, format_state, parse_state
from crib_env.rules import PRESETS
from notation_lines import DECK, LAYING, PLAYING, TABLE, THREE

MUTATIONS = 500
MANY = 100_000
OF_ALL = 0.2  # of an episode's lines: writing them takes longest
ALL = ("deal", "game", "match", "pegging")

# Rules, episode, players: every family and every kind of episode.
GAMES: list[tuple[Rules, str, int]] = [
    *((PRESETS["hoyle"], episode, 2) for episode in ALL),
    *((PRESETS["five_card"], episode, 2) for episode in ALL if episode != "match"),
    (Rules.preset("five_card", match_target=7, skunk_points=2, double_skunk_points=4), "match", 2),
    (Rules.preset("hoyle", target=25, match_target=2), "match", 2),
    (Rules.preset("hoyle", single_count=True, for_last=4, target=40), "game", 2),
    *((PRESETS[name], episode, players) for name in ("table_top", "table_top_ship")
      for episode in ("round", "game") for players in (2, 4)),
    *((PRESETS[name], episode, players) for name, players in (("three_hand", 3), ("four_hand", 4))
      for episode in ("deal", "game", "match")),
    (Rules.preset("four_hand", partners=False, second_go_ends=True, target=31), "game", 4),
]  # fmt: skip


def views(games: GameBatch) -> Any:
    return games.views(np.zeros(1, dtype=np.int64))[0]


def legal(games: GameBatch) -> list[int]:
    """Return the legal actions of the seat to move, from its view."""
    view = views(games)
    bits = [i for i in range(32) if int(view["legal"]) >> i & 1]
    return [int(view["hand"][i]) for i in bits] if "hand" in view.dtype.names else bits


def lines(rules: Rules, episode: str, players: int, seed: int) -> list[str]:
    """Return lines of a random episode, its first among them, some without their generator."""
    draw = random.Random(seed)
    games = GameBatch(rules, 1, players=players, episode=episode, seed=seed)
    options: dict[str, Any] = {}
    if draw.random() < 0.3:
        sides = games.tally.shape[1]
        options["scores"] = tuple(draw.randrange(rules.target) for _ in range(sides))
    games.reset(dealer=draw.randrange(players), **options)
    found = []
    while True:
        if not found or draw.random() < OF_ALL:
            line = format_state(games.states, rules, episode)
            found.append(line if draw.random() < 0.5 else line.partition(" rng=")[0])
        if games.states["over"][0]:
            return found
        games.step(np.zeros(1, dtype=np.int64), np.array([draw.choice(legal(games))]))


def check_hands(state: np.void, rules: Any, players: int, dealt: int, laid: int) -> None:
    """Raise unless hands, pile and counts fit a deal of `size` cards to each seat."""
    n = int(state["pile_n"])
    slots = len(state["dealt"]) // len(state["held"])
    hands = [[int(c) for c in state["dealt"][slots * p :][:dealt]] for p in range(players)]
    known = {*(card for hand in hands for card in hand), int(state["starter"])}
    assert len(known) == players * dealt + 1
    assert not known & {int(card) for card in state["dealt"][slots * len(state["held"]) :]}
    assert 0 <= n <= players * (dealt - laid)
    pile = [int(card) for card in state["pile"][:n]]
    assert len(set(pile)) == n
    for seat, hand in enumerate(hands):
        held, discarded = int(state["held"][seat]), int(state["discarded"][seat])
        by = [int(state["pile_seats"]) >> 2 * i & 3 for i in range(n)]
        played = {card for i, card in enumerate(pile) if by[i] == seat}
        gone = {card for i, card in enumerate(hand) if not (held | discarded) >> i & 1}
        assert held & discarded == 0
        assert gone == played
        assert discarded.bit_count() <= laid
    assert (state["rear"] >= 0).all()
    assert (state["rear"] <= state["scores"]).all()
    assert state["count"] == sum(map(pip, pile[int(state["pile_from"]) :])) <= 31
    assert state["phase"] in (DISCARD, PEGGING, OVER)
    assert (state["phase"] == OVER) == bool(state["over"])
    assert max(state["scores"]) <= rules.target
    assert (max(state["scores"]) == rules.target) == (state["winner"] >= 0)
    assert state["winner"] < 0 or state["over"]


def check_two_hand(state: np.void, rules: Any) -> None:
    """Raise unless a deal of the games for two can hold this."""
    check_hands(state, rules, 2, rules.dealt, 2)


def check_many_hand(state: np.void, rules: Any) -> None:
    """Raise unless a deal of the games for three and four can hold this."""
    check_hands(state, rules, rules.players, 5, 1)


def check_table_top(state: np.void, rules: Any) -> None:
    """Raise unless layout, crib and turns fit a round."""
    turn, players = int(state["turn"]), int(state["players"])
    placed = [int(card) for card in state["layout"] if card >= 0]
    crib = [int(t) for t in state["crib"] if t >= 0]
    assert len(placed) - 1 + len(crib) == turn <= 28
    assert len(crib) == state["crib_n"]
    assert sum(state["owed"]) == 4 - len(crib)
    assert min(state["owed"]) >= 0
    assert set(placed) | {int(state["deck"][t]) for t in crib} == {
        int(card) for card in (*state["deck"][:turn], state["deck"][28])
    }
    assert (turn == 28) == bool(state["over"])
    assert state["over"] or state["to_move"] == (state["dealer"] + 1 + turn) % players


CHECKS: dict[str, Callable[[np.void, Any], None]] = {
    "two_hand": check_two_hand,
    "many_hand": check_many_hand,
    "table_top": check_table_top,
}


def check_sound(position: notation.Position, draw: random.Random) -> None:
    """Raise unless the position comes back from its text and plays to the episode's end."""
    state, rules, episode, players = position
    again = parse_state(format_state(*position[:3]))
    assert again.state.tobytes() == state.tobytes()
    games = GameBatch(rules, 1, players=players, episode=episode, seed=draw.randrange(2**32))
    rng = games.states["rng"].copy()
    games.reset()
    games.states[:] = state
    games.states["rng"] = rng
    check = CHECKS[rules.family]
    for _ in range(3000):
        check(games.states[0], rules)
        if games.states["over"][0]:
            break
        assert (
            games.step(np.zeros(1, dtype=np.int64), np.array([draw.choice(legal(games))])) is None
        )
    assert games.states["over"][0], format_state(*position[:3])
    assert games.returns().sum() == pytest.approx(0)


LETTERS = "0123456789-/|().+=#pdmACDHSTJQKacdhstjqk[], go"


def mutate(line: str, others: list[str], draw: random.Random) -> str:
    """Change a line: a letter or two, a word, a number, cards of a word, or a word of another."""
    words = line.split()
    k = draw.randrange(len(words))
    how = draw.randrange(8)
    if how == 0:
        at = draw.randrange(len(line))
        return line[:at] + draw.choice(LETTERS) + line[at + draw.randrange(2) :]
    if how == 1:
        at, size = draw.randrange(len(line)), draw.choice((1, 1, 2, 3))
        return line[:at] + line[at + size :]
    if how == 2:
        at, to = draw.randrange(len(line) - 1), draw.randrange(len(line) - 1)
        swapped = list(line)
        swapped[at], swapped[to] = swapped[to], swapped[at]
        return "".join(swapped)
    if how == 3:
        other = draw.choice(others).split()
        words[k] = other[min(k, len(other) - 1)]
    elif how == 4:
        numbers = [i for i, letter in enumerate(words[k]) if letter.isdigit()]
        if numbers:
            at = draw.choice(numbers)
            words[k] = words[k][:at] + str(draw.randrange(10)) + words[k][at + 1 :]
    elif how == 5:
        cards = [
            i for i in range(len(words[k]) - 1) if words[k][i : i + 2].strip("(/.|)").isalnum()
        ]
        if cards:
            at, to = draw.choice(cards), draw.choice(cards)
            word = list(words[k])
            word[at : at + 2], word[to : to + 2] = word[to : to + 2], word[at : at + 2]
            words[k] = "".join(word)
    elif how == 6:
        if draw.random() < 0.5:
            words[k] = words[k].swapcase()
        else:
            words.insert(k, draw.choice(draw.choice(others).split()))
    else:
        words.append(draw.choice((
            "winner=0", "winner=1", f"games={draw.randrange(8)}/{draw.randrange(8)}", "gain=2/0",
            f"start={draw.randrange(40)}/{draw.randrange(40)}", "rng=0.0.0.0", "rng=1.2.3.4",
        )))  # fmt: skip
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


@pytest.mark.slow
def test_parse_state_100_000_mutated_lines_give_no_unsound_position() -> None:
    check_mutations(MANY, seed=2)


def test_parse_state_unmutated_lines_are_sound() -> None:
    for game in GAMES:
        draw = random.Random(3)
        for line in draw.sample(found := lines(*game, seed=3), min(4, len(found))):
            check_sound(parse_state(line), draw)


# ---------------------------------------------------------------- single mistakes


@pytest.mark.parametrize(
    ("line", "old", "new", "message"),
    [
        (PLAYING, "m0", "m1", "mover must be m0"),
        (PLAYING, "(9C)kd", "(9C)KD", "must hold the cards that the hands show"),
        (PLAYING, "5h(6C)7D8S(9C)kd", "5h(6C)7D8S9Ckd", "each seat discards two cards"),
        (PLAYING, "5h(6C)7D8S(9C)kd", "5h(6C)(7D)8S(9C)kd", "each seat discards two cards"),
        (LAYING, "3HTH6D5CJD7H", "(3H)TH6D5CJD7H", "pone both before the dealer"),
        (PLAYING, "5HTSKD6D|", "TS5HKD6D|", "seat 1 used TS when seat 0 was to move"),
        (PLAYING, "5HTSKD6D|", "5HTSKD6D|+go", "pile must be 5HTSKD6D. after these cards"),
        (PLAYING, " pegging ", " over ", "the episode goes on"),
        (PLAYING, " pegging ", " discard ", "phase must be pegging"),
        (PLAYING, "58-60", "58-121", "the episode is over"),
        (PLAYING, "58-60", "60-60", "rear pegs must be at 30/58"),
        (PLAYING, "30-34", "30-121", "a game goes on below 121 points"),
        (PLAYING, "58-60", "58-60 winner=1", "."),
        (PLAYING, "58-60", "58-60 gain=2/0", "a position does not hold points already paid"),
        (PLAYING, "58-60", "58-60 games=1/0", "of an episode of one game that goes on"),
        (PLAYING, "58-60", "58-60 start=40/0", "below the episode's start"),
        (PLAYING, "58-60", "58-60 start=121/0", "at the start"),
        (PLAYING, "#2", "#1", "do not follow from start=0/0"),
        (PLAYING, " game ", " deal ", "an episode of one deal has no deal #2"),
        (LAYING, "0-0/0-0", "0-1/0-0", "before this first deal they would have been 1/0"),
        (LAYING, "0-0/0-0", "0-0/0-0 start=1/1 start=0/0", "'start' is given twice"),
        (TABLE, "20/29", "20/121", "is over"),
        (TABLE, "20/29", "420/420", "do not follow from the episode's start"),
        (TABLE, " game #2", " round #2", "an episode of one round has no deal #2"),
        (TABLE, "...../..7H../..2C../.8H.../..... 4S", "....8H/..7H../..2C../...../..... 4S",
         "touches no card"),
        (TABLE, "...../..7H../..2C../.8H.../..... 4S", "...../..7H../..2C../...../..... 8H4S",
         "crib must be 4S8H"),
        (THREE, "0-2/0-0/0-0", "0-2/0-0", "pegs"),
        (THREE, "(TH)AD", "THAD", "each seat discards"),
        (THREE, " QD 3D ", " - 3D ", "1 cards are dealt to the crib"),
        (THREE, "tdAS/", "tdAS4S/", "hand"),
        (THREE, "m1", "m2", "mover must be m1"),
        (THREE, "0-2/0-0/0-0", "0-2/0-0/0-0 games=3/0/0", "are not the games won of"),
        (THREE, "0-2/0-0/0-0", "0-0/0-0/0-0", "."),
    ],
)  # fmt: skip
def test_parse_state_rejects_impossible_position_naming_the_fault(
    line: str, old: str, new: str, message: str
) -> None:
    assert old in line
    with pytest.raises(ValueError, match=message):
        parse_state(line.replace(old, new, 1))


def test_parse_state_rejects_game_points_without_won_games() -> None:
    line = PLAYING.replace(" game #2", " match #4")
    assert parse_state(f"{line} games=4/8".replace("4/8", "4/5")).state["match_score"].tolist() == [
        [4, 5]
    ]
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
def test_restore_rejects_snapshot_of_another_game_unchanged(
    other: Callable[[], Any], message: str
) -> None:
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
