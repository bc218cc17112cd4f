"""Compare agents: which one is better, and by how much.

- `duplicate`: games played from every side, and estimates over the pairs.
- `referee`: calls an agent, so that only its own games suffer from its failures.
- `aivat`: the effect of chance on the games, which is subtracted.
- `chunks`: parts of a match or tournament, each fixed by its key alone.
- `ledger`: stores finished chunks, and has those that it lacks played.
- `figures`: figures of two agents from such games.
- `ratings`: Bradley-Terry ratings with intervals.
- `report`: results as Markdown.
- `evaluate`: the command `crib evaluate`. `crib tournament` and `crib rate` are modules beside
  this package.
"""
