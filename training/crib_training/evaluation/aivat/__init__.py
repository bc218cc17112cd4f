"""Variance reduction (AIVAT: Burch, Schmid, Moravcik and Bowling, 2018).

After the games, AIVAT computes the effect of chance deal by deal and subtracts it. Its terms have
mean zero, so a result keeps its mean and loses much of its variance. `docs/aivat.md` explains how.

- `terms`: kernels: a deal as a reference plays it, and the terms of starter, hands and discards.
- `reference`: deals recorded during play, and a reference policy that corrects them.
- `__main__`: the variance reduction, measured: ``python -m research.aivat``.
"""
