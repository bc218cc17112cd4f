"""After an agent has failed, its game is over until the next reset, in every form."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
import pytest

from crib_env import EpisodeOverError, discard_v0, pegging_v0, six_card_v0, table_top_v0
from crib_env.policy import Act, CompiledAgent
from vector_walks import lowest

NO_ACTION = 99


def act(v: Any, rng: Any, table: Any, weights: Any) -> Any:
    """Return the lowest slot's card, or no valid action while the agent fails."""
    slot = 0
    while not v["legal"] >> slot & 1:
        slot += 1
    return NO_ACTION if weights[0] else v["hand"][slot]


class Compiled(CompiledAgent):
    """Answers illegally, in compiled code."""

    name = "cheat"
    acts: ClassVar[dict[str, Act]] = {"two_hand": act}

    def __init__(self) -> None:
        super().__init__([0.0])

    def fail(self, failing: bool) -> None:
        self.weights[0] = failing


class Asked:
    """Fails in Python, in one way or another."""

    name = "cheat"

    def __init__(self, how: Callable[[], Any]) -> None:
        self.how = how
        self.failing = False

    def fail(self, failing: bool) -> None:
        self.failing = failing

    def act(self, views: Any, rng: np.random.Generator) -> Any:
        actions: Any = np.array([lowest(view, rng) for view in views])
        return np.full_like(actions, self.how()) if self.failing else actions


def raises(error: BaseException) -> Any:
    raise error


AGENTS: dict[str, tuple[Callable[[], Any], type[BaseException]]] = {
    "compiled": (Compiled, ValueError),
    "illegal": (lambda: Asked(lambda: NO_ACTION), ValueError),
    "raises": (lambda: Asked(lambda: raises(KeyError("no book move"))), KeyError),
    "refuses": (lambda: Asked(lambda: raises(ValueError("no idea"))), ValueError),
    "interrupted": (lambda: Asked(lambda: raises(KeyboardInterrupt())), KeyboardInterrupt),
}
ROLES: dict[str, tuple[ModuleType, str, dict[str, Any]]] = {
    "opponent": (six_card_v0, "opponent", {}),
    "opponent where a phase is left out": (pegging_v0, "opponent", {}),
    "pegging_policy": (discard_v0, "pegging_policy", {}),
    "discard_policy": (pegging_v0, "discard_policy", {}),
    "partner": (table_top_v0, "partner", {"players": 4}),
}
every_agent = pytest.mark.parametrize("kind", AGENTS)


class Learner:
    """A learner that takes its first legal action, in one form of an environment."""

    def __init__(self, form: str, module: ModuleType, **keywords: Any) -> None:
        self.form = form
        if form == "gym":
            self.env = module.gym_env(**keywords)
        elif form == "sb3":
            self.env = module.sb3_env(4, **keywords)
        else:
            self.env = module.vector_env(4, threads=int(form[-1]), **keywords)

    def reset(self, seed: int | None = None) -> None:
        if self.form == "sb3":
            self.env.seed(seed)
            self.env.reset()
        else:
            self.env.reset(seed=seed)

    def step(self) -> Any:
        """Step, or reset after the end of an episode; return the observation."""
        masks = self.env.action_masks()
        if not masks.any():
            self.reset()
            return self.env.batch.obs.tobytes()
        return [getattr(part, "tobytes", lambda part=part: part)()
                for part in self.env.step(masks.argmax(axis=-1))[:3]]  # fmt: skip

    def play(self, steps: int) -> list[Any]:
        return [self.step() for _ in range(steps)]


forms = pytest.mark.parametrize("form", ["gym", "vector 1", "vector 2", "sb3"])


@forms
@every_agent
@pytest.mark.parametrize("role", ROLES)
def test_opponent_failure_blocks_step_until_reset(form: str, kind: str, role: str) -> None:
    module, keyword, more = ROLES[role]
    make, error = AGENTS[kind]
    if role == "partner" and kind == "compiled":
        pytest.skip("the compiled agent plays two hands")
    agent = make()
    given = {"opponent": Compiled() if kind == "compiled" else "greedy", "seat": None, **more}
    learner = Learner(form, module, **given | {keyword: agent})
    learner.reset(seed=1)
    learner.play(3)
    agent.fail(True)
    # In a reset too, where an opponent may begin, or the policy that keeps hands.
    begins = () if role == "pegging_policy" else (lambda: [learner.reset() for _ in range(20)],)
    for failing in (lambda: learner.play(60), *begins):
        with pytest.raises(error, match="'cheat' failed"):
            failing()
        before = learner.env.batch.states.tobytes()
        for _ in range(2):
            with pytest.raises(EpisodeOverError, match=r"reset\(\)"):
                learner.env.step(0 if form == "gym" else np.zeros(4, dtype=np.int64))
        assert learner.env.batch.states.tobytes() == before
    agent.fail(False)
    learner.reset(seed=2)
    fresh = Learner(form, module, **given | {keyword: make()})
    fresh.reset(seed=2)
    assert learner.play(40) == fresh.play(40)


@every_agent
@pytest.mark.parametrize("role", ["pegging_policy", "discard_policy"])
@pytest.mark.parametrize("form", ["raw_env", "env"])
def test_aec_phase_policy_failure_blocks_step_until_reset(form: str, kind: str, role: str) -> None:
    module, keyword, _ = ROLES[role]
    make, error = AGENTS[kind]
    agent = make()

    def made(agent: Any) -> Any:
        return getattr(module, form)(**{keyword: agent}, episode="deal")

    def play(env: Any) -> list[Any]:
        seen = []
        while not all(env.terminations.values()):
            observation = env.observe(env.agent_selection)
            seen.append(observation["observation"].tobytes())
            env.step(int(observation["action_mask"].argmax()))
        return [*seen, env.scores]

    env = made(agent)
    env.reset(seed=1)
    agent.fail(True)
    with pytest.raises(error, match="'cheat' failed"):  # a hand is kept in the reset
        play(env) if role == "pegging_policy" else env.reset()
    assert env.agents == []
    before = env.game.states.tobytes()
    for looks in (lambda: env.step(0), lambda: env.step(None), env.last):
        with pytest.raises(EpisodeOverError, match=r"reset\(\)"):
            looks()
    assert env.game.states.tobytes() == before
    agent.fail(False)
    env.reset(seed=2)
    fresh = made(make())
    fresh.reset(seed=2)
    assert play(env) == play(fresh)


def test_step_waits_for_every_thread_when_one_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    env = six_card_v0.vector_env(8, opponent="greedy", threads=4)
    _, info = env.reset(seed=1)
    ended, one_pass = [], type(env.batch._stepper)._one_pass

    def slow(self: Any, batch: Any, opponent: Any, actions: Any, thread: int, *rest: int) -> None:
        if thread == 1:
            raise KeyError("thread 1")
        time.sleep(0.2 * (thread > 1))
        one_pass(self, batch, opponent, actions, thread, *rest)
        ended.append(thread)

    monkeypatch.setattr(type(env.batch._stepper), "_one_pass", slow)
    with pytest.raises(KeyError, match="thread 1"):
        env.step(info["action_mask"].argmax(1))
    assert sorted(ended) == [0, 2, 3]
