"""Compiled helpers that read a view, for anyone who writes an ``act``.

Two-hand games:

- `counting`: the cards dealt and unseen, the cards of the present count, what a card pegs.
- `charts`: where a 13x13 chart holds a pair of cards.
- `lay_away`: the best pair to lay away by any measure of one, and two such measures.
- `pegging`: the card to play, by points now and the likely reply.

Table Top:

- `lines`: a row, a column or the crib, as it lies and by what the next card may add.
"""
