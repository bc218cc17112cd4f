"""Who is better, and by how much.

- `duplicate`: games played twice with the seats swapped, and estimates over the pairs.
- `referee`: asks an agent, so that its failures are its own.
- `figures`: what such games say of two agents.
- `evaluate`: the command `crib evaluate`.
- `ratings`: Bradley-Terry ratings with intervals.
- `pegging`, `strength`: the expert's play of the cards, and its budgets at Table Top.
- `open_hands`: an opponent for comparison, which plays as if the other's hand lay open.
- `markdown`: tables as text.
"""
