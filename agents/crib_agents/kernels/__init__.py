"""Compiled helpers that read a view, for anyone who writes an ``act``: how `rule_based` plays.

What follows from the rules alone is in the engine: `crib_env.engine.hands.counting` (the cards
dealt and unseen, the cards of the present count, what a card pegs, the mean hand) and
`crib_env.engine.table_top.lines` (a row, a column or the crib, as it is and with the next card).
The modules here also assume something about how others play:

- `two_hand`: where a 13x13 chart holds a pair of cards, the best pair to discard by any measure,
  and the card to play, by points now and the likely reply.
- `many_hand`: the same for three and four, and what the other seats may hold.
- `table_top`: the cell for a card, by what each line is likely to come to.
"""
