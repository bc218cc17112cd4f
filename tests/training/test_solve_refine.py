"""The refined solution: play that depends on the discards; runs and files."""

from __future__ import annotations

import lzma
import signal
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from crib_agents.equilibrium import Equilibrium, Solved
from crib_agents.equilibrium.public_tree import PAIRS
from crib_agents.equilibrium.strategy import Strategy
from crib_agents.files import read_header

from crib_env.engine.ranks import how_many, pair_number
from crib_env.rules import TwoHandRules, find_rules
from research.solve.pegging import Walker
from solve_walks import game_with, probabilities_of, walker_of

RULES = find_rules("five_card", TwoHandRules)


@pytest.fixture(scope="module")
def walker() -> Walker:
    return walker_of(RULES)


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


def test_refined_file_agent_plays_by_its_discards(
    walker: Walker, mixed: np.ndarray, tmp_path: Path
) -> None:
    from crib_agents.equilibrium.agent import shipped
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
        game = game_with(RULES, cards[:3], cards[3:6], cards[6:])
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
    from research.solve.refine import Refinement
    from research.solve.run import REFINED, STARTERS, STRATEGY, Settings, Stopped, solve

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
    with pytest.raises(
        Stopped, match=r"1 of 3 starters refined; resume with .* --refine 40 .*--resume"
    ):
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
    walker = walker_of(RULES)
    for starter in (0, 7):  # there is no ace in the deck to be turned
        same = of_pair(walker, rows[starter], pair_number(6, 8)) == basic[starter]
        assert same.all() == (starter == 0)
