"""``render_mode="ansi"``: the game as plain text, as the seat to move may see it.

The text is ASCII without colours, so that it reads the same in a log, a test and a terminal:
``??`` is a card face down, ``(5H)`` a card that is out of play ("shadowed", H7).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from crib_env.engine.table_top import text as table_top
from crib_env.engine.two_hand import text as two_hand
from crib_env.errors import EpisodeOverError

if TYPE_CHECKING:
    from crib_env.engine.family import Family
    from crib_env.envs.aec import CribbageAEC
    from crib_env.events import Event
    from crib_env.rules import Rules

RENDERERS = {"two_hand": two_hand.render, "table_top": table_top.render}


def render(env: CribbageAEC, seat: int | None = None) -> str:
    """Return the game as text.

    Args:
        env: the environment, unwrapped and reset.
        seat: whose view to show; None is the seat to move, or that last moved.

    Raises:
        EpisodeOverError: the environment has not been reset.
    """
    if not hasattr(env, "agent_selection"):
        raise EpisodeOverError("render() before the first episode: call reset() first")
    if seat is None:
        seat = env.possible_agents.index(env.agent_selection)
    name = str(env.metadata["name"])
    return render_view(env.family, env.rules, name, env.deals, env.view(seat), env.events)


def render_view(
    family: Family, rules: Rules, name: str, deals: int, view: Any, events: Sequence[Event]
) -> str:
    """Return what a view shows as text.

    Args:
        family: the engine.
        rules: the rules.
        name: the environment's name.
        deals: which deal of the episode it is.
        view: a view record of the family.
        events: what was pegged since the last decision.
    """
    return RENDERERS[family.name](view, rules, name, deals, list(events))
