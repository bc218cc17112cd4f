"""Check every agent of the leaderboard and make docs/leaderboard.md of them.

    python -m docs.make_leaderboard            # checks all, writes the page
    python -m docs.make_leaderboard --check    # checks alone
    python -m docs.make_leaderboard --measure  # rates first what comes with the package and is not
                                               # there yet, which takes hours

Exits with status 1, and a line for each fault, if a submission does not fit.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from crib_training.rating import (
    BLANK,
    BUILT_IN,
    CARD,
    HEADINGS,
    OUTCOMES,
    Results,
    Settings,
    folder,
    rating_table,
    read,
    run,
)

from crib_env import ENVIRONMENTS
from crib_env.registration import env_module

GAMES = ("six_card_v0", "five_card_v0", "table_top_v0")
TWO_HAND = GAMES[:2]
# What comes with the package, and where it is rated: `equilibrium` is solved for two-hand games
# alone, and at Table Top `master` plays as `expert`.
RATED = dict.fromkeys(BUILT_IN, GAMES) | {
    "master": TWO_HAND, "equilibrium": TWO_HAND, "learned_search": GAMES,
}  # fmt: skip
PAIRS, SEED = 250, 1
PAGE = Path(__file__).with_name("leaderboard.md")
LEAST_PAIRS = 200
HEAD = f"""# Leaderboard

How strong are the agents? This page rates them by duplicate games against the built-in ones.
Ratings are Elo (Bradley-Terry) with `rule_based` at 0 and 95 % intervals by a bootstrap over
pairs. The other columns give the games won against each built-in agent in per cent. [Rate your
agent](rate.md) explains how to add a row.

`python -m docs.make_leaderboard` makes this page from the folder `leaderboard/`. `crib rate` with
`--env ENV --pairs N --seed S --out leaderboard/NAME` makes its files. Each file names N, S and
the versions (for the built-in agents {PAIRS} and {SEED}). Results of fewer than {LEAST_PAIRS}
pairs are not accepted. `python -m docs.make_leaderboard --measure` rates the agents of the
package, each in the games that it plays in its own way.
"""


def entries() -> dict[str, list[Path]]:
    """Return the files of results by agent, the built-in agents first."""
    names = sorted(path.name for path in folder().iterdir() if path.is_dir())
    names.sort(key=lambda name: (name not in BUILT_IN, name))
    return {name: sorted((folder() / name).glob("*.json")) for name in names}


def faults(name: str, files: list[Path]) -> list[str]:
    """Return what does not fit in an agent's folder, a line each."""
    found = []
    if not re.fullmatch(r"[a-z0-9_]+", name):
        found.append(f"{name}: a name has small letters, digits and underscores alone")
    card = folder() / name / CARD
    text = card.read_text() if card.is_file() else ""
    missing = [heading for heading in HEADINGS if f"\n## {heading}\n" not in text]
    if missing or BLANK in text:
        found.append(f"{name}: {CARD} must say something under {', '.join(missing or HEADINGS)}")
    if not files:
        found.append(f"{name}: there are no results; crib rate --out writes them")
    for file in files:
        try:
            found += [f"{name}/{file.name}: {fault}" for fault in _faults(name, file, read(file))]
        except ValueError as error:
            found.append(str(error))
    return found


def _faults(name: str, file: Path, results: Results) -> list[str]:
    if results.environment not in ENVIRONMENTS:
        return [f"no environment is called {results.environment!r}"]
    found = []
    if results.name != name:
        found.append(f"the results are of {results.name!r}")
    if results.file != file.name:
        found.append(f"the results are those of {results.file}")
    if results.rules != env_module(results.environment).maker.rules:
        found.append(f"played by the rules {results.rules!r}")
    if results.pairs < LEAST_PAIRS:
        found.append(f"{results.pairs} pairs an opponent; {LEAST_PAIRS} are the least")
    if "crib-env" not in results.versions:
        found.append("it does not say with which version of crib-env")
    missing = [other for other in BUILT_IN if other != name and other not in results.games]
    if missing:
        found.append(f"it has not met {', '.join(missing)}")
    for other, counts in results.games.items():
        whole = all(isinstance(count, int) and count >= 0 for count in counts)
        if not whole or len(counts) != OUTCOMES or sum(counts) != results.pairs:
            found.append(f"the pairs against {other} are not {results.pairs} of {OUTCOMES} kinds")
    return found


def page() -> str:
    """Return the page."""
    found = entries()
    every = [read(file) for files in found.values() for file in files]
    parts = [HEAD]
    for environment in ENVIRONMENTS:
        for players in sorted({one.players for one in every if one.environment == environment}):
            here = [e for e in every if (e.environment, e.players) == (environment, players)]
            seats = f", {players} players" if players > 2 else ""
            parts.append(f"## {environment}{seats}\n\n{rating_table(here)}\n")
    parts.append("## Agents\n")
    for name in found:
        text = (folder() / name / CARD).read_text().strip()
        parts.append(re.sub(r"^#", "###", text, flags=re.MULTILINE) + "\n")
    return "\n".join(parts)


def measure() -> None:
    """Rate the agents that come with the package, where that has not been done."""
    for name, environments in RATED.items():
        for env in environments:
            if not (folder() / name / f"{env}.json").exists():
                run(Settings(name, env, pairs=PAIRS, seed=SEED, out=folder() / name))


def main() -> None:
    """Check, and write the page."""
    if "--measure" in sys.argv[1:]:
        measure()
    found = [fault for name, files in entries().items() for fault in faults(name, files)]
    if found:
        sys.exit("\n".join(found))
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(page())


if __name__ == "__main__":
    main()
