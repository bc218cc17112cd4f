"""Learn how the expert chooses a card, ``choices.npz``, from its own games.

Run ``crib tables choices`` (some two CPU minutes). The expert plays games against itself. The
rollout policy's tables learn to predict its choices in the pegging: a softmax over their values,
with the rollout policy's own temperature, minimises the cross entropy of the choices, by stochastic
gradient descent in passes of falling step. A tenth of the choices is held out. It shows how well
the tables predict choices that they have not seen.

The values then no longer mean points after a card. But a search that models the other seat by such
a softmax predicts the expert's replies far better with them.
"""

from __future__ import annotations

import math

import numpy as np
from crib_agents.data.tables import CHOICES, save
from crib_agents.expert.belief import (
    SIZE,
    TABLES,
    all_shared_values,
    replay,
    softmax,
    write_places,
)
from crib_agents.expert.pegging import SCRATCH, SCRATCH_T, UNIT, read_tables
from crib_agents.knowledge.pegging import (
    DISTINCT,
    LISTED,
    ME,
    POSITION,
    POSITIONS_T,
    copy,
    held_ranks,
    holdings,
    number,
    put,
)
from crib_agents.loading import load_agent
from numba import float64, int64, void

from crib_env.arrays import Array
from crib_env.batch import GameBatch
from crib_env.engine.hands.records import PEGGING
from crib_env.engine.jit import entry
from crib_env.engine.two_hand import VIEWS_T
from crib_env.policy import Agent
from crib_env.rules import TwoHandRules
from crib_env.settings import Count, NewFile, Seed, checked_dataclass
from crib_training.exploit.validate import with_choice
from crib_training.progress import steps
from crib_training.tables.files import made_by
from crib_training.tables.two_hand.dealing import both_games

STEPS = (0.1, 0.1, 0.05, 0.05, 0.02, 0.01, 0.005)
LANES = 2000
HELD_OUT = 10  # one choice in this many is held out
DEALS_A_GAME = {6: 9, 5: 7}
NEVER = 1e-9  # a chance is taken to be this at least


@entry(
    void(
        VIEWS_T, int64[::1], int64[:, ::1], float64[::1], int64, float64, POSITIONS_T, SCRATCH_T,
        int64[::1], float64[::1],
    )
)  # fmt: skip
def learn(views, ranks, hands, weights, base, rate, positions, scratch, places, found):
    """Measure how well the tables predict choices, and move them towards each after it.

    Args:
        views: of seats with a choice of ranks in pegging.
        ranks: int64[B], the ranks they chose.
        hands: `holdings`.
        weights: float64[2 * SIZE], the tables, updated.
        base: where the game's tables begin.
        rate: the step; 0 to learn nothing.
        positions: two of `POSITION`, scratch.
        scratch: a `SCRATCH` of the search.
        places: int64[TABLES], scratch.
        found: float64[2], written: the mean of minus the logarithm of the chance given to what was
            chosen, and how often that was the likeliest.
    """
    p = positions[0]
    s = scratch[0]
    s["base"] = base
    found[0] = 0.0
    found[1] = 0.0
    for i in range(views.shape[0]):
        v = views[i]
        replay(v, p, 0, s, hands, weights)
        held = number(held_ranks(v))
        all_shared_values(p, ME, weights, base, s["shared"])
        softmax(p, held, hands, weights, base, s["shared"], s["chance"])
        listed = hands[held, LISTED]
        likeliest = 0
        for k in range(hands[held, DISTINCT]):
            if s["chance"][k] > s["chance"][likeliest]:
                likeliest = k
            r = listed >> (4 * k) & 15
            if min(r + 1, 10) <= 31 - p["count"]:
                error = (1.0 if r == ranks[i] else 0.0) - s["chance"][k]
                copy(p, positions[1])
                put(positions[1], ME, r)
                write_places(positions[1], ME, hands[held, r], places)
                for t in range(TABLES):
                    weights[base + places[t]] += rate * error
                if r == ranks[i]:
                    found[0] -= math.log(max(s["chance"][k], NEVER))
        found[1] += listed >> (4 * likeliest) & 15 == ranks[i]
    found[0] /= views.shape[0]
    found[1] /= views.shape[0]


