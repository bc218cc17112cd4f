"""`Rules` as the record of numbers the kernels read."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from crib_env.engine.two_hand.records import DEAL, GAME, MATCH, PLAY_ONLY, RULES
from crib_env.rules import Rules, TwoHandRules, find_rules

EPISODES = {"deal": DEAL, "game": GAME, "match": MATCH, "play": PLAY_ONLY}


def rules_record(rules: Rules, episode: str) -> npt.NDArray[np.void]:
    """Return the `RULES` record, shape [1], of two-hand rules for an episode.

    Raises:
        ValueError: rules of another game, or an unknown episode.
    """
    rules = find_rules(rules, TwoHandRules)
    if episode not in EPISODES:
        raise ValueError(
            f"episode must be one of {', '.join(map(repr, EPISODES))}, got {episode!r}"
        )
    record = np.zeros(1, dtype=RULES)
    for field in RULES.names or ():
        if hasattr(rules, field):
            record[field] = getattr(rules, field)
    record["episode"] = EPISODES[episode]
    return record
