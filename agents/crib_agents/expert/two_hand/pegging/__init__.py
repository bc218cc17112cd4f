"""The play of the cards.

- `holdings`: the rank multisets that a seat may hold, numbered.
- `course`: what a card pegs, gos and last points, who plays next.
- `reflex`: what a card is worth by tables, without search.
- `belief`: what the other seat may hold, and how likely each holding is.
- `show`: what the counts after the play will bring.
- `search`: what a card is worth over all the other seat may hold.
- `play`: `PeggingExpert`, which plays the best.
"""
