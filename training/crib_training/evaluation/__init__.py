"""Compare agents: which one is better, and by how much.

- `duplicate`: games played from every side, and estimates over the pairs.
- `referee`: calls an agent, so that its failures cost only its own games.
- `aivat`: computes the effect of chance on the games and subtracts it.
- `chunks`: parts of a match or tournament, each determined by its key alone.
- `ledger`: stores finished chunks, and plays the missing ones.
- `figures`: figures of two agents from such games.
- `ratings`: Bradley-Terry ratings with intervals.
- `report`: results as Markdown.
- `evaluate`: the command `crib evaluate`. `crib tournament` and `crib rate` are modules beside
  this package.
"""
