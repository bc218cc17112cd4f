"""The solver against slow code: counts, ranges, card removal, and values of the play."""

from __future__ import annotations

import lzma
import signal
from collections import Counter
from dataclasses import replace
from functools import partial
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from crib_agents.equilibrium import Equilibrium, Solved
from crib_agents.equilibrium.classes import hand_classes
from crib_agents.equilibrium.public_tree import PAIRS
from crib_agents.equilibrium.strategy import Strategy
from crib_agents.files import read_header
from crib_training.command_line import start
from crib_training.interrupts import Stopped

from crib_env.engine.hands.counting import sequence_points
from crib_env.engine.ranks import how_many, pair_number
from crib_env.engine.record import NONE
from crib_env.rules import TwoHandRules, find_rules
from exploit_toys import DECK, RULES
from research.solve import __main__ as solving
from research.solve.__main__ import Settings, solve
from research.solve.counts import count_states
from research.solve.pegging import Walker
from research.solve.ranges import Ranges
from research.solve.solver import Solver
from solve_walks import check_played_out, game_with, probabilities_of, walker_of

TOY = sum(1 << (4 * rank + suit) for rank in (3, 4, 5, 9, 10) for suit in range(2))


@pytest.mark.parametrize(("kept", "single_count"), [(3, True), (2, False)])
def test_count_states_score_as_their_cards(kept: int, single_count: bool) -> None:
    """H4, H6: in every order a state pegs the points that `sequence_points` gives all the cards."""
    counts = count_states(kept, single_count)
    rng = np.random.default_rng(3)
    for _ in range(3000):
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


@pytest.mark.usefixtures("small_deck", "pictures")
def test_solve_resumed_run_is_the_same(tmp_path: Path) -> None:
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    few = Settings(iterations=2, eval_interval=0, out=whole, progress=False)
    solve(few)
    solve(replace(few, iterations=1, out=parts))
    run = solve(replace(few, out=parts, resume=parts))
    assert [point.iterations for point in run.curve] == [1, 2]
    found, expected = (read_header(one / solving.CHECKPOINT)[1] for one in (parts, whole))
    assert found.keys() == expected.keys()
    assert all(np.array_equal(found[name], expected[name]) for name in found)
    assert (parts / "curve.png").read_bytes()[:4] == b"\x89PNG"
    with pytest.raises(ValueError, match="does not fit"):
        Solver(RULES, by_starter=True, deck=DECK).restore(1, {})


@pytest.mark.usefixtures("ctrl_c", "small_deck")
def test_solve_stopped_before_measuring_is_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(self: Solver) -> None:
        self.iteration += 1
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(Solver, "iterate", stopped)
    with pytest.raises(Stopped, match=r"saved after 1 .* resume with python -m research\.solve"):
        solve(Settings(out=tmp_path / "run", iterations=3, progress=False))
    written = {path.name for path in (tmp_path / "run").iterdir()}
    assert written >= {solving.STRATEGY, solving.CHECKPOINT, solving.CURVE}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--env six_card_v0 --refine 5 --out run", "refine must be"),
        ("--resume . --out run", "no run to resume"),
        ("--env table_top_v0", "env must be five_card_v0 or six_card_v0"),
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


# --- the refined solution: play that depends on the discards --------------------------------------


FIVE = find_rules("five_card", TwoHandRules)


@pytest.fixture(scope="module")
def walker() -> Walker:
    return walker_of(FIVE)


@pytest.fixture(scope="module")
def mixed(walker: Walker) -> np.ndarray:
    """Return chances of every rank with every pair discarded, drawn at random."""
    even = walker.even(PAIRS)
    drawn = np.random.default_rng(7).random(len(even), dtype=np.float32)
    return np.where((even > 0) & (even < 1), drawn * even, even)


def of_pair(walker: Walker, table: np.ndarray, pair: int) -> np.ndarray:
    """Return the part for one pair of a table of all pairs, laid out as without pairs."""
    tree = walker.tree
    one = np.zeros(tree.size, dtype=table.dtype)
    for node in np.flatnonzero(tree.offset >= 0):
        at, wide = int(tree.offset[node]), int(tree.left[node]) - 1
        end = at + how_many(wide + 1) * wide
        by_pair = table[at * PAIRS : end * PAIRS].reshape(-1, PAIRS, wide)
        one[at:end] = by_pair[:, pair].ravel()
    return one


