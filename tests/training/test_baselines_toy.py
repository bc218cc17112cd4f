"""The methods come closer to perfect play in a toy deck, where the distance is exact."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from toy_baselines import in_the_toy, toy_exploitability, toy_learner

pytestmark = pytest.mark.slow
SLOW = {"learning_rate": 5e-4}  # small networks in small batches
EVERY = 3  # measure every third class of hands, in a third of the time


# Decisions, and the exploitability after them as a share of a random network's.
SHORT = [
    ("selfplay_ppo", 100_000, 0.65, SLOW),
    ("mmd", 100_000, 0.75, SLOW),
    ("vrpo", 100_000, 0.6, SLOW),
    ("r_nad", 100_000, 0.65, {"learning_rate": 1e-3}),
    ("monte_carlo_q", 100_000, 0.75, {"learning_rate": 1e-3}),
    ("nfsp", 200_000, 0.75, {"updates": 16}),
    ("deep_cfr", 400_000, 0.6, {}),
    ("escher", 200_000, 0.75, {"updates": 16}),
]
LONG = [
    ("selfplay_ppo", 1_000_000, 0.2, {"learning_rate": 1e-3}),
    ("mmd", 1_000_000, 0.2, {"learning_rate": 1e-3}),
    ("vrpo", 1_000_000, 0.2, {"learning_rate": 1e-3}),
    ("r_nad", 1_000_000, 0.2, {"learning_rate": 1e-3}),
    ("monte_carlo_q", 1_000_000, 0.6, {"learning_rate": 1e-3}),
    ("nfsp", 1_000_000, 0.4, {"updates": 64}),
    ("deep_cfr", 1_000_000, 0.3, {}),
    ("escher", 1_000_000, 0.4, {"updates": 16}),
]
FAILS = {("vrpo", 100_000, 1): "0.61 of random, not 0.6", ("selfplay_ppo", 1_000_000, 1): "one seed in four stalls"}


@pytest.mark.parametrize(
    ("method", "decisions", "most", "settings", "seed"),
    [*((*case, seed) for case in SHORT for seed in (1, 2, 3)), *((*case, 1) for case in LONG), (*LONG[0], 2)],
)
def test_baselines_come_closer_to_the_solution(
    method: str,
    decisions: int,
    most: float,
    settings: dict[str, Any],
    seed: int,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if reason := FAILS.get((method, decisions, seed)):
        request.applymarker(pytest.mark.xfail(strict=True, reason=reason))
    torch.set_num_threads(1)
    in_the_toy(monkeypatch)
    learning = toy_learner(method, seed, decisions, **settings)
    first = toy_exploitability(learning.agent(), every=EVERY)
    while learning.decisions < decisions:
        learning.iterate()
    last = toy_exploitability(learning.agent(), every=EVERY)
    print(f"{method}: {first:.2f} before, {last:.2f} after {learning.decisions:,} decisions")
    assert first > 3
    assert last < most * first
