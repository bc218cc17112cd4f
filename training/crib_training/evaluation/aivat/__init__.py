"""Luck taken out of results (AIVAT: Burch, Schmid, Moravcik and Bowling, 2018).

After play, what the cards brought by chance alone is computed deal by deal and subtracted: terms
of mean zero, so a result keeps its mean and loses much of its spread. `docs/aivat.md` says how.

- `deals`: the deals of games, noted as they are played.
- `course`: kernels: a deal as a reference plays it, with every starter.
- `outcomes`, `chance`: what deals of the reference bring, and the chance of winning by score.
- `terms`: the terms: the starter's, the hands', the discards'.
- `reference`: a reference, and the luck of games by it.
- `__main__`: how many games fewer it takes: ``python -m crib_training.evaluation.aivat``.
"""