def choices(
    rules: TwoHandRules, agent: Agent, deals: int, seed_seq: np.random.SeedSequence
) -> tuple[Array, Array]:
    """Let an agent play itself, whole games; return its views with a choice of ranks in the play.

    Returns the views, records [N]; int64[N], the ranks that it chose.
    """
    views, ranks = [], []
    games_at_once = LANES * DEALS_A_GAME[rules.dealt]
    chunks = seed_seq.spawn(max(1, deals // games_at_once))
    for chunk in steps(chunks, f"{rules.name}, games of {agent.name}, in parts"):
        cards, chance = chunk.spawn(2)
        rng = np.random.default_rng(chance)
        games = GameBatch(rules, min(LANES, max(1, deals // DEALS_A_GAME[rules.dealt])), seed=cards)
        games.reset()
        lanes = games.running()
        while len(lanes):
            seen = games.views(lanes)
            actions = agent.act(seen, rng)
            has_choice = (seen["phase"] == PEGGING) & with_choice(seen)
            views.append(seen[has_choice])
            ranks.append(actions[has_choice] >> 2)
            bad = games.step(lanes, actions)
            assert bad is None, games.why_illegal(lanes[bad], actions[bad])
            lanes = games.running(lanes)
    return np.concatenate(views), np.concatenate(ranks)


def fit(views: Array, ranks: Array, base: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return the game's tables, float64[SIZE], and how well they predict what was held out."""
    weights = read_tables()[0].copy()
    positions, scratch = np.zeros(2, dtype=POSITION), np.zeros(1, dtype=SCRATCH)
    places, found = np.zeros(TABLES, dtype=np.int64), np.zeros(2)
    order = rng.permutation(len(views))
    apart, learned = order[::HELD_OUT], np.delete(order, np.s_[::HELD_OUT])
    predicted = []
    for rate in (0.0, *STEPS):
        if rate > 0:
            some = rng.permutation(learned)
            learn(views[some], ranks[some], holdings(), weights, base, rate, positions, scratch,
                  places, found)  # fmt: skip
        learn(views[apart], ranks[apart], holdings(), weights, base, 0.0, positions, scratch,
              places, found)  # fmt: skip
        predicted.append(found.copy())
    return weights[base : base + SIZE], np.array(predicted)


@checked_dataclass(frozen=True, kw_only=True)
class Settings:
    """Learn how the expert chooses a card.

    Attributes:
        agent: the agent whose choices to learn.
        deals: deals of each game.
        seed: fixes all random numbers.
        out: the file to write.
    """

    agent: str = "expert"
    deals: Count = 40_000
    seed: Seed = 2031
    out: NewFile = CHOICES.path


def run(settings: Settings) -> None:
    """Learn both games' tables, print how well they predict, and write the file."""
    agent, tables = load_agent(settings.agent), []
    for i, (rules, seed_seq) in enumerate(both_games(settings.seed)):
        cards, order = seed_seq.spawn(2)
        views, ranks = choices(rules, agent, settings.deals, cards)
        learned, predicted = fit(views, ranks, i * SIZE, np.random.default_rng(order))
        tables.append(np.round(learned * UNIT).astype(np.int16))
        print(f"{rules.name}: {len(views)} choices; of those held out the likeliest was chosen "
              + ", ".join(f"{100 * hit:.1f}" for _, hit in predicted) + " % by pass, at a cross "
              "entropy of " + ", ".join(f"{loss:.3f}" for loss, _ in predicted))  # fmt: skip
    save(CHOICES, settings.out, made_by=made_by(CHOICES, settings), tables=np.stack(tables))
