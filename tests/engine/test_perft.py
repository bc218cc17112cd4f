"""Exact counts ("perft"): how all hands score, and every sequence of moves from fixed positions.

`data/perft.json` holds the positions and the counts. The engine counts them all here in a few
seconds, and the reference, which shares no code with it, the same ones: the small ones here, the
rest among the slow tests. Where a count differs, one of the two plays another game.

To add a case, write it into the file without its counts (how it is counted goes into ``about`` or
its ``note``) and let the engine fill all counts in:

    PYTHONPATH=tests:tests/support:tests/engine python -c "import test_perft; test_perft.write()"

Then `make check-long ARGS="-k perft"` asks the reference whether they are right.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from checkout import DATA
from compiled import compiled_alone
from crib_env import parse_cards, scoring
from crib_env.engine.entries import entries_of
from crib_env.engine.record import NONE, Array
from crib_env.engine.show import show_table
from crib_env.engine.table_top.records import TURNS
from crib_env.game import Game
from reference import ManyHandReferee, Referee, TableTopReferee, perft
from stacked import deal, unused

FILE = DATA / "perft.json"
CASES: dict[str, Any] = json.loads(FILE.read_text())
Case = dict[str, Any]

COUNTS = ("sequences", "ended", "points")
CHUNK = 1 << 15  # how many positions are stepped at once
# The reference takes 20 to 300 microseconds a sequence: up to this many in every run of the tests.
QUICK = 12_000

# NUMBERS.md: Lumetta; Cribbage statistics pages.
PUBLISHED = [
    1009008, 99792, 2813796, 505008, 2855676, 697508, 1800268, 751324, 1137236, 361224, 388740,
    51680, 317340, 19656, 90100, 9168, 58248, 11196, 2708, 0, 8068, 2496, 444, 356, 3680, 0, 0, 0,
    76, 4,
]  # fmt: skip
PUBLISHED_CRIB_ZEROS = 1_022_208


def cases(kind: str, slow: Callable[[Case], bool] = lambda case: False) -> Any:
    """Parametrise a test by the cases of one kind, with the slow ones marked."""
    params = [
        pytest.param(case, id=name, marks=[pytest.mark.slow] if slow(case) else [])
        for name, case in CASES[kind].items()
    ]
    return pytest.mark.parametrize("case", params)


def many(case: Case) -> bool:
    return sum(case.get("sequences", ())) > QUICK


def to_the_end(case: Case) -> bool:
    """Tell whether the sequences counted lead to the end of the deal or round."""
    return "players" not in case or len(case["after"]) + case["depth"] == TURNS


# ---------------------------------------------------------------- positions


def deck_of(case: Case) -> list[int]:
    """Return the deck of a case: of two hands as dealt, or of its first cards in order."""
    if "order" in case:
        front = parse_cards(case["order"])
        return front + unused(52 - len(front), front)
    return deal(case["pone"], case["dealer"], case["starter"]).deck


def first_actions(case: Case) -> list[int]:
    """Return the actions that lead to the position counted from; player_1 deals in all cases."""
    if "order" in case:
        return list(case["after"])
    if case["from"] == "deal":
        return []
    return parse_cards(" ".join(case[who].split("/")[1] for who in ("pone", "dealer")))


def count_with_engine(case: Case) -> perft.Tree:
    """Count with the compiled kernels, all positions of a depth side by side."""
    game = Game(case["rules"], episode="deal", players=case.get("players"))
    game.reset(decks=[deck_of(case)], dealer=1, scores=case.get("scores"))
    sides = len(game.scores)
    for action in first_actions(case):
        game.step(action)
    family, lanes_of = game.family, entries_of(game.family)

    def step(states: Array, actions: Array) -> None:
        lanes = np.arange(len(states))
        tally = np.zeros((len(states), sides, 3), dtype=np.int64)
        assert (
            lanes_of.step_games(states, game.record, game.decks, show_table(), lanes, actions, game.log, tally) == NONE
        )

    def masks_of(states: Array) -> Array:
        views = np.zeros(len(states), dtype=family.view)
        seats = np.ascontiguousarray(states["to_move"])
        lanes_of.view_games(states, game.record, np.arange(len(states)), seats, views)
        obs = np.zeros((len(states), family.obs_size), dtype=np.uint8)
        masks = np.zeros((len(states), family.actions), dtype=np.int8)
        lanes_of.encode(views, obs, masks)
        return masks

    depth = case["depth"]
    sequences, ended = np.zeros((2, depth), dtype=np.int64)
    points = np.zeros(sides, dtype=np.int64)

    def expand(states: Array, played: int) -> None:
        masks = masks_of(states)
        sequences[played] += int(masks.sum())
        if played + 1 == depth and not to_the_end(case):
            return  # the last actions are counted, not taken
        parents, actions = map(np.ascontiguousarray, np.nonzero(masks))
        for at in range(0, len(parents), CHUNK):
            after = states[parents[at : at + CHUNK]]
            step(after, actions[at : at + CHUNK])
            over = after["over"] == 1
            ended[played] += int(over.sum())
            points[:] += after["scores"][over, :sides].sum(axis=0)
            if played + 1 < depth and not over.all():
                expand(after[~over], played + 1)

    expand(game.states, 0)
    return perft.Tree(sequences.tolist(), ended.tolist(), points.tolist())


def referee(case: Case) -> Any:
    """Return the position of a case under the reference."""
    position: Referee | ManyHandReferee | TableTopReferee
    if "seats" in case:
        position = ManyHandReferee(case["seats"], [deck_of(case)], 1, "deal", case["scores"], **case["fields"])
    elif "order" in case:
        ship = case["rules"] == "table_top_ship"
        position = TableTopReferee([deck_of(case)], 1, case["players"], ship)
    else:
        position = Referee(case["rules"], [deck_of(case)], 1, "deal", case["scores"])
    for action in first_actions(case):
        position.step(action)
    return position


def counts_of(case: Case) -> tuple[str, ...]:
    """Return the names of the counts of a case; only whole trees have ends and points."""
    return COUNTS if to_the_end(case) else COUNTS[:1]


def check(case: Case, counted: perft.Tree) -> None:
    for name in counts_of(case):
        assert getattr(counted, name) == case[name], name


# ---------------------------------------------------------------- hands


@compiled_alone
@cases("hands")
def test_perft_of_hands_by_the_engine(case: Case) -> None:
    assert scoring.score_histogram(case["rules"], crib=case["crib"]).tolist() == case["counts"]


@cases("hands", slow=lambda case: sum(case.get("counts", ())) > 2_000_000)
def test_perft_of_hands_by_the_reference(case: Case) -> None:
    held = 3 if case["rules"] == "five_card" and not case["crib"] else 4
    assert perft.show_histogram(held, case["crib"]) == case["counts"]


def test_perft_of_hands_is_as_published() -> None:
    hands = {name: case["counts"] for name, case in CASES["hands"].items()}
    assert hands["six-card hand"] == PUBLISHED
    assert np.dot(PUBLISHED, range(30)) / sum(PUBLISHED) == pytest.approx(4.769152, abs=1e-6)
    assert hands["six-card crib"][0] == PUBLISHED_CRIB_ZEROS
    # Both cribs are four cards and the starter, scored alike (H8, F6).
    assert hands["five-card crib"] == hands["six-card crib"]
    sums = {name: sum(counts) for name, counts in hands.items()}
    assert sums.pop("five-card hand") == 22_100 * 49
    assert set(sums.values()) == {270_725 * 48}


# ---------------------------------------------------------------- the play


@compiled_alone
@cases("pegging")
def test_perft_of_pegging_by_the_engine(case: Case) -> None:
    check(case, count_with_engine(case))


@cases("pegging", slow=many)
def test_perft_of_pegging_by_the_reference(case: Case) -> None:
    check(case, perft.tree(referee(case), case["depth"]))


def test_perft_of_pegging_without_a_go_is_worked_by_hand() -> None:
    """Where every card can always be played, each seat plays its cards in any order."""
    assert CASES["pegging"]["six-card, no go"]["sequences"] == [
        4,
        4 * 4,
        4 * 4 * 3,
        4 * 4 * 3 * 3,
        144 * 2,
        144 * 4,
        144 * 4,
        144 * 4,
    ]
    assert CASES["pegging"]["five-card, no go"]["ended"] == [0, 0, 0, 0, 0, 36]


# ---------------------------------------------------------------- the play of three and four


@compiled_alone
@cases("rounds")
def test_perft_of_rounds_by_the_engine(case: Case) -> None:
    check(case, count_with_engine(case))


@cases("rounds", slow=many)
def test_perft_of_rounds_by_the_reference(case: Case) -> None:
    check(case, perft.tree(referee(case), case["depth"]))


# ---------------------------------------------------------------- Table Top


@compiled_alone
@cases("placements")
def test_perft_of_placements_by_the_engine(case: Case) -> None:
    check(case, count_with_engine(case))


@cases("placements", slow=lambda case: sum(case.get("sequences", ())) > 1_000_000)
def test_perft_of_placements_by_the_reference(case: Case) -> None:
    if to_the_end(case):
        check(case, perft.tree(referee(case), case["depth"]))
    else:
        assert perft.placements(referee(case), case["depth"]) == case["sequences"]


@cases("placements")
def test_perft_of_placements_by_the_reference_one_by_one(case: Case) -> None:
    """Without the short cut of `perft.placements`, to a depth that is still quick."""
    depth = int(np.count_nonzero(np.cumsum(case["sequences"]) <= QUICK // 8))
    assert depth >= 2
    assert perft.tree(referee(case), depth).sequences == case["sequences"][:depth]


def test_perft_of_placements_is_worked_by_hand() -> None:
    """Without adjacency: 24 vacant cells, then 23 ..., and the crib for those who owe a card."""
    start = CASES["placements"]
    two, four = (start[f"start, any cell, {n} players"]["sequences"] for n in ("two", "four"))
    # A turn fills one of n cells or goes to the crib, which leaves the n cells.
    assert two[:2] == four[:2] == [24 + 1, 24 * (23 + 1) + 1 * (24 + 1)]
    # Every turn of the first lap of four is a first one: k placed of t turns, t - k to the crib.
    chosen = [24, 24 * 23, 24 * 23 * 22, 24 * 23 * 22 * 21]
    assert four[3] == 1 + 4 * chosen[0] + 6 * chosen[1] + 4 * chosen[2] + chosen[3]
    near = start["start, two players"]["sequences"]
    assert near[0] == 8 + 1  # the cells round the centre, and the crib


# ---------------------------------------------------------------- the file


def write() -> None:
    """Count every case with the engine and rewrite the file."""
    for case in CASES["hands"].values():
        counts = scoring.score_histogram(case["rules"], crib=case["crib"])
        case["counts"] = counts.tolist()
    for kind in ("pegging", "rounds", "placements"):
        for case in CASES[kind].values():
            counted = count_with_engine(case)
            case.update({name: getattr(counted, name) for name in counts_of(case)})
    text = json.dumps(CASES, indent=2)
    one_line = re.sub(r"\[\s+([^\[\]\"]*?)\s+\]", lambda m: f"[{' '.join(m[1].split())}]", text)
    FILE.write_text(one_line + "\n")


def test_perft_file_states_how_each_case_was_counted() -> None:
    assert set(CASES) == {"about", "hands", "pegging", "rounds", "placements"}
    assert set(CASES["about"]) == {"file", "hands", "pegging", "rounds", "placements"}
    assert all(len(text) > 100 for text in CASES["about"].values())
