"""The page of the games for three and four: points by seat, winners and discards, by self-play."""

from __future__ import annotations

from typing import Any

import numpy as np
from crib_agents.data.tables import MANY_HAND

from crib_env.arrays import Array
from crib_env.batch import GameBatch
from crib_env.cards import RANKS
from crib_env.engine.many_hand import HAND
from crib_env.rules import PRESETS, Rules
from crib_env.scoring.many import score_hands
from docs.pages import mean, render
from research.numbers.episodes import PHASES, Episodes, Run, from_dealer
from research.tables.many_hand import mean_cribs

# Sides from the dealer's to the left.
PLACES = {"three_hand": ("dealer", "dealer's left", "dealer's right"), "four_hand": ("dealer's side", "other side")}
TITLES = {"three_hand": "Three hands", "four_hand": "Four hands, two partnerships"}
WHOSE = ("another's crib", "own crib")
SEATS = ("dealer", "dealer's left", "dealer's partner", "dealer's right")  # of partners
PEGGING = 0  # in a tally


def discard_rates(deals: Episodes, sides: Array) -> list[list[dict[str, Any]]]:
    """Return how likely a card dealt is discarded, by whose crib (`WHOSE`) and by rank."""
    states = deals.states
    players = len(sides)
    dealt = states["dealt"][:, : HAND * players].reshape(-1, players, HAND)
    laid = states["discarded"][:, :players, None] >> np.arange(HAND) & 1
    own = sides[None] == deals.first_dealer[:, None]
    rates = []
    for crib in (False, True):
        cards, gone = dealt[own == crib] >> 2, laid[own == crib]
        rates.append([mean(gone[cards == r]) for r in range(len(RANKS))])
    return rates


def by_seat(rules: Rules, run: Run) -> dict[str, dict[str, Any]]:
    """Return the pegging and the hand's points of each seat in a deal of partners.

    A tally is by side, so deals are played once more here; a side's pegging is credited to the
    mover.
    """
    deals = GameBatch(rules, run.deals, players=len(SEATS), episode="deal", seed=run.seed)
    deals.reset()
    states, rng = deals.states, np.random.default_rng(run.seed)
    everyone, movers = np.arange(len(states)), states["to_move"].copy()
    pegged = np.zeros((len(states), len(SEATS)))
    for played in deals.play(run.agent, rng):
        in_all = deals.tally[played, :, PEGGING].sum(axis=1)
        pegged[played, movers[played]] += in_all - pegged[played].sum(axis=1)
        movers[played] = states["to_move"][played]
    found = {}
    for places, name in enumerate(SEATS):
        seat = (states["dealer"] + places) % len(SEATS)
        dealt = states["dealt"][:, :-1].reshape(len(states), len(SEATS), HAND)[everyone, seat]
        kept = states["discarded"][everyone, seat][:, None] >> np.arange(HAND) & 1 == 0
        counted = score_hands(dealt[kept].reshape(len(states), HAND - 1), states["starter"])
        found[name] = {"pegging": mean(pegged[everyone, seat]), "hand": mean(counted)}
    return found


def measure(run: Run) -> dict[str, Any]:
    """Return the figures of both games."""
    return {preset: measure_game(preset, run) for preset in MANY_HAND}


def measure_game(preset: str, run: Run) -> dict[str, Any]:
    """Return the figures of one game."""
    rules = PRESETS[preset]
    players = 3 + MANY_HAND.index(preset)
    sides = np.arange(players) % len(PLACES[preset])
    deals = run.play(rules, "deal", run.deals, players=players)
    games = run.play(rules, "game", run.games, players=players)
    made = from_dealer(deals.points, deals.first_dealer)
    won = from_dealer(games.winner[:, None] == np.unique(sides), games.first_dealer)
    data: dict[str, Any] = {
        "deals": len(made),
        "games": len(won),
        "places": {
            place: {
                **{phase: mean(made[:, i, k]) for k, phase in enumerate(PHASES)},
                "all": mean(made[:, i].sum(axis=1)),
                "games won as first dealt": mean(won[:, i]),
            }
            for i, place in enumerate(PLACES[preset])
        },
        "deals per game": mean(games.deals),
        "discarded": dict(zip(WHOSE, discard_rates(deals, sides), strict=True)),
        "mean crib": dict(zip(WHOSE, mean_cribs(deals.states, rules, sides).tolist(), strict=True)),
    }
    if len(PLACES[preset]) < players:
        data["seats"] = by_seat(rules, run)
    return data


def page(data: dict[str, Any]) -> str:
    """Return the page of these figures."""
    games = [(TITLES[preset], PRESETS[preset], data[preset]) for preset in MANY_HAND]
    return render("many_hand", games=games, phases=PHASES, ranks=RANKS)
