"""An agent's failure costs it the game, by name, and nothing else."""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from crib_agents import GreedyAgent
from crib_agents.bot import process_agent
from crib_agents.bot.program import CommandAgent, ProcessAgent
from crib_agents.loading import load_agent
from crib_training.evaluation.duplicate import Pairs, play_chunk, play_pairs
from crib_training.evaluation.figures import figures
from crib_training.evaluation.referee import PATIENCE, Referee

import failing_agents
from crib_env import IllegalActionError, six_card_v0
from crib_env.engine.hands.records import DISCARD
from crib_env.engine.record import NONE
from crib_env.engine.two_hand import PILE, VIEW
from crib_env.errors import NoResultError
from crib_env.rules import PRESETS

RULES = PRESETS["hoyle"]
RANDOM = np.random.default_rng(0)
needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks into /proc")


def deals(agent: object, pairs: int = 12, seed: int = 5) -> Pairs:
    """Return single deals of an agent against greedy, refereed."""
    seed_seq = np.random.SeedSequence(seed)
    referee = agent if isinstance(agent, Referee) else Referee(agent)  # type: ignore[arg-type]
    return play_chunk(RULES, "deal", [(referee, Referee(GreedyAgent()))] * 2, pairs, seed_seq)


@pytest.fixture(scope="module")
def fair() -> Pairs:
    return deals(GreedyAgent())


def first_views() -> tuple[np.ndarray, np.ndarray]:
    """Return the first agent's views of its first discards, as pone and as dealer."""
    seen: list[np.ndarray] = []

    class Watches(GreedyAgent):
        def act(self, views: np.ndarray, rng: np.random.Generator) -> np.ndarray:
            if (views["phase"] == DISCARD).all() and (views["discarded_n"] == 0).all():
                seen.append(views.copy())
            return super().act(views, rng)

    deals(Watches())
    assert len(seen) == 4  # as pone and as dealer, in the first games and in the swapped ones
    return np.concatenate(seen[::2]), np.concatenate(seen[1::2])


def fatal_games() -> np.ndarray:
    """Return bool[pairs, 2], the games in which the first agent is dealt the ace of clubs."""
    dealt = deals(GreedyAgent()).first_dealt.T  # in batch order: first games, then second
    fatal = np.zeros(dealt.shape, dtype=bool)
    for dealer, views in enumerate(first_views()):
        fatal[dealt == bool(dealer)] = failing_agents.is_fatal(views)
    return fatal.T


@pytest.mark.parametrize(
    ("agent", "kind", "message"),
    [
        (failing_agents.Cheats, "illegal action", "99 is not an action"),
        (failing_agents.Raises, "raised", "KeyError: 'no book move'"),
        (failing_agents.Exits, "raised", "SystemExit: 4"),
        (failing_agents.Interrupts, "raised", "KeyboardInterrupt"),
        (failing_agents.Forgets, "wrong answer", "of shape (0,)"),
        (failing_agents.Halves, "wrong answer", "float64"),
        (failing_agents.Rambles, "wrong answer", "TypeError: it is on the GPU"),
        (failing_agents.Panics, "raised", "BaseException: a panic of another language"),
        (failing_agents.Shouts, "raised", "ValueError: no no"),
    ],
)
def test_referee_failure_costs_only_the_failing_games(fair: Pairs, agent: type, kind: str, message: str) -> None:
    outcome = deals(agent())
    guilty = fatal_games()
    assert 0 < guilty.sum() < guilty.size
    assert (outcome.forfeits[:, :, 0] == guilty).all()
    assert not outcome.forfeits[:, :, 1].any()
    assert (outcome.won[..., 0][guilty] == 0).all()
    assert (outcome.margin[guilty] == 0).all()
    for field in ("won", "scores", "points"):
        assert (getattr(outcome, field)[~guilty] == getattr(fair, field)[~guilty]).all()
    assert len(outcome.failures) == guilty.sum()
    for failure in outcome.failures:
        assert (failure.agent, failure.kind) == (agent.name, kind)
        assert message in failure.why
        assert len(failure.why) < 400


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize("swallows", [False, True])
def test_referee_ctrl_c_stops_play(swallows: bool) -> None:
    class Stopped(GreedyAgent):
        def act(self, views: np.ndarray, rng: np.random.Generator) -> np.ndarray:
            with contextlib.suppress(*[BaseException] * swallows):
                signal.raise_signal(signal.SIGINT)
            return super().act(views, rng)

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        deals(Stopped())
    assert signal.getsignal(signal.SIGINT) is before


def test_referee_accepts_any_integers_one_a_view(fair: Pairs) -> None:
    class Columns(GreedyAgent):
        def act(self, views: np.ndarray, rng: np.random.Generator) -> np.ndarray:
            return np.repeat(super().act(views, rng)[:, None], 2, axis=1).astype(np.int8)[:, 1]

    outcome = deals(Columns())
    assert not outcome.failures
    assert (outcome.points == fair.points).all()


