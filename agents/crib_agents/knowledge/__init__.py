"""What agents, solver, exploiter and evaluation share about cribbage.

- `two_hand`: hands by rank, the course of the pegging, what a deal brings, the chance of winning.
- `table_top`: a round as the search plays it, what a round brings, the chance of winning.
- `honours`: the fields of the rules that the measured tables serve.
"""
