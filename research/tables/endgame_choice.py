"""The games that another lead of pone would win beyond the one `expert` chooses, near the end.

`python -m research.tables endgame_choice`: each of pone's cards is led in the same deals, which
`expert` plays to the end for both seats. The best card is found on half of the deals and its gain
is measured on the other half, both ways round.
"""

from __future__ import annotations

import numpy as np
from crib_agents.loading import load_agent
from crib_training.progress import steps

from crib_env.arrays import Array
from crib_env.batch import GameBatch
from crib_env.engine.ranks import DECK
from crib_env.engine.record import NONE
from crib_env.engine.show import JACK
from crib_env.options import ResetOptions
from crib_env.policy import Agent
from crib_env.rules import TwoHandRules
from crib_env.settings import Count, Seed
from research.tables.dealing import both_games
from research.tables.maker import makes

TO_MAKE = (1, 1), (2, 3), (4, 2), (6, 5), (3, 6)  # by pone and the dealer


def drawn_decks(rules: TwoHandRules, deals: int, rng: np.random.Generator) -> Array:
    """Return decks that give pone, seat 0, the same hand and starter, int64[deals, 52]."""
    mine = np.arange(0, 2 * rules.dealt, 2)
    fixed = np.append(mine, 2 * rules.dealt)
    cards = rng.permutation(DECK)
    while cards[-1] // 4 == JACK:  # the dealer could win by heels
        cards = rng.permutation(DECK)
    decks = np.empty((deals, DECK), dtype=np.int64)
    decks[:, fixed] = cards[-len(fixed) :]
    decks[:, np.setdiff1d(np.arange(DECK), fixed)] = rng.permuted(np.tile(cards[: -len(fixed)], (deals, 1)), axis=1)
    return decks


def gain_of_a_hand(
    rules: TwoHandRules, needs: tuple[int, int], deals: int, expert: Agent, rng: np.random.Generator
) -> float:
    """Return the share of games that the best lead of a drawn hand wins beyond `expert`'s."""
    decks, seed = drawn_decks(rules, deals, rng), int(rng.integers(1 << 31))
    scores = rules.target - needs[0], rules.target - needs[1]
    games, lanes = GameBatch(rules, deals, seed=seed), np.arange(deals)
    options = [ResetOptions(deck[None], dealer=1, scores=scores) for deck in decks]
    games.reset_each(options)
    discards = []
    for _ in range(2 * rules.discards):
        discards.append(np.asarray(expert.act(games.views(lanes), rng), dtype=np.int64))
        games.step(lanes, discards[-1])
    views = games.views(lanes[:1])
    chosen = int(np.asarray(expert.act(views, rng))[0]) // 4
    won = {}
    for card in {int(c) // 4: int(c) for c in views["hand"][0] if c != NONE}.values():
        games = GameBatch(rules, deals, seed=seed)
        games.reset_each(options)
        for cards in discards:
            games.step(lanes, cards)
        games.step(lanes, np.full(deals, card))
        for _ in games.play(expert, rng):
            pass
        won[card // 4] = games.returns()[:, 0] > 0
    halves = [{rank: of[k::2].mean() for rank, of in won.items()} for k in range(2)]
    gains = [there[max(here, key=lambda rank: here[rank])] - there[chosen] for here, there in (halves, halves[::-1])]
    return float(np.mean(gains))


@makes(None)
def endgame_choice(hands: Count = 20, deals: Count = 400, seed: Seed = 901) -> None:
    """Print what the best lead of random hands gains over the expert's, in games won.

    Args:
        hands: hands of pone, by each rules and each pair of points to make.
        deals: deals in which each card of a hand is led.
    """
    print("| game | pone and dealer need | hands | the best lead gains, points |")
    print("|---|---|---|---|")
    for rules, seed_seq in both_games(seed):
        expert, everywhere = load_agent("expert"), []
        for needs, of_needs in zip(TO_MAKE, seed_seq.spawn(len(TO_MAKE)), strict=True):
            rng = np.random.default_rng(of_needs)
            gains = [
                gain_of_a_hand(rules, needs, deals, expert, rng)
                for _ in steps(range(hands), f"{rules.name}, {needs[0]} and {needs[1]}, hands")
            ]
            everywhere += gains
            print_row(rules.name, f"{needs[0]}, {needs[1]}", gains)
        print_row(rules.name, "all", everywhere)


def print_row(game: str, needs: str, gains: list[float]) -> None:
    """Print a row: the mean gain with its 95 % interval over hands."""
    half = 1.96 * np.std(gains) / len(gains) ** 0.5
    print(f"| {game} | {needs} | {len(gains)} | {100 * np.mean(gains):+.2f} ± {100 * half:.2f} |", flush=True)