def test_refined_file_agent_plays_by_its_discards(walker: Walker, mixed: np.ndarray, tmp_path: Path) -> None:
    from crib_agents.equilibrium import shipped
    from crib_agents.loading import load_agent

    basic = next(one for one in shipped() if one.rules_fields["dealt"] == 5)
    play = (mixed[None] * 8).astype(np.uint8) * 31  # eighths: random bytes take long to pack
    strategy = Strategy(5, True, basic.strategy.discard, play, by_discard=True)
    path = tmp_path / "mine.safetensors"
    path.write_bytes(Solved("five_card", basic.rules_fields, strategy, {}).to_bytes())
    agent = load_agent(str(path))
    assert isinstance(agent, Equilibrium)
    table = play[0] / np.float32(255)
    rng = np.random.default_rng(6)
    seen = 0
    for _ in range(20):
        cards = rng.permutation(52)[:11].tolist()
        game = game_with(FIVE, cards[:3], cards[3:6], cards[6:])
        while not game.over:
            view = game.view(game.seat)
            ranks = {card >> 2 for card in game.legal_actions}
            if len(ranks) > 1 and view["held_n"][1] > 0:
                expected = probabilities_of(view, table, walker, PAIRS)
                found = agent.action_probabilities(np.array([view]))[0].reshape(13, 4).sum(axis=1)
                np.testing.assert_allclose(found, expected, atol=1e-6)
                seen += 1
            game.step(int(rng.choice(game.legal_actions)))
    assert seen > 30


@pytest.mark.slow
@pytest.mark.usefixtures("small_deck")
def test_refine_resumed_run_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C loses the starter at work; another folder, other settings; what best play gains."""
    from research.solve import refine as refining
    from research.solve.__main__ import REFINED, STARTERS, STRATEGY, Settings, Stopped, solve
    from research.solve.refine import Refinement

    monkeypatch.setattr(refining, "MEASURED", 1)  # there are few hands
    settings = partial(Settings, iterations=6, eval_interval=0, progress=False)
    whole = solve(settings(out=tmp_path / "whole", refine=40))
    short = solve(settings(out=tmp_path / "short", refine=1))
    about, tables = read_header(tmp_path / "whole" / REFINED)
    less = read_header(tmp_path / "short" / REFINED)[0]
    gains = [sum(one["about"]["gains"].values()) for one in (about, less)]
    assert gains[0] < gains[1] / 2
    assert whole.solver.iteration == short.solver.iteration == 6

    parts = settings(out=tmp_path / "parts", refine=40)
    refine = Refinement.solve

    def interrupt(self: Refinement, starter: int, *more: object) -> object:
        if starter == 7:
            signal.raise_signal(signal.SIGINT)
        return refine(self, starter, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(Refinement, "solve", interrupt)
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    with pytest.raises(Stopped, match=r"1 of 3 starters refined; resume with .* --refine 40 .*--resume"):
        solve(parts)
    signal.signal(signal.SIGINT, handler)
    assert not (tmp_path / "parts" / REFINED).exists()
    monkeypatch.setattr(Refinement, "solve", refine)
    with pytest.raises(ValueError, match="another refinement: 'iterations' is 40 there, not 3"):
        solve(settings(out=tmp_path / "parts", refine=3, resume=tmp_path / "parts"))
    solve(settings(out=tmp_path / "moved", refine=40, resume=tmp_path / "parts"))
    for name in (STRATEGY, REFINED):
        files = [(tmp_path / folder / name).read_bytes() for folder in ("whole", "moved")]
        assert files[0] == files[1]
    assert (tmp_path / "moved" / STARTERS).exists()
    rows = np.frombuffer(lzma.decompress(tables["pegging"]), dtype=np.uint8).reshape(13, -1)
    basic = whole.solver.strategy().play
    walker = walker_of(FIVE)
    for starter in (0, 7):  # there is no ace in the deck to be turned
        same = of_pair(walker, rows[starter], pair_number(6, 8)) == basic[starter]
        assert same.all() == (starter == 0)
