"""CONTRIBUTING's recipe for a rule, carried out in a copy: nobs of two, by the files it names."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import crib_env
import reference

ROOT = Path(__file__).parents[2]
# What changes no play.
TEXT = {
    "seeds/hoyle.md",
    "docs/observations.md",
    "tests/engine/test_clauses_six_card.py",
    "tests/agents/test_honours.py",
    "CHANGELOG.md",
}

# By file: what is there and what is put in its place.
EDITS: dict[str, list[tuple[str, str]]] = {
    "crib_env/rules.py": [
        (
            "    discards: ClassVar[int]  # cards that a seat discards\n",
            "    discards: ClassVar[int]  # cards that a seat discards\n    nob: int = 1\n",
        ),
        (
            "        super().__post_init__()\n"
            '        self.check_whole("match_target", 1, LARGEST_MATCH_TARGET)\n',
            "        super().__post_init__()\n"
            '        self.check_whole("match_target", 1, LARGEST_MATCH_TARGET)\n'
            '        self.check_whole("nob", 0, 9)\n',
        ),
    ],
    "crib_env/engine/hands/records.py": [
        ('    "episode",\n)', '    "episode",\n    "nob",\n)'),
    ],
    "crib_env/engine/hands/transitions.py": [
        ("return points + nob, cards", 'return points + rules["nob"] * nob, cards'),
    ],
    "crib_env/engine/hands/views.py": [
        ('        v["heels"] =', '        v["nob"] = rules["nob"]\n        v["heels"] ='),
    ],
    "crib_env/text/hands.py": [
        ("the starter's suit 1.", "the starter's suit {nob}."),
        ('heels=int(view["heels"]),', 'heels=int(view["heels"]), nob=int(view["nob"]),'),
    ],
    "crib_env/engine/hands/counting.py": [
        ("hand_total(v, table, low, high, 1)", 'hand_total(v, table, low, high, v["nob"])'),
    ],
    "crib_env/engine/hands/features.py": [
        (
            "total += (of_suit - 1) * ways(left - 2, others - 1)",
            'total += v["nob"] * (of_suit - 1) * ways(left - 2, others - 1)',
        ),
        (
            "total += of_suit * ways(left - 1, others)",
            'total += v["nob"] * of_suit * ways(left - 1, others)',
        ),
    ],
    "crib_env/scoring/explained.py": [
        (
            "    return Score((*parts, *_nob(held, up)))\n",
            "    nob = [_part(chosen.nob, one.reason, one.cards) for one in _nob(held, up)]\n"
            "    return Score((*parts, *nob))\n",
        ),
    ],
    "tests/reference/scoring.py": [
        ("rules_name: str) -> int:", "rules_name: str, nob: int = 1) -> int:"),
        (
            "flush(hand, starter, crib) + nobs(hand, starter)\n",
            "flush(hand, starter, crib) + nob * nobs(hand, starter)\n",
        ),
    ],
    "tests/reference/two_hand.py": [
        ("        heels: int = 2,\n", "        heels: int = 2,\n        nob: int = 1,\n"),
        ("        self.heels = heels\n", "        self.heels = heels\n        self.nob = nob\n"),
        ("starter, False, self.game)", "starter, False, self.game, self.nob)"),
        ("starter, True, self.game)", "starter, True, self.game, self.nob)"),
    ],
    "tests/reference/many_hand.py": [
        ("        heels: int = 2,\n", "        heels: int = 2,\n        nob: int = 1,\n"),
        ("        self.heels = heels\n", "        self.heels = heels\n        self.nob = nob\n"),
        ('starter, False, "hoyle")', 'starter, False, "hoyle", self.nob)'),
        ('starter, True, "hoyle")', 'starter, True, "hoyle", self.nob)'),
    ],
}  # fmt: skip

PLAY = """
from itertools import combinations
from random import Random

import numpy as np

import crib_env, reference
from crib_agents import GreedyAgent
from crib_env import parse_cards, six_card_v0
from crib_env.engine.show import show_table
from crib_env.engine.hands.counting import starters_total
from crib_env.engine.hands.features import suited_crib
from crib_env.game import Game
from crib_env.rules import PRESETS, Rules
from crib_env.scoring import score_hand
from reference import ManyHandReferee, Referee
from reference.scoring import JACK, flush, nobs, rank, score_show

rules = Rules.preset("hoyle[nob=2]")
assert Rules.preset("hoyle").nob == 1
rng = Random(1)
counted = 0

