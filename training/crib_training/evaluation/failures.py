"""Agents' failures: their number and their reasons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from crib_training.evaluation.referee import Failure

REASONS = 3  # shown for each kind of an agent's failures


def counted(failures: Iterable[Failure], label: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the number of each failure, ready for JSON, the most frequent first.

    Args:
        failures: of games. label: what to call the agents they name.
    """
    return [
        {"agent": label.get(f.agent, f.agent), "kind": f.kind, "why": f.why, "times": times}
        for f, times in Counter(failures).most_common()
    ]


def failures_list(failures: list[dict[str, Any]]) -> str:
    """Return each agent's failures as Markdown, with the first few reasons.

    Args:
        failures: as `counted` returns them.
    """
    kinds: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for failure in failures:
        kinds.setdefault((failure["agent"], failure["kind"]), []).append(failure)
    lines = []
    for (agent, kind), alike in kinds.items():
        lines.append(f"- {agent}, {kind}: {sum(f['times'] for f in alike)}")
        lines += [f"  - {f['why']} ({f['times']})" for f in alike[:REASONS]]
        if len(alike) > REASONS:
            lines.append(f"  - {len(alike) - REASONS} other reasons, in the JSON")
    return "\n".join(lines)
