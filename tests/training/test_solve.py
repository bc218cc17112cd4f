"""The solver against slow code: counts, ranges, card removal, and values of the play."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from crib_agents.equilibrium.classes import hand_classes
from crib_training.command_line import start

from crib_env.engine.hands.counting import sequence_points
from crib_env.engine.record import NONE
from crib_env.rules import TwoHandRules, find_rules
from research.solve import __main__ as solving
from research.solve.__main__ import Settings
from research.solve.counts import count_states
from research.solve.ranges import Ranges
from solve_walks import check_played_out, walker_of

TOY = sum(1 << (4 * rank + suit) for rank in (3, 4, 5, 9, 10) for suit in range(2))


@pytest.mark.parametrize(("kept", "single_count"), [(3, True), (2, False)])
def test_count_states_score_as_their_cards(kept: int, single_count: bool) -> None:
    """H4, H6: in any order a state's points are those of `sequence_points` for all its cards."""
    counts = count_states(kept, single_count)
    rng = np.random.default_rng(3)
    for _ in range(1000):
        state, sequence, total = 0, 0, 0
        for n in range(1, 2 * kept + 1):
            rank = int(rng.choice([*range(13), 4, 5, 6, 6]))
            if total + min(rank + 1, 10) > 31:
                assert counts.after[state, rank] == NONE
                break
            total += min(rank + 1, 10)
            sequence = sequence << 4 | rank
            if Counter(sequence >> (4 * i) & 15 for i in range(n))[rank] > 4:
                break
            for go in range(2):
                made = sequence_points(sequence, n, total, go)
                assert counts.points[state + go, rank] == made, (hex(sequence), n, go)
            state = int(counts.after[state, rank])
            assert counts.count[state] == total


def test_solver_walk_equals_the_engines_play() -> None:
    """F4, F5: for random hands and strategies, all lines of play pegged by the engine."""
    rules = TwoHandRules.preset("five_card", for_last=0)
    walker = walker_of(rules)
    rng = np.random.default_rng(8)
    even = walker.even()
    probabilities = np.where((even > 0) & (even < 1), rng.random(len(even)) * even, even)
    check_played_out(rules, probabilities.astype(np.float32), walker, 25)


@pytest.mark.slow
def test_solver_walk_equals_the_engines_play_with_four_cards() -> None:
    """H5 to H7, in the same way."""
    rules = find_rules("hoyle", TwoHandRules)
    walker = walker_of(rules)
    check_played_out(rules, walker.even(), walker, 12)


def test_solver_ranges_are_the_rest_of_the_deck() -> None:
    """By counting all hands beside one's own, card by card, in a small deck."""
    classes = hand_classes(4, TOY)
    ranges = Ranges(classes)
    rng = np.random.default_rng(2)
    probabilities = rng.random((len(classes.codes), len(classes.splits))).astype(np.float32)
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    ranges.discard(1, probabilities)
    deck = [card for card in range(52) if TOY >> card & 1]
    hands = ranges.hands
    rows = {tuple(row): i for i, row in enumerate(hands.ranks.tolist())}
    for mine in (deck[:4], deck[2:10:2], [deck[0], deck[1], deck[8], deck[9]]):
        expected: Counter[int] = Counter()
        dealt = 0
        for theirs in combinations([card for card in deck if card not in mine], 4):
            dealt += 1
            row = rows[tuple(sorted(card >> 2 for card in theirs))]
            for split in range(len(classes.splits)):
                expected[int(hands.holding[row, split])] += ranges.strategy[1, row, split]
        found = ranges.holding[0, rows[tuple(sorted(card >> 2 for card in mine))]]
        for kept, likely in enumerate(found):
            assert likely == pytest.approx(expected[kept] / dealt, abs=1e-6)
        assert found.sum() == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--iterations 0 --out run", "iterations must be"),
        ("--env table_top_v0 --out run", "env must be five_card_v0 or six_card_v0"),
    ],
)
def test_solve_command_refuses(
    words: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as end:
        start(Settings, solving.run, words.split(), "python -m research.solve")
    assert end.value.code == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "run").exists()
