"""Games in words: nothing is lost, nothing leaks, no reply moves a card that it did not name."""

from __future__ import annotations

import random
import re
from dataclasses import asdict
from typing import Any

import gymnasium
import numpy as np
import pytest
from pettingzoo.env_registry.registration import aec_registry

from crib_env import ENVIRONMENTS, PRESETS, Game, card_name, format_card, parse_cards
from crib_env.cards import RANK_NAMES, RANKS, rank, suit
from crib_env.envs.text import PROMPTS, text_aec, text_env
from crib_env.errors import EpisodeOverError
from crib_env.registration import text_name
from crib_env.text import STYLES, Reader, ReplyError, count_tokens, describe, parse, parse_actions, prompt
from hidden import redraw
from model_server import first_legal

NAMES = sorted(ENVIRONMENTS)
every_name = pytest.mark.parametrize("name", NAMES)
every_game = pytest.mark.parametrize("rules", sorted(PRESETS))
MOST_TOKENS = 120


def hands(cards: str) -> Any:
    """Return the view of a six-card seat about to discard from these cards."""
    ids = parse_cards(cards)
    game = Game("hoyle", seed=1)
    game.reset(decks=[list(range(52))], dealer=0)
    deck = [card for card in range(52) if card not in ids]
    for place, card in zip(game.legal_actions, sorted(ids), strict=True):
        deck.insert(place, card)
    game.reset(decks=[deck], dealer=0)
    assert set(game.legal_actions) == set(ids)
    return game.view(game.seat)


def moved(reply: str, cards: str = "5H JC QS 2D 2C 9S") -> str:
    return " ".join(format_card(one) for one in parse_actions(reply, hands(cards)))


@pytest.mark.parametrize(
    ("reply", "named"),
    [
        ("5H", "5H"),
        ("discard 5H JC", "5H JC"),
        ("<action>5H</action>", "5H"),
        ("5H looks good, but 9S helps her. <action>JC, 5H</action>", "JC 5H"),
        ("<action>QS</action> No: <action>9S", "9S"),
        ("**5H** and `JC`", "5H JC"),
        ("I'll throw the five of hearts and the jack of clubs", "5H JC"),
        ("- 5H\n- JC", "5H JC"),
        ("1. 5H\n2. JC", "5H JC"),
        ("1) Queen\n2) Nine", "QS 9S"),
        ("| discard | why |\n|---|---|\n| 5H | helps her |\n| JC | no help |", "5H JC"),
        ("FIVE OF HEARTS", "5H"),
        ("Jack Of Clubs", "JC"),
        ("the queen", "QS"),
        ("Queen.", "QS"),
        ("I discard the nine and the queen.", "9S QS"),
        ("The 9 to make 14", "9S"),
        ("9 for 14", "9S"),
        ("I choose 9♠️ and ♦2", "9S 2D"),
        ("My choice is:\n\n- 2C", "2C"),
        ('{"action": "5H JC"}', "5H JC"),
        ("<think>maybe QS?</think>\n2c", "2C"),
        ("I throw two cards: 5H and JC", "5H JC"),
        ("five of hearts (5H), jack of clubs (JC)", "5H JC"),
        ("As I hold no KH, I play the nine", "9S"),
        ("KH is the starter, so 5H", "5H"),
    ],
)
def test_parse_reads_the_answer_or_the_only_names(reply: str, named: str) -> None:
    assert moved(reply) == named


def test_parse_tells_aces_from_words() -> None:
    hand = "AS AH 5H JC 2D 9S"
    assert moved("As", hand) == moved("as.", hand) == moved("<action>As</action>", hand) == "AS"
    assert moved("As she leads, 5H", hand) == moved("Ah, 5H as planned", hand) == "5H"
    assert moved("AS and AH", hand) == moved("as ah", hand) == "AS AH"
    assert moved("A nine is best", hand) == "9S"


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        ("", "missing"),
        ("pass", "missing"),
        ("the two", "ambiguous"),
        ("5H JC QS", "ambiguous"),
        ("Keep 5H JC QS 9S, throw 2D 2C.", "ambiguous"),
        ("KH", "illegal"),
        ("the king", "illegal"),
        ("<action>5H KH</action>", "illegal"),
        ("<action>KH</action> or 5H", "illegal"),
        ("<action></action>5H", "missing"),
    ],
)
def test_parse_error_repeats_the_question_without_a_choice(reply: str, kind: str) -> None:
    with pytest.raises(ReplyError, match=r"Discard two of: .*JC.* Write, for example") as found:
        moved(reply)
    assert found.value.kind == kind


