"""`crib data`: equal bytes for any workers, the contents, and the readers' errors."""

from __future__ import annotations

import json
import re
import shutil
import sys
import tracemalloc
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from crib_agents.adapters.agent_wrappers import PhasedAgent
from crib_agents.analyze import action_values, analyze
from crib_play.table.advice import actions_of
from crib_training.data import load
from crib_training.data.play import Setup, _mixture
from crib_training.data.reading import COLUMNS, KEY
from crib_training.data.run import SUMS, write_data
from crib_training.loading import find_env
from crib_training.workers import Processes, ThisProcess

import crib_env
from backwards import Backwards
from commands import crib
from crib_env.batch import GameBatch
from crib_env.engine.hands.records import DISCARD
from crib_env.engine.two_hand import VIEW
from crib_env.notation import parse_state
from crib_env.policy import find_agent

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def setup_of(**changed: Any) -> Setup:
    settings: dict[str, Any] = {"agents": ("rule_based", "greedy"), "seed": 3, "games": 30, "shard": 8}
    return Setup(**settings | {"episode": "deal"} | changed)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != ".lock"}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    write_data(setup_of(), folder, ThisProcess())
    return folder


def test_data_keeps_finished_shards_and_rewrites_altered_ones(written: Path, tmp_path: Path) -> None:
    write_data(setup_of(), tmp_path, ThisProcess())
    paths = sorted(tmp_path.glob("*.parquet"))
    before = [path.stat().st_mtime_ns for path in paths]
    paths[1].write_bytes(paths[1].read_bytes()[:-40])
    paths[2].unlink()
    write_data(setup_of(), tmp_path, ThisProcess())
    assert contents(tmp_path) == contents(written)
    after = [path.stat().st_mtime_ns for path in paths]
    assert [a == b for a, b in zip(before, after, strict=True)] == [True, False, False, True]


def test_data_checksums_are_of_the_files(written: Path) -> None:
    lines = (written / SUMS).read_text().splitlines()
    assert len(lines) == 4
    for line in lines:
        digest, name = line.split("  ")
        assert sha256((written / name).read_bytes()).hexdigest() == digest


@pytest.mark.parametrize("env", crib_env.ENVIRONMENTS)
def test_data_takes_every_environment(env: str, tmp_path: Path) -> None:
    ran = crib("data", "--env", env, "--games", "1", "--workers", "0", "--values", "expert",
               "--columns", "all", "--out", str(tmp_path))  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    data, maker = load(tmp_path), find_env(env)
    assert [*data] == [*COLUMNS]
    n = len(data["action"])
    assert data["observation"].shape == (n, maker.family.obs_size)
    assert data["action_mask"].shape == (n, maker.family.actions)
    assert (data["action_mask"][np.arange(n), data["action"]] == 1).all()
    assert (np.isnan(data["values"]) == (data["action_mask"] == 0)).all()
    assert (data["regret"] >= 0).all()
    assert np.array_equal(data["probabilities"].argmax(axis=1), data["action"])
    for text, deal, seat in zip(data["position"], data["deal"], data["seat"], strict=True):
        state = parse_state(text).state[0]
        assert (state["deals"], state["to_move"]) == (deal, seat)
    if maker.phase is not None:
        assert len({*data["phase"]}) == 1
    card = (tmp_path / "README.md").read_text()
    assert f"{n:,} decisions" in card
    assert all(f"`{name}`" in card for name in COLUMNS)


@pytest.mark.parametrize("env", ["six_card_v0", "three_hand_v0", "table_top_v0"])
def test_data_rewards_are_points_between_a_seats_decisions(env: str, tmp_path: Path) -> None:
    episode = "round" if env == "table_top_v0" else "deal"
    setup = setup_of(env=env, episode=episode, columns=("all",), games=10)
    write_data(setup, tmp_path, ThisProcess())
    data = load(tmp_path)
    sides = setup.players or 0
    for game in range(setup.games):
        leads: list[float] = []
        for seat in range(sides):
            rows = np.flatnonzero((data["episode"] == game) & (data["seat"] == seat))
            lead = []
            for text in data["position"][rows]:
                scores = parse_state(text).state[0]["scores"][:sides].astype(float)
                lead.append(scores[seat] - (scores.sum() - scores[seat]) / (sides - 1))
            assert data["reward"][rows[:-1]] == pytest.approx(np.diff(lead), abs=1e-4)
            leads.append(lead[-1] + data["reward"][rows[-1]])
            assert len({*data["return"][rows]}) == 1
            if sides == 2:  # the side with more points has won
                assert np.sign(leads[-1]) == data["return"][rows[0]]
        assert sum(leads) == pytest.approx(0, abs=1e-3)