def test_referee_agent_writing_into_views_changes_nothing(fair: Pairs) -> None:
    outcome = deals(failing_agents.Scribbles())
    assert (outcome.points == fair.points).all()
    assert not outcome.forfeits.any()


def test_forfeits_count_as_losses_without_points() -> None:
    outcome = deals(failing_agents.Raises(), pairs=60)
    spoilt = outcome.forfeits.any(axis=(1, 2))
    shown = figures(RULES, ("raises", "greedy"), outcome, outcome)
    assert shown["forfeits"] == {"raises": 2 * outcome.forfeits.sum(), "greedy": 0}
    won = 2 * outcome.won[..., 0] - 1
    assert shown["won"]["mean"] == ((1 + won) / 2).mean()
    whole = won[~spoilt] * np.where(outcome.first_dealt[~spoilt], 1, -1)
    assert shown["first_dealer_won"]["mean"] == pytest.approx(((1 + whole) / 2).mean())
    every = won * np.where(outcome.first_dealt, 1, -1)
    assert shown["first_dealer_won"]["mean"] != pytest.approx(((1 + every) / 2).mean())
    crib = shown["points_per_deal"]["dealer"]["greedy"]["crib"]["mean"]
    dealt = ~outcome.first_dealt[~spoilt]
    assert crib == outcome.points[~spoilt][:, :, 1, 2][dealt].mean()


class Spy(GreedyAgent):
    """Remembers its hands, and counts the views in which the other seat has played one of them."""

    name = "spy"

    def __init__(self) -> None:
        super().__init__()
        self.mine: set[frozenset[int]] = set()
        self.known = 0

    def act(self, views: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        for view in views:
            cards = [int(card) for card in view["hand"] if card != NONE]
            if view["phase"] == DISCARD and view["discarded_n"] == 0:
                self.mine.add(frozenset(cards))
            theirs = view["pile_seats"] >> 2 * np.arange(PILE) & 1
            played = {int(card) for card in view["pile"][theirs == 1] if card != NONE}
            self.known += len(played) == 4 and any(played <= hand for hand in self.mine)
        return super().act(views, rng)


def test_play_pairs_agent_instances_do_not_see_the_other_hand() -> None:
    def played(once: Spy, again: Spy) -> int:
        sides = [(Referee(spy), Referee(GreedyAgent())) for spy in (once, again)]
        seed_seq = np.random.SeedSequence(7)
        play_chunk(RULES, "deal", sides, 10, seed_seq)
        return once.known + again.known

    both = Spy()
    assert played(both, both) >= 10  # one instance on both sides sees hands again
    assert played(Spy(), Spy()) == 0


def test_agent_generator_does_not_reveal_the_deals() -> None:
    """A spawned seed sequence exposes its parent, which the deals' would share."""
    sources = []

    class Traces(GreedyAgent):
        def act(self, views: np.ndarray, rng: np.random.Generator) -> np.ndarray:
            sources.append(rng.bit_generator.seed_seq)
            return super().act(views, rng)

    deals(Traces(), seed=5)
    count = len(sources)
    env = six_card_v0.vector_env(3, opponent=Traces(), seat=0)
    env.reset(seed=5, options={"dealer": 0})
    assert len(sources) > count
    for source in sources:
        assert source.spawn_key == ()
        assert not np.isin(5, source.entropy)


def test_games_without_referee_raise_the_agents_error() -> None:
    for agent, error, message in (
        (failing_agents.Cheats(), IllegalActionError, "'cheats' failed: 99 is not an action"),
        (failing_agents.Raises(), KeyError, "no book move"),
        (failing_agents.Halves(), ValueError, "got float64 of shape"),
    ):
        with pytest.raises(error, match=message):
            play_pairs(RULES, "game", agent, GreedyAgent(), 20, 1)


def test_move_seconds_are_a_mean_per_view_after_the_first_call() -> None:
    views = np.zeros(4, dtype=VIEW)
    views["hand"] = 5
    fatal = views.copy()
    fatal["hand"] = failing_agents.FATAL

    class Sleeps(failing_agents.Dawdles):
        def act(self, views: np.ndarray, rng: np.random.Generator) -> np.ndarray:
            answer = np.zeros(len(views), dtype=np.int64)
            return self.fail(answer, None) if failing_agents.is_fatal(views).any() else answer

    referee = Referee(Sleeps(), move_seconds=0.02)
    assert referee.ask(fatal, RANDOM)[1] == {}  # the first call may compile kernels
    assert referee.ask(views, RANDOM)[1] == {}
    failures = referee.ask(fatal, RANDOM)[1]
    assert set(failures) == {0, 1, 2, 3}
    assert {failure.kind for failure in failures.values()} == {"over time"}
    mixed = np.concatenate([views, fatal[:1]])  # 0.05 s over five views, though 0.25 are slept
    assert set(referee.ask(mixed, RANDOM)[1]) == {4}
    assert Referee(Sleeps(), move_seconds=1.0).ask(fatal, RANDOM)[1] == {}


def test_referee_stops_waiting_after_repeated_timeouts() -> None:
    batches = []

    class Late:
        name = "late"

        def act(self, views: np.ndarray, rng: np.random.Generator) -> np.ndarray:
            batches.append(len(views))
            raise TimeoutError("no answer")

    failures = Referee(Late()).ask(np.zeros(500, dtype=VIEW), RANDOM)[1]
    assert len(failures) == 500
    assert batches == [500] + [1] * PATIENCE


# ---------------------------------------------------------------- a separate process


def one_fatal_view() -> tuple[np.ndarray, int]:
    """Return four views, and which of them is fatal."""
    views = first_views()[0]
    fatal = failing_agents.is_fatal(views)
    return np.concatenate([views[~fatal][:2], views[fatal][:1], views[~fatal][2:3]]), 2


@pytest.fixture(scope="module")
def changes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ProcessAgent, Path]]:
    """Yield an agent in a separate process, and the file that names the agent it plays as."""
    how = tmp_path_factory.mktemp("changes") / "how"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WAITING", str(how.parent))
        agent = process_agent("failing_agents:Changes")
    yield agent, how
    agent.close()


