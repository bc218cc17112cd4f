"""`make demo`, as far as CI's own short one does not show it."""

from __future__ import annotations

from pathlib import Path

from crib_training.learn.demo import Settings, learn_by_self_play


def test_a_second_demo_begins_anew(tmp_path: Path) -> None:
    settings = Settings(deals=64, pairs=2, out=tmp_path)
    written = []
    for _ in range(2):
        learn_by_self_play(settings)
        policy = tmp_path / "deep_monte_carlo" / "policy.safetensors"
        written.append(policy.read_bytes())
        policy.write_bytes(b"of the first demo")
    assert written[0] == written[1]
