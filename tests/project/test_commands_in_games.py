"""Every command in every game, with nothing given but the agents, the game and a small size.

`crib train`, whose methods have separate settings, is tested in `tests/training`.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from commands import crib
from crib_env import ENVIRONMENTS

ENVIRONMENT_COMMANDS = (
    "evaluate greedy random --pairs 2 --env",
    "evaluate rule_based greedy --pairs 2 --adjust never --no-games --env",
    "tournament greedy random --pairs 2 --workers 0 --env",
    "rate random --pairs 1 --env",
    "warmup --agents random --envs",
)
# Commands that need a deal of two hands; in other games they fail with one line.
TWO_HANDS = ("exploit random --env",)
MANY_HANDS = ("three_hand_v0", "four_hand_v0", "table_top_v0")
GAMES = (
    "six_card_v0", "six_card_v0 --episode match", "five_card_v0", "three_hand_v0", "four_hand_v0",
    "four_hand_v0 --rules four_hand[partners=False]", "table_top_v0", "table_top_v0 --players 4",
    "table_top_v0 --rules table_top_ship", "table_top_v0 --rules table_top_ship --players 4",
)  # fmt: skip
TABLE_COMMANDS = ("replay greedy random --no-opinions --env",
                  "play greedy random --speed 1 --seed 1 --env")  # fmt: skip
JUDGED = ("six_card_v0", "three_hand_v0", "table_top_v0")  # one a family: opinions take longest


@pytest.mark.parametrize(
    ("words", "game"),
    [
        *product(ENVIRONMENT_COMMANDS, ENVIRONMENTS),
        *product(TABLE_COMMANDS, GAMES),
        *product(["replay greedy random --env"], JUDGED),
    ],
)
def test_commands_take_every_game(words: str, game: str, tmp_path: Path) -> None:
    ran = crib(*words.split(), *game.split(), folder=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout


@pytest.mark.parametrize(("words", "game"), list(product(TWO_HANDS, MANY_HANDS)))
def test_commands_for_two_hands_reject_other_games_in_one_line(
    words: str, game: str, tmp_path: Path
) -> None:
    ran = crib(*words.split(), game, folder=tmp_path)
    assert ran.returncode == 2
    assert ran.stdout == ""
    assert ran.stderr.count("\n") == 1
    assert ran.stderr.startswith("error: ")
    assert not list(tmp_path.rglob("*.safetensors"))
