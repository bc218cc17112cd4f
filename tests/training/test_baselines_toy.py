"""The methods come closer to perfect play in a toy deck, where the distance is exact."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from toy_baselines import in_the_toy, toy_exploitability, toy_learner

pytestmark = pytest.mark.slow
SLOW = {"learning_rate": 5e-4}  # small networks in small batches
EVERY = 3  # of the classes of hands; a measurement of all takes three times as long


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize(
    ("method", "decisions", "most", "settings"),
    [
        ("selfplay_ppo", 100_000, 0.65, SLOW),
        ("mmd", 100_000, 0.75, SLOW),
        ("vrpo", 100_000, 0.6, SLOW),
        ("r_nad", 100_000, 0.65, {"learning_rate": 1e-3}),
        ("monte_carlo_q", 100_000, 0.75, {"learning_rate": 1e-3}),
        ("nfsp", 200_000, 0.75, {"updates": 16}),
        ("deep_cfr", 400_000, 0.6, {}),
        ("escher", 200_000, 0.75, {"updates": 16}),
    ],
)
def test_baselines_short_run_is_well_below_a_random_network(
    method: str, decisions: int, most: float, settings: dict[str, Any], seed: int,
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    if method == "vrpo" and seed == 1:
        request.applymarker(pytest.mark.xfail(strict=True, reason="0.61 of random, not 0.6"))
    torch.set_num_threads(1)
    in_the_toy(monkeypatch)
    learning = toy_learner(method, seed, decisions, **settings)
    first = toy_exploitability(learning.agent(), every=EVERY)
    while learning.decisions < decisions:
        learning.iterate()
    assert first > 3
    assert toy_exploitability(learning.agent(), every=EVERY) < most * first


@pytest.mark.parametrize(
    ("method", "seed", "most", "settings"),
    [
        ("selfplay_ppo", 1, 0.2, {"learning_rate": 1e-3}),
        ("selfplay_ppo", 2, 0.2, {"learning_rate": 1e-3}),
        ("mmd", 1, 0.2, {"learning_rate": 1e-3}),
        ("vrpo", 1, 0.2, {"learning_rate": 1e-3}),
        ("r_nad", 1, 0.2, {"learning_rate": 1e-3}),
        ("monte_carlo_q", 1, 0.6, {"learning_rate": 1e-3}),
        ("nfsp", 1, 0.4, {"updates": 64}),
        ("deep_cfr", 1, 0.3, {}),
        ("escher", 1, 0.4, {"updates": 16}),
    ],
)
def test_baselines_long_run_is_closer_to_the_solution(
    method: str, seed: int, most: float, settings: dict[str, Any],
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    if method == "selfplay_ppo" and seed == 1:
        request.applymarker(pytest.mark.xfail(strict=True, reason="one seed in four stalls"))
    torch.set_num_threads(1)
    in_the_toy(monkeypatch)
    learning = toy_learner(method, seed, 1_000_000, **settings)
    first = toy_exploitability(learning.agent(), every=EVERY)
    while learning.decisions < 1_000_000:
        learning.iterate()
    last = toy_exploitability(learning.agent(), every=EVERY)
    print(f"{method}: {first:.2f} before, {last:.2f} after {learning.decisions:,} decisions")
    assert last < most * first
