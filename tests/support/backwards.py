"""Workers that finish tasks in another order than that of submission."""

from __future__ import annotations

from crib_training.progress import Finished, ignore_progress
from crib_training.workers import Record, ThisProcess


class Backwards(ThisProcess):
    """Plays the newest task first, as if the older ones took longer in other processes."""

    def next_record(self, finished: Finished = ignore_progress) -> Record | None:
        self._waiting.rotate(1)
        return super().next_record(finished)
