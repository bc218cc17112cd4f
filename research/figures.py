"""The figures that README, the paper and the pages quote: each comes from a file of `docs/numbers`.

    python -m research.figures    # the figures on the pages of `STRICT`, and those in no file

A page quotes a figure as text. `quoted` lists the figures that the pages of `STRICT` may quote,
with words required in the same paragraph or row; every other number there is a fault, unless
`PLAIN` says that it is no measurement. On the other pages every ``mean ± half interval`` must be in
some file.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from crib_training.evaluation.duplicate import estimate
from crib_training.evaluation.figures import as_json
from crib_training.evaluation.report import shown
from crib_training.exploit import Estimate
from crib_training.rate import Results, read

from research.benchmark_runs import levels_of, read_ledger

ROOT = Path(__file__).parents[1]
NUMBERS = ROOT / "docs" / "numbers"
STRICT = ("README.md", "docs/index.md", "paper/paper.md")
# The kind of an exploitability figure, named on every page that quotes it.
EXACT, APPROXIMATE, BOUND = r"\bexact", r"approximat|≈", r"at least|lower bound"
NUMBER = re.compile(r"(?<![\w.,-])\d+(?:,\d{3})*(?:\.\d+)?(?![\w]|[.,]\d)")
INTERVAL = re.compile(r"(?<![\d.])(\d[\d.]*)(?: %)? ± (\d[\d.]*)")
# Code, the targets of links, comments, formulas' dollars and the head of a file quote no figure.
NO_PROSE = re.compile(
    r"\A---\n.*?\n---\n|^(`{3,}).*?^\1$|`[^`\n]*`|(?<=\])\([^)]*\)|<!--.*?-->|<img[^>]*>|https?://\S+|\[@[^\]]*\]",
    re.MULTILINE | re.DOTALL,
)
# Numbers of rules, names and settings: not measured.
PLAIN = re.compile(
    r"Python 3\.\d+|version \d+\.\d+\.\d+|OpenSpiel[^.]{0,60}2\.0\.2|95 %|121 points|to 121\b|5x5"
    r"|five-card cribbage to 61|towards 15|(?<=15 )and 31\b|OFL-1\.1|12,994,800 hands"
    r"|1,024 (?:six-card )?games|2\.5 GHz"
)


@dataclass(frozen=True)
class Quote:
    """A figure as a page may write it, and patterns that its paragraph or row must match."""

    text: str
    about: tuple[str, ...] = ()


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


def rounded(value: float, most: int = 1) -> set[str]:
    """Return a value as a page may round it: to whole numbers, or with decimal places."""
    return {f"{value:,.{places}f}" for places in range(most + 1)}


@cache
def quoted() -> list[Quote]:
    """Return every figure that the pages of `STRICT` may quote."""
    batch = speed("batch", "six_card, N=1024")
    peer = speed("batch", "six_card, N=1024 / OpenSpiel cribbage, states only")
    vector = speed("vector", "make_vec SixCard-v0, N=4096, copy=True, 1 thread")
    aec = speed("aec", "six_card_v0.env")
    speeds = [(f"{one} million", r"decisions") for one in rounded(batch / 1e6)]
    speeds += [(f"{one} million", r"make_vec") for one in rounded(vector / 1e6)]
    speeds += [(f"{aec / 1e6:.1f} million", r"PettingZoo")]
    speeds += [(f"{one} times", r"OpenSpiel") for one in rounded(peer, 0)]
    found = [Quote(text, (about,)) for text, about in speeds]
    agents = [path.parent.name for path in (ROOT / "leaderboard").glob("*/six_card_v0.json")]
    for name in agents:
        results = read(ROOT / "leaderboard" / name / "six_card_v0.json")
        for other in results.games:  # README's ladder is of games against `rule_based`
            about = (f"`{name}`",) if other == "rule_based" else (f"`{name}`", f"`{other}`")
            found.append(Quote(f"{won(name, other)} %", about))
        found.append(Quote(f"{results.pairs:,}", ("duplicate pairs",)))
    for rules, name, gain, exact in gains():
        mean, half = gain.split(" ± ")
        for places in (2, 3, 4):
            text = f"{float(mean):.{places}f} ± {float(half):.{places}f}"
            game = r"five-card|five cards" if rules == "five_card" else r"six-card|six cards"
            found.append(Quote(text, (f"`{name}`", exact, game)))
    for name, row in levels_of(read_ledger()).items():
        mean, half = row["gain"]["both"]["all"]
        for places in (3, 4):
            text = f"{mean:.{places}f} ± {half:.{places}f}"
            found.append(Quote(text, (f"`{name}`", EXACT if row["exact"] else APPROXIMATE)))
    for one in stored("recorded")["records"]:
        if "about" in one:
            found += [Quote(text, tuple(one["about"])) for text in one["figures"]]
    return found


def blocks(page: str) -> Iterator[str]:
    """Yield paragraphs, items of lists and rows of tables, each as one line without code."""
    for paragraph in re.split(r"\n\s*\n|\n(?=- )", NO_PROSE.sub(_hidden, page)):
        lines = paragraph.strip().split("\n")
        rows = [line for line in lines if line.startswith("|")]
        rest = " ".join(line for line in lines if not line.startswith("|"))
        yield from (*rows, *[rest] * bool(rest))


def _hidden(found: re.Match[str]) -> str:
    """Return code of one line without its digits: a quote's words may be an agent's name."""
    return re.sub(r"\d", "", found[0]) if found[0].startswith("`") else ""


def unsourced(page: str) -> list[str]:
    """Return the numbers of such a page that no file of `docs/numbers` gives."""
    quotes = quoted()
    faults = []
    for block in blocks(page):
        known = [found.span() for found in PLAIN.finditer(block)]
        for quote in quotes:
            if all(re.search(about, block) for about in quote.about):
                at = re.finditer(rf"(?<![\d.,]){re.escape(quote.text)}(?!\d|[.,]\d)", block)
                known += [found.span() for found in at]
        for found in NUMBER.finditer(block):
            if not any(start <= found.start() and found.end() <= end for start, end in known):
                faults.append(f"{found[0]} in: {block[:160]}")
    return faults


@cache
def every_interval() -> frozenset[tuple[str, str]]:
    """Return each mean and half interval of all files, rounded in every way, in per cent too."""
    pairs: set[tuple[str, str]] = set()

    def add(mean: float, half: float) -> None:
        for scale in (1, 100):
            for places in range(5):
                pairs.add((f"{abs(scale * mean):.{places}f}", f"{scale * half:.{places}f}"))

    def walk(one: Any) -> None:
        if isinstance(one, list):
            if len(one) == 2 and all(isinstance(item, float) for item in one):
                add(*one)  # as the benchmark's ledger has them
            for item in one:
                walk(item)
        elif isinstance(one, dict):
            half = one.get("half", one.get("ci95"))
            if half is not None and one.get("mean") is not None:
                add(one["mean"], half)
            for item in one.values():
                walk(item)
        elif isinstance(one, str):
            pairs.update(INTERVAL.findall(one))

    for path in NUMBERS.glob("*.json"):
        walk(json.loads(path.read_text("utf-8")))
    for path in NUMBERS.glob("*.jsonl"):
        for line in path.read_text("utf-8").splitlines():
            walk(json.loads(line))
    for path in (ROOT / "leaderboard").glob("*/*.json"):
        for opponent in read(path).games:
            walk(won(path.parent.name, opponent, path.stem))
    return frozenset(pairs)


def main() -> None:
    """Print the figures on the pages of `STRICT`; exit with 1 if some figure is in no file."""
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    faults = []
    for name in STRICT:
        page = (ROOT / name).read_text("utf-8")
        text = " ".join(blocks(page))
        print(name, *sorted({f"  {one.text}" for one in quoted() if one.text in text}), sep="\n")
        faults += [f"{name}: {fault}" for fault in unsourced(page)]
    sys.exit("\n".join(faults) or 0)


if __name__ == "__main__":
    main()