@pytest.mark.parametrize(
    ("reply", "card"),
    [
        ("I'd play the 8.", "8"),
        ("I'd play the 8 to make 14.", "8"),
        ("8 for 14", "8"),
        ("The EIGHT to make fourteen.", "8"),
        ("- the eight", "8"),
    ],
)
def test_parse_reads_a_rank_in_the_play(reply: str, card: str) -> None:
    game = Game("hoyle", seed=7)
    for one in parse_cards("TD JH 3H 9D 3C 2D AC"):
        game.step(one)
    assert format_card(parse(reply, game.view(game.seat)))[0] == card


@pytest.mark.parametrize(
    ("reply", "action"),
    [("cell 7", 7), ("7", 7), ("Place it on cell #7.", 7), ("- cell 7", 7), ("| cell | 7 |", 7),
     ("5H on 7", 7), ("<action>CELL 7</action>", 7), ("the crib", 25), ("Crib.", 25),
     ("Row 1 has 9 points, so cell 7", 7)],
)  # fmt: skip
def test_parse_reads_places(reply: str, action: int) -> None:
    game = Game("table_top", seed=1)
    assert parse(reply, game.view(game.seat)) == action


def positions(rules: str, n: int, seed: int = 5) -> list[Any]:
    """Return views of seats to move, from random games."""
    rng = np.random.default_rng(seed)
    found: list[Any] = []
    while len(found) < n:
        players = 4 if rules == "table_top" and rng.random() < 0.5 else None
        game = Game(rules, seed=int(rng.integers(1 << 30)), players=players)
        while not game.over and len(found) < n:
            if rng.random() < 0.3:
                found.append(game.view(game.seat))
            game.step(int(rng.choice(game.legal_actions)))
    return found


PHRASES = [
    "{0}",
    "I play {0}.",
    "<action>{0}</action>",
    "**{0}**",
    "Answer: {0}\n",
    "Let me think about {1}. <action>{0}</action>",
    "- {0}",
    "<think>{1}?</think>{0}",
]
NOISE = [
    *"5HJQ ,.;:!?\n*<>/'♠10A", " and ", " not ", " the ", " of hearts", "<action>", "</action>",
    " queen ", " two", "cell ", "crib", "12", "\x00", "\u202e", "é", " play ", " if ",
]  # fmt: skip


def mutated(reply: str, rng: random.Random) -> str:
    for _ in range(rng.randint(0, 4)):
        at, kind = rng.randint(0, len(reply)), rng.randint(0, 3)
        if kind == 0:
            reply = reply[:at] + rng.choice(NOISE) + reply[at:]
        elif kind == 1:
            reply = reply[:at] + reply[at + rng.randint(1, 4) :]
        elif kind == 2:
            reply = reply[:at] + rng.choice(NOISE) + reply[at + 1 :]
        else:
            reply = reply[at:] + " " + reply[:at]
    return reply


def is_named(action: int, reply: str, view: Any) -> bool:
    """Return whether a reply contains a name of an action, found without the parser."""
    if "layout" in view.dtype.names:
        return str(action) in reply or (action == 25 and "crib" in reply.lower())
    name, letter = RANK_NAMES[rank(action)], RANKS[rank(action)]
    ranks = [name, letter.lower(), "10"] if letter == "T" else [name, letter.lower()]
    alone = [card for card in view["hand"][: view["hand_n"]] if rank(card) == rank(action)]
    suits = ["clubs", "diamonds", "hearts", "spades"][suit(action)][0], "♣♦♥♠"[suit(action)]
    low = reply.lower()
    return any(one in low for one in ranks) and (len(alone) == 1 or any(one in low for one in suits))


