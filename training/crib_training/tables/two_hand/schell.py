"""Schell's published crib averages, for comparison with ours."""

from __future__ import annotations

import numpy as np
from crib_agents.data.tables import RANKS

from crib_env.arrays import Array

TEXT = "A23456789TJQK"

# Crib averages of Schell's tables, own crib and opponent's crib, published for six-card cribbage.
SCHELL: dict[str, tuple[float, float]] = {
    "AA": (5.38, 6.02), "AK": (3.41, 4.30), "23": (7.00, 7.33), "45": (6.48, 7.26),
    "55": (8.79, 9.37), "56": (6.63, 7.47), "5T": (6.66, 7.41), "5J": (7.00, 7.76),
    "5K": (6.66, 7.25), "67": (4.98, 6.42), "78": (6.53, 7.63), "88": (5.45, 6.82),
    "9K": (3.06, 4.03), "TK": (2.84, 3.88), "JJ": (5.33, 6.42), "JQ": (4.81, 5.46),
    "QQ": (4.79, 5.79), "KK": (4.58, 5.65),
}  # fmt: skip


def compare_with_schell(crib: Array) -> str:
    """Return six-card charts, float64[2, CELLS] by role, beside Schell's averages, as text."""
    lines = ["pair  own: ours  Schell   diff   opponent's: ours  Schell   diff"]
    differences = []
    for pair, published in SCHELL.items():
        a, b = sorted(TEXT.index(rank) for rank in pair)
        row = f"{pair:4}"
        for role, width in ((0, 11), (1, 18)):
            ours = crib[1 - role].reshape(RANKS, RANKS)
            # Three pairs of cards in four are of two suits; of one rank all are.
            mean = ours[a, b] if a == b else 0.75 * ours[a, b] + 0.25 * ours[b, a]
            row += f"{mean:{width}.2f}{published[role]:8.2f}{mean - published[role]:+7.2f}"
            differences.append(mean - published[role])
        lines.append(row)
    ours_less = np.array(differences)
    lines.append(f"mean difference {ours_less.mean():+.3f}, mean absolute difference "
                 f"{np.abs(ours_less).mean():.3f}, root mean square "
                 f"{np.sqrt((ours_less**2).mean()):.3f}")  # fmt: skip
    return "\n".join(lines)
