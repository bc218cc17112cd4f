"""Rate agents by a round-robin of duplicate games.

    crib tournament rule_based greedy random --pairs 2000 --out runs/tournament

Every pair of agents meets in duplicate pairs: the two play each sequence of deals twice, with the
seats swapped. Among three sides or more, each agent meets copies of each other, from every seat.
With ``--gauntlet`` only the first agent meets the others. All pairings have the same deals. The
command writes ``results.json``, ``report.md`` and ``ratings.png`` to the folder, and while it plays
``chunks.jsonl``, from which a stopped tournament resumes. An agent that fails, by an illegal
action, an exception or running over time, forfeits that game, and the tournament continues. Results
do not depend on the number of workers.
"""

from __future__ import annotations

import math
import sys
import time
import traceback
from collections.abc import Mapping
from dataclasses import KW_ONLY
from itertools import combinations, product
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from crib_agents.data.tables import ROLES
from crib_agents.files import write_whole
from crib_agents.loading import TakesAgents
from pydantic import Field

from crib_env.arrays import Array
from crib_env.batch import usable_cores
from crib_env.errors import nearest
from crib_env.settings import Count, NewFolder, Whole, checked_dataclass
from crib_training.evaluation.chunks import Setup, label_agents
from crib_training.evaluation.duplicate import Pairs, estimate
from crib_training.evaluation.figures import NOTHING, as_json, figures
from crib_training.evaluation.ledger import Ledger, complete
from crib_training.evaluation.ratings import expected_share, rated
from crib_training.evaluation.referee import counted
from crib_training.evaluation.report import draw, report
from crib_training.outputs import claimed, per_second, write_json
from crib_training.provenance import versions
from crib_training.workers import Workers, chosen_workers


@checked_dataclass(frozen=True)
class Settings(Setup, TakesAgents):
    """Rate agents by a round-robin of duplicate games.

    Attributes:
        pairs: duplicate pairs per pairing and seed; among three sides, sets of three.
        until: stop a pairing once the interval of its games won is within this many percentage
            points to either side; pairs is then the maximum.
        anchor: the agent with rating 0; by default the mean rating is 0.
        workers: number of processes; 0 plays in the command's own process.
        ray_address: play on this Ray cluster instead.
        out: the folder for results.
    """

    _: KW_ONLY
    pairs: Count = 2000
    until: Annotated[float, Field(gt=0, le=100)] | None = None
    anchor: str | None = None
    workers: Annotated[Whole, Field(ge=0, le=4096)] = usable_cores()
    ray_address: str | None = None
    out: NewFolder = Path("runs/tournament")

    def __post_init__(self) -> None:
        object.__setattr__(self, "agents", tuple(map(self.trusted, self.agents)))
        super().__post_init__()


def tournament(
    setup: Setup, pairs: int, out: Path, workers: Workers, *, until: float | None = None, anchor: str | None = None
) -> dict[str, Any]:
    """Play or resume a tournament, and return its results, ready for JSON."""
    if pairs < 1:
        raise ValueError(f"pairs must be at least 1, got {pairs!r}")
    if until is not None and until <= 0:
        raise ValueError(f"until must be above 0 percentage points, got {until!r}")
    names = label_agents(setup)
    if anchor is not None and anchor not in names:
        meant = nearest(anchor, names)
        raise ValueError(f"the anchor {anchor!r} is not in the field: {', '.join(names)}{meant}")
    with claimed(out):
        ledger = Ledger(out, setup)
        began, there = time.perf_counter(), set(ledger.records)
        records = complete(ledger, pairs, workers, until)
        seconds = time.perf_counter() - began
        new = sum(setup.sides * chunk.pairs for chunk in ledger.records.keys() - there)
        played = {pairing: setup.played(pairing, chunks) for pairing, chunks in records.items()}
        results = standings(setup, names, played, pairs, until, anchor)
        write_json(out / "results.json", results)
        write_whole(out / "report.md", report(results).encode())
        drawn = draw(results, out / "ratings.png")
    resumed = f"; {len(there)} chunks were there already" if there else ""
    picture = ", ratings.png" if drawn else " (no ratings.png: matplotlib is not installed)"
    print(
        f"{new:,} games (and as many single deals) in {seconds:.1f} s: "
        f"{per_second(new / seconds)} games/s{resumed}. In {out}: results.json, "
        f"report.md{picture}",
        file=sys.stderr,
    )
    return results