def test_data_bytes_are_equal_in_any_order_of_shards(tmp_path: Path) -> None:
    name = "examples.plain_player:KeepsFives"
    for folder, workers in (("one", ThisProcess()), ("two", Backwards()), ("three", Processes(1))):
        write_data(setup_of(agents=("rule_based", name)), tmp_path / folder, workers)
    assert contents(tmp_path / "one") == contents(tmp_path / "two") == contents(tmp_path / "three")
    assert len(list((tmp_path / "one").glob("*.parquet"))) == 4
    rows = load(tmp_path / "one")
    assert set(rows["agent"]) == {"rule_based", "keeps_fives"}
    mine = np.flatnonzero(rows["agent"] == "keeps_fives")
    assert (rows["action_mask"][mine, rows["action"][mine]] == 1).all()


def test_data_agents_alternate_seats(written: Path) -> None:
    data = load(written)
    named = np.array(["rule_based", "greedy"])[(data["episode"] + data["seat"]) % 2]
    assert (data["agent"] == named).all()


@pytest.mark.parametrize("env", ["six_card_v0", "five_card_v0", "four_hand_v0", "table_top_v0"])
def test_data_values_equal_analyze(env: str) -> None:
    maker = find_env(env)
    games = GameBatch(maker.rules, 3, seed=5)
    games.reset(scores=None)
    rng = np.random.default_rng(1)
    agent = find_agent("random")
    for _ in range(7):
        views = games.views(games.running())
        values = action_values(views)
        for view, found in zip(views, values, strict=True):
            expected = np.full(len(found), np.nan)
            laid = set()
            if "discarded" in view.dtype.names:
                laid = {*view["discarded"][: view["discarded_n"]].tolist()}
            for choice in analyze(np.array([view])):
                for action in actions_of(choice) - laid:
                    expected[action] = np.nanmax([expected[action], choice.win])
            # Far from the end `expert` takes the value of a pair as linear in points.
            linear = maker.family.name == "two_hand" and view["phase"] == DISCARD
            tolerance = 0.05 if linear else 1e-9
            assert found == pytest.approx(expected, abs=tolerance, nan_ok=True)
        games.ask(agent, games.running(), rng)


@pytest.mark.parametrize("env", ["six_card_v0", "five_card_v0", "three_hand_v0"])
def test_data_regret_of_the_expert_is_zero(env: str, tmp_path: Path) -> None:
    """With three hands the values are `learned`'s."""
    best = "learned" if env == "three_hand_v0" else "expert"
    setup = setup_of(agents=(best, "random"), env=env, games=8, values="expert")
    write_data(setup, tmp_path, ThisProcess())
    data = load(tmp_path)
    assert data["regret"][data["agent"] == best].max() < 1e-6
    assert data["regret"][data["agent"] == "random"].mean() > 0.001


def test_data_values_of_the_playing_agents(tmp_path: Path) -> None:
    setup = setup_of(agents=("learned", "random"), games=4, values="own")
    write_data(setup, tmp_path, ThisProcess())
    data = load(tmp_path)
    mine, legal = data["agent"] == "learned", data["action_mask"] == 1
    assert np.isfinite(data["values"][mine][legal[mine]]).all()
    assert np.isnan(data["values"][~mine]).all()
    taken = data["values"][np.arange(len(mine)), data["action"]][mine]
    assert taken == pytest.approx(np.nanmax(data["values"][mine], axis=1))


