"""Language models in `crib evaluate`: stored games and replies, and the regret of decisions.

    crib evaluate text:MODEL rule_based --pairs 50 --json out.json

A few pairs at a time are played side by side. A folder beside the result (``out.games``) stores
their games, like a tournament's, and the replies of running games as they arrive. So after a stop
the same command continues and pays for no reply twice. If a server fails, the command stops: a
server's failures are no results.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt
from crib_agents.analyze import action_values
from crib_agents.files import write_whole
from crib_agents.text_agent import Complete, Message, TextAgent

from crib_env.arrays import Array
from crib_env.engine.family import family_of
from crib_env.engine.hands.records import DISCARD
from crib_env.errors import NoResultError
from crib_env.policy import Agent, Views, action_probabilities, find_agent
from crib_env.rules import Rules
from crib_env.text import Tally
from crib_training.data.play import PHASES, phases_of
from crib_training.evaluation.chunks import Chunk, Setup, field_agent
from crib_training.evaluation.ledger import Ledger, complete
from crib_training.loading import plays
from crib_training.outputs import claimed
from crib_training.progress import Finished, ignore_progress
from crib_training.workers import Record, ThisProcess

SUMS = ("decisions", "expert", "expert_squares", "equilibrium", "equilibrium_decisions")
MIXED = "equilibrium"  # decisions are also compared with this agent's probabilities
REPLIES = "replies.jsonl"


def play_models(setup: Setup, pairs: int, folder: Path, what: str) -> list[Record]:
    """Play or continue a match of a language model in a folder; return its chunks' records."""
    with claimed(folder):
        ledger = Ledger(folder, setup)
        try:
            (records,) = complete(ledger, pairs, ModelWorker(folder / REPLIES), what=what).values()
        except (KeyboardInterrupt, NoResultError) as stop:
            chunks = setup.chunks(0, 1, pairs)
            stored = sum(chunk.pairs for chunk in chunks if chunk in ledger.records)
            words = [
                *map(str, stop.args),
                f"{stored} of {pairs} pairs are stored in {folder}; the same command goes on from "
                "there, and with the replies that came since",
            ]
            raise type(stop)("; ".join(words)) from None
    return records


class ModelWorker(ThisProcess):
    """Plays chunks in this process, and adds the models' counts and regret to their records.

    A file keeps the replies of a chunk until its games are stored.
    """

    def __init__(self, replies: Path) -> None:
        super().__init__()
        self._replies = replies
        self._played = False

    def next_record(self, finished: Finished = ignore_progress) -> Record | None:
        """Play the next chunk and return its record; the one before is stored by now."""
        if self._played:
            self._replies.unlink(missing_ok=True)
        if not self._waiting:
            return None
        setup, chunk = self._waiting[0]
        assert isinstance(setup, Setup)
        models = _models(setup, chunk, ReplyCache(self._replies))
        record = super().next_record(finished)
        assert record is not None
        self._played = True
        _, rules = setup.game
        return record | {"models": _report(models, rules)}


class ReplyCache:
    """A file of the replies of running games, read after a stop instead of asking a model again.

    With the same replies the games repeat, and so do their prompts. Equal prompts of one agent get
    their replies in the order of arrival.
    """

    def __init__(self, path: Path) -> None:
        self.path, self._lock = path, Lock()
        self._there: dict[str, list[str]] = {}
        lines = path.read_text("utf-8").split("\n") if path.exists() else [""]
        for n, line in enumerate(lines[:-1], start=1):
            try:
                key, reply = json.loads(line)
                self._there.setdefault(key, []).append(reply)
            except (ValueError, TypeError):
                raise RuntimeError(
                    f"line {n} of {path} cannot be read: remove it, and the model is asked again"
                ) from None
        if lines[-1]:  # cut short by a full disk or a crash: the next reply begins a line
            write_whole(path, "".join(f"{line}\n" for line in lines[:-1]).encode())

    def instead_of(self, complete: Complete, agent: str) -> Complete:
        """Return a function that asks an agent's model only for replies not in the cache."""
        ask = getattr(complete, "asks", complete)

        def answer(messages: list[Message]) -> str:
            key = sha256(json.dumps([agent, messages]).encode()).hexdigest()[:32]
            with self._lock:
                if replies := self._there.get(key):
                    return replies.pop(0)
            reply = ask(messages)
            try:
                with self._lock, self.path.open("a", encoding="utf-8") as file:
                    file.write(json.dumps([key, reply]) + "\n")
            except OSError as error:
                raise NoResultError(f"a reply cannot be stored: {error}") from error
            return reply

        answer.asks = ask  # type: ignore[attr-defined]
        return answer


def _models(setup: Setup, chunk: Chunk, cache: ReplyCache) -> dict[str, list[TextAgent]]:
    """Return the instances of each language model in a chunk, with counts reset and the cache."""
    order = (chunk.first, chunk.second), (chunk.second, chunk.first)
    found: dict[str, list[TextAgent]] = {}
    for game in range(setup.sides):
        for place, (given, against) in enumerate(order):
            agent = field_agent(given, against, setup.move_seconds, game, place)
            if isinstance(agent, TextAgent):
                agent.record, agent._reader.tally = [], Tally()
                agent.complete = cache.instead_of(agent.complete, given)
                found.setdefault(given, []).append(agent)
    return found


