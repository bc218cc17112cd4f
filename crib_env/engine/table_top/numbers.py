"""`Rules` and the number of players as the record of numbers the kernels read."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from crib_env.engine.table_top.records import GAME, ROUND, TABLE_RULES
from crib_env.rules import Rules, TableTopRules, find_rules

EPISODES = {"round": ROUND, "game": GAME}
PLAYERS = (2, 4)


def rules_record(rules: Rules, episode: str, players: int) -> npt.NDArray[np.void]:
    """Return the `TABLE_RULES` record, shape [1], of Table Top rules for an episode.

    Raises:
        ValueError: rules of another game, an unknown episode, or another number of players than
            two or four (T1).
    """
    rules = find_rules(rules, TableTopRules)
    if episode not in EPISODES:
        raise ValueError(
            f"episode must be one of {', '.join(map(repr, EPISODES))}, got {episode!r}"
        )
    if isinstance(players, bool) or players not in PLAYERS:
        raise ValueError(f"players must be 2 or 4, got {players!r}")
    record = np.zeros(1, dtype=TABLE_RULES)
    for field in TABLE_RULES.names or ():
        if hasattr(rules, field):
            record[field] = getattr(rules, field)
    record["players"] = players
    record["episode"] = EPISODES[episode]
    return record
