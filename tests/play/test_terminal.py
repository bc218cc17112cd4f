"""`crib play` and `crib drill` in a terminal, or a pipe in its place."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from crib_agents.learned.agent import SHIPPED
from crib_play import drill
from crib_play.drill import KINDS, MISTAKE, SECOND, exercises, hands_to_count
from crib_play.table import GAMES, TakesGame, actions_of, table_game
from crib_play.table.seats import sit_down
from crib_play.terminal import play
from crib_play.terminal.play import Player
from crib_play.terminal.screen import Screen
from crib_play.user_files import Preferences, load_preferences, preferences_file, save_preferences

from crib_env import format_cards


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty home folder, with its folders for settings and data."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path


FAMILIES = {"two_hand": "six_card_v0", "many_hand": "three_hand_v0", "table_top": "table_top_v0"}


def named(game: str) -> dict[str, Any]:
    """Return the settings that name a game of the tables on a command line."""
    kind = GAMES[game]
    return {"env": FAMILIES[kind.family.name], "rules": kind.rules, "players": kind.players, "episode": kind.episode}


Shown = Callable[[Callable[[], None], Iterable[str]], str]


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shown:
    """Return a function that runs a call with these words as input and returns its output."""

    def printed(call: Callable[[], None], words: Iterable[str]) -> str:
        left = iter(words)

        def typed(prompt: str = "") -> str:
            try:
                return next(left)
            except StopIteration:
                raise EOFError from None

        monkeypatch.setattr("builtins.input", typed)
        call()
        return capsys.readouterr().out

    return printed


def first_legal(player: Player) -> Iterator[str]:
    """Type a legal choice after an illegal one."""
    session = player.session
    while True:
        view, legal = session.game.view(session.seat), session.game.legal_actions
        yield "ZZ"
        if session.family.sides:
            yield "crib" if legal[0] == 25 else f"{legal[0] // 5 + 1}{legal[0] % 5 + 1}"
        else:
            yield format_cards(legal[: session.family.to_choose(view)])


@pytest.mark.parametrize("game", ["six", "four", "ship-partners"])
def test_terminal_plays_and_reviews_a_whole_game(game: str, shown: Shown) -> None:
    session = sit_down(table_game(game), 0, "greedy", seed=2)
    player = Player(session, 0, Screen(1), Preferences(coach=game == "six"))
    output = shown(player.play, first_legal(player))
    won = "won" if session.winner == 0 else "lost"
    assert session.over
    assert f"You have {won}, {session.result(0)}." in output
    judge = "learned" if game == "four" else "expert"
    assert f"Review: the cost of your decisions, by {judge}'s judgement" in output
    assert "\x1b" not in output, "a pipe is sent no colours"
    for turn in session.turns:
        for one in turn.counted:
            assert one.call in output
        for call in turn.calls:
            assert call.text in output
    assert ("coach: that cost" in output) == (game == "six")


def test_terminal_takes_commands(shown: Shown) -> None:
    session = sit_down(table_game("six"), 0, "greedy", seed=3)
    session.go_on()
    player = Player(session, 0, Screen(1), Preferences())
    hand = session.game.legal_actions
    words = ["?", "undo", "hint", "best", "board", "speed 12", "speed x", "speed 3",
             "coach", "muggins", "keep", format_cards(hand[:2]), "undo"]  # fmt: skip
    output = shown(player.play, words)
    for words_said in (
        *("the count speed, 1", "no turn to take back", "expert: discard", "  and 7 more, down to ", "got 'x'"),
        *(
            "speed must be a whole number from 1 to 3, got 12",
            "saved for next time",
            "taken back",
            "You leave the table.",
        ),
    ):
        assert words_said in output
    assert load_preferences() == Preferences(speed=3, coach=True, muggins=True)
    assert session.game.legal_actions == hand


@pytest.mark.parametrize("game", ["five", "four", "partners"])
def test_terminal_manual_count_and_muggins(
    game: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    session = sit_down(table_game(game), 0, "greedy", seed=2)
    player = Player(session, 0, Screen(1), Preferences(muggins=True))
    actions, mine = first_legal(player), []

    def typed(question: str) -> str:
        if not question.startswith("points"):
            return next(actions)
        shown = [one for turn in session.turns for one in turn.counted if session.counts(0, one)]
        one = shown[len(mine)]
        mine.append(one)
        return str(max(0, one.points - 1))

    monkeypatch.setattr("builtins.input", typed)
    player.play()
    output = capsys.readouterr().out
    shown = [one for turn in session.turns for one in turn.counted]
    assert session.over
    assert mine == [one for one in shown if session.counts(0, one)]
    if not session.family.sides:
        assert {one.seat for one in mine} == {0}, "a partner's hand is the partner's"
    claimed = sum(one.points > 0 for one in mine)
    claimer = player.names[1]
    assert output.count(f"{claimer}: 1 by muggins") == claimed > 0
    assert f"{len(mine) - claimed} of {len(mine)} right; {claimed} claimed by muggins" in output
    scores = sit_down(table_game(game), 0, "greedy", seed=2).game
    for turn in session.turns:
        for action in turn.actions:
            scores.step(action)
    assert scores.scores == session.game.scores, "the score counts in full"


def test_terminal_of_three_names_each_cards_player(shown: Shown) -> None:
    session = sit_down(table_game("four"), 0, "greedy", seed=3)
    player = Player(session, 0, Screen(1), Preferences())
    output = shown(player.play, islice(first_legal(player), 8))
    assert "you and partner (greedy) 0, left (greedy) and right (greedy) 0 of 121" in output
    sight = session.sight(0)
    for place, seat in (("left", 1), ("partner", 2), ("right", 3)):
        own = " ".join(format_cards([one["card"]]) for one in sight["pile"] if one["seat"] == seat)
        assert f"{place:<12} {' '.join(['??'] * sight['held'][seat])} played {own}" in output


def test_terminal_ctrl_c_leaves_the_table(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(prompt: str = "") -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr("builtins.input", interrupted)
    play.run(play.Settings(env="five_card_v0", seed=1, opponent="greedy"))
    assert "You leave the table." in capsys.readouterr().out


@pytest.mark.parametrize("game", GAMES)
def test_watch_prints_a_whole_game(game: str, capsys: pytest.CaptureFixture[str]) -> None:
    play.run(play.Settings("greedy", "rule_based", **named(game), seed=1))
    output = capsys.readouterr().out
    assert (" wins, 7 to " if game == "match" else " wins, ") in output.splitlines()[-1]
    assert output.endswith(" game points.\n") == (game == "match")
    assert "discard" in output or "send it to the crib" in output


# --- stored scores --------------------------------------------------------------------------------


def test_preferences_round_trip_and_ignore_invalid_files() -> None:
    assert load_preferences() == Preferences()
    assert save_preferences(Preferences("five", "greedy", 3, True)) is None
    assert load_preferences() == Preferences("five", "greedy", 3, True)
    stored = json.loads(preferences_file().read_text())
    preferences_file().write_text(json.dumps({**stored, "speed": 99, "coach": "yes", "more": 1}))
    assert load_preferences() == Preferences("five", "greedy", Preferences().speed, Preferences().coach)
    for nonsense in ("[1]", "{", "\x00", '{"game": "sixx", "speed": "2"}'):
        preferences_file().write_text(nonsense)
        assert load_preferences() == Preferences()


def test_play_saves_the_path_of_an_opponents_file_whole(
    home: Path, shown: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home)
    shutil.copy(SHIPPED / "six_card.safetensors", "mine.safetensors")
    assert "You leave" in shown(partial(play.run, play.Settings("mine.safetensors", keep=True)), [])
    monkeypatch.chdir("/")
    assert "You leave" in shown(partial(play.run, play.Settings()), [])
    (home / "mine.safetensors").unlink()
    with pytest.raises(ValueError, match=r"no file .*mine\.safetensors.* is saved in .*preferences\.json"):
        play.run(play.Settings())


def test_play_episode_overrules_a_saved_match(shown: Shown) -> None:
    save_preferences(Preferences("match", "greedy"))
    assert "game points" in shown(partial(play.run, play.Settings()), [])
    assert "game points" not in shown(partial(play.run, play.Settings(episode="game")), [])


def test_play_runs_in_a_pipe_without_home() -> None:
    environment = {**os.environ, "XDG_CONFIG_HOME": "/proc/none", "TERM": "dumb"}
    del environment["HOME"]
    words = ("play", "--env", "five_card_v0", "--opponent", "greedy", "--keep")
    done = subprocess.run(
        [sys.executable, "-m", "crib_training.command_line", *words],
        input="keep\n",
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("not saved") == 2
    assert "You leave the table." in done.stdout


# --- drills ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "game"),
    [("discard", "five"), ("pegging", None), ("table-top", None), ("discard", "three"), ("pegging", "four")],
)
def test_drill_exercises_matter_and_repeat_by_seed(kind: str, game: str | None) -> None:
    def first(seed: int) -> tuple[str, list[object]]:
        exercise = next(exercises(KINDS[kind], seed, table_game(game or KINDS[kind].game)))
        assert exercise.session.seat == exercise.seat
        best, second = exercise.choices[:2]
        assert best.win - second.win >= SECOND
        assert exercise.loss(actions_of(exercise.choices[-1])) >= MISTAKE
        assert exercise.loss(actions_of(best)) == 0
        return exercise.session.game.notation(), list(exercise.choices)

    assert first(5) == first(5)
    assert first(5) != first(6)


def test_drill_is_graded_and_its_score_kept(shown: Shown) -> None:
    found = exercises(KINDS["discard"], 4, table_game("six"))
    right = format_cards(actions_of(next(found).choices[0]))
    second = next(found)
    wrong = format_cards(actions_of(second.choices[-1]))
    lost = second.loss(actions_of(second.choices[-1]))
    for sitting in (1, 2):
        graded = partial(drill.run, drill.Settings("discard", count=3, seed=4))
        output = shown(graded, ["nonsense", right, wrong, "skip"])
        assert "the best choice" in output
        assert f"it costs {100 * lost:.1f} %" in output
        assert f"This time: 1 of 2 the best, {50 * lost:.2f} % lost each" in output
        assert f"In all: {sitting} of {2 * sitting} the best" in output


@pytest.mark.parametrize("game", ["six", "three", "ship"])
def test_drill_counting_takes_every_game(game: str, shown: Shown) -> None:
    hands, again = (list(islice(hands_to_count(4, table_game(game)), 3)) for _ in range(2))
    assert hands == again
    right, wrong = str(hands[0].points), str(hands[1].points + 3)
    drilled = partial(drill.run, drill.Settings("count", **named(game), count=3, seed=4))
    output = shown(drilled, ["many", right, wrong, "skip"])
    assert "Type the points, 0 to 29" in output
    assert f"right: {hands[0].call}" in output
    assert f"no: {hands[1].call}" in output
    assert "This time: 1 of 2 right, 1.50 points missed each" in output


def test_drill_rejects_unsupported_games_with_the_reason() -> None:
    for words, why in (
        ({"kind": "table-top", **named("three")}, "Three hands has no exercises in placing"),
        ({"kind": "discard", **named("ship")}, "Ship's variation has no exercises in discarding"),
        ({"kind": "counting"}, "'discard', 'pegging', 'table-top', 'count', got 'counting'"),
    ):
        with pytest.raises(ValueError, match=why):
            drill.run(drill.Settings(**words, seed=1))


@pytest.mark.parametrize("game", GAMES)
def test_takes_game_names_every_table_game(game: str) -> None:
    assert TakesGame(**named(game)).table_game() is GAMES[game]
    assert TakesGame().table_game(game) is GAMES[game]


def test_takes_game_episode_alone_keeps_the_default_game() -> None:
    assert TakesGame(episode="game").table_game("table-top") is GAMES["table-top"]
    assert TakesGame(episode="game").table_game("match") is GAMES["six"]
    with pytest.raises(ValueError, match="no table for three_hand, 3 players, match"):
        TakesGame(episode="match").table_game("three")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ({"env": "three_card_v0"}, "no environment is called 'three_card_v0': .*three_hand_v0"),
        ({"players": 3}, "no table for hoyle, 3 players, game: .* hoyle, 2 players, match"),
        ({"env": "table_top_v0", "episode": "match"}, "no table for table_top, match"),
        ({"rules": "table_top"}, "no rules for this game are called 'table_top'"),
    ],
)
def test_takes_game_refuses_a_game_without_table_and_lists_others(words: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        TakesGame(**words).table_game()


def test_drill_left_at_once_keeps_no_score(shown: Shown) -> None:
    left = partial(drill.run, drill.Settings("discard", count=1, seed=4))
    assert shown(left, []).splitlines()[-1] == "No answers."


def test_grade_words_follow_the_loss() -> None:
    assert [drill.grade(loss) for loss in (0.0, 0.001, 0.01, 0.2)] == ["the best choice", "good", "fair", "poor"]
