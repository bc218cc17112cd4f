"""How many hands per second does the table count?

Six-card hands with their starter: given as arrays of cards (each row is checked for invalid and
repeated cards), and all 12,994,800 of them enumerated.
"""

from __future__ import annotations

import numpy as np

from benchmarks.timing import FULL, Contender, Findings, Settings, race, rate_of
from crib_env.engine.show import show_table
from crib_env.rules import PRESETS
from crib_env.scoring import many

HELD = 4
ALL = 12_994_800


def measure(settings: Settings = FULL) -> Findings:
    """Measure both ways."""
    n = 1000 if settings.quick else 100_000
    rng = np.random.default_rng(1)
    drawn = rng.random((n, 52)).argpartition(HELD, axis=1)[:, : HELD + 1].astype(np.int64)
    cards = np.ascontiguousarray(drawn[:, :HELD])
    starters = np.ascontiguousarray(drawn[:, HELD])
    points = np.empty(n, dtype=np.int64)
    flush = PRESETS["hoyle"].flush_size
    table = show_table()
    counts = np.zeros(many.HIGHEST + 1, dtype=np.int64)

    def given() -> int:
        many.fill_points(cards, starters, flush, table, points)
        return n

    def enumerated() -> int:
        counts[:] = 0
        for lowest in range(52):
            many.fill_histogram(lowest, HELD, flush, table, counts)
        return ALL

    rows = race(
        [
            Contender("hands given as arrays", rate_of(given)),
            Contender("all hands enumerated", rate_of(enumerated)),
        ],
        "hands/s",
        settings,
    )
    assert counts.sum() == ALL
    return Findings("Hands counted by table", rows)