def test_data_has_probabilities_if_an_agent_draws(written: Path, tmp_path: Path) -> None:
    assert "probabilities" not in load(written)
    write_data(setup_of(agents=("random", "greedy"), games=4), tmp_path, ThisProcess())
    data = load(tmp_path)
    legal = data["action_mask"] / data["action_mask"].sum(axis=1, keepdims=True)
    drawn = data["agent"] == "random"
    assert data["probabilities"][drawn] == pytest.approx(legal[drawn])
    assert (data["probabilities"].max(axis=1) == 1)[~drawn].all()


def test_mixture_is_unknown_of_a_half_that_does_not_say_and_raises_other_errors() -> None:
    class Draws:
        name, draws = "draws", True

        def act(self, views: Any, rng: Any) -> Any:
            raise AssertionError

    class Fails(Draws):
        def action_probabilities(self, views: Any) -> Any:
            raise ValueError("a mistake of its own")

    views, actions = np.zeros(1, dtype=VIEW), np.zeros(1, dtype=np.int64)
    for agent in (Draws(), PhasedAgent(discard=Draws(), pegging=Draws())):
        assert np.isnan(_mixture(agent, views, actions, 52)).all()
    for agent in (Fails(), PhasedAgent(discard=Fails(), pegging=Fails())):
        with pytest.raises(ValueError, match="a mistake of its own"):
            _mixture(agent, views, actions, 52)


def test_data_writes_chosen_columns(tmp_path: Path) -> None:
    write_data(setup_of(columns=("return", "action"), games=1), tmp_path, ThisProcess())
    assert [*load(tmp_path)] == ["action", "return"]
    assert [*load(tmp_path, ["return"])] == ["return"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("--columns acton", "'acton'.*action"),
        ("--columns regret", "the column 'regret' needs --values expert;"),
        ("--columns values", "the column 'values' needs --values expert or own;"),
        ("--columns observation action --format minari", "minari needs episode, seat, agent, action_mask, reward"),
        ("--env six_crd_v0", "six_card_v0"),
        ("--episode gme", "game"),
        ("--values exprt", "expert"),
        ("--values own", "rule_based give no values"),
        ("rule_basd", "rule_based"),
        ("greedy greedy", "named twice"),
        ("--games 0", "games"),
    ],
)
def test_data_errors_are_one_line(words: str, says: str, tmp_path: Path) -> None:
    ran = crib("data", *words.split(), "--out", str(tmp_path / "new"))
    assert ran.returncode == 2
    assert ran.stderr.count("\n") == 1
    assert re.search(says, ran.stderr)
    assert not list(tmp_path.rglob("*.parquet"))


def test_data_refuses_a_folder_with_other_data(written: Path) -> None:
    before = contents(written)
    with pytest.raises(ValueError, match="holds other data: seed was 3, not 9"):
        write_data(setup_of(seed=9), written, ThisProcess())
    assert contents(written) == before


def rewritten(path: Path, target: Path, **changed: Any) -> None:
    table = pq.read_table(path)
    about = json.loads(table.schema.metadata[KEY]) | changed
    pq.write_table(table.replace_schema_metadata({KEY: json.dumps(about).encode()}), target)


def test_readers_reject_unreadable_files(written: Path, tmp_path: Path) -> None:
    first, second = sorted(written.glob("*.parquet"))[:2]
    cut, newer, foreign = (tmp_path / f"{name}.parquet" for name in ("cut", "newer", "foreign"))
    cut.write_bytes(first.read_bytes()[:-100])
    rewritten(first, newer, version=2)
    pq.write_table(pa.table({"a": [1]}), foreign)
    mixed = tmp_path / "mixed"
    mixed.mkdir()
    (mixed / first.name).write_bytes(first.read_bytes())
    rewritten(second, mixed / second.name, environment="five_card_v0")
    for path, message in (
        (cut, r"^[^\n]*cut\.parquet is not a whole Parquet file[^\n]*$"),
        (newer, r"version 2 of the schema.*reads version 1"),
        (foreign, "was not written by `crib data`"),
        (mixed, "its environment is 'five_card_v0', not 'six_card_v0'"),
        (tmp_path / "none", "there is no data at"),
    ):
        with pytest.raises(ValueError, match=message):
            load(path)
    with pytest.raises(ValueError, match="is of six_card_v0, not of five_card_v0"):
        load(written, env="five_card_v0")
    with pytest.raises(ValueError, match=r"actin.*action"):
        load(written, ["actin"])


