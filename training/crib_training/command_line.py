"""The command `crib`, and the shared part of every script's command line.

A subcommand is a module with ``Settings``, a frozen dataclass whose documentation is the help, and
``run(settings)``. Modules are imported only when needed, so `crib --help` is quick.

Exit status: 0, 2 for a wrong call, 1 for a failure, 143 after SIGTERM; an error is one line on
stderr.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from crib_training import COMMANDS, EXTRAS, INSTALL, OPTIONS, version
from crib_training.interrupts import terminable

if TYPE_CHECKING:
    from collections.abc import Iterator

TRACEBACK = "CRIB_TRACEBACK"  # if set, an unexpected error shows its traceback

S = TypeVar("S")


def main(words: Sequence[str] | None = None) -> None:
    """Run the command `crib`."""
    with printing():
        _main(words)


def _main(words: Sequence[str] | None) -> None:
    given = sys.argv[1:] if words is None else list(words)
    if given[:1] == ["help"]:
        given = [*given[1:], "--help"]
    if not given or given[0] in ("-h", "--help"):
        print(usage())  # cyclopts would take four times as long
        return
    if given[0] == "--version":
        print(version())
        return
    name = given[0]
    extra = EXTRAS.get(name, "train")
    helps = name in COMMANDS and not {"-h", "--help"}.isdisjoint(given)
    with terminable(), one_line(extra, f"crib {name}: {COMMANDS[name][1]}" if helps else None):
        if name not in COMMANDS | OPTIONS:
            from crib_env.errors import nearest

            meant = nearest(name, [*COMMANDS, "--help", *OPTIONS])
            raise ValueError(f"no command is called {name!r}: see crib --help{meant}")
        sys.path.append(os.getcwd())  # as `python -m` does: an agent's module may be here
        from crib_training.reading import app_of_commands, read_settings

        run(read_settings(app_of_commands(), given))


def run(settings: Any) -> None:
    """Run the command of these settings: `run` of their module, or else its `Learner`."""
    module: Any = sys.modules[type(settings).__module__]
    if hasattr(module, "run"):
        module.run(settings)
    else:
        from crib_training.learn.run import learn

        learn(module.Learner(settings))


def usage() -> str:
    """Return the help of `crib`."""
    lines = [
        f"  {name:11}{says}{f' [{EXTRAS[name]}]' if name in EXTRAS else ''}" for name, (_, says) in COMMANDS.items()
    ]
    more = (
        f"A name in brackets is the extra that a command needs: {INSTALL.format('train')}\n"
        "crib COMMAND --help shows the options of a command."
    )
    options = [f"  {name:22}{says}" for name, says in OPTIONS.items()]
    return "\n".join(["usage: crib COMMAND ...", "", *lines, "", *options, "", more])


def start(
    settings: type[S],
    run: Callable[[S], None],
    words: Sequence[str] | None = None,
    program: str | None = None,
    extra: str = "train",
) -> None:
    """Read settings from a command line and call ``run`` with them; exit on an error."""
    spec = sys.modules["__main__"].__spec__
    module = spec.name.removesuffix(".__main__") if spec else "..."
    with printing(), terminable(), one_line(extra):
        run(read(settings, words, program or f"python -m {module}"))


def read(settings: type[S], words: Sequence[str] | None, program: str) -> S:
    """Parse words into settings; exit if the words ask for help or are wrong."""
    with one_line():
        from crib_training.reading import app_of, read_settings

        given = sys.argv[1:] if words is None else words
        found: S = read_settings(app_of(program, settings), given)
        return found


@contextmanager
def printing() -> Iterator[None]:
    """Exit with status 1 and no message if the reader of a pipe, such as `head`, has closed it.

    A standard stream that was closed before the start becomes the null device. Characters that the
    terminal's encoding lacks are escaped, as on stderr.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            null = os.open(os.devnull, os.O_RDWR)
            setattr(sys, name, os.fdopen(null, mode, encoding="utf-8"))
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        try:
            yield
        finally:
            sys.stdout.flush()  # also after an error
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


@contextmanager
def one_line(extra: str = "train", about: str | None = None) -> Iterator[None]:
    """Turn an error into one line on stderr and an exit status.

    If a package is missing and ``about`` is given, print it and what to install, without an error.
    """
    try:
        yield
    except KeyboardInterrupt as stop:
        _end("stopped" + "".join(f": {why}" for why in stop.args), 1)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("crib_"):
            raise
        package = error.name.partition(".")[0]
        known = INSTALL.partition("{")[0] in str(error)  # the message names what to install
        message = str(error) if known else f"{package} is not installed: {INSTALL.format(extra)}"
        if about is None:
            _end(f"error: {message}", 1)
        print(f"{about}\n\n{message}")
    except ValueError as error:
        from crib_env.errors import AgentError, IllegalActionError

        of_play = isinstance(error, AgentError | IllegalActionError)
        _end(f"error: {error}", 1 if of_play else 2)
    except BrokenPipeError:  # for `printing`
        raise
    except (RuntimeError, OSError) as error:
        _end(f"error: {error}", 1)
    except Exception as error:  # such as an agent's
        if os.environ.get(TRACEBACK):
            raise
        _end(f"error: {type(error).__name__}: {error} ({TRACEBACK}=1 shows where)", 1)


def _end(message: str, status: int) -> None:
    from crib_env.errors import printable

    print(printable(message), file=sys.stderr)
    sys.exit(status)


if __name__ == "__main__":
    main()
