"""The families of games that the learned agent plays, by name."""

from __future__ import annotations

from crib_agents.learned import table_top, two_hand
from crib_agents.learned.family import LearnedFamily

FAMILIES: dict[str, LearnedFamily] = {
    known.name: known for known in (two_hand.FAMILY, table_top.FAMILY)
}
