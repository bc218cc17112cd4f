"""Tournaments: equal results for any number of processes, and correct credit for every agent."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations, permutations
from multiprocessing import active_children
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from crib_agents.data.tables import ROLES
from crib_agents.policy_net import PolicyNetAgent, header
from crib_training.evaluation import chunks
from crib_training.evaluation import report as reports
from crib_training.evaluation.chunks import Setup, read_pairs
from crib_training.evaluation.duplicate import Pairs, estimate, play_chunk
from crib_training.evaluation.ledger import FILE, ROUND
from crib_training.evaluation.report import report
from crib_training.provenance import sources
from crib_training.tournament import mean_won, tournament
from crib_training.workers import Processes, Ray, ThisProcess

from backwards import Backwards
from checkout import import_path
from commands import crib, files_of_at_most
from crib_env.engine.family import find_family

FIELD = ("greedy", "random", "failing_agents:Cheats")
SHORT = "hoyle[target=31]"  # games of two deals or three
SMALL = Setup(FIELD, rules=SHORT, chunk=10, seed=(3,))
FILES = ("results.json", "report.md")


def contents(folder: Path) -> list[bytes]:
    return [(folder / name).read_bytes() for name in FILES]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a tournament of three agents, played in this process."""
    out = tmp_path_factory.mktemp("tournament")
    tournament(SMALL, 25, out, ThisProcess())
    return out


