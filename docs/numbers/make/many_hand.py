"""The page of the games for three and four: points by seat, winners and discards, by self-play."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from crib_agents.data.tables import MANY_HAND
from crib_training.evaluation.duplicate import Estimate, estimate
from crib_training.evaluation.markdown import table
from crib_training.tables.many_hand.cribs import mean_cribs

from crib_env.batch import GameBatch
from crib_env.engine.many_hand import HAND
from crib_env.rules import PRESETS, Rules
from crib_env.scoring.many import score_hands
from docs.numbers.make.episodes import Episodes
from docs.numbers.make.pages import percent, points
from docs.numbers.make.run import Run

Array = npt.NDArray[Any]

PHASES = ("pegging", "hand", "crib")
# Sides from the dealer's to the left.
PLACES = {
    "three_hand": ("dealer", "dealer's left", "dealer's right"),
    "four_hand": ("dealer's side", "other side"),
}
TITLES = {"three_hand": "Three hands", "four_hand": "Four hands, two partnerships"}
RANKS = "A23456789TJQK"
WHOSE = ("another's crib", "own crib")
SEATS = ("dealer", "dealer's left", "dealer's partner", "dealer's right")  # of partners
PEGGING = 0  # in a tally


def by_place(values: Array, dealer: Array) -> Array:
    """Return values by side, [E, sides, ...], from the dealer's side to the left."""
    sides = values.shape[1]
    order = (dealer[:, None] + np.arange(sides)) % sides
    turned: Array = values[np.arange(len(values))[:, None], order]
    return turned


def discard_rates(deals: Episodes, sides: Array) -> list[list[Estimate]]:
    """Return how likely a card dealt is discarded, by whose crib (`WHOSE`) and by rank."""
    states = deals.states
    players = len(sides)
    dealt = states["dealt"][:, : HAND * players].reshape(-1, players, HAND)
    laid = states["discarded"][:, :players, None] >> np.arange(HAND) & 1
    own = sides[None] == deals.first_dealer[:, None]
    rates = []
    for crib in (False, True):
        cards, gone = dealt[own == crib] >> 2, laid[own == crib]
        rates.append([estimate(gone[cards == r].astype(float)) for r in range(len(RANKS))])
    return rates


def by_seat(rules: Rules, run: Run) -> dict[str, dict[str, Estimate]]:
    """Return what each seat of a game of partners pegs in a deal, and what its hand counts.

    A tally is by side, so deals are played once more here; what a side pegs is the mover's.
    """
    deals = GameBatch(rules, run.deals, players=len(SEATS), episode="deal", seed=run.seed)
    deals.reset()
    states, rng = deals.states, np.random.default_rng(run.seed)
    everyone = np.arange(len(states))
    pegged = np.zeros((len(states), len(SEATS)))
    running = deals.running()
    while len(running):
        movers = states["to_move"][running].copy()
        before = deals.tally[running, :, PEGGING].sum(axis=1)
        deals.ask(run.agent, running, rng)
        pegged[running, movers] += deals.tally[running, :, PEGGING].sum(axis=1) - before
        running = deals.running(running)
    found = {}
    for places, name in enumerate(SEATS):
        seat = (states["dealer"] + places) % len(SEATS)
        dealt = states["dealt"][:, :-1].reshape(len(states), len(SEATS), HAND)[everyone, seat]
        kept = states["discarded"][everyone, seat][:, None] >> np.arange(HAND) & 1 == 0
        counted = score_hands(dealt[kept].reshape(len(states), HAND - 1), states["starter"])
        found[name] = {
            "pegging": estimate(pegged[everyone, seat]), "hand": estimate(counted.astype(float)),
        }  # fmt: skip
    return found


def section(preset: str, run: Run) -> tuple[str, dict[str, Any]]:
    """Return the text and the figures of one game."""
    rules = PRESETS[preset]
    players = 3 + MANY_HAND.index(preset)
    sides = np.arange(players) % len(PLACES[preset])
    deals = run.play(rules, "deal", run.deals, players=players)
    games = run.play(rules, "game", run.games, players=players)
    made = by_place(deals.points, deals.first_dealer)
    won = by_place(games.winner[:, None] == np.unique(sides), games.first_dealer)
    data: dict[str, Any] = {"deals": len(made), "games": len(won), "places": {}}
    rows = []
    for i, place in enumerate(PLACES[preset]):
        shown = {phase: estimate(made[:, i, k]) for k, phase in enumerate(PHASES)}
        shown["all"] = estimate(made[:, i].sum(axis=1))
        wins = estimate(won[:, i].astype(float))
        rows.append([place, *map(points, shown.values()), percent(wins)])
        data["places"][place] = {**shown, "games won as first dealt": wins}
    data["deals per game"] = estimate(games.deals)
    rates = discard_rates(deals, sides)
    cribs = mean_cribs(deals.states, rules, sides)
    cells = [
        [rank, *(cell for i in range(2) for cell in (percent(rates[i][r]), f"{cribs[i, r]:.2f}"))]
        for r, rank in enumerate(RANKS)
    ]
    data["discarded"] = dict(zip(WHOSE, rates, strict=True))
    data["mean crib"] = dict(zip(WHOSE, cribs.tolist(), strict=True))
    heads = [head for whose in WHOSE for head in (f"discarded to {whose}", "mean crib with it")]
    alone = ""
    if len(PLACES[preset]) < players:
        data["seats"] = by_seat(rules, run)
        of_seats = [[name, *map(points, one.values())] for name, one in data["seats"].items()]
        alone = f"""
By seat, in as many other deals; heels are the dealer's:

{table(["seat", "pegging", "hand"], of_seats, numbers=True)}
"""
    text = f"""## {TITLES[preset]}

{len(made):,} deals from 0-0, each played to its end, and {len(won):,} games to {rules.target}, of
{points(data["deals per game"])} deals. The last column is the share of games won by who had that
place in the first deal.

{table(["place", *PHASES, "all points per deal", "games won"], rows, numbers=True)}
{alone}
How often a card dealt is discarded, and the mean crib if a card of that rank is discarded in any
hand that holds one, all other seats discarding as they do:

{table(["card", *heads], cells, numbers=True)}
"""
    return text, data


def page(run: Run) -> tuple[str, dict[str, Any]]:
    """Return the page and the figures of both games."""
    sections = {preset: section(preset, run) for preset in MANY_HAND}
    text = "\n".join(text for text, _ in sections.values())
    return text, {preset: data for preset, (_, data) in sections.items()}
