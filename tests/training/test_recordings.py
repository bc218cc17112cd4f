"""Trainings, measurements and tables repeat: figures of small runs of `crib`.

Where a change is meant, `python tests/support/recordings.py NAME` records its figures again.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from recordings import FILE, RECORDED, SLOW, differences, figures


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in RECORDED])
def test_small_runs_match_their_recordings(name: str, tmp_path: Path) -> None:
    known = json.loads(FILE.read_text())[name]
    assert not differences(known, figures(RECORDED[name], tmp_path))