def test_readers_find_a_damaged_page(written: Path, tmp_path: Path) -> None:
    data = bytearray(sorted(written.glob("*.parquet"))[0].read_bytes())
    data[len(data) // 4] ^= 0xFF
    path = tmp_path / "damaged.parquet"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=r"is damaged|not a whole Parquet file"):
        load(path)


def test_data_without_pyarrow_names_the_extra(written: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    ran = crib("data", "--games", "2", "--out", str(tmp_path / "new"))
    assert ran.returncode == 2
    assert ran.stderr.count("\n") == 1
    assert 'pip install "crib-env[data]"' in ran.stderr
    with pytest.raises(ValueError, match="PyArrow is not installed"):
        load(written)


def test_shard_dataset_shuffles_by_shard(written: Path) -> None:
    pytest.importorskip("torch")
    from crib_training.data.dataset import ShardDataset
    from torch.utils.data import DataLoader

    everything = load(written)
    data = ShardDataset(written, ["episode", "step", "action", "observation"], seed=1)
    passes = [[(int(row["episode"]), int(row["step"])) for row in data] for _ in range(2)]
    in_order = [*zip(everything["episode"].tolist(), everything["step"].tolist(), strict=True)]
    assert passes[0] != passes[1]
    assert sorted(passes[0]) == sorted(passes[1]) == in_order
    shards = [episode // 8 for episode, _ in passes[0]]
    assert np.count_nonzero(np.diff(shards)) == 3  # one shard at a time
    again = ShardDataset(written, ["episode", "step"], seed=1)
    assert [(int(row["episode"]), int(row["step"])) for row in again] == passes[0]
    batch = next(iter(DataLoader(data, batch_size=16)))
    assert batch["observation"].shape == (16, 425)


@pytest.mark.parametrize("persistent", [False, True])
def test_shard_dataset_passes_differ_with_workers(persistent: bool, written: Path) -> None:
    torch = pytest.importorskip("torch")
    from crib_training.data.dataset import ShardDataset
    from torch.utils.data import DataLoader

    def passes() -> list[list[tuple[int, int]]]:
        torch.manual_seed(5)
        data = ShardDataset(written, ["episode", "step"], seed=1)
        loader = DataLoader(data, batch_size=64, num_workers=2, persistent_workers=persistent)
        return [
            [row for batch in loader for row in zip(batch["episode"].tolist(), batch["step"].tolist(), strict=True)]
            for _ in range(2)
        ]

    found = passes()
    assert found[0] != found[1]
    assert sorted(found[0]) == sorted(found[1])
    assert len({*found[0]}) == len(found[0]) == len(load(written, ["episode"])["episode"])
    assert passes() == found


@pytest.mark.parametrize("lost", [0, 1, 3])
def test_load_refuses_a_missing_shard(lost: int, written: Path, tmp_path: Path) -> None:
    shutil.copytree(written, tmp_path / "data")
    (tmp_path / f"data/shard-{lost:05d}.parquet").unlink()
    with pytest.raises(ValueError, match=f"has 3 of 4 shards, not shard-{lost:05d}"):
        load(tmp_path / "data")
    last = sorted((tmp_path / "data").glob("*.parquet"))[-1]
    assert len(load(last)["episode"])


@pytest.mark.parametrize(("field", "value"), [("given", ["random"]), ("episode", "game"), ("seed", 9), ("games", 24)])
def test_load_refuses_a_shard_of_another_data_set(field: str, value: object, written: Path, tmp_path: Path) -> None:
    shutil.copytree(written, tmp_path / "data")
    name = "shard-00001.parquet"
    rewritten(written / name, tmp_path / "data" / name, **{field: value})
    with pytest.raises(ValueError, match=f"{name} does not belong to .*: its {field} is "):
        load(tmp_path / "data")


def test_write_data_memory_does_not_grow_with_shards(tmp_path: Path) -> None:
    peaks = []
    for shards in (2, 6):
        setup = setup_of(games=20 * shards, shard=20)
        setup.play(setup.shards()[0])
        tracemalloc.start()
        write_data(setup, tmp_path / str(shards), ThisProcess())
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.3 * peaks[0]
