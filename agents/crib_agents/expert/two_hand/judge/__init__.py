"""The value of a score.

- `outcomes`: what a deal brings, as measured.
- `win`: how a game or match ends from any score, solved backwards from that.
- `value`: the tables the kernels judge by, and how they are read in the order of the count.
- `model`: everything else that is known of a game by measurement, in one record.
"""
