"""The play of the cards.

- `holdings`: the rank multisets that a seat may hold, numbered.
- `course`: what a card pegs, gos and last points, who plays next.
- `reflex`: the value of a card by tables, without search.
- `belief`: what the other seat may hold, and how likely each holding is.
- `show`: what the counts after the play will bring.
- `search`: the value of a card over all the other seat may hold.
- `play`: `PeggingExpert`, which plays the best.
"""