@pytest.fixture(scope="module")
def results(played: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((played / "results.json").read_text())
    return found


@pytest.fixture(scope="module")
def worker() -> Iterator[Processes]:
    """One process, shared by the tests that leave it alive."""
    with Processes(1) as one:
        yield one


@pytest.fixture
def replayed(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return a list to which each chunk played from now on is added."""
    seen: list[Any] = []
    play = Setup.play
    monkeypatch.setattr(Setup, "play", lambda *a: (seen.append(a[1]), play(*a))[1])
    return seen


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return a list to which the agents of each chunk played from now on are added."""
    seen: list[Any] = []

    def watch(*args: Any, **keywords: Any) -> Pairs:
        seen.append(args[2])
        return play_chunk(*args, **keywords)

    monkeypatch.setattr(chunks, "play_chunk", watch)
    return seen


@pytest.mark.parametrize("env", ["pegging_v0", "discard_v0"])
def test_setup_auto_adjusts_one_phase_of_compiled_agents(env: str) -> None:
    """As `crib evaluate` does: with the other phase's default policy no agent plays compiled."""
    setup = Setup(("greedy", "rule_based"), env=env, chunk=2)
    (chunk,) = setup.chunks(0, 1, 2)
    assert "won_correction" in setup.play(chunk)["games"]


# ---------------------------------------------------------------- the same for any workers


def test_tournament_of_other_processes_in_any_order_is_the_same(
    played: Path, worker: Processes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Processes, "__exit__", lambda *_: None)  # it plays in further tests
    threads = os.environ.get("OMP_NUM_THREADS")
    for workers in (worker, Backwards()):
        tournament(SMALL, 25, tmp_path / type(workers).__name__, workers)
        assert contents(tmp_path / type(workers).__name__) == contents(played)
    assert os.environ.get("OMP_NUM_THREADS") == threads


def test_tournament_resumed_is_the_same(played: Path, tmp_path: Path, replayed: list[Any]) -> None:
    lines = (played / FILE).read_text().splitlines(keepends=True)
    kept = [lines[0], lines[4], lines[2], lines[7][:90]]  # in another order, the last cut short
    (tmp_path / FILE).write_text("".join(kept))
    tournament(SMALL, 25, tmp_path, ThisProcess())
    assert contents(tmp_path) == contents(played)
    assert len(replayed) == len(lines) - 3
    replayed.clear()
    tournament(SMALL, 25, tmp_path, ThisProcess())
    assert contents(tmp_path) == contents(played)
    assert not replayed


def test_tournament_full_disk_loses_only_the_last_chunk(played: Path, tmp_path: Path) -> None:
    lines = (played / FILE).read_bytes().splitlines(keepends=True)
    most = sum(map(len, lines[:3])) + 50  # the third chunk is cut short
    with files_of_at_most(most), pytest.raises(OSError, match="jsonl cannot be written: File"):
        tournament(SMALL, 25, tmp_path, ThisProcess())
    assert (tmp_path / FILE).stat().st_size == most
    tournament(SMALL, 25, tmp_path, ThisProcess())
    assert contents(tmp_path) == contents(played)


def test_tournament_extended_keeps_played_games(played: Path, tmp_path: Path, replayed: list[Any]) -> None:
    shutil.copy(played / FILE, tmp_path)
    larger = replace(SMALL, agents=(*FIELD, "rule_based"))
    found = tournament(larger, 30, tmp_path, ThisProcess())
    # Three old pairings lack their last chunk (5 pairs before, 10 now); three are new.
    old = [(*sorted(pair), 2) for pair in combinations(FIELD, 2)]
    new = [(*sorted((name, "rule_based")), k) for name in FIELD for k in range(3)]
    assert sorted((c.first, c.second, c.index) for c in replayed) == sorted(old + new)
    tournament(larger, 30, tmp_path / "at once", ThisProcess())
    assert contents(tmp_path) == contents(tmp_path / "at once")
    assert [r["pairs"] for r in found["pairings"]] == [30] * 6


@pytest.mark.parametrize(
    ("setup", "message"),
    [
        (replace(SMALL, env="five_card_v0", rules=None), "env was six_card_v0, not five_card_v0"),
        (replace(SMALL, chunk=5), "chunk was 10, not 5"),
    ],
)
def test_tournament_refuses_another_setup_in_its_folder(played: Path, setup: Setup, message: str) -> None:
    before = (played / FILE).read_bytes()
    why = r"holds a tournament of another set-up: .*" + re.escape(message)
    with pytest.raises(ValueError, match=why):
        tournament(setup, 25, played, ThisProcess())
    assert (played / FILE).read_bytes() == before


def test_tournament_changed_order_field_or_seeds_repeats_no_games(
    played: Path, results: dict[str, Any], tmp_path: Path, replayed: list[Any]
) -> None:
    shutil.copy(played / FILE, tmp_path)
    for field in (FIELD[::-1], FIELD[:2], FIELD[1:]):
        found = tournament(replace(SMALL, agents=field), 25, tmp_path, ThisProcess())
        assert [agent["given"] for agent in found["agents"]] == list(field)
        for r in found["pairings"]:
            one = next(p for p in results["pairings"] if {p["first"], p["second"]} == {r["first"], r["second"]})
            if r["first"] == one["first"]:
                assert r == one
            else:
                assert r["won"]["mean"] == pytest.approx(1 - one["won"]["mean"])
                assert r["skunks_for"] == one["skunks_against"]
                assert r["won_as_first_dealer"] != one["won_as_first_dealer"]
                for role in ROLES:
                    assert r["points_per_deal"][role] == one["points_per_deal"][role]
                    for phase, more in r["more_per_deal"][role].items():
                        assert more["mean"] == -one["more_per_deal"][role][phase]["mean"]
    assert not replayed
    both = tournament(replace(SMALL, agents=FIELD[:2], seed=(3, 4)), 25, tmp_path, ThisProcess())
    assert {c.seed for c in replayed} == {4}
    assert both["seed"] == [3, 4]
    (pooled,) = both["pairings"]
    assert pooled["pairs"] == 50
    four = tournament(replace(SMALL, agents=FIELD[:2], seed=(4,)), 25, tmp_path, ThisProcess())
    more = [r["margin_per_deal"]["mean"] for r in (results["pairings"][0], four["pairings"][0])]
    assert pooled["margin_per_deal"]["mean"] == pytest.approx(np.mean(more))
    assert more[0] != more[1]


def test_tournament_strict_ends_at_the_first_failure(tmp_path: Path) -> None:
    for agent, workers, shown in (
        ("Raises", "1", 'throw(KeyError("no book move"))'),
        ("Cheats", "0", "failing_agents:Cheats failed, illegal action: 99 is not an action"),
    ):
        words = f"tournament greedy failing_agents:{agent} --rules {SHORT} --pairs 9 --strict --workers {workers} --out"
        run = crib(*words.split(), str(tmp_path / agent))
        assert run.returncode == 1
        assert shown in run.stderr
        assert "Traceback" in run.stderr
        assert run.stderr.splitlines()[-1].startswith(f"error: failing_agents:{agent} failed")


@pytest.mark.parametrize(
    ("second", "adjust", "known"),
    [
        ("random", "auto", False),
        ("random", "always", True),
        ("examples.plain_player:KeepsFives", "auto", True),
        ("examples.plain_player:KeepsFives", "never", False),
    ],
)
def test_tournament_adjusts_slow_agents_by_default_or_as_set(
    second: str, adjust: Any, known: bool, tmp_path: Path
) -> None:
    """By default with a plain agent and not with two compiled ones; ``adjust`` overrides both."""
    setup = Setup(("greedy", second), chunk=5, adjust=adjust)
    found = tournament(setup, 5, tmp_path, ThisProcess())
    one = found["pairings"][0]["adjusted"]
    assert (one is not None) == ("by role and phase" in report(found)) == known
    if known:
        assert one["won"]["mean"] != found["pairings"][0]["won"]["mean"]
        turned = tournament(replace(setup, agents=setup.agents[::-1]), 5, tmp_path, ThisProcess())
        other = turned["pairings"][0]["adjusted"]
        for figure, times in (("won", 1), ("margin_per_deal", 0)):
            assert one[figure]["mean"] + other[figure]["mean"] == pytest.approx(times)


def test_tournament_progress_is_known_within_chunks(worker: Processes) -> None:
    setup = Setup(("greedy", "random"), chunk=20)
    for players in (ThisProcess(), worker):
        games: list[float] = []
        players.submit(setup, setup.chunks(0, 1, 20)[0])
        while players.next_record(games.append) is not None:
            pass
        assert sum(games) == pytest.approx(80)
    assert min(games) >= 0


def with_records_swapped(lines: list[str]) -> list[str]:
    one, other = (json.loads(line) for line in lines)
    return [json.dumps({**one, "record": other["record"]}), json.dumps({**other, "record": one["record"]})]


# The replacement of lines 3 and 4, which hold two chunks.
SPOILED: dict[str, Callable[[list[str]], list[str]]] = {
    "cut short": lambda lines: [lines[2][:50], lines[3]],
    "altered": lambda lines: [lines[2].replace('"won": [', '"won": [1, ', 1), lines[3]],
    "swapped records": lambda lines: with_records_swapped(lines[2:4]),
    "there twice": lambda lines: [lines[1], *lines[2:4]],
    "of another shape": lambda lines: ['["first", "second"]', lines[3]],
    "empty": lambda lines: ["", lines[3]],
    "a set-up again": lambda lines: [lines[0], lines[3]],
}


@pytest.mark.parametrize("how", SPOILED)
def test_ledger_refuses_a_broken_line_by_number(played: Path, tmp_path: Path, how: str) -> None:
    lines = (played / FILE).read_text().splitlines()
    lines[2:4] = SPOILED[how](lines)
    text = "\n".join(lines) + "\n"
    (tmp_path / FILE).write_text(text)
    both = ", 4" if how == "swapped records" else ""
    with pytest.raises(RuntimeError, match=rf"line 3{both} of .*chunks\.jsonl cannot be read"):
        tournament(SMALL, 25, tmp_path, ThisProcess())
    assert (tmp_path / FILE).read_text() == text


def test_ledger_refuses_a_chunk_of_another_tournament(played: Path, tmp_path: Path) -> None:
    other = replace(SMALL, chunk=5)
    tournament(other, 10, tmp_path, ThisProcess())
    lines = (played / FILE).read_text().splitlines(keepends=True)
    lines[1] = (tmp_path / FILE).read_text().splitlines(keepends=True)[1]
    (tmp_path / FILE).write_text("".join(lines))
    with pytest.raises(RuntimeError, match=r"line 2 of .* of another tournament"):
        tournament(SMALL, 25, tmp_path, ThisProcess())


def test_ledger_refuses_missing_digests_and_a_broken_first_line(played: Path, tmp_path: Path) -> None:
    first, *rest = (played / FILE).read_text().splitlines(keepends=True)
    old = json.dumps(json.loads(first)["record"]) + "\n"
    for broken in (old, first.replace('"chunk": 10', '"chunk": 20'), first[:20] + "\n", rest[0]):
        (tmp_path / FILE).write_text("".join([broken, *rest]))
        with pytest.raises(RuntimeError, match=r"line 1 of .* Name another folder, or remove"):
            tournament(SMALL, 25, tmp_path, ThisProcess())


def test_ledger_refuses_chunks_of_other_code(played: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(played / FILE, tmp_path)
    monkeypatch.setattr(chunks, "code_digest", lambda: "0123")
    with pytest.raises(ValueError, match=r"the code of crib_env, .* has changed"):
        tournament(SMALL, 25, tmp_path, ThisProcess())


def test_chunk_sources_cover_play_and_no_reports() -> None:
    files = {path.as_posix() for path in sources()}

    def named(end: str) -> bool:
        return any(name.endswith(end) for name in files)

    for name in ("crib_env/rules.py", "crib_env/engine/table_top/views.py"):
        assert named(name), name
    assert named("crib_agents/greedy.py")
    for name in ("aivat", "chunks", "duplicate", "referee"):
        assert named(f"evaluation/{name}.py"), name
    assert any("crib_agents/data/" in name for name in files)
    assert not named("evaluation/report.py")


class Fatal:
    """A set-up that kills its worker in the middle of counting."""

    def play(self, chunk: Any, finished: Any = None) -> Any:
        class Killing(float):
            def __radd__(self, other: float) -> Any:
                os._exit(9)

        finished(Killing(1.0))


def test_tournament_dead_worker_stops_with_advice() -> None:
    """A lock held by a dead worker would block this process forever."""
    found: list[str] = []

    def play() -> None:
        with Processes(1) as one:
            one.submit(cast(Any, Fatal()), SMALL.chunks(0, 1, 5)[0])
            try:
                one.next_record()
            except RuntimeError as error:
                found.append(str(error))

    thread = threading.Thread(target=play, daemon=True)
    thread.start()
    thread.join(300)
    assert not thread.is_alive(), "it waits for a worker that is dead"
    assert re.search("died as greedy met random, .*process:NAME", found[0])


class NotSent(Exception):
    """An exception that cannot be pickled."""

    def __reduce__(self) -> Any:
        raise TypeError("it holds a socket")


class NotRead(Exception):
    """An exception whose pickle cannot be read: what `__init__` takes is not in its ``args``."""

    def __init__(self, status: int, body: str) -> None:
        super().__init__(f"status {status}: {body}")


class Raising:
    """A set-up whose chunks raise exceptions."""

    def play(self, chunk: Any, finished: Any = None) -> Any:
        raise NotSent("no connection") if chunk == "sent" else NotRead(503, "try later")


def test_processes_report_exceptions_without_pickle(worker: Processes) -> None:
    raised = {"sent": "NotSent: no connection", "read": "NotRead: status 503: try later"}
    for chunk, words in raised.items():
        worker.submit(cast(Any, Raising()), chunk)
        with pytest.raises(RuntimeError, match=f"^{words}$"):
            worker.next_record()


def test_tournament_stopped_waits_for_no_agent() -> None:
    setup = Setup(("greedy", "failing_agents:Hangs"), chunk=20)
    before = set(active_children())

    def stop() -> None:
        with Processes(1) as workers:
            workers.submit(setup, setup.chunks(0, 1, 20)[0])
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stop()
    assert set(active_children()) <= before


def test_tournament_workers_die_with_the_command(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "crib_training.command_line", "tournament", "greedy"]
    environment = {**os.environ, "PYTHONPATH": import_path(), "WAITING": str(tmp_path)}
    words = ["process:failing_agents:Waits", "--workers", "1", "--out", str(tmp_path / "out")]
    run = subprocess.Popen([*command, *words], env=environment)
    deadline = time.monotonic() + 300
    while not (waiting := [int(path.name) for path in tmp_path.glob("[0-9]*")]):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    run.kill()
    run.wait()
    while any(Path(f"/proc/{pid}").exists() for pid in waiting):
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_tournament_without_ray_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ValueError, match=re.escape("crib-env[cluster]")):
        Ray("auto")


def test_tournament_refuses_changed_weights(tmp_path: Path) -> None:
    family = find_family("two_hand")
    path = tmp_path / "net.safetensors"
    setup = Setup((str(path), "random"), chunk=2)
    for scale, says in ((1.0, "net"), (2.0, "a weights file, or the module of an agent, has changed")):
        weight = np.full((family.actions, family.obs_size), scale, dtype=np.float32)
        PolicyNetAgent([(weight, weight[:, 0])], header("six_card_v0", "hoyle", family)).save(path)
        if scale == 1.0:
            found = tournament(setup, 2, tmp_path / "out", ThisProcess())
            assert found["agents"][0]["name"] == says
        else:
            with pytest.raises(ValueError, match=says):
                tournament(setup, 2, tmp_path / "out", ThisProcess())


def test_setup_identity_has_the_modules_of_agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = tmp_path / "an_agent_being_written.py"
    monkeypatch.syspath_prepend(str(tmp_path))
    module.write_text("from crib_agents import GreedyAgent as Mine\n")
    of_module = "an_agent_being_written:Mine"
    for given in (of_module, f"process:{of_module}", f"greedy/{of_module}", f"{of_module}/greedy"):
        before = Setup((given, "random"), chunk=5).identity()["files"]
        module.write_text(module.read_text() + "# a better idea\n")
        after = Setup((given, "random"), chunk=5).identity()["files"]
        assert before[given] != after[given]
        assert before["random"] == after["random"]


# ---------------------------------------------------------------- stopping


def test_tournament_pairing_ends_once_its_interval_is_narrow(tmp_path: Path) -> None:
    setup = Setup(("greedy", "random", "failing_agents:Never"), rules=SHORT, chunk=5, seed=(2,))
    most, width = 60, 9.0
    found = tournament(setup, most, tmp_path / "until", ThisProcess(), until=width)
    full = tournament(setup, most, tmp_path / "all", ThisProcess())
    lines = (tmp_path / "all" / FILE).read_text().splitlines()[1:]
    records = [json.loads(line)["record"] for line in lines]
    given = {agent["name"]: agent["given"] for agent in found["agents"]}
    for r, whole in zip(found["pairings"], full["pairings"], strict=True):
        names = sorted((given[r["first"]], given[r["second"]]))
        chunks = sorted((c for c in records if [c["first"], c["second"]] == names), key=lambda c: c["index"])
        won = np.concatenate([read_pairs(c["games"]).won[..., 0].mean(1) for c in chunks])
        step = ROUND * setup.chunk
        wide = {n: np.append(won[:n], [0, 1]) for n in range(step, most + 1, step)}
        halves = {n: 196 * w.std(ddof=1) / len(w) ** 0.5 for n, w in wide.items()}
        narrow = [n for n, half in halves.items() if half <= width]
        assert r["pairs"] == (narrow[0] if narrow else most)
        assert whole["pairs"] == most
    assert len({r["pairs"] for r in found["pairings"]}) > 1
    assert "Intervals found by waiting" in report(found)
    assert "Intervals found by waiting" not in report(full)


def test_tournament_few_equal_pairs_do_not_end_a_pairing(tmp_path: Path) -> None:
    setup = Setup(("greedy", "failing_agents:Never"), rules=SHORT, chunk=1)
    (pairing,) = tournament(setup, 12, tmp_path, ThisProcess(), until=9.0)["pairings"]
    assert (pairing["won"]["mean"], pairing["pairs"]) == (1.0, 12)


# ---------------------------------------------------------------- messages


def test_tournament_anchor_is_rated_zero(played: Path, results: dict[str, Any], tmp_path: Path) -> None:
    shutil.copy(played / FILE, tmp_path)
    anchored = tournament(SMALL, 25, tmp_path, ThisProcess(), anchor="random")
    plain = {agent["name"]: agent["rating"] for agent in results["agents"]}
    for agent in anchored["agents"]:
        assert agent["rating"] == pytest.approx(plain[agent["name"]] - plain["random"])
    assert "random is 0" in report(anchored)


def test_tournament_names_a_cheat_and_plays_on(results: dict[str, Any]) -> None:
    forfeits = {agent["name"]: agent["forfeits"] for agent in results["agents"]}
    assert forfeits["cheats"] > 20
    assert forfeits["greedy"] == forfeits["random"] == 0
    assert {f["agent"] for f in results["failures"]} == {"cheats"}
    assert sum(f["times"] for f in results["failures"]) == forfeits["cheats"]
    text = report(results)
    assert f"- cheats, illegal action: {forfeits['cheats']}\n" in text
    assert "99 is not an action: actions are the card ids 0 to 51" in text
    assert "pairs without one" in text
    assert [r["pairs"] for r in results["pairings"]] == [25, 25, 25]


def test_tournament_report_shows_pairings_both_ways(results: dict[str, Any]) -> None:
    text = report(results)
    cross = text.split("## Games won")[1].split("##")[0]
    rows = {row.split(" | ")[0].strip("| "): row for row in cross.splitlines() if row[:2] == "| "}
    names = [word.strip() for word in rows[""].strip("| ").split("|")]
    won = {}
    for name in names:
        cells = [cell.strip() for cell in rows[name].split("|")[2:-1]]
        won |= {(name, other): cell for other, cell in zip(names, cells, strict=True)}
    for r in results["pairings"]:
        mean = 100 * r["won"]["mean"]
        assert won[r["first"], r["second"]].startswith(f"{mean:.1f} ±")
        assert won[r["second"], r["first"]].startswith(f"{100 - mean:.1f} ±")
    assert all(won[name, name] == "" for name in names)


def test_tournament_pairings_share_deals_and_chunks_do_not() -> None:
    twin = "crib_agents.greedy:GreedyAgent"
    setup = Setup(("greedy", twin, "rule_based"), rules=SHORT, chunk=6)
    points = {
        (*pairing, chunk.index, kind): read_pairs(setup.play(chunk)[kind]).points
        for pairing in setup.pairings
        for chunk in setup.chunks(*pairing, 12)
        for kind in ("games", "deals")
    }
    for kind in ("games", "deals"):
        for index in (0, 1):  # of the same two agents, whose games of the same deals are the same
            assert (points[0, 2, index, kind] == points[1, 2, index, kind][:, ::-1, ::-1]).all() or (
                points[0, 2, index, kind] == points[1, 2, index, kind]
            ).all()
        assert (points[0, 2, 0, kind] != points[0, 2, 1, kind]).any()


def test_tournament_repeated_deals_use_another_instance(watched: list[Any]) -> None:
    setup = Setup(("greedy", "random", "rule_based"), chunk=4)
    for pairing in setup.pairings:
        setup.play(setup.chunks(*pairing, 4)[0])
    seen: dict[str, dict[Any, Any]] = {}
    for halves in watched:
        for half, who in enumerate(halves):
            for one, other in (who, who[::-1]):
                seen.setdefault(one.name, {})[other.name, half] = one.agent
    for instances in seen.values():
        assert len(set(map(id, instances.values()))) == 4


def test_gauntlet_compares_the_other_agents_in_pairs(tmp_path: Path) -> None:
    setup = Setup(
        ("greedy", "random", "rule_based", "crib_agents:RuleBasedAgent"), rules=SHORT, chunk=20, gauntlet=True
    )
    found = tournament(setup, 40, tmp_path, ThisProcess())
    met = [(r["first"], r["second"]) for r in found["pairings"]]
    assert met == [("greedy", other) for other in setup.agents[1:]]
    assert not re.search(r"\| random +\| greedy ", report(found))
    compared = {(c["one"], c["than"]): c["won"] for c in found["compared"]}
    assert len(compared) == 3
    rule_based, twin = setup.agents[2:]
    assert compared[rule_based, twin] == {"mean": 0.0, "ci95": 0.0}
    won = {r["second"]: r["won"]["mean"] for r in found["pairings"]}
    more = compared["random", rule_based]
    assert more["mean"] == pytest.approx(won[rule_based] - won["random"])
    assert more["ci95"] > 0
    assert "## Compared" in report(found)
    assert "## Compared" not in report(tournament(replace(setup, gauntlet=False), 40, tmp_path, ThisProcess()))


def test_mean_won_over_opponents_accounts_for_shared_deals() -> None:
    rng = np.random.default_rng(1)
    one, other = rng.integers(0, 5, size=(2, 400)) / 4
    assert mean_won([one])["ci95"] == pytest.approx(estimate(one).ci95)
    assert mean_won([one, one])["ci95"] == pytest.approx(estimate(one).ci95)
    both = mean_won([one, other])
    assert both["ci95"] == pytest.approx(estimate((one + other) / 2).ci95)
    assert both["mean"] == pytest.approx((one + other).mean() / 2)
    assert mean_won([one, 1 - one])["ci95"] == pytest.approx(0, abs=1e-9)
    assert mean_won([one, other[:300]])["ci95"] > both["ci95"]
    assert mean_won([one[:1], other])["ci95"] is None


def test_tournament_agents_of_one_name_get_distinct_labels(tmp_path: Path) -> None:
    setup = Setup(("greedy", "crib_agents.greedy:GreedyAgent"), chunk=5)
    found = tournament(setup, 1, tmp_path, ThisProcess())
    assert [agent["name"] for agent in found["agents"]] == list(setup.agents)


@pytest.mark.usefixtures("pictures")
def test_draw_writes_a_picture(results: dict[str, Any], tmp_path: Path) -> None:
    assert reports.draw(results, tmp_path / "ratings.png")
    assert (tmp_path / "ratings.png").read_bytes()[:4] == b"\x89PNG"


def test_tournament_without_matplotlib_draws_no_picture(
    results: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert not reports.draw(results, tmp_path / "ratings.png")
    assert not list(tmp_path.iterdir())


# ---------------------------------------------------------------- more sides than two


def test_tournament_of_three_hands_resumes_and_rates(tmp_path: Path) -> None:
    setup = Setup(FIELD, env="three_hand_v0", chunk=4)
    found = tournament(setup, 8, tmp_path / "whole", ThisProcess())
    assert [(r["first"], r["second"]) for r in found["pairings"]] == list(
        permutations(("greedy", "random", "cheats"), 2)
    )
    lines = (tmp_path / "whole" / FILE).read_text().splitlines(keepends=True)
    assert len(lines) == 1 + 6 * 2
    (tmp_path / "part").mkdir()
    (tmp_path / "part" / FILE).write_text("".join(lines[:6]))
    tournament(setup, 8, tmp_path / "part", ThisProcess())
    assert contents(tmp_path / "part") == contents(tmp_path / "whole")
    greedy, rand, cheats = found["agents"]
    assert greedy["rating"] > max(rand["rating"], cheats["rating"])
    assert greedy["won"]["mean"] > 1 / 3 > cheats["won"]["mean"]
    assert cheats["forfeits"] > 0
    text = report(found)
    assert "8 duplicate sets of games a pairing (same cards, the first agent in each of 3" in text
    assert "2 of that of the column; level agents win 33.3." in text


def test_ledger_sets_round_trip() -> None:
    setup = Setup(("greedy", "failing_agents:Cheats"), env="three_hand_v0", chunk=3)
    chunk = setup.chunks(0, 1, 3)[0]
    record = json.loads(json.dumps(setup.play(chunk)))
    sets = read_pairs(record["games"])
    assert (sets.won.shape, sets.points.shape) == ((3, 3, 3), (3, 3, 3, 3))
    assert (sets.shares_won > 0.5).all()  # the other forfeits most
    assert (sets.won[sets.forfeits[..., 1]] == [1, 0, 0]).all()
    assert sets.forfeits[..., 1].any()
    twice = read_pairs(record["deals"], record["deals"])
    once = read_pairs(record["deals"])
    assert (twice.scores == np.concatenate([once.scores, once.scores])).all()


def test_tournament_of_three_sides_repeats_no_deals_for_an_instance(watched: list[Any]) -> None:
    setup = Setup(("greedy", "random"), env="three_hand_v0", chunk=1)
    for pairing in setup.pairings:  # each of the two alone against two of the other
        setup.play(setup.chunks(*pairing, 1)[0])
    games = watched[::2]  # the deals are played by the same instances, on other cards
    assert len(games) == 2
    agents = {id(one.agent) for sides in games for who in sides for one in who}
    assert len(agents) == 2 * 3 * 2


# ---------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"agents": ("greedy",)}, "two agents or more"),
        ({"agents": ("greedy", "greedy")}, "'greedy' is in the field twice"),
        ({"episode": "deal"}, "episode must be one of 'game', 'match', got 'deal'"),
        ({"episode": "match", "env": "table_top_v0"}, "has no matches"),
        ({"players": 4}, "has 2 players, got players=4"),
        ({"seed": ()}, "seed must be one or more, each once, got ()"),
        ({"seed": (1, 1)}, "seed must be one or more, each once"),
        ({"adjust": "always", "env": "table_top_v0"}, "luck is not known of games by"),
    ],
)
def test_setup_refuses_wrong_keywords_with_the_reason(keywords: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        Setup(**{"agents": ("greedy", "random"), **keywords})


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"pairs": 0}, "pairs must be at least 1"),
        ({"until": -1.0}, "until must be above 0"),
        ({"anchor": "nobody"}, "'nobody' is not in the field: greedy, random, cheats"),
    ],
)
def test_tournament_refuses_wrong_keywords_with_the_reason(
    keywords: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        tournament(SMALL, **{"pairs": 5, "out": tmp_path, "workers": ThisProcess(), **keywords})


def test_tournament_command_plays_writes_and_refuses(tmp_path: Path) -> None:
    words = ["tournament", "greedy", "random", "--rules", SHORT, "--pairs", "6", "--workers", "0", "--out"]
    run = crib(*words, str(tmp_path), "--chunk", "3")
    assert run.returncode == 0
    assert run.stdout.startswith("# Tournament: six_card_v0")
    assert "12 games (and as many single deals)" in run.stderr
    assert (tmp_path / "report.md").read_text() == run.stdout[:-1]
    for more, says in (
        ([str(tmp_path), "--chunk", "2"], "chunk was 3, not 2"),
        ([str(tmp_path / "report.md" / "deeper")], "report.md is a file: name a folder"),
    ):
        refused = crib(*words, *more)
        assert refused.returncode == 2
        assert says in refused.stderr
        assert "Traceback" not in refused.stderr