def test_process_agent_failures_cost_one_answer_but_a_servers_stops_play(changes: tuple[ProcessAgent, Path]) -> None:
    agent, how = changes
    program = agent._program
    views, fatal = one_fatal_view()
    how.write_text("Exits")
    failures = Referee(agent).ask(views, RANDOM)[1]
    assert list(failures) == [fatal]
    assert "SystemExit: 4" in failures[fatal].why
    how.write_text("Stops")
    with pytest.raises(NoResultError, match="the server is down"):
        Referee(agent).ask(views, RANDOM)
    assert agent._program is program


def test_process_agent_logs_prints(
    changes: tuple[ProcessAgent, Path], capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", logger="crib_agents.bot")
    agent, how = changes
    how.write_text("Prints")
    views = first_views()[0]
    assert (agent.act(views, RANDOM) == views["hand"][:, 0]).all()
    deadline = time.monotonic() + 60
    while "actions" not in caplog.text:  # a thread reads it
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert capfd.readouterr() == ("", "")


def pids(folder: Path) -> list[int]:
    return [int(path.name) for path in folder.glob("[0-9]*")]


def wait_until_gone(folder: Path, count: int) -> None:
    """Wait until ``count`` processes have started and all have ended (zombies count as ended)."""

    def lives(pid: int) -> bool:
        try:
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
        except OSError:
            return False

    deadline = time.monotonic() + 120
    while len(pids(folder)) < count or any(map(lives, pids(folder))):
        assert time.monotonic() < deadline, f"{pids(folder)} of {count}"
        time.sleep(0.02)


@needs_proc
def test_process_agent_that_forks_gives_one_answer(changes: tuple[ProcessAgent, Path]) -> None:
    agent, how = changes
    how.write_text("Forks")
    views = first_views()[0]
    for few in (1, 2):
        assert (agent.act(views[:few], RANDOM) == views["hand"][:few, 0]).all()
    wait_until_gone(how.parent, 3)  # a copy ends where it would answer


def lingers(folder: Path, then: str = "sleep 600", **settings: float) -> CommandAgent:
    """Return a program that leaves a process behind and does something at its first decision."""
    code = f"""read hello; sleep 600 & touch {folder}/$!; echo '{{"name": "lingers"}}'; read decision; {then}"""
    return CommandAgent(["sh", "-c", code], **settings)


@needs_proc
@pytest.mark.parametrize("how", ["close", "forgotten", "time", "death"])
def test_command_agent_close_ends_its_children(how: str, tmp_path: Path) -> None:
    agent = lingers(tmp_path, "exit 5" if how == "death" else "sleep 600", move_seconds=0.05)
    view = first_views()[0][:1]
    if how == "close":
        agent.close()
    elif how == "time":
        agent._allowance = 0.4  # what START_SECONDS is for; shorter here
        for allowance in (0.2, 0.1):  # one that hangs from the start gets less and less
            with pytest.raises(TimeoutError, match=r"no answer within 0\.05 s a decision"):
                agent.act(view, RANDOM)
            assert agent._allowance == allowance
    elif how == "death":
        with pytest.raises(RuntimeError, match="died with exit code 5"):
            agent.act(view, RANDOM)
    else:
        del agent
    wait_until_gone(tmp_path, 2 if how == "time" else 1)


def test_process_agent_and_load_agent_name_the_error_of_a_maker() -> None:
    with pytest.raises(ValueError, match="OSError: the weights are not here"):
        process_agent("failing_agents:Unmakeable")
    with pytest.raises(ValueError, match=r"no agent was made of .*SystemExit: 3"):
        load_agent("failing_agents:Quits")
    with pytest.raises(ValueError, match=r"no agent was made of .*OSError: the weights"):
        load_agent("failing_agents:Unmakeable")
    with pytest.raises(ValueError, match=r"failing_agents:Nameless.*has no name"):
        load_agent("failing_agents:Nameless")
