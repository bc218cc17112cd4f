"""A toy game as a family of anyone's would be added: this package, a page and a line.

Nothing in crib_env knows of it; `tests/envs/test_contract.py` registers it and plays it too.
"""

from __future__ import annotations

from typing import Any

from crib_env.engine.family import Family, Kernels
from toy import records
from toy.encode import ACTIONS, LAYOUT, encode, encode_mask
from toy.notation import NOTATION
from toy.text import hand_of, render, why_illegal
from toy.transitions import begin_episode, card_in, draw_slot, phase_of, slot_of, step
from toy.views import view


def worst_loss(rules: Any, expected: bool) -> int:
    """Return more points than a side can lose: the target, and a deal's."""
    return int(rules["target"]) + 40


FAMILY = Family(
    engine=__name__,
    rules=records.RULES,
    state=records.TOY,
    view=records.VIEW,
    kernels=Kernels(
        begin_episode=begin_episode,
        find_move=slot_of,
        draw_move=draw_slot,
        action_of=card_in,
        step=step,
        view=view,
        encode=encode,
        encode_mask=encode_mask,
        phase_of=phase_of,
    ),
    sides={2: (0, 1), 3: (0, 1, 2)},
    episodes={"deal": records.DEAL, "game": records.GAME},
    actions=ACTIONS,
    layout=LAYOUT,
    log_size=records.LOG_SIZE,
    phases=("starter", "discarded", "kept"),
    hand=hand_of,
    hidden_card=lambda state: int(state["starter"]),
    why_illegal=why_illegal,
    text=render,
    notation=NOTATION,
    worst_loss=worst_loss,
)