def standings(
    setup: Setup,
    names: list[str],
    played: Mapping[tuple[int, int], tuple[Pairs, Pairs]],
    pairs: int,
    until: float | None,
    anchor: str | None,
) -> dict[str, Any]:
    """Return a tournament's results, ready for JSON."""
    _, rules = setup.game
    shares = {pairing: games.shares_won for pairing, (games, _) in played.items()}
    scores = {pairing: setup.sides * share for pairing, share in shares.items()}
    opponents = setup.sides - 1
    agents = rated(names, scores, setup.seed[0], anchor, together=True, opponents=opponents)
    pairings = [
        {
            "first": names[i],
            "second": names[j],
            "pairs": len(games.scores),
            **figures(rules, (names[i], names[j]), games, deals, setup.episode, setup.adjust),
        }
        for (i, j), (games, deals) in played.items()
    ]
    expected = expected_share(np.array([agent["rating"] for agent in agents]), opponents)
    misfits = [abs(float(share.mean()) - expected[pair]) for pair, share in shares.items()]
    label = dict(zip(setup.agents, names, strict=True))
    failures = [f for pair in played.values() for kind in pair for f in kind.failures]
    return {
        "environment": setup.env,
        "rules": setup.rules or rules.name,
        "episode": setup.episode,
        "players": setup.players,
        "sides": setup.sides,
        "pairs": pairs,
        "until": until,
        "chunk": setup.chunk,
        "seed": setup.seed[0] if len(setup.seed) == 1 else list(setup.seed),
        "move_seconds": setup.move_seconds,
        "versions": versions(),
        "anchor": anchor,
        "agents": [
            {
                "name": name,
                "given": setup.agents[place],
                **agent,
                **_overall(name, [r for r in pairings if name in (r["first"], r["second"])]),
                "won": mean_won(
                    [
                        share if place == pair[0] else 1 - share
                        for pair, share in shares.items()
                        if place == pair[0] or (place == pair[1] and opponents == 1)
                    ]
                ),
            }
            for place, (name, agent) in enumerate(zip(names, agents, strict=True))
        ],
        "pairings": pairings,
        "compared": compared(names, shares) if setup.gauntlet else [],
        "largest_misfit": max(misfits),
        "failures": counted(failures, label),
    }


def mean_won(shares: list[Array]) -> dict[str, float | None]:
    """Return the mean over an agent's opponents, each with equal weight; `NOTHING` without any.

    All pairings have the same deals, so their results correlate; the interval accounts for that.
    """
    if not shares:
        return NOTHING
    variance = 0.0
    for one, other in product(shares, repeat=2):
        common = min(len(one), len(other))
        together = np.cov(one[:common], other[:common])[0, 1] if common > 1 else math.nan
        variance += together / max(len(one), len(other))
    half = 1.96 * math.sqrt(max(variance, 0.0)) / len(shares) if variance == variance else None
    return {"mean": float(np.mean([share.mean() for share in shares])), "ci95": half}


def compared(names: list[str], shares: Mapping[tuple[int, int], Array]) -> list[dict[str, Any]]:
    """Return how each two agents compare by games against the same third, ready for JSON."""
    found = []
    for one, other in combinations(shares, 2):
        common = min(len(shares[one]), len(shares[other]))
        won = as_json(estimate(shares[other][:common] - shares[one][:common]))
        found.append({"one": names[one[1]], "than": names[other[1]], "won": won})
    return found


def _overall(name: str, pairings: list[dict[str, Any]]) -> dict[str, Any]:
    """Return an agent's points and forfeits over its pairings, each opponent with equal weight."""
    points = [{role: r["points_per_deal"][role][name] for role in ROLES} for r in pairings]
    return {
        "points_per_deal": {
            role: {phase: _mean([p[role][phase] for p in points]) for phase in points[0][role]} for role in ROLES
        },
        "forfeits": sum(r["forfeits"][name] for r in pairings),
    }


def _mean(values: list[dict[str, float | None]]) -> dict[str, float | None]:
    """Return the mean of estimates from the same deals, each with equal weight.

    Their correlation is unknown, so the interval is an upper bound.
    """
    known = [v for v in values if v["mean"] is not None]
    if not known:
        return NOTHING
    halves = [v["ci95"] for v in known if v["ci95"] is not None]
    return {
        "mean": float(np.mean([v["mean"] for v in known])),
        "ci95": float(np.mean(halves)) if len(halves) == len(known) else None,
    }


def run(settings: Settings) -> None:
    """Play the tournament and print its report."""
    workers = chosen_workers(settings.workers, settings.ray_address)
    try:
        results = tournament(
            settings, settings.pairs, settings.out, workers, until=settings.until, anchor=settings.anchor
        )
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"the same command resumes from the chunks in {settings.out}") from None
    except RuntimeError:
        if settings.strict:
            traceback.print_exc()
        raise
    print(report(results))
