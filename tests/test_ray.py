"""A tournament over Ray comes to what one process comes to; `make check-ray` runs this."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from crib_training.tournament.chunks import Setup, play
from crib_training.tournament.run import tournament
from crib_training.tournament.workers import Ray, ThisProcess, play_alike

ray = pytest.importorskip("ray", reason="Ray is not installed: make check-ray")
pytestmark = pytest.mark.slow

SETUP = Setup(("rule_based", "greedy", "random", "failing_agents:Cheats"), chunk=20, seeds=(5,))
PATIENCE = 60.0  # seconds for both nodes to have played


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Yield the address of a cluster of two nodes, each of one core, on this machine."""
    from ray.cluster_utils import Cluster

    # Nodes elsewhere have our packages installed; these have this checkout's.
    paths = [str(Path(__file__).parent), str(Path(__file__).parents[1])]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join([*paths, os.environ.get("PYTHONPATH", "")]))
        cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
        cluster.add_node(num_cpus=1)
        cluster.wait_for_nodes()
        yield cluster.address
        cluster.shutdown()


@pytest.mark.parametrize("until", [None, 6.0])
def test_a_cluster_of_two_nodes_comes_to_the_same_as_one_process(
    address: str, tmp_path: Path, until: float | None
) -> None:
    for folder, workers in (("ray", Ray(address)), ("here", ThisProcess())):
        tournament(SETUP, 200, tmp_path / folder, workers, until=until)
    for name in ("results.json", "report.md"):
        assert (tmp_path / "ray" / name).read_bytes() == (tmp_path / "here" / name).read_bytes()


def test_both_nodes_play(address: str) -> None:
    """Tasks that are given a core each run on both, so the test above is one of two nodes."""
    ray.init(address=address, log_to_driver=False)

    @ray.remote(num_cpus=1)
    def node() -> str:
        play(SETUP, SETUP.chunks(0, 1, 20)[0])
        return str(ray.get_runtime_context().get_node_id())

    nodes = {str(n["NodeID"]) for n in ray.nodes()}
    found: set[str] = set()
    until = time.monotonic() + PATIENCE
    while found != nodes and time.monotonic() < until:  # a node's first worker takes its time
        found |= set(ray.get([node.remote() for _ in range(4)]))
    ray.shutdown()
    assert len(nodes) == 2
    assert found == nodes


def test_a_node_with_other_code_is_refused(address: str) -> None:
    chunk = SETUP.chunks(0, 1, 20)[0]
    assert play_alike(SETUP, chunk, SETUP.identity())["pairs"] == 20
    with pytest.raises(RuntimeError, match=f"node {platform.node()} has other code"):
        play_alike(SETUP, chunk, {**SETUP.identity(), "code": "0123"})
