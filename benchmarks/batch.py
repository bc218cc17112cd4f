"""How many decisions per second does the compiled batch make in random play?

An observation and an action mask are written at every decision; actions are drawn in compiled code
from each lane's own generator. One core unless the row says otherwise. Where a policy plays the
rest of the deal, its decisions are not counted: in ``discard_v0`` about two for each of the
players'.
"""

from __future__ import annotations

from benchmarks import peers
from benchmarks.lanes import Lanes
from benchmarks.timing import (
    FULL,
    Contender,
    Findings,
    Settings,
    over_peers,
    race,
    rate_of,
    ratio,
)
from crib_env.engine.hands.records import DISCARD, PEGGING

MANY = 4096


def contender(name: str, lanes: Lanes) -> Contender:
    """Return lanes as a contender."""
    return Contender(name, rate_of(lanes.play))


def measure(settings: Settings = FULL) -> Findings:
    """Measure every game there is, one core against two, and the peers installed."""
    n = 64 if settings.quick else 1024
    many = 64 if settings.quick else MANY
    contenders = [
        contender(f"six_card, N={n}", Lanes("hoyle", n)),
        contender(f"six_card, N={many}, 1 thread", Lanes("hoyle", many)),
        contender(f"six_card, N={many}, 2 threads", Lanes("hoyle", many, threads=2)),
        contender(f"five_card, N={n}", Lanes("five_card", n)),
    ]
    for rules, players in (("table_top", 2), ("table_top", 4), ("table_top_ship", 2)):
        lanes = Lanes(rules, n, players=players)
        contenders.append(contender(f"{rules} for {players}, N={n}", lanes))
    for rules, players in (("three_hand", 3), ("four_hand", 4)):
        lanes = Lanes(rules, n, players=players)
        contenders.append(contender(f"{rules}, N={n}", lanes))
    for name, episode, phase in (("discard", "deal", PEGGING), ("pegging", "pegging", DISCARD)):
        lanes = Lanes("hoyle", n, episode=episode, phase=phase)
        contenders.append(contender(f"{name}, policy random, N={n}", lanes))
    notes = []
    if settings.peers:
        single, missing = peers.single_games()
        many_games, more_missing = peers.batches()
        contenders += many_games + [c for c in single if "cribbage" in c.name]
        notes += missing + more_missing
    rows = race(contenders, "decisions/s", settings)
    ratios = [
        ratio(f"six_card, N={many}: 2 threads / 1 thread", rows[2], rows[1]),
        *over_peers(rows[0], rows),
    ]
    return Findings("Compiled batch, random play", rows, ratios, notes)
