"""How many decisions per second does an AEC loop make, ours beside other card games?

The loop is PettingZoo's: ``agent_iter``, ``last``, a random legal action, ``step``. It draws the
action in the quickest way there is, half a microsecond; two rows draw it as users do. OpenSpiel's
states and RLCard run their own shortest loops; a loop over states makes no observation and no mask.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks import peers
from benchmarks.timing import FULL, Contender, Findings, Settings, over_peers, race, rate_of
from crib_env import sample_legal, six_card_v0

A_PIECE = 200

_random = random.Random(1).random


def sample(mask: Any) -> int:
    """Return a random legal action; NumPy's and Gymnasium's own samplers cost far more."""
    legal = mask.nonzero()[0]
    action: int = legal.item(int(_random() * legal.size))
    return action


def loop(
    env: Any, *, mask_in_info: bool = False, choose: Callable[[Any], Any] = sample
) -> Callable[[], int]:
    """Return a piece of work: whole episodes of an AEC environment, some hundred decisions."""
    env.reset(seed=1)

    def piece() -> int:
        done = 0
        while done < A_PIECE:
            env.reset()
            for _ in env.agent_iter():
                observation, _, terminated, truncated, info = env.last()
                if terminated or truncated:
                    env.step(None)
                else:
                    env.step(choose((info if mask_in_info else observation)["action_mask"]))
                    done += 1
        return done

    return piece


def measure(settings: Settings = FULL) -> Findings:
    """Measure ``raw_env`` and ``env`` of six-card cribbage, and the peers installed."""
    raw = Contender("six_card_v0.raw_env", rate_of(loop(six_card_v0.raw_env())))
    checked = Contender("six_card_v0.env", rate_of(loop(six_card_v0.env())))
    rng, space = np.random.default_rng(1), six_card_v0.env().action_space("player_0")
    drawn = [
        Contender(
            f"six_card_v0.env, actions by {name}", rate_of(loop(six_card_v0.env(), choose=by))
        )
        for name, by in (
            ("crib_env.sample_legal", lambda mask: sample_legal(mask, rng)),
            ("action_space.sample", lambda mask: int(space.sample(mask))),
        )
    ]
    bare: list[Contender] = []
    wrapped: list[Contender] = []
    native: list[Contender] = []
    notes: list[str] = []
    if settings.peers:
        for module in peers.PETTINGZOO:
            for kind, found in (("raw_env", bare), ("env", wrapped)):
                try:
                    env = peers.pettingzoo_env(module, kind)
                except ImportError as error:
                    notes.append(f"{module}.{kind} was not measured: {error}")
                else:
                    found.append(Contender(f"{module}.{kind}", rate_of(loop(env)), peer=True))
        try:
            env = peers.shimmy_cribbage()
        except ImportError as error:
            notes.append(f"OpenSpiel cribbage through Shimmy was not measured: {error}")
        else:
            rate = rate_of(loop(env, mask_in_info=True))
            bare.append(Contender("OpenSpiel cribbage through Shimmy", rate, peer=True))
        native, missing = peers.single_games()
        notes += missing
    ours = [raw, checked]
    rows = race([*ours, *drawn, *bare, *wrapped, *native], "decisions/s", settings)
    by_name = {row.name: row for row in rows}
    against_raw = [by_name[c.name] for c in [*bare, *native]]
    against_checked = [by_name[c.name] for c in wrapped]
    ratios = over_peers(rows[0], against_raw) + over_peers(rows[1], against_checked)
    return Findings("AEC loop, one game", rows, ratios, notes)
