"""`crib completion`: what a shell needs to complete the words of `crib`.

The script holds the commands and their options as they are now, so completing starts no Python.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from importlib import import_module
from typing import Any, Literal, get_type_hints

from crib_env.policy import agent_names
from crib_env.settings import Positional, is_positional, option
from crib_training.command_line import COMMANDS

BASH = """\
_crib() {{
    local now=${{COMP_WORDS[COMP_CWORD]}} words
    case $COMP_CWORD:${{COMP_WORDS[1]}}:$now in
        1:*) words="{commands}" ;;
{cases}
        *) words="{agents}" ;;
    esac
    COMPREPLY=($(compgen -W "$words" -- "$now"))
}}
complete -o default -F _crib crib
"""
ZSH = "#compdef crib\nautoload -U +X bashcompinit && bashcompinit\n"
FISH = "complete -c crib -n '{when}' -a '{words}' -d '{says}'"


@dataclass(frozen=True)
class Settings:
    """Print a script by which a shell completes commands, options and the names of agents.

    bash: crib completion bash > ~/.local/share/bash-completion/completions/crib
    zsh: crib completion zsh > a file _crib in a folder of fpath
    fish: crib completion fish > ~/.config/fish/completions/crib.fish

    Attributes:
        shell: which shell
    """

    shell: Positional[Literal["bash", "zsh", "fish"]]


def options_of(module: str) -> list[str]:
    """Return the options of a command; ``--help`` alone where it lacks an extra."""
    found = {"--help": None}
    try:
        command: Any = import_module(module)
        methods = getattr(command, "METHODS", {})
        kinds = [import_module(path).Settings for path in methods.values()] or [command.Settings]
    except (ModuleNotFoundError, AttributeError):
        return list(found)
    if methods:
        found[command.OPTION] = None
    for kind in kinds:
        hints = get_type_hints(kind, include_extras=True)
        for field in fields(kind):
            if not is_positional(hints[field.name]):
                found[option(field.name, hints[field.name])] = None
    return list(found)


def script(shell: str) -> str:
    """Return the script for a shell: ``"bash"``, ``"zsh"`` or ``"fish"``."""
    options = {name: " ".join(options_of(module)) for name, (module, _) in COMMANDS.items()}
    agents = " ".join(agent_names())
    if shell == "fish":
        lines = ["complete -c crib -n __fish_use_subcommand -f"]
        for name, (_, says) in COMMANDS.items():
            lines.append(FISH.format(when="__fish_use_subcommand", words=name, says=says))
            seen = f"__fish_seen_subcommand_from {name}"
            lines.append(FISH.format(when=seen, words=options[name], says=""))
        lines.append(FISH.format(when="not __fish_use_subcommand", words=agents, says="agent"))
        return "\n".join(lines) + "\n"
    cases = "\n".join(f'        *:{name}:-*) words="{words}" ;;' for name, words in options.items())
    bash = BASH.format(commands=" ".join(COMMANDS), cases=cases, agents=agents)
    return (ZSH if shell == "zsh" else "") + bash


def run(settings: Settings) -> None:
    """Print it."""
    print(script(settings.shell), end="")
