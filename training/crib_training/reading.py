"""Parse the words of a command line into settings, with cyclopts, which also writes their help."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from cyclopts import App, CycloptsError, MissingArgumentError, Parameter, Token, UnusedCliTokensError
from pydantic import ValidationError

from crib_env.errors import unknown
from crib_env.settings import SettingError, refusal, setting_error
from crib_training import COMMANDS, version
from crib_training.methods import METHODS


class Commands(App):
    """The app of all commands."""

    def generate_completion(self, **chosen: Any) -> str:
        """Return a completion script; commands whose extra is missing have no options in it."""
        for name, (_, says) in COMMANDS.items():
            try:
                self[name]
            except ImportError:
                del self[name]
                self.command(App(name, says))
        text = super().generate_completion(**chosen)
        return text.replace("complete -F", "complete -o default -F")  # bash completes files too


def app_of(program: str, command: Callable[..., Any] | None = None, kind: type[App] = App, **options: Any) -> App:
    """Return the parser of a command's words, which returns the command's settings."""
    app = kind(
        program,
        default_command=command,
        help_format="plaintext",
        default_parameter=Parameter(consume_multiple=1, negative_iterable=()),
        result_action="return_value",
        exit_on_error=False,
        print_error=False,
        **{"version_flags": [], **options},
    )
    app["--help"].show = False
    return app


def app_of_commands() -> App:
    """Return `crib`, which imports a command's module when the command is named."""
    crib = app_of("crib", kind=Commands, version=version, version_flags="--version")
    for name, (place, _) in COMMANDS.items():
        crib.command(place if ":" in place else f"{place}:Settings", name=name)
    crib.register_install_completion_command(add_to_startup=False)
    return crib


def read_settings(app: App, words: Sequence[str]) -> Any:
    """Return the settings of a command; if the words ask for help, print it and exit."""
    try:
        chain, _, rest = app.parse_commands(words)
        if chain[-1:] == ("train",) and rest and not rest[0].startswith("-"):
            raise unknown("method", rest[0], METHODS)
        settings = app(words)
    except ImportError as error:
        raise error.__cause__ or error from None  # a missing package
    except CycloptsError as error:
        says = explain(error)
    except SettingError as error:
        says = named(error)
    else:
        if settings is None:  # its help is printed
            raise SystemExit(0)
        return settings
    program = " ".join([*app.name, *chain])
    raise ValueError(f"{says.rstrip('.')}; see {program} --help")


def explain(error: CycloptsError) -> str:
    """Return a message for an error in the words, with the name of the option."""
    kind: Any = error.target  # the settings
    if isinstance(error, UnusedCliTokensError):
        first, *_ = words = error.unused_tokens or [""]
        place = f": name {first} before its options" if error.app and first in error.app else ""
        return f"nothing takes {' '.join(words)!r}{place}"
    if error.argument is None:
        return str(error)
    field, token = error.argument.field_info, getattr(error, "token", None)
    if isinstance(error.__cause__, ValidationError):
        return named(setting_error(kind, error.__cause__, field.name))
    if isinstance(token, Token):
        return named(refusal(kind, field.name, token.value))
    if isinstance(error, MissingArgumentError) and error.keyword:
        given = " ".join(error.tokens_so_far)
        says = named(refusal(kind, field.name, given))
        return says if given else says.replace("got ''", "got no value")
    if isinstance(error, MissingArgumentError):
        return f"{field.name.upper() if field.is_positional else error.argument.name} is missing"
    return str(error)


def named(error: SettingError) -> str:
    """Return an error with the name of the option in place of the setting's."""
    return f"--{error.name.replace('_', '-')}{error.says}" if error.name else str(error)