for preset, dealer in (("hoyle", 0), ("hoyle", 1), ("three_hand", 2), ("four_hand", 3)):
    decks = [rng.sample(range(52), 52) for _ in range(60)]
    game = Game(Rules.preset(preset, nob=2))
    game.reset(decks=np.array(decks), dealer=dealer)
    if preset == "hoyle":
        referee = Referee("hoyle", decks, dealer, nob=2)
    else:
        players = len(game.sides)
        referee = ManyHandReferee(players, decks, dealer, partners=players == 4, nob=2)
    while referee.to_move is not None:
        before, card = len(referee.events), rng.choice(referee.legal())
        referee.step(card)
        events = [(e.seat, e.points, e.reason) for e in game.step(card)]
        assert events == [(e.seat, e.points, e.reason) for e in referee.events[before:]]
    assert game.over
game = Game(rules, seed=1)
assert "hoyle[nob=2]" in game.notation()
assert game.view(0)["nob"] == 2


def mean_show(dealt, discarded):
    total = 0
    starters = [card for card in range(52) if card not in dealt[0] + dealt[1]]
    for starter in starters:
        hands = [score_show([c for c in dealt[s] if c not in discarded[s]], starter, False,
                            "hoyle", 2) for s in range(2)]
        crib = score_show(discarded[0] + discarded[1], starter, True, "hoyle", 2)
        total += hands[0] - hands[1] - crib - 2 * (rank(starter) == JACK)
    return total / len(starters)


envs = [six_card_v0.raw_env(rules=rules, episode="deal", reward=reward)
        for reward in ("expected", "points")]
for _ in range(3):
    deck, paid, shown = rng.sample(range(52), 52), [0.0, 0.0], 0
    for env in envs:
        env.reset(options={"decks": [deck], "dealer": 1})
    while not envs[0].game.over:
        card = rng.choice([int(action) for action in envs[0].game.legal_actions])
        for i, env in enumerate(envs):
            env.step(card)
            paid[i] += env.rewards["player_0"]
        for e in envs[1].events:
            if e.reason in ("heels", "hand", "crib"):
                shown += e.points * (1 - 2 * e.seat)
    masks = envs[0].game.states[0]["discarded"].tolist()
    dealt = [deck[seat:12:2] for seat in range(2)]
    discarded = [[c for i, c in enumerate(dealt[s]) if masks[s] >> i & 1] for s in range(2)]
    assert abs(paid[0] - (paid[1] - shown + mean_show(dealt, discarded))) < 1e-9

hand = parse_cards("JC JD 5C 5D 6C 7H")
unseen = [card for card in range(52) if card not in hand]
game.reset(decks=np.array([[card for pair in zip(hand, unseen) for card in pair] + unseen[6:]]),
           dealer=1)
view = game.view(0)
assert sorted(view["hand"]) == sorted(hand)
for laid in (hand[0], hand[2]), (hand[4], hand[5]):
    shown = sum(score_show([c for c in hand if c not in laid], starter, False, "hoyle", 2)
                for starter in unseen)
    assert starters_total(view, show_table(), *sorted(laid)) == shown
    cribs = 0
    for others in combinations(unseen, 2):
        crib = [*laid, *others]
        suits = len({card % 4 for card in crib}) == 1
        jacks = any(rank(card) == JACK for card in crib)
        for starter in unseen if suits or jacks else ():
            if starter not in others:
                cribs += flush(crib, starter, True) + 2 * nobs(crib, starter)
    assert suited_crib(view, *sorted(laid)) == cribs

score = score_hand("5H 6C 7D JS", "KS", rules)
assert score.call.endswith("nobs nine"), score.call
try:
    six_card_v0.gym_env(rules=rules, opponent=GreedyAgent())
except ValueError as error:
    assert "greedy does not play where nob is 2: it plays hoyle (nob 1)" in str(error)
else:
    raise AssertionError("greedy does not know of nobs of two")
print(crib_env.__file__)
print(reference.__file__)
"""


def named_files() -> set[str]:
    """Return the files that the recipe's table names."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    recipe = text.split("<!-- a rule -->")[1].split("<!-- /a rule -->")[0]
    return set(re.findall(r"^\| `([^`]+)` \|", recipe, flags=re.MULTILINE))


def test_the_recipe_names_the_files_that_are_edited() -> None:
    assert named_files() == set(EDITS) | TEXT


def test_the_recipe_makes_a_rule(tmp_path: Path) -> None:
    sources = {"crib_env": Path(crib_env.__file__).parent,
               "tests/reference": Path(reference.__file__).parent}  # fmt: skip
    for place, source in sources.items():
        shutil.copytree(source, tmp_path / place, ignore=shutil.ignore_patterns("__pycache__"))
    for name, edits in EDITS.items():
        text = (tmp_path / name).read_text()
        for old, new in edits:
            assert text.count(old) == 1, f"{name} has {old!r} {text.count(old)} times"
            text = text.replace(old, new)
        (tmp_path / name).write_text(text)
    paths = [str(path) for path in (tmp_path, tmp_path / "tests", ROOT / "agents")]
    done = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", "-c", PLAY],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join(paths)},
        cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(str(tmp_path)) == 2, "it played the code that is installed"
