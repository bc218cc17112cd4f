"""Six-card and five-card cribbage.

- `holdings`: hands by rank, numbered.
- `pegging`: the points of a card, gos and last points, who plays next.
- `outcomes`: the measured points of a deal.
- `win`: the result of a game or match from any score, solved backwards from those.
- `win_table`: the tables by which kernels value a score, read in counting order.
- `model`: all other measurements, in one record.
"""
