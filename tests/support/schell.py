"""Crib averages of Schell's tables, own crib and opponent's, published for six-card cribbage."""

from __future__ import annotations

SCHELL: dict[str, tuple[float, float]] = {
    "AA": (5.38, 6.02), "AK": (3.41, 4.30), "23": (7.00, 7.33), "45": (6.48, 7.26),
    "55": (8.79, 9.37), "56": (6.63, 7.47), "5T": (6.66, 7.41), "5J": (7.00, 7.76),
    "5K": (6.66, 7.25), "67": (4.98, 6.42), "78": (6.53, 7.63), "88": (5.45, 6.82),
    "9K": (3.06, 4.03), "TK": (2.84, 3.88), "JJ": (5.33, 6.42), "JQ": (4.81, 5.46),
    "QQ": (4.79, 5.79), "KK": (4.58, 5.65),
}  # fmt: skip
