"""The other seat's answers near the end of a game, as `expert` searches them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from crib_agents.analyze import pegging_view
from crib_agents.expert import replies
from crib_agents.expert.pegging import SCRATCH, PeggingExpert
from crib_agents.knowledge.pegging import ME, POSITION, THEM

from compiled import SLOW
from crib_env import find_agent, format_card
from crib_env.engine.hands.records import PEGGING
from crib_env.engine.two_hand import VIEW
from crib_env.rules import PRESETS
from stacked import Lanes
from two_hand_views import choose

SEEN = (
    "dealt", "target", "single_count", "heels", "episode", "dealer", "starter", "pile_n",
    "pile_from", "pile_seats",
)  # fmt: skip


def first_cards(game: str, lanes: int) -> Lanes:
    """Return games in which both have discarded and some have led."""
    table = Lanes(PRESETS[game], lanes, 4, episode="game")
    agent, rng = find_agent("rule_based"), np.random.default_rng(4)
    for _ in range(4):
        table.step(table.running(), agent.act(table.views(table.running()), rng))
    some = table.running()[::2].copy()
    table.step(some, agent.act(table.views(some), rng))
    return table


@pytest.mark.parametrize("game", ["hoyle", "five_card"])
def test_see_from_there_is_the_other_seats_view(game: str) -> None:
    """All fields that belief reads, but for its own cards, as the engine has them."""
    table = first_cards(game, 40)
    lanes = table.running()
    views = table.views(lanes)
    seen, heard = np.zeros(len(lanes), dtype=VIEW), np.zeros(1, dtype=POSITION)
    cards = find_agent("greedy").act(views, np.random.default_rng(2))
    before = views.copy()
    table.step(lanes, cards)
    answered = 0
    for v, card, mirrored, lane in zip(before, cards, seen, lanes, strict=True):
        if lane not in table.running():
            continue
        (there,) = table.views(np.array([lane]))
        if there["phase"] != PEGGING or there["hand_n"] + (v["hand_n"] - 1) == 0:
            continue
        heard[0]["needs"][[ME, THEM]] = v["target"] - there["scores"][[1, 0]]
        replies.see_from_there(v, card >> 2, heard[0], mirrored)
        for name in SEEN:
            assert mirrored[name] == there[name], name
        assert (mirrored["scores"] == there["scores"]).all()
        assert mirrored["held_n"][THEM] == there["held_n"][THEM] == v["hand_n"] - 1
        n = there["pile_n"]
        assert (mirrored["pile"][:n] >> 2 == there["pile"][:n] >> 2).all()
        assert mirrored["hand_n"] == mirrored["discarded_n"] == 0
        answered += 1
    assert answered > 30


@pytest.mark.skipif(SLOW, reason="searches thousands of replies")
@pytest.mark.parametrize(
    ("hand", "starter", "discarded", "scores", "card"),
    [
        # Over 1,200 deals each, the 4 wins 36 %, and the ten 18 %.
        ("QD TC 3C 4S", "6H", "KC TD", (120, 120), "4S"),
        ("5D 3D KD 2D", "7C", "AD JD", (119, 118), "3D"),  # 85 % and 66 for the five
        ("KH JH 4D KS", "AC", "QC QS", (119, 118), "JH"),  # 52 % and 41 for the kings
    ],
)  # fmt: skip
def test_expert_leads_the_card_whose_answer_is_best(
    hand: str, starter: str, discarded: str, scores: Any, card: str
) -> None:
    view = pegging_view(hand, discarded=discarded, starter=starter, dealer=False, scores=scores)[0]
    assert format_card(choose(PeggingExpert(), view)) == card


@pytest.mark.parametrize(("needs", "pile_n", "searched"), [
    ((replies.NEAR, 1), 0, True), ((1, replies.NEAR), replies.LAST, True),
    ((replies.NEAR + 1, 1), 0, False), ((1, replies.NEAR + 1), 0, False),
    ((1, 1), replies.LAST + 1, False),
])  # fmt: skip
def test_searches_replies_near_the_end_to_the_first_cards(
    needs: tuple[int, int], pile_n: int, searched: bool
) -> None:
    view, scratch = np.zeros(1, dtype=VIEW), np.zeros(1, dtype=SCRATCH)
    view["target"], view["pile_n"] = 121, pile_n
    view["scores"][:] = 121 - np.array(needs)
    assert not replies.searches_replies(view[0], scratch[0])
    scratch["endgame"] = True
    assert bool(replies.searches_replies(view[0], scratch[0])) is searched
