"""Compare agents: which one is better, and by how much.

- `duplicate`: games played from every side, and estimates over the pairs.
- `referee`: calls an agent, so that only its own games suffer from its failures.
- `figures`: figures of two agents from such games.
- `report`: results as Markdown, also those of tournaments.
- `evaluate`: the command `crib evaluate`.
- `ratings`: Bradley-Terry ratings with intervals.
"""
