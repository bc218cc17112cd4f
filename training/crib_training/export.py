"""Write a trained policy in another format.

    crib export runs/ppo/policy.safetensors --onnx policy.onnx
    crib evaluate policy.onnx rule_based

The file holds the network with its game and rules, so every command takes it as an agent, and any
ONNX runtime can run it.
"""

from __future__ import annotations

from dataclasses import KW_ONLY

from crib_agents.adapters.onnx import to_onnx
from crib_agents.loading import TakesAgents
from crib_agents.policy_net import ScoredAgent

from crib_env.settings import AgentName, NewFile, checked_dataclass


@checked_dataclass(frozen=True)
class Settings(TakesAgents):
    """Write a trained policy in another format.

    Attributes:
        policy: a .safetensors file of `crib train` by any method but deep_monte_carlo and
            monte_carlo, a .zip file (Stable-Baselines3), or package.module:name of an agent that
            `from_torch` made.
        onnx: the .onnx file to write.
        sample: whether the exported agent draws by its probabilities; by default as the policy
            does.
    """

    policy: AgentName
    _: KW_ONLY
    onnx: NewFile
    sample: bool | None = None


def run(settings: Settings) -> None:
    """Write the file and print its path."""
    if settings.onnx.suffix != ".onnx":
        raise ValueError(f"--onnx {settings.onnx}: the file's name must end in .onnx")
    agent = settings.load_agent(settings.policy)
    if isinstance(agent, ScoredAgent) and settings.sample is not None:
        agent.sample = settings.sample
    to_onnx(agent, settings.onnx)
    print(f"wrote {settings.onnx}")
