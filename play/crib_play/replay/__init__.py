"""A game to look at again: one file of HTML that needs no network; `page` makes it."""

from crib_play.replay.page import replay_page, write_replay

__all__ = ["replay_page", "write_replay"]
