"""Who is better, and by how much.

- `duplicate`: games played twice with the seats swapped, and estimates over the pairs.
- `referee`: asks an agent, so that its failures are its own.
- `figures`: what such games say of two agents.
- `evaluate`: the command `crib evaluate`.
- `ratings`: Bradley-Terry ratings with intervals.
- `by_score`: at which scores an agent gains games.
- `markdown`: tables as text.
"""
