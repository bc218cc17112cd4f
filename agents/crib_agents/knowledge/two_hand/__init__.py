"""Six-card and five-card cribbage.

- `holdings`: hands by rank, numbered.
- `pegging`: what a card pegs, gos and last points, who plays next.
- `outcomes`: what a deal brings, as measured.
- `win`: how a game or match ends from any score, solved backwards from that.
- `win_table`: the tables by which kernels judge a score, and how they are read in counting order.
- `model`: everything else that was measured, in one record.
"""
