"""Training and measuring of agents; `crib` is the command line.

- `command_line`: the command `crib` and its subcommands. `reading`: parses words into settings.
- `learn`: runs of every method, `crib train`.
- `methods`: the learning methods, one module each.
- `exploit`: best responses, `crib exploit`.
- `evaluation`: two agents on duplicate deals, and ratings. `language_models`: their matches.
- `rate`: one agent against the built-in ones. `tournament`: all pairings of a field, on one machine
  or several; `workers` play its games.
- `analyze`, `export`, `bot` (with `bot_check`), `warmup`: the commands of these names.
- `data`: games as Parquet files, `crib data`.
- `loading`: environments and rules by name. `provenance`: what results depend on.
- `outputs`, `progress`, `interrupts`: files and tables, the bar, Ctrl-C and SIGTERM.
"""

from __future__ import annotations

# Name, module (of settings, or of an app with sub-commands), and purpose.
COMMANDS = {
    "train": ("crib_training.learn.train:app", "train an agent, by one of several methods"),
    "curves": ("crib_training.learn.curve", "draw learning curves of several runs in one picture"),
    "evaluate": ("crib_training.evaluation.evaluate", "compare two agents on duplicate deals"),
    "tournament": ("crib_training.tournament", "rate agents by a round-robin"),
    "rate": ("crib_training.rate", "rate an agent against the built-in ones"),
    "exploit": ("crib_training.exploit.measure", "measure a best response's gain against an agent"),
    "analyze": ("crib_training.analyze", "show the value of every choice in a position"),
    "data": ("crib_training.data.run", "write games as Parquet files to learn from"),
    "export": ("crib_training.export", "write a trained policy as an ONNX file"),
    "bot": ("crib_training.bot:app", "serve an agent to any program, or check a program"),
    "play": ("crib_play.terminal.play", "play in the terminal, or watch two agents play"),
    "drill": ("crib_play.drill", "practise on positions where the choice matters, graded"),
    "web": ("crib_play.web.serve", "play in a browser"),
    "replay": ("crib_play.replay", "write a game between two agents as a web page"),
    "warmup": ("crib_training.warmup", "compile everything, so that later starts are quick"),
}
OPTIONS = {
    "--version": "print the version",
    "--install-completion": "let your shell complete commands, options and names",
}
INSTALL = 'pip install "crib-env[{}]"'
# The extra that each command needs; a missing package of any other command comes with `train`.
EXTRAS = {
    "train": "train",
    "curves": "train",
    "export": "train,onnx",
    "data": "data",
    "play": "play",
    "drill": "play",
    "web": "web",
}


def version() -> str:
    """Return name and version of this package."""
    from crib_env import __version__

    return f"crib-env {__version__}"