@every_game
def test_mutated_replies_crash_nothing_and_move_nothing_unnamed(rules: str) -> None:
    """5,000 replies in all."""
    rng, views = random.Random(11), positions(rules, 60)
    good = bad = longest = 0
    for _ in range(5_000 // len(PRESETS) + 1):
        view = rng.choice(views)
        legal = [a for a in range(52) if _legal(view, a)]
        words = [_spoken(view, rng.choice(legal)) for _ in range(2)]
        reply = mutated(rng.choice(PHRASES).format(*words), rng)
        try:
            actions = parse_actions(reply, view)
        except ReplyError as error:
            bad += 1
            longest = max(longest, len(str(error)))
            continue
        good += 1
        assert len(set(actions)) == len(actions)
        for action in actions:
            assert _legal(view, action), (reply, actions)
            assert is_named(action, reply, view), (reply, actions)
    assert good > 250
    assert bad > 75
    assert longest < 500


def test_cards_that_were_discarded_are_refused_in_the_play() -> None:
    """A discarded card is an illegal reply, named in the error; text after it is still read."""
    for rules in ("hoyle", "five_card", "four_hand"):
        game = Game(rules, seed=4)
        while not game.view(game.seat)["starter"] >= 0:
            game.step(game.legal_actions[0])
        view = game.view(game.seat)
        gone = [format_card(int(card)) for card in view["discarded"][: view["discarded_n"]]]
        for reply in {gone[0], " ".join(gone)}:
            with pytest.raises(ReplyError, match=rf"{gone[0]} .*Play one of") as found:
                parse(reply, view)
            assert found.value.kind == "illegal"
        card = format_card(game.legal_actions[0])
        assert parse_actions(f"{gone[0]} {card}", view) == (game.legal_actions[0],)


def _legal(view: Any, action: int) -> bool:
    if "layout" in view.dtype.names:
        return action < 26 and bool(view["legal"] >> action & 1)
    held = view["hand"][: view["hand_n"]].tolist()
    return action in held and bool(view["legal"] >> held.index(action) & 1)


def _spoken(view: Any, action: int) -> str:
    if "layout" in view.dtype.names:
        return "the crib" if action == 25 else f"cell {action}"
    return (card_name if action % 2 else format_card)(action)


@every_game
def test_hidden_cards_redrawn_leave_the_words_the_same(rules: str) -> None:
    """Byte for byte, in both styles, for the seat to move and for those that wait."""
    rng = np.random.default_rng(3)
    changed = 0
    for players in (None, 4) if rules.startswith("table_top") else (None,):
        game = Game(rules, seed=9, players=players)
        for _ in range(70):
            if game.over:
                game.reset()
            for seat in range(game.players):
                other = game.copy()
                changed += redraw(other, rng, seat)
                for style in STYLES if seat == game.seat else ():
                    words = prompt(game.view(seat), game.rules, style)
                    assert words == prompt(other.view(seat), game.rules, style)
                waits = describe(game.view(seat), game.rules)
                assert waits == describe(other.view(seat), game.rules)
            game.step(int(rng.choice(game.legal_actions)))
    assert changed > 450


@every_game
def test_compact_prompts_take_120_tokens_at_most_and_name_every_choice(rules: str) -> None:
    for view in positions(rules, 100, seed=2):
        words = prompt(view, rules)
        assert count_tokens(words) <= MOST_TOKENS, words
        assert words.isascii()
        for action in range(52):
            if _legal(view, action):
                assert re.search(rf"\b{_spoken(view, action).split()[-1]}\b", words) or (format_card(action) in words)
        assert 250 < count_tokens(prompt(view, rules, "full")) < 650


def test_prompts_are_for_seats_to_move() -> None:
    game = Game("hoyle", seed=1)
    with pytest.raises(ValueError, match=r"not to move"):
        prompt(game.view(1 - game.seat), "hoyle")
    with pytest.raises(ValueError, match=r"style must be one of 'compact', 'full'"):
        prompt(game.view(game.seat), "hoyle", "long")


def test_two_cards_of_a_discard_are_remembered() -> None:
    game, reader = Game("hoyle", seed=4), Reader()
    first, second = game.legal_actions[2:4]
    assert reader.remembered(game.view(game.seat)) is None
    game.step(reader.read(f"{format_card(first)} {format_card(second)}", game.view(game.seat)))
    assert reader.remembered(game.view(game.seat)) == second
    assert reader.remembered(game.view(game.seat)) is None
    assert parse(f"throw {format_card(first)} {format_card(second)}", game.view(game.seat)) == second
    assert reader.tally.decisions == 2
    assert reader.tally.replies == 1


# ---------------------------------------------------------------- the forms


@every_name
@pytest.mark.parametrize("on_failure", ["forfeit", "random", "raise"])
def test_nonsense_replies_end_the_episode_and_are_counted(name: str, on_failure: str) -> None:
    env = text_env(name, opponent="greedy", retries=1, on_failure=on_failure)
    seen, _ = env.reset(seed=3)
    assert PROMPTS.contains(seen)
    seen, reward, over, _, info = env.step("hmm")
    assert (reward, over) == (0.0, False)
    assert seen.endswith(info["error"])
    assert "names no choice" in info["error"]
    if on_failure == "raise":
        with pytest.raises(ReplyError, match="names no choice"):
            env.step("hmm")
        return
    steps = 1
    while not over:
        seen, reward, over, _, _ = env.step("hmm")
        assert PROMPTS.contains(seen)
        steps += 1
    tally = env.tally
    assert tally.replies == tally.missing == steps
    assert tally.failed == steps // 2
    assert tally.random == (tally.failed if on_failure == "random" else 0)
    if on_failure == "forfeit":
        assert (reward, steps) == (-1.0, 2)


@pytest.mark.parametrize("make", [text_env, text_aec])
@pytest.mark.parametrize(
    ("keyword", "value"),
    [("on_illegal", "random"), ("on_illegal", "raise"), ("suits", "ranks"), ("suits", "canonical")],
)
def test_text_env_rejects_keywords_that_change_the_words(keyword: str, value: str, make: Any) -> None:
    with pytest.raises(ValueError, match=f"{keyword}='{value}' does not go with words: "):
        make("six_card_v0", **{keyword: value})
    with pytest.raises(ValueError, match=f"{keyword}='{value}' does not go with words: "):
        gymnasium.make("crib_env/SixCardText-v0", **{keyword: value})


@pytest.mark.parametrize("make", [text_env, text_aec])
def test_text_env_rejects_unknown_style(make: Any) -> None:
    with pytest.raises(ValueError, match="style must be one of 'compact', 'full', got 'ful'"):
        make("six_card_v0", style="ful")


def test_text_env_reset_rejects_negative_seed() -> None:
    with pytest.raises(ValueError, match="seed must be None or a whole number from 0 up, got -1"):
        text_env("six_card_v0").reset(seed=-1)


@pytest.mark.parametrize("forfeits", [True, False])
def test_text_env_step_after_the_end_raises(forfeits: bool) -> None:
    env = text_env("five_card_v0", opponent="greedy", episode="deal", retries=1)
    with pytest.raises(EpisodeOverError, match=r"call reset\(\)"):
        env.step("5H")
    shown, _ = env.reset(seed=1)
    over = False
    while not over:
        shown, _, over, _, _ = env.step("hmm" if forfeits else first_legal(shown))
    before = asdict(env.tally)
    for reply in ("hmm", "5H"):
        with pytest.raises(EpisodeOverError, match=r"call reset\(\)"):
            env.step(reply)
    assert asdict(env.tally) == before
    assert "names no choice" not in env.reset(seed=1)[0]


def test_text_aec_step_after_the_end_raises() -> None:
    env = text_aec("five_card_v0", episode="deal", retries=0)
    env.reset(seed=1)
    env.step("hmm")
    with pytest.raises(EpisodeOverError, match=r"after the episode's end: .* None; reset\(\)"):
        env.step("5H")
    env.step(None)


def test_text_aec_observe_and_step_before_reset_raise() -> None:
    env = text_aec("five_card_v0")
    with pytest.raises(EpisodeOverError, match=r"reset\(\)"):
        env.observe("player_0")
    with pytest.raises(EpisodeOverError, match=r"step\('5H'\) .*reset\(\)"):
        env.step("5H")


def test_text_env_random_actions_follow_from_the_seed_in_later_episodes() -> None:
    def play() -> list[str]:
        env, seen = text_env("five_card_v0", episode="deal", retries=0, on_failure="random"), []
        for seed in (7, None):
            shown, _ = env.reset(seed=seed)
            over = False
            while not over:
                shown, _, over, _, _ = env.step("hmm")
                seen.append(shown)
        return seen

    assert play() == play()


def test_text_aec_random_actions_follow_from_the_seed_in_later_episodes() -> None:
    def play() -> list[str]:
        env, seen = text_aec("five_card_v0", episode="deal", retries=0, on_failure="random"), []
        for seed in (7, None):
            env.reset(seed=seed)
            while not env.game_env._over:
                env.step("hmm")
                seen.append(env.observe(env.agent_selection))
        return seen

    assert play() == play()


@every_name
def test_registered_by_one_rule(name: str) -> None:
    env = gymnasium.make(f"crib_env/{text_name(ENVIRONMENTS[name])}", opponent="random")
    assert "Text-v0" in env.spec.id  # type: ignore[union-attr]
    seen, _ = env.reset(seed=1)
    assert env.observation_space.contains(seen)
    assert f"crib_env/{text_name(name).replace('_v', '-v')}" in aec_registry


@every_name
def test_text_aec_rewards_equal_the_wrapped_env(name: str) -> None:
    """By words or by actions: the same rewards in `last`."""
    rng = random.Random(4)
    words, plain = text_aec(name, reward="points"), text_aec(name, reward="points").game_env
    words.reset(seed=6)
    plain.reset(seed=6)
    while words.agents:
        seen, reward, over, _, _ = words.last()
        assert PROMPTS.contains(seen)
        assert words.agent_selection == plain.agent_selection
        assert reward == plain.last()[1]
        if over:
            words.step(None)
            plain.step(None)
            continue
        action = rng.choice(plain.game.legal_actions)
        words.step(f"I play {_spoken(plain.view(plain.game.seat), action)}")
        plain.step(action)
