"""Tournaments and self-play over Ray equal those of one process; `make check-ray`."""

from __future__ import annotations

import os
import platform
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from crib_training.evaluation.chunks import Setup
from crib_training.methods import deep_monte_carlo
from crib_training.methods.deep_monte_carlo import RolloutJob, RolloutResult, Settings, play_here, train
from crib_training.tournament import tournament
from crib_training.workers import Ray, ThisProcess, play_alike

from checkout import ROOT, import_path
from small_runs import played_here, small, tensors_of

ray = pytest.importorskip("ray", reason="Ray is not installed: make check-ray")
pytestmark = pytest.mark.slow

SETUP = Setup(("rule_based", "greedy", "random", "failing_agents:Cheats"), chunk=20, seed=(5,))
PATIENCE = 60.0  # seconds for both nodes to have played


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Yield the address of a cluster of two nodes, each of one core, on this machine."""
    from ray.cluster_utils import Cluster

    # Nodes elsewhere have our packages installed; these have this checkout's.
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", import_path(ROOT))
        cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
        cluster.add_node(num_cpus=1)
        cluster.wait_for_nodes()
        yield cluster.address
        cluster.shutdown()


@pytest.mark.parametrize("until", [None, 6.0])
def test_ray_two_nodes_equal_one_process(address: str, tmp_path: Path, until: float | None) -> None:
    for folder, workers in (("ray", Ray(address)), ("here", ThisProcess())):
        tournament(SETUP, 200, tmp_path / folder, workers, until=until)
    for name in ("results.json", "report.md"):
        assert (tmp_path / "ray" / name).read_bytes() == (tmp_path / "here" / name).read_bytes()


def test_ray_data_equals_one_process(address: str, tmp_path: Path) -> None:
    """A compiled agent and one in plain Python, by the command's own function."""
    from crib_training.data.run import Settings, run

    agents = ("rule_based", "examples.plain_player:KeepsFives")
    for out, ray_address in ((tmp_path / "ray", address), (tmp_path / "here", None)):
        run(Settings(agents, games=40, shard=8, workers=0, ray_address=ray_address, out=out))
    names = {path.name for path in (tmp_path / "here").iterdir()} - {".lock"}
    assert len(names) == 8
    for name in names:
        assert (tmp_path / "ray" / name).read_bytes() == (tmp_path / "here" / name).read_bytes()


def test_ray_uses_both_nodes(address: str) -> None:
    """Tasks of one core each run on both nodes, so the tests above use two nodes."""
    ray.init(address=address, log_to_driver=False)

    @ray.remote(num_cpus=1)
    def node() -> str:
        SETUP.play(SETUP.chunks(0, 1, 20)[0])
        return str(ray.get_runtime_context().get_node_id())

    nodes = {str(n["NodeID"]) for n in ray.nodes()}
    found: set[str] = set()
    until = time.monotonic() + PATIENCE
    while found != nodes and time.monotonic() < until:  # a node's first worker takes its time
        found |= set(ray.get([node.remote() for _ in range(4)]))
    ray.shutdown()
    assert len(nodes) == 2
    assert found == nodes


def test_ray_self_play_equals_one_process(address: str, tmp_path: Path) -> None:
    train(small(tmp_path / "there", ray_address=address))
    played_here(small(tmp_path / "here"))
    assert tensors_of(tmp_path / "there") == tensors_of(tmp_path / "here")


def test_ray_killed_worker_loses_nothing(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ray runs the lost part again, with the same result."""
    marker = tmp_path / "died"

    def dies_once(settings: Settings, part: RolloutJob, *given: Any) -> RolloutResult:
        if part.round == 3 and not marker.exists():
            marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return play_here(settings, part, *given)

    monkeypatch.setattr(deep_monte_carlo, "play_here", dies_once)
    train(small(tmp_path / "there", ray_address=address))
    assert marker.exists()
    played_here(small(tmp_path / "here"))
    assert tensors_of(tmp_path / "there") == tensors_of(tmp_path / "here")


def test_ray_names_a_cluster_without_free_cpus(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deep_monte_carlo, "PATIENCE", 0.01)
    said = r"nothing was played on the cluster within 0 seconds.*resume with crib train"
    with pytest.raises(RuntimeError, match=said):
        train(small(tmp_path, ray_address=address))


def test_ray_refuses_an_actor_with_other_code(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deep_monte_carlo, "own_code", lambda: "0123")
    with pytest.raises(RuntimeError, match=f"node {platform.node()} has other code"):
        train(small(tmp_path, ray_address=address))


def test_ray_refuses_a_node_with_other_code(address: str) -> None:
    chunk = SETUP.chunks(0, 1, 20)[0]
    assert play_alike(SETUP, chunk, SETUP.identity())["pairs"] == 20
    with pytest.raises(RuntimeError, match=f"node {platform.node()} has other code"):
        play_alike(SETUP, chunk, {**SETUP.identity(), "code": "0123"})
