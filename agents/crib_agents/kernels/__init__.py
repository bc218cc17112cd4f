"""Compiled helpers that read a view, for anyone who writes an ``act``.

What follows from the rules alone is in the engine: `crib_env.engine.hands.counting` (the cards
dealt and unseen, the cards of the present count, what a card pegs, the mean hand) and
`crib_env.engine.table_top.lines` (a row, a column or the crib, as it is and with the next card).
The modules here also assume something about how others play. Two-hand games:

- `discard`: where a 13x13 chart holds a pair of cards, and the best pair to discard by any measure.
- `pegging`: the card to play, by points now and the likely reply.

Games for three and four:

- `many_hand`: how `rule_based` plays them.
- `many_hand_held`: what the other seats may hold, by what they played and passed.

Table Top:

- `placing`: the cell for a card, by what each line is likely to come to.
"""
