"""`crib completion`: what a shell needs to complete the words of `crib`.

The script holds the commands, their options and names as they are now: completing starts no Python.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from inspect import Signature, signature
from typing import Any, Literal, get_origin, get_type_hints

from cyclopts import App

from crib_env.policy import agent_names
from crib_env.registration import ENVIRONMENTS
from crib_env.settings import checked_dataclass
from crib_training.command_line import COMMANDS
from crib_training.reading import app_of

# Settings that name an agent.
AGENTS = ("agent", "agents", "first", "second", "opponent", "partner")


@checked_dataclass(frozen=True)
class Settings:
    """Print a script by which a shell completes commands, options and names.

    bash: crib completion bash > ~/.local/share/bash-completion/completions/crib
    zsh: crib completion zsh > a file _crib in a folder of fpath
    fish: crib completion fish > ~/.config/fish/completions/crib.fish

    Attributes:
        shell: which shell
    """

    shell: Literal["bash", "zsh", "fish"]


def offer(kinds: Sequence[type[Any]], **names: tuple[str, ...]) -> Callable[..., None]:
    """Return a command with the settings of all kinds, which offers names for some of them."""

    def command(**given: Any) -> None:
        """Stand for the command: it is never called."""

    parameters: dict[str, Any] = {}
    hints: dict[str, Any] = {}
    for kind in kinds:
        parameters |= signature(kind).parameters
        hints |= get_type_hints(kind, include_extras=True)
    for name, choices in names.items():
        if name in hints:
            one = Literal[choices]  # type: ignore[valid-type]
            hints[name] = tuple[one, ...] if get_origin(hints[name]) is tuple else one
    ordered = sorted(parameters.values(), key=lambda one: (one.kind, one.default is not one.empty))
    command.__signature__ = Signature(ordered)  # type: ignore[attr-defined]
    command.__annotations__ = {name: hints[name] for name in parameters}
    return command


def whole_app() -> App:
    """Return all commands as one; those whose extra is not installed without their options."""
    crib = app_of("crib")
    agents = tuple(agent_names())
    for name, (module, says) in COMMANDS.items():
        command = app_of(name, says=says)
        crib.command(command)
        try:
            found: Any = import_module(module)
        except ModuleNotFoundError:
            continue
        names = {"env": tuple(ENVIRONMENTS)} | dict.fromkeys(AGENTS, agents)
        kinds = [found.Settings] if hasattr(found, "Settings") else []
        if name == "train":
            kinds = [import_module(path).Settings for path in found.METHODS.values()]
            names["method"] = tuple(found.METHODS)
        if kinds:
            command.default(offer(kinds, **names))
    return crib


def script(shell: Literal["bash", "zsh", "fish"]) -> str:
    """Return the script for a shell; in bash, files complete where no name does."""
    text = whole_app().generate_completion(prog_name="crib", shell=shell)
    return text.replace("complete -F", "complete -o default -F")


def run(settings: Settings) -> None:
    """Print it."""
    print(script(settings.shell))
