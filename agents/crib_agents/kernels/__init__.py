"""Compiled helpers that read a view, for use in ``act`` functions; `rule_based` plays by them.

Helpers that need the rules alone are in the engine: `crib_env.engine.hands.counting` (the cards
dealt and unseen, the cards of the present count, the points of a card, the mean hand) and
`crib_env.engine.table_top.lines` (a row, a column or the crib, as it is and with the next card).
The modules here also assume something about how others play:

- `two_hand`: the index of a pair of cards in a 13x13 chart, the best pair to discard by any value
  function, and the card to play, by points now and the likely reply.
- `many_hand`: the same for three and four, and the cards that the other seats may hold.
- `table_top`: the cell for a card, by the expected points of each line.
"""
