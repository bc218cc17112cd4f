"""Families of games with hands: one source, compiled for the sizes of each family."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from crib_env.engine.family import Family, Features, Kernel, Kernels, Layout
from crib_env.engine.hands import records
from crib_env.engine.hands.encode import ACTIONS, encode_mask
from crib_env.engine.hands.notation import hands_notation
from crib_env.engine.hands.picture import closing
from crib_env.engine.hands.records import DEAL, MATCH, PEGGING_ONLY
from crib_env.engine.hands.slots import draw_slot, slot_of
from crib_env.engine.hands.suits import canonical_suits
from crib_env.engine.hands.text import hand_of, render, why_illegal
from crib_env.engine.hands.transitions import begin_episode, expected_kernels, step, tally_column
from crib_env.engine.hands.views import view_kernel
from crib_env.engine.record import array_of


def hands_family(
    name: str,
    size: records.Sizes,
    *,
    episodes: tuple[str, ...],
    encode: Kernel,
    layout: Layout,
    write_features: Kernel,
    features: Features,
    draw: Callable[..., list[str]],
    canonical: bool = False,
) -> Family:
    """Return a family of games with hands; the arguments are those of `Family` and `Kernels`."""
    view = view_kernel(size)
    view_record = records.view_record(size)
    kernels = Kernels(
        begin_episode=begin_episode,
        find_move=slot_of,
        draw_move=draw_slot,
        step=step,
        view=view,
        encode=encode,
        encode_mask=encode_mask,
        tally_column=tally_column,
        write_features=write_features,
    )
    return Family(
        name=name,
        rules=records.rules_record(size),
        state=records.state_record(size),
        view=view_record,
        kernels=kernels,
        episodes={episode: records.EPISODES[episode] for episode in episodes},
        actions=ACTIONS,
        layout=layout,
        phases=("pegging", "hand", "crib"),
        hand=hand_of,
        hidden_card=lambda state: int(state["starter"]),
        why_illegal=why_illegal,
        text=render,
        notation=hands_notation(crib=size.crib > 0),
        worst_loss=worst_loss,
        draw=draw,
        closing=closing,
        features=features,
        expected=expected_kernels(kernels),
        canonical=canonical_suits(kernels, array_of(view_record), name) if canonical else {},
    )


A_CARD = 15  # played: four alike (12), fifteen (2), and the last card (1); a run makes less (H4)
A_HAND = 29  # shown, and the crib (C2): three fives and a jack, the starter the fourth five


def worst_loss(rules: Any, expected: bool) -> int:
    """Return an upper bound of the points that a side can still lose to the mean of the others.

    The others make all they can and the side makes nothing. A game ends at its target (which does
    not cut ``expected`` points), and every deal pegs a point for its last card.
    """
    sides, target, episode = (int(rules[name]) for name in ("sides", "target", "episode"))
    seats = int(rules["players"]) // sides  # of a side
    pegged = seats * int(rules["dealt"] - rules["discards"]) * A_CARD
    shown = 0 if episode == PEGGING_ONLY else (seats + 1) * A_HAND + int(rules["heels"])
    if episode in (DEAL, PEGGING_ONLY):
        return pegged + shown if expected else min(pegged + shown, target)
    deals = sides * (target - 1) + 1
    game = target + deals * shown if expected else target
    games = sides * (int(rules["match_target"]) - 1) + 1 if episode == MATCH else 1
    return games * game
