"""The compiled functions of a family of games, by the names under which every entry calls them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from crib_env.engine.jit import Entry, kernel
from crib_env.engine.returns import win_return

Kernel = Callable[..., Any]


class Feature(NamedTuple):
    """A number for each action, 0 where the action is not legal.

    Attributes:
        name: of its slice of the observation, which has one entry an action.
        low, high: its bounds.
        meaning: what it is, with its unit.
    """

    name: str
    low: float
    high: float
    meaning: str


@kernel
def whole_points(rules):
    """Return 1: the gain of a state counts points."""
    return 1


@kernel
def no_features(v, table, level, out):
    """Write nothing: the family has no features."""


@dataclass(frozen=True, eq=False)
class Kernels:
    """The kernels of a family, under the names by which every entry calls them.

    ``s`` is a state, ``rules`` a rules record, ``v`` a view, ``log`` int64[log_size]. An *action*
    is what a seat chooses; a *move* is what `step` takes: in Table Top the action itself, in the
    two-hand games the place of the card among those dealt, so that it is looked for once.

    Attributes:
        begin_episode: ``(s, rules, decks, dealer, log)``; ``dealer`` a seat, or NONE to cut.
        find_move: ``(s, rules, action) -> move``, NONE if the action, any number, is not legal.
        draw_move: ``(s, rules, rng) -> move``, each legal one as likely.
        action_of: ``(s, move) -> action``.
        step: ``(s, rules, decks, table, move, log)``, for the seat to move.
        view: ``(s, rules, seat, v)``: the one gate to what a seat may know.
        encode: ``(v, obs)``, the observation. encode_mask: ``(v, mask)``, the legal actions.
        phase_of: ``(reason) -> column``: where a tally keeps points of this reason, or NONE.
        returns: ``(s, rules, side) -> float``, what an ended episode brings a side; over the sides
            it sums to zero.
        unit: ``(rules) -> n``, how many of a state's ``gain`` make a point.
        write_features: ``(v, table, level, out)``, the features of the first ``level`` levels, one
            after the other in ``out`` (float32[features * actions]).
    """

    begin_episode: Kernel
    find_move: Kernel
    draw_move: Kernel
    action_of: Kernel
    step: Kernel
    view: Kernel
    encode: Kernel
    encode_mask: Kernel
    phase_of: Kernel
    returns: Kernel = win_return
    unit: Kernel = whole_points
    write_features: Kernel = no_features


class CanonicalSuits(NamedTuple):
    """What a family has for ``suits="canonical"`` or ``"ranks"``: equal situations look equal.

    Attributes:
        kernels: those that take the place of the ones in `Kernels`, by name.
        relabel_views: ``(views)``, an entry: writes canonical cards over the cards of each view,
            and hides what these suits hide.
    """

    kernels: dict[str, Kernel]
    relabel_views: Entry
