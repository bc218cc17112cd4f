"""A game to look at again: one file of HTML that needs no network.

- `frames`: what there is to see, moment by moment, for each pair of eyes.
- `page`: these put into one file, with the opinions of `crib_play.table.advice`; `crib replay`.
"""

from crib_play.replay.page import replay_page, write_replay

__all__ = ["replay_page", "write_replay"]
