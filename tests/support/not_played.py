"""The families that some agents do not play; all other agents play every family."""

from __future__ import annotations

NOT_PLAYED: dict[str, set[str]] = {
    "expert": {"many_hand"},
    "master": {"many_hand"},
    "equilibrium": {"table_top", "many_hand"},  # not solved
    "learned_mixed": {"table_top", "many_hand"},  # trained for two-hand games alone
}


def plays(name: str, family: str) -> bool:
    """Tell whether an agent plays the games of a family."""
    return family not in NOT_PLAYED.get(name, ())
