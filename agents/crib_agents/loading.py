"""Load agents by their names on the command line, or from files."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path

from crib_agents.adapters.agent_wrappers import PhasedAgent
from crib_agents.adapters.models import from_sb3
from crib_agents.adapters.onnx import from_onnx
from crib_agents.bot import command_agent, process_agent
from crib_agents.equilibrium import Equilibrium
from crib_agents.equilibrium.strategy import FORMAT as STRATEGY
from crib_agents.files import read_header
from crib_agents.learned import MixedAgent, MonteCarloAgent
from crib_agents.learned.weights import FORMAT
from crib_agents.policy_net import PolicyNetAgent
from crib_env.policy import GROUP, Agent, agent_names, find_agent

IN_PROCESS = "process:"
COMMAND = "command:"
TRUST = "trust:"
TEXT = "text:"
ENDINGS = (".safetensors", ".zip", ".onnx")


def load_agent(name: str, move_seconds: float | None = None) -> Agent:
    """Return the agent of a command-line name; ``move_seconds`` limits a program's decisions."""
    if name.startswith(IN_PROCESS):
        return process_agent(name.removeprefix(IN_PROCESS), move_seconds)
    if name.startswith(COMMAND):
        return command_agent(name.removeprefix(COMMAND), move_seconds)
    if joined := of_two(name):
        discard, pegging = (load_agent(one, move_seconds) for one in joined)
        return PhasedAgent(discard=discard, pegging=pegging)
    try:
        return find_agent(name)
    except ValueError as error:
        if "+" in name:
            by_slash = name.replace("+", "/", 1)
            raise ValueError(f"{error}; two agents are joined by a slash: {by_slash}") from error
        raise
    except (Exception, SystemExit) as error:  # any error of the agent's code
        raise ValueError(f"no agent was made of {name!r}: {type(error).__name__}: {error}") from error


def of_two(name: str) -> tuple[str, str] | None:
    """Return the two names joined as ``discarder/pegger``; None if the name is of one agent."""
    if _bare(name).startswith((TEXT, COMMAND)) or Path(_bare(name)).exists():
        return None
    for at in (i for i, letter in enumerate(name) if letter == "/"):
        discard, pegging = name[:at], name[at + 1 :]
        alone = _bare(discard)
        if alone in agent_names() or ":" in alone or alone.endswith(ENDINGS):
            return discard, pegging
    return None


def _bare(name: str) -> str:
    return name.removeprefix(IN_PROCESS).removeprefix(TRUST)


def read_agent(path: Path) -> Agent:
    """Read an agent from a safetensors file: a policy, nets that predict points, or a strategy."""
    about, _ = read_header(path)
    if about.get("format") == STRATEGY:
        return Equilibrium.load(path)
    if about.get("format") == FORMAT:
        return (MixedAgent if about.get("temperature") else MonteCarloAgent).load(path)
    return PolicyNetAgent.load(path)


def read_file(name: str) -> Agent:
    """Read an agent from a file; pyproject.toml registers this reader for `ENDINGS`."""
    path = Path(name.removeprefix(TRUST))
    if path.suffix == ".zip":
        return from_sb3(path, trust=name.startswith(TRUST))
    if path.suffix == ".onnx":
        return from_onnx(path)
    if not path.exists():
        raise ValueError(f"there is no file {str(path)!r}")
    return read_agent(path)


def trusted(name: str, trust: bool) -> str:
    """Return an agent's name; if ``trust``, with `TRUST` before each .zip model in it."""
    if trust and (joined := of_two(name)):
        return "/".join(trusted(one, trust) for one in joined)
    if not trust or _bare(name).startswith((TEXT, COMMAND)):
        return name
    return re.sub(rf"(?:{TRUST})?([^:]+\.zip)\b", rf"{TRUST}\1", name)


@dataclass(frozen=True, kw_only=True)
class TakesAgents:
    """The base of the settings of every command that takes agents.

    Attributes:
        trust: read .zip files: they hold a pickle, which can run any code when it is read.
    """

    trust: bool = False

    def trusted(self, name: str) -> str:
        """Return an agent's name, changed by `trusted` if --trust is given."""
        return trusted(name, self.trust)

    def load_agent(self, name: str) -> Agent:
        """Return the agent of a command-line name; see the function `load_agent`."""
        return load_agent(self.trusted(name))


def agent_file(name: str) -> Path | None:
    """Return an agent's file: its weights, its program or the module of its class; or None."""
    if name.startswith(COMMAND):
        words = shlex.split(name.removeprefix(COMMAND))
        found = [Path(word) for word in words if Path(word).is_file()]
        return found[-1] if found else None  # a script after its interpreter
    if name.endswith(ENDINGS):
        return Path(name.removeprefix(TRUST))
    places = {point.name: point.value for point in entry_points(group=GROUP)}
    spec = find_spec(places.get(name, name).partition(":")[0])
    return Path(spec.origin) if spec is not None and spec.has_location and spec.origin else None
