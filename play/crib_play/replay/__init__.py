"""A game to look at again: one file of HTML that needs no network.

- `frames`: what there is to see, moment by moment, for each pair of eyes.
- `opinions`: the expert's value of every choice, and how likely the agent was to make it.
- `page`: both put into one file, and `crib replay`.
"""

from crib_play.replay.page import replay_page, write_replay

__all__ = ["replay_page", "write_replay"]
