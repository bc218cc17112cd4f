"""Variance reduction (AIVAT: Burch, Schmid, Moravcik and Bowling, 2018).

After the games, AIVAT computes the effect of chance deal by deal and subtracts it. Its terms have
mean zero, so a result keeps its mean and loses much of its variance. `docs/aivat.md` explains how.

- `deals`: the deals of games, recorded during play.
- `course`: kernels: a deal as a reference plays it, with every starter.
- `outcomes`, `chance`: points of the reference's deals, and the probability of winning by score.
- `terms`: the terms of starter, hands and discards.
- `reference`: a reference, and the corrections that it gives for games.
- `__main__`: the variance reduction, measured: ``python -m crib_training.evaluation.aivat``.
"""
