"""Single decisions as tasks: fixed by seed, in one split only, rewarded by cost."""

from __future__ import annotations

import inspect

import pytest
from crib_play.table import actions_of
from crib_play.tasks import SPLITS, histogram, regrets, split_of, task

from checkout import ROOT
from crib_env import format_cards
from crib_env.text import ReplyError
from examples.libraries.trl_grpo import CribbageDecisions, rows


def test_tasks_repeat_by_seed_with_disjoint_splits() -> None:
    """A position's split depends on its content, so no seed brings it into the other split."""
    tasks = {split: [task("discard", split, index, seed) for index in (0, 1) for seed in (0, 1)] for split in SPLITS}
    for split, found in tasks.items():
        assert {split_of(one.view) for one in found} == {split}
        assert len({one.view.tobytes() for one in found}) == 4
        assert task("discard", split, 1).view.tobytes() == found[2].view.tobytes()


@pytest.mark.parametrize("kind", ["discard", "pegging"])
def test_task_reward_is_minus_the_cost(kind: str) -> None:
    one = task(kind, "test", 0)
    ranked = [sorted(actions_of(choice)) for choice in one.exercise.choices]
    rewards = [one.reward(f"I choose {' and '.join(format_cards(c).split())}") for c in ranked]
    assert rewards[0] == 0
    assert rewards == sorted(rewards, reverse=True)
    assert rewards[1] <= -0.004
    assert 0 < one.difficulty < 1
    with pytest.raises(ReplyError, match="names no choice"):
        one.reward("hmm")
    if kind == "discard":
        with pytest.raises(ReplyError, match="both"):
            one.reward(format_cards(ranked[0][:1]))


def test_tasks_rank_agents_by_regret() -> None:
    tasks = [task("discard", "test", index) for index in range(8)]
    costs = {name: sum(regrets(tasks, name)) for name in ("random", "greedy", "expert")}
    # Far from the end `expert` takes the values of pairs as linear, and the tasks do not.
    assert costs["expert"] < 0.02 < costs["greedy"] < costs["random"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["discard", "pegging"])
def test_tasks_page_equals_command_output(kind: str) -> None:
    page = (ROOT / "docs/text.md").read_text("utf-8")
    assert histogram(kind, ("random", "greedy", "rule_based"), 100) in page


def test_trl_environment_answers_its_trainers_calls() -> None:
    """A stub of `GRPOTrainer`: one probe for tools, then reset, tool calls and a reward."""
    env = CribbageDecisions()
    members = inspect.getmembers(type(env), predicate=inspect.isfunction)
    tools = [name for name, _ in members if not name.startswith("_")]
    assert sorted(tools) == ["choose", "get_reward", "reset"]
    assert "Args:" in str(env.choose.__doc__)
    row = rows(2)[1]
    shown = env.reset(**row)
    assert "Discard two of" in shown
    assert env.get_reward() == -1.0
    assert "names no choice" in env.choose(cards="hmm")
    best = task("discard", "train", 1).exercise.choices[0]
    assert env.choose(cards=format_cards(sorted(actions_of(best)))) == "Done."
    assert env.get_reward() == 0.0
    assert env.choose(cards="5H JC") == "The decision is made."
