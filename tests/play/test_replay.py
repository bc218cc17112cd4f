"""A replay: every moment of a game, for chosen viewers, in one file without network requests."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from crib_agents.loading import load_agent
from crib_play.replay import every_eyes, frames, replay_page, write_replay
from crib_play.table import table_game
from crib_play.table.advice import Opinion, Option, opinions
from crib_play.table.session import Session
from crib_training.command_line import main

from commands import crib
from crib_env.cards import format_card, parse_cards
from crib_env.engine.hands.records import DISCARD
from crib_env.engine.record import NONE
from crib_env.engine.two_hand import HAND
from crib_env.game import Game
from crib_env.policy import Views
from crib_env.rules import Rules
from hidden import redraw_hands, redraw_turns
from two_hand_views import legal_cards


def session_of(game: str, *agents: Any, seed: int = 2) -> Session:
    """Return a game between quick agents, played to its end."""
    kind = table_game(game)
    seats = [agents[p % len(agents)] for p in range(kind.players)]
    session = Session.begin(kind, seats, seed)
    while not session.over:
        session.answer()
    return session


@pytest.fixture(scope="module")
def six() -> Session:
    return session_of("six", load_agent("random"), load_agent("greedy"))


def data_of(page: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="replay">(.*?)</script>', page)
    assert found
    data: dict[str, Any] = json.loads(found[1])
    return data


@pytest.mark.parametrize("game", ["six", "five", "three", "four", "table-top", "partners", "ship"])
def test_replay_has_a_moment_for_every_turn_and_count(game: str) -> None:
    session = session_of(game, load_agent("random"))
    eyes = every_eyes(session.game.players, ["a", "b", "c", "d"][: session.game.players])
    moments = list(frames(session, eyes, "x"))
    taken = [frame.turn for frame in moments if frame.turn is not None]
    assert taken == list(range(len(session.turns)))
    counts = sum(1 + len(turn.counted) for turn in session.turns if turn.counted)
    assert len(moments) == len(taken) + counts + 1
    assert moments[-1].scores == session.game.scores
    calls = [words for frame in moments for _, words in frame.calls]
    spoken = [call.text for call in session.opening]
    for turn in session.turns:
        spoken += [call.text for call in turn.calls] + [one.call for one in turn.counted]
    assert len(calls) == len(spoken)
    assert all(line.endswith(words) for line, words in zip(calls, spoken, strict=True))


def test_replay_match_continues_from_game_to_game() -> None:
    """Game points rise by 1 to 3 when a game ends, pegs restart, and the last game wins (H11)."""
    session = session_of("match", load_agent("random"), load_agent("greedy"))
    moments = list(frames(session, every_eyes(2, "ab"), "x"))
    won = []
    for before, after in pairwise(moments):
        assert before.match_score is not None
        assert after.match_score is not None
        if before.match_score != after.match_score:
            won.append([b - a for a, b in zip(before.match_score, after.match_score, strict=True)])
            if after is not moments[-1]:
                assert after.scores == (0, 0)
    assert len(won) > 2
    assert all(sorted(points) in ([0, 1], [0, 2], [0, 3]) for points in won)
    assert moments[-1].match_score == session.game.match_score
    assert session.winner is not None
    assert session.game.match_score[session.winner] >= 7 > session.game.match_score[1 - session.winner]
    assert session.result(session.winner).endswith(" game points")
    data = data_of(replay_page(session, "x", opinions=False))
    assert data["frames"][-1]["match_score"] == list(session.game.match_score)


def cards_in(data: dict[str, Any], frame: int) -> set[str]:
    """Return the cards that lie face up in a moment of a file for one viewer."""
    drawn = "".join(data["parts"][part] for part in data["frames"][frame]["d"][0])
    return set(re.findall(r"#crib-(\w\w)\"", drawn))


def test_replay_for_one_seat_hides_the_others_cards(six: Session) -> None:
    for seat in (0, 1):
        data = data_of(replay_page(six, "x", opinions=False, seats=[seat]))
        assert [one["seats"] for one in data["eyes"]] == [[seat]]
        assert all(("did" in turn) == (turn["seat"] == seat) for turn in data["turns"])
        game = Game("hoyle")
        for i, frame in enumerate(data["frames"]):
            if frame["turn"] is None:  # the count is open to all
                continue
            game.restore(six.turns[frame["turn"]].before)
            view = game.view(seat)
            known = {
                format_card(int(card))
                for card in (*view["hand"], *view["discarded"], *view["pile"], view["starter"])
                if card != NONE
            }
            assert cards_in(data, i) == known


# --- hidden cards in a file for one seat -----------------------------------------------------


def deck_with(dealt: Any, starter: int, dealer: int) -> list[int]:
    both = zip(dealt[1 - dealer].tolist(), dealt[dealer].tolist(), strict=True)
    known = [card for pair in both for card in pair] + [starter]
    return known + [card for card in range(52) if card not in known]


def sat_down(rules: str, deck: list[int], scores: tuple[int, int]) -> Session:
    """Return a session of one given deal, seat 0 dealing."""
    game = Game(rules)
    game.reset(decks=[deck], dealer=0, scores=scores)
    return Session(game, [load_agent("greedy")] * 2, chance=1)


def other_deal(session: Session, seat: int, rng: Any) -> list[int]:
    """Return a deck with other cards where the seat has not seen them."""
    game, turns = session.game, session.turns
    before = turns[-1].before.position.state[0]
    dealt = before["dealt"].reshape(2, HAND)[:, : game.rules.dealt].copy()  # type: ignore[attr-defined]
    starter = int(before["starter"])
    seen = {card for turn in turns if turn.phase != "discarding" for card in turn.actions}
    seen |= {card for turn in turns for one in turn.counted for card in one.cards}
    seen |= set(dealt[seat].tolist())
    turned = len(turns) > 1  # both have discarded
    unseen = rng.permutation([c for c in range(52) if c not in seen and not (turned and c == starter)])
    hidden = [k for k, card in enumerate(dealt[1 - seat].tolist()) if card not in seen]
    dealt[1 - seat][hidden] = unseen[: len(hidden)]
    return deck_with(dealt, starter if turned else int(unseen[-1]), 0)


def played_again(session: Session, deck: list[int], scores: tuple[int, int]) -> Session | None:
    """Return the same turns with other cards; None if one is illegal or has other calls."""
    again = sat_down(session.game.rules.name, deck, scores)
    first = sat_down(session.game.rules.name, deck, scores)
    theirs = session.turns[0].before.position.state[0]["dealt"].reshape(2, HAND)
    mine = first.game.states[0]["dealt"].reshape(2, HAND)
    for turn in session.turns:
        slots = [theirs[turn.seat].tolist().index(card) for card in turn.actions]
        try:
            again.act(turn.seat, [int(mine[turn.seat][slot]) for slot in slots])
        except ValueError:
            return None
        if again.turns[-1].calls != turn.calls:
            return None
    return again


@pytest.mark.parametrize(("rules", "score"), [("hoyle", 106), ("five_card", 54)])
@pytest.mark.parametrize("near", [False, True])
def test_replay_for_one_seat_is_independent_of_unseen_cards(rules: str, score: int, near: bool) -> None:
    """After every turn; and near the end, where a game is won before every hand is counted."""
    scores = (score, score) if near else (0, 0)
    rng = np.random.default_rng(3)
    compared = cut_short = 0
    for _ in range(30 if near else 3):
        deck = rng.permutation(52).tolist()
        session = sat_down(rules, deck, scores)
        while not session.over and session.game.deals == 1:
            session.answer()
            counted = session.turns[-1].counted
            if session.game.deals > 1 or (near and not (session.over and counted)):
                continue
            for seat in (0, 1):
                again = played_again(session, other_deal(session, seat, rng), scores)
                if again is not None and again.game.view(seat) == session.game.view(seat):
                    compared += 1
                    cut_short += 0 < len(counted) < 3
                    pages = [replay_page(one, "x", opinions=False, seats=[seat]) for one in (session, again)]
                    assert pages[0] == pages[1]
    assert compared > 5
    assert cut_short > 3 or not near


def played_with(session: Session, start: Any, state: Any) -> Session | None:
    """Return the same turns from other cards by slot; None if one is illegal or has other calls."""
    game = Game(session.game.rules)
    game.restore(start)
    dealt = game.states["dealt"][0].tolist()
    game.states["dealt"], game.states["starter"] = state["dealt"], state["starter"]
    again = Session(game, session.seats, chance=1)
    for turn in session.turns:
        (card,) = turn.actions
        try:
            again.act(turn.seat, [int(state["dealt"][dealt.index(card)])])
        except ValueError:
            return None
        if again.turns[-1].calls != turn.calls:
            return None
    return again


@pytest.mark.parametrize("game", ["three", "four"])
def test_replay_of_three_and_four_for_one_seat_is_independent_of_unseen_cards(game: str) -> None:
    """After every turn of the first deal, with cards after which the same seats pass."""
    rng = np.random.default_rng(3)
    kind, compared, playing = table_game(game), 0, 0
    session = Session.begin(kind, [load_agent("random")] * kind.players, 5)
    start = session.game.snapshot()
    while session.answer() and session.game.deals == 1:
        for seat in range(kind.players):
            state = session.game.states[0].copy()
            redraw_hands(state, rng, seat)
            again = played_with(session, start, state)
            if again is None or again.game.view(seat) != session.game.view(seat):
                continue
            compared += 1
            playing += session.game.view(seat)["pile_n"] > 3
            pages = [replay_page(one, "x", opinions=False, seats=[seat]) for one in (session, again)]
            assert pages[0] == pages[1]
    assert compared > 10
    assert playing > 5


@pytest.mark.parametrize("game", ["three", "four"])
def test_m9_replay_shows_the_crib_while_it_is_counted(game: str) -> None:
    """Also the card that was dealt to it, which no seat has seen before."""
    session = session_of(game, load_agent("random"))
    data = data_of(replay_page(session, "x", opinions=False, seats=[0]))
    shows = [turn.counted for turn in session.turns if len(turn.counted) > session.game.players]
    counts = [i for i, frame in enumerate(data["frames"]) if any(", crib: " in words for _, words in frame["calls"])]
    assert len(counts) == len(shows) > 3
    for i, counted in zip(counts, shows, strict=True):
        assert len(counted[-1].cards) == 4
        assert {format_card(card) for card in counted[-1].cards} <= cards_in(data, i)


@pytest.mark.parametrize("players", [2, 4])
def test_replay_of_table_top_for_one_seat_is_independent_of_unseen_cards(players: int) -> None:
    rng = np.random.default_rng(3)
    compared = 0
    for stop in (1, 5, 12, 20, 26):
        games = [Game("table_top", players=players) for _ in range(2)]
        games[0].reset(seed=stop, dealer=0)
        start = games[0].snapshot()
        sessions = [Session(games[0], [load_agent("random")] * players, chance=1)]
        for _ in range(stop):
            sessions[0].answer()
        for seat in range(players):
            state = games[0].states[0].copy()
            assert redraw_turns(state, games[0].view(seat), rng)
            games[1].restore(start)
            games[1].states["deck"] = state["deck"]
            again = Session(games[1], sessions[0].seats, chance=1)
            for turn in sessions[0].turns:
                again.act(turn.seat, turn.actions)
            compared += 1
            pages = [replay_page(one, "x", opinions=False, seats=[seat]) for one in (sessions[0], again)]
            assert pages[0] == pages[1]
    assert compared == 5 * players


def test_replay_for_one_seat_hides_the_seed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [tmp_path / f"{i}.html" for i in range(3)]
    words = ["replay", "greedy", "random", "--no-opinions", "--env", "five_card_v0", "--seats", "0"]
    main([*words, "--seed", "98765", "--out", str(paths[0])])
    output = capsys.readouterr().out
    assert "Who guesses the seed 98765 sees every card" in output
    assert "98765" not in paths[0].read_text()
    assert "seed" not in json.dumps(data_of(paths[0].read_text()))
    for path in paths[1:]:  # without a seed, cards that no small seed deals
        main([*words, "--out", str(path)])
    assert "seed" not in capsys.readouterr().out
    assert paths[1].read_text() != paths[2].read_text()
    main(["replay", "greedy", "random", "--no-opinions", "--out", str(paths[0])])
    assert "seed 1<" in paths[0].read_text()  # a file that shows every card names its seed


class Mixes:
    """Takes each legal card with equal probability, and states it."""

    name = "</script><b>mixes</b>"

    def act(self, views: Views, rng: Any) -> Any:
        return load_agent("random").act(views, rng)

    def action_probabilities(self, views: Views) -> Any:
        found = np.zeros((len(views), 52))
        for row, view in zip(found, views, strict=True):
            legal = legal_cards(view)
            row[legal] = 1 / len(legal)
        return found


def test_opinions_have_cost_and_probability_of_a_choice() -> None:
    session = session_of("six", Mixes(), seed=1)
    session.turns = session.turns[:4]  # two discard, two play
    found = opinions(session)
    for turn, opinion in zip(session.turns, found, strict=True):
        win_table = [option.win_value for option in opinion.options]
        assert win_table == sorted(win_table, reverse=True)
        assert opinion.loss == win_table[0] - win_table[opinion.taken] >= 0
        assert opinion.chance == win_table[0]
        likely = [option.probability or 0.0 for option in opinion.options]
        assert sum(likely) == pytest.approx(1)
        assert likely == pytest.approx([1 / len(likely)] * len(likely))
        spoken = session.family.spoken(turn.view, sorted(turn.actions, reverse=True))
        assert opinion.options[opinion.taken].label == spoken


class Values:
    """Values a card by its id, and states no value for aces."""

    name = "values"

    def act(self, views: Views, rng: Any) -> Any:
        return load_agent("random").act(views, rng)

    def action_values(self, views: Views) -> Any:
        found = np.full((len(views), 52), np.nan)
        for row, view in zip(found, views, strict=True):
            legal = legal_cards(view)
            discarded = view["discarded"][: view["discarded_n"]] if view["phase"] == DISCARD else ()
            row[legal] = np.sum(discarded) + np.array(legal)
        found[:, :4] = np.nan
        return found


def test_opinions_have_the_agents_value_of_a_choice() -> None:
    session = session_of("six", Values(), seed=1)
    session.turns = session.turns[:4]
    aces = 0
    for opinion in opinions(session):
        for option in opinion.options:
            cards = parse_cards(option.label.removeprefix("discard ").removeprefix("play "))
            aces += min(cards) < 4
            assert option.probability is None
            assert option.value == (None if min(cards) < 4 else sum(cards))
    assert 0 < aces < 15
    data = data_of(replay_page(session, "x"))
    assert any(option[4] is None for turn in data["turns"] for option in turn["options"])


def test_write_replay_rejects_number_of_agents(tmp_path: Path) -> None:
    agents = [load_agent("random")] * 4
    with pytest.raises(ValueError, match="needs 2 or 3 agents; got 1"):
        write_replay(tmp_path / "a.html", "three_hand", agents[:1], seed=1)
    with pytest.raises(ValueError, match="needs 2 agents; got 4"):
        write_replay(tmp_path / "a.html", "four_hand", agents, seed=1)
    assert not list(tmp_path.iterdir())


def test_write_replay_names_the_second_agent_on_all_other_sides(tmp_path: Path) -> None:
    agents = load_agent("greedy"), load_agent("random")
    write_replay(tmp_path / "a.html", "three_hand", agents, seed=1, opinions=False)
    assert data_of((tmp_path / "a.html").read_text())["names"] == ["greedy", "random 2", "random 3"]


def test_write_replay_leaves_opinions_out_without_analysis(tmp_path: Path) -> None:
    pair = [load_agent("random")] * 2
    write_replay(tmp_path / "a.html", "three_hand[flush_size=5]", pair, seed=1)
    turns = data_of((tmp_path / "a.html").read_text())["turns"]
    assert not any("options" in turn for turn in turns)


def test_replay_on_a_full_disk_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    path, pair = tmp_path / "a.html", [load_agent("random")] * 2
    path.write_text("old")
    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match=f"{path} cannot be written: No space left"):
        write_replay(path, "hoyle", pair, seed=1, episode="deal", opinions=False)
    run = crib("replay", "random", "random", "--no-opinions", "--out", str(path))
    assert (run.returncode, run.stderr) == (1, f"error: {path} cannot be written: No space left on device\n")
    assert [path.read_text()] == ["old"] * len(list(tmp_path.iterdir()))


def test_replay_names_are_escaped() -> None:
    session = session_of("six", Mixes(), load_agent("random"), seed=1)
    page = replay_page(session, "<i>title</i>", opinions=False)
    assert page.count("</script>") == 2
    assert "<b>mixes" not in page
    assert "<i>title" not in page
    assert data_of(page)["names"][0] == Mixes.name


def test_replay_makes_no_network_requests(six: Session, tmp_path: Path) -> None:
    page = replay_page(six, "x", opinions=False)
    assert "default-src 'none'" in page
    assert set(re.findall(r"https?://[^\"' <]+", page)) <= {"http://www.w3.org/2000/svg"}
    assert len(page) < 2_000_000
    greedy = load_agent("greedy")
    write_replay(tmp_path / "r.html", Rules.preset("five_card", target=31), (greedy, greedy), 1, opinions=False)
    assert data_of((tmp_path / "r.html").read_text())["winner"] in (0, 1)


# --- in a browser -------------------------------------------------------------------------------

CHROMIUM = Path("/usr/bin/chromium")
# Steps by the keyboard, moment by moment, and returns each text for screen readers.
STEP_ON = """(steps) => Array.from({length: steps}, () => {
  document.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowRight"}));
  return document.getElementById("picture").getAttribute("aria-label");
})"""


def judged(session: Session, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return a page with opinions made up: the first of two choices is taken, for 3.1 %."""
    made = [
        Opinion(
            (
                Option("the other", "why", 0.531 + 0.001 * (i % 50), None),
                Option(session.family.spoken(turn.view, turn.actions), "why", 0.5, 0.25, -1.5),
            ),
            1,
            0.031,
            0.531 + 0.001 * (i % 50),
        )
        for i, turn in enumerate(session.turns)
    ]
    monkeypatch.setattr("crib_play.table.advice.opinions", lambda given: made)
    return replay_page(session, "Six-card cribbage")


