"""Which agents do not play a family of ours at all; all others play every one."""

from __future__ import annotations

NOT_PLAYED: dict[str, set[str]] = {
    "expert": {"many_hand"},
    "master": {"many_hand"},
    "equilibrium": {"table_top", "many_hand"},  # which are not solved
    "learned_mixed": {"table_top", "many_hand"},  # to mix brings nothing where all is seen
}


def plays(name: str, family: str) -> bool:
    """Tell whether an agent plays the games of a family."""
    return family not in NOT_PLAYED.get(name, ())
