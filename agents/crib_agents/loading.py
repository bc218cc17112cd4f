"""From the names a command line takes to agents."""

from __future__ import annotations

from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path

from crib_agents.adapters.learned import LearnedAgent
from crib_agents.adapters.phased import PhasedAgent
from crib_agents.adapters.process import ProcessAgent
from crib_agents.learned import Learned
from crib_agents.learned.files import read_header
from crib_agents.learned.weights import FORMAT
from crib_env.policy import GROUP, Agent, agent_names, find_agent

IN_PROCESS = "process:"


def load_agent(name: str, move_seconds: float | None = None) -> Agent:
    """Return an agent by name, or read one from a ``.safetensors`` file.

    Two joined, such as ``"expert/rule_based"``, make one agent of a two-hand game; see `of_two`.

    Args:
        name: ``process:`` before it puts the agent into a process of its own.
        move_seconds: the longest such an agent may take for a decision before it is stopped.

    Raises:
        ValueError: no such agent, a file that does not fit, or one that cannot be made; the message
            is its own.
    """
    if name.startswith(IN_PROCESS):
        return ProcessAgent(name.removeprefix(IN_PROCESS), move_seconds, load=load_agent)
    if joined := of_two(name):
        discard, pegging = map(load_agent, joined)
        return PhasedAgent(discard=discard, pegging=pegging)
    if name.endswith(".safetensors"):
        if not Path(name).exists():
            raise ValueError(f"there is no file {name!r}")
        return read_agent(Path(name))
    try:
        return find_agent(name)
    except ValueError:
        raise
    except Exception as error:  # whatever the agent's own code raises
        raise ValueError(
            f"no agent was made of {name!r}: {type(error).__name__}: {error}"
        ) from error


def of_two(name: str) -> tuple[str, str] | None:
    """Return the two agents that are joined in a name: who lays away, who plays the cards.

    Joined by a slash, where what stands before it is an agent by itself, so that paths stay paths;
    or by a plus. None for one agent alone.
    """
    if "+" in name:
        discard, _, pegging = name.partition("+")
        return discard, pegging
    if Path(name).exists():
        return None
    for at in (i for i, letter in enumerate(name) if letter == "/"):
        discard, pegging = name[:at], name[at + 1 :]
        if discard in agent_names() or ":" in discard or discard.endswith(".safetensors"):
            return discard, pegging
    return None


def read_agent(path: Path) -> Agent:
    """Return the agent of a file of weights: a policy, or nets that expect points.

    Raises:
        ValueError: the file is neither, or does not fit; the message is its own.
    """
    about, _ = read_header(path)
    return Learned.load(path) if about.get("format") == FORMAT else LearnedAgent.load(path)


def agent_file(name: str) -> Path | None:
    """Return the file an agent is read from: its weights or its class's module; None if unknown."""
    if name.endswith(".safetensors"):
        return Path(name)
    places = {point.name: point.value for point in entry_points(group=GROUP)}
    spec = find_spec(places.get(name, name).partition(":")[0])
    return Path(spec.origin) if spec is not None and spec.has_location and spec.origin else None