@pytest.mark.skipif(not CHROMIUM.exists(), reason="no chromium here")
@pytest.mark.slow  # `make check-page` runs it
def test_replay_page_steps_plays_and_keeps_its_place(
    six: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import playwright.sync_api as api

    path = tmp_path / "replay.html"
    path.write_text(judged(six, monkeypatch), "utf-8")
    data = data_of(path.read_text())
    end = len(data["frames"]) - 1
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.set_default_timeout(120_000)
        printed: list[str] = []
        addresses: list[str] = []
        page.on("console", lambda message: printed.append(message.text))
        page.on("pageerror", lambda error: printed.append(str(error)))
        page.on("request", lambda request: addresses.append(request.url))
        page.goto(path.as_uri())
        moment = page.locator("#moment")
        assert "that cost 3.1 %" in page.locator("#verdict").inner_text()
        assert page.locator("#options tbody tr.taken").count() == 1
        assert "25 %" in page.locator("#options tbody tr.taken").inner_text()
        assert "−1.50" in page.locator("#options tbody tr.taken").inner_text()
        labels = page.evaluate(STEP_ON, end)
        for frame, label in zip(data["frames"][1:], labels, strict=True):
            first, second = frame["scores"]
            assert f"{data['sides'][0]} {first}, {data['sides'][1]} {second}." in label
        assert page.locator("#next").is_disabled()
        assert "won" in page.locator("#decision").inner_text()
        page.keyboard.press("Home")
        assert moment.input_value() == "0"
        mover = data["turns"][0]["seat"]
        page.select_option("#eyes", str(1 - mover))
        assert "unseen" in page.locator("#decision").inner_text()
        assert page.locator("#picture use[href='#crib-back']").count() == 7
        page.select_option("#eyes", "3")
        assert page.locator("#picture use[href='#crib-back']").count() == 0
        page.click("#worse")
        assert moment.input_value() == "1"
        page.select_option("#speed", "1")
        page.select_option("#theme", "dark")
        page.click("#play")
        for _ in range(200):
            if int(moment.input_value()) > 3:
                break
            page.wait_for_timeout(200)
        assert int(moment.input_value()) > 3
        page.click("#play")
        box = page.locator("#graph").bounding_box()
        page.mouse.click(box["x"] + box["width"] * 0.98, box["y"] + box["height"] / 2)
        assert int(moment.input_value()) > 0.9 * end
        page.reload()
        assert page.locator("#speed").input_value() == "1"
        assert page.evaluate("document.documentElement.dataset.theme") == "dark"
        felt = page.evaluate("getComputedStyle(document.querySelector('#picture .felt')).fill")
        assert felt == "rgb(20, 32, 28)"
        page.set_viewport_size({"width": 390, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        browser.close()
    assert printed == []
    assert {url.partition(":")[0] for url in addresses} == {"file"}
