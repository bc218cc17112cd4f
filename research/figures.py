"""The figures that README, the paper and the documentation's first page quote, and those pages.

    python -m research.figures    # write the pages of their templates

The templates name the figures of `figures`, each of which comes from a file of `docs/numbers` or of
the leaderboard.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from crib_training.evaluation.duplicate import estimate
from crib_training.evaluation.figures import as_json
from crib_training.evaluation.report import shown
from crib_training.exploit import Estimate
from crib_training.rate import Results, read

from docs.pages import render, write_changed
from research.benchmark_runs import levels_of, read_ledger

ROOT = Path(__file__).parents[1]
NUMBERS = ROOT / "docs" / "numbers"
PAGES = {"README": ROOT / "README.md", "index": ROOT / "docs" / "index.md", "paper": ROOT / "paper" / "paper.md"}
EXACT, APPROXIMATE, BOUND = "exact", "approximate", "at least"  # kinds of exploitability figures


@cache
def stored(name: str) -> Any:
    """Return a file of `docs/numbers`."""
    return json.loads((NUMBERS / f"{name}.json").read_text("utf-8"))


def speed(script: str, name: str) -> float:
    """Return a median of `python -m benchmarks`."""
    found = stored("speed")["findings"][script]
    (row,) = (row for row in [*found["rows"], *found["ratios"]] if row["name"] == name)
    return float(row["median"])


def won(name: str, opponent: str, env: str = "six_card_v0") -> str:
    """Return the games in per cent that an agent of the leaderboard won from another."""
    return share_won(read(ROOT / "leaderboard" / name / f"{env}.json"), opponent)


def share_won(results: Results, opponent: str) -> str:
    """Return the games in per cent that results say were won from an opponent."""
    return shown(as_json(estimate(results.won(opponent) / results.sides)), 100, 1, "")


def gains() -> Iterator[tuple[str, str, str, str]]:
    """Yield rules, agent, exploitability and its kind for every measured agent.

    If the best response was rolled out, the figure is the rollouts' mean: a lower bound for any
    agent.
    """
    for one in stored("exploitability")["agents"]:
        exact = not one["agreement"]["otherwise"]
        if "played" in one and not exact:
            yield one["rules"], one["agent"], str(Estimate(**one["played"]["both"])), BOUND
        else:
            gain = str(Estimate(**one["gain"]["both"]["all"]))
            yield one["rules"], one["agent"], gain, EXACT if exact else APPROXIMATE


def figures() -> dict[str, Any]:
    """Return the figures, or functions that return them, by their names in the templates."""
    mixed = levels_of(read_ledger())["learned_mixed"]
    if not mixed["exact"]:
        raise ValueError("README calls the figure of learned_mixed exact, and its row is not")
    mean, half = mixed["gain"]["both"]["all"]
    recorded = {one["what"]: one["figures"] for one in stored("recorded")["records"]}
    return {
        # millions a second
        "batch": speed("batch", "six_card, N=1024") / 1e6,
        "vector": speed("vector", "make_vec SixCard-v0, N=4096, copy=True, 1 thread") / 1e6,
        "aec": speed("aec", "six_card_v0.env") / 1e6,
        "peer": speed("batch", "six_card, N=1024 / OpenSpiel cribbage, states only"),
        "won": won,
        "pairs": f"{read(ROOT / 'leaderboard' / 'expert' / 'six_card_v0.json').pairs:,}",
        "exploitability": {(rules, name): (gain, kind) for rules, name, gain, kind in gains()},
        "learned_mixed": f"{mean:.3f} ± {half:.3f}",
        "scale": recorded["The ends of the benchmark's scale, rounded"],
        "self_play": recorded["A minute of self-play"],
        "ppo": recorded["MaskablePPO with its defaults"],
        "cuda": recorded["the CUDA build of PyTorch with its libraries"],
    }


def main() -> None:
    """Run the command line."""
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    for name, path in PAGES.items():
        write_changed(path, render(name, **figures()))


if __name__ == "__main__":
    main()
