"""Table Top positions written as text, `agents.analyze.layouts`: those of games come back."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from crib_agents.analyze import CellChoice, analyze, layout_view
from crib_agents.expert import ExpertAgent
from crib_training.command_line import main
from hypothesis import given, settings
from hypothesis import strategies as st

from crib_env import table_top_v0
from crib_env.cards import format_card, format_cards

NONE = -1
LAYOUT = "...../.4C.../..7H../...8H./....."
# Which turn placed a card, and in Table Top for four which of two opponents laid one, is not said.
UNSAID = {"seat", "turns", "crib_turns"}


def as_text(layout: Any) -> str:
    rows = np.asarray(layout).reshape(5, 5).tolist()
    return "/".join("".join("." if c == NONE else format_card(c) for c in row) for row in rows)


def discarded_by(view: Any, players: int) -> list[int]:
    """Return how many cards each seat to the left of this one, itself first, has laid."""
    return [4 // players - int(owed) for owed in view["owed"][:players]]


@pytest.mark.parametrize("rules", ["table_top", "table_top_ship"])
@pytest.mark.parametrize("players", [2, 4])
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_every_position_of_a_round_comes_back(rules: str, players: int, seed: int) -> None:
    env = table_top_v0.raw_env(rules=rules, players=players, episode="round")
    env.reset(seed=seed)
    rng = np.random.default_rng(seed)
    while not any(env.terminations.values()):
        view = env.view(env.possible_agents.index(env.agent_selection))
        discarded = discarded_by(view, players)
        cards = view["crib"][: view["crib_n"]].tolist()
        by = [(int(view["dealer"]) + 1 + int(t)) % players for t in view["crib_turns"]]
        mine = [card for card, seat in zip(cards, by, strict=False) if seat == 0]
        partners = [c for c, seat in zip(cards, by, strict=False) if seat == 2 and players == 4]
        again = layout_view(
            as_text(view["layout"]), format_card(int(view["card"])),
            rows=bool(view["scores_rows"]), crib=format_cards(mine),
            partners_crib=format_cards(partners), others_crib=sum(discarded[1::2]), players=players,
            scores=tuple(view["scores"].tolist()), rules=rules, episode="round",
        )[0]  # fmt: skip
        for field in again.dtype.names:
            if field == "crib":
                assert sorted(again["crib"]) == sorted(view["crib"])
            elif field == "owed":
                assert again["owed"][0] == view["owed"][0]
                assert again["owed"][1::2].sum() == view["owed"][1::2].sum()
            elif field not in UNSAID:
                assert np.array_equal(again[field], view[field]), field
        mask = env.observe(env.agent_selection)["action_mask"]
        env.step(int(rng.choice(np.flatnonzero(mask))))


def test_every_legal_place_is_listed_the_best_first() -> None:
    view = layout_view(LAYOUT, "6D", rows=False, scores=(90, 100))
    places = analyze(view)
    assert all(isinstance(place, CellChoice) for place in places)
    legal = {action for action in range(26) if int(view[0]["legal"]) >> action & 1}
    assert {place.action for place in places} == legal
    values = [place.value for place in places]
    assert values == sorted(values, reverse=True)


def test_the_first_place_is_where_the_expert_puts_the_card() -> None:
    env = table_top_v0.raw_env()
    env.reset(seed=2)
    expert, rng = ExpertAgent(), np.random.default_rng(0)
    for _ in range(26):
        view = np.array([env.view(env.possible_agents.index(env.agent_selection))])
        action = int(expert.act(view, rng)[0])
        places = analyze(view)
        value = {place.action: place.value for place in places}
        assert value[action] == pytest.approx(places[0].value, abs=0.3)
        env.step(action)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"layout": "...../.4C.../..7H../...8H./2C...."}, "row 4, column 0"),
        ({"layout": "...../.4C.../...../...8H./....."}, "the starter lies in the centre"),
        ({"layout": "...../.4C.../..7H../...8H./...."}, "a row is 5 cells"),
        ({"layout": "...../.4C.../..7H../...8H."}, "5 rows"),
        ({"layout": "...../.4X.../..7H../...8H./....."}, "'4X' is not a card"),
        ({"card": "4C"}, "4C given more than once"),
        ({"crib": "2C 3C 4D"}, "a seat puts 2 cards"),
        ({"partners_crib": "2C"}, "nobody has a partner"),
        ({"players": 3}, "players must be 2 or 4"),
        ({"rules": "hoyle"}, "hoyle"),
        ({"scores": (-1, 0)}, "from 0 up"),
    ],
)  # fmt: skip
def test_what_cannot_be_a_layout_is_refused(changed: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        layout_view(**{"layout": LAYOUT, "card": "6D", **changed})


def test_cards_owed_to_the_crib_must_still_fit() -> None:
    full = "AC2C3C4C5C/6C7C8C9CTC/JCQC7HKC2D/3D4D5D6D7D/8D9DTDJDQD"
    with pytest.raises(ValueError, match="still owes the crib 2 cards with 1 to come"):
        layout_view(full, "AS", crib="KD AD")


def test_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    main(["analyze", "6D", "--layout", LAYOUT, "--columns", "--others-crib", "1"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["place", "action", "mine", "theirs", "value", "win"]
    assert len(lines) > 10
    with pytest.raises(SystemExit):
        main(["analyze", "6D", "--layout", LAYOUT, "--episode", "match"])
    assert "no matches" in capsys.readouterr().err