def _report(models: dict[str, list[TextAgent]], rules: Rules) -> dict[str, Any]:
    """Return each model's counts in a chunk, and its regret by phase."""
    report = {}
    for name, instances in models.items():
        tally, record = Tally(), list[tuple[Any, int]]()
        for agent in instances:
            tally.add(asdict(agent.tally))
            record += agent.record or ()
        regret = {}
        if record:
            views, actions = zip(*record, strict=True)
            regret = regrets(np.array(views), np.array(actions), equilibrium_for(rules))
        report[name] = {"tally": asdict(tally), "regret": regret}
    return report


def equilibrium_for(rules: Rules) -> Agent | None:
    """Return the agent `equilibrium` if it plays by these rules, else None."""
    return find_agent(MIXED) if plays(MIXED, rules) else None


def regrets(views: Views, actions: Array, mixed: Agent | None) -> dict[str, dict[str, float]]:
    """Return sums by phase of the regret of decisions, in probability of winning; shapes [N].

    Against `expert` it is the best value less the action's; against ``mixed`` the mean value over
    its probabilities less the action's. All values are expert's. A decision without a choice is not
    counted, and a discard of two cards is one decision.
    """
    family = family_of(views)
    values = action_values(views)
    counted = np.flatnonzero(np.isfinite(values).sum(axis=1) > 1)
    if not len(counted):
        return {}
    views, actions, values = views[counted], actions[counted], values[counted]
    taken = values[np.arange(len(values)), actions]
    columns = {"expert": np.maximum(0.0, np.nanmax(values, axis=1) - taken)}
    if mixed is not None:
        rng = np.random.default_rng(0)
        probabilities = action_probabilities(mixed, views, family.actions, rng)
        columns["equilibrium"] = np.nansum(probabilities * values, axis=1) - taken
    number = decision_of(views)
    _, first = np.unique(number, return_index=True)
    phases = phases_of(views[first])
    columns = {name: np.bincount(number, column) for name, column in columns.items()}
    columns["expert_squares"] = columns["expert"] ** 2
    if mixed is not None:
        columns["equilibrium_decisions"] = np.ones(len(first))
    return {
        PHASES[phase]: dict.fromkeys(SUMS, 0.0)
        | {"decisions": float(np.count_nonzero(phases == phase))}
        | {name: float(column[phases == phase].sum()) for name, column in columns.items()}
        for phase in np.unique(phases)
    }


def decision_of(views: Views) -> npt.NDArray[np.intp]:
    """Return the number, from 0, of the decision that each view belongs to, int[N].

    Views that differ only by a discarded card belong to one decision.
    """
    if "discarded" not in (views.dtype.names or ()):
        return np.arange(len(views))
    begun: dict[bytes, list[int]] = {}
    found = np.empty(len(views), dtype=np.intp)
    number = 0
    for i in np.argsort(views["discarded_n"], kind="stable"):
        view = views[i]
        gone = view["discarded"][: view["discarded_n"]].tolist()
        dealt = sorted(view["hand"][: view["hand_n"]].tolist() + gone)
        places = [int(view[name]) for name in ("episode", "seat", "deals", "dealer", "phase")]
        scores = [*view["scores"].tolist(), *view["match_score"].tolist()]
        key = np.array([*places, *scores, *dealt]).tobytes()
        discards = view["phase"] == DISCARD
        if discards and gone and begun.get(key):  # games with equal keys are interchangeable
            found[i] = begun[key].pop(0)
            continue
        found[i] = number
        if discards and not gone:
            begun.setdefault(key, []).append(number)
        number += 1
    return found


def totals(records: list[Record]) -> dict[str, Any]:
    """Return the counts of all chunks, by model."""
    found: dict[str, Any] = {}
    for name in records[0]["models"]:
        tally, sums = Tally(), dict[str, dict[str, float]]()
        for record in records:
            tally.add(record["models"][name]["tally"])
            for phase, row in record["models"][name]["regret"].items():
                total = sums.setdefault(phase, dict.fromkeys(SUMS, 0.0))
                for key, value in row.items():
                    total[key] += value
        found[name] = {**asdict(tally), **_shares(tally), "regret": _means(sums)}
    return found


def _shares(tally: Tally) -> dict[str, float]:
    """Return shares of replies, and tokens and seconds per decision."""
    replies, decisions = max(1, tally.replies), max(1, tally.decisions)
    return {
        "illegal_share": tally.illegal / replies,
        "unparsable_share": (tally.missing + tally.ambiguous) / replies,
        "tokens_per_decision": (tally.prompt_tokens + tally.reply_tokens) / decisions,
        "seconds_per_decision": tally.seconds / decisions,
    }


def _means(sums: dict[str, dict[str, float]]) -> dict[str, Any]:
    """Return the mean regret of each phase with its 95 % interval, over decisions."""
    means = {}
    for phase, row in sorted(sums.items()):
        n = row["decisions"]
        mean = row["expert"] / n
        spread = max(0.0, row["expert_squares"] / n - mean**2)
        mixed = row["equilibrium_decisions"]
        means[phase] = {
            "decisions": int(n),
            "expert": mean,
            "expert_ci95": 1.96 * (spread / n) ** 0.5,
            "equilibrium": row["equilibrium"] / mixed if mixed else None,
        }
    return means
