"""From the words of a command line to settings: cyclopts reads them, and writes their help."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from cyclopts import (
    App,
    CycloptsError,
    MissingArgumentError,
    Parameter,
    Token,
    UnusedCliTokensError,
)
from pydantic import ValidationError

from crib_env.settings import SettingError, refusal, setting_error

S = TypeVar("S")


def app_of(program: str, command: Callable[..., Any] | None = None, says: str | None = None) -> App:
    """Return what reads the words of a command, and calls it with them."""
    app = App(
        program, says, default_command=command, help_format="plaintext", version_flags=[],
        default_parameter=Parameter(consume_multiple=1, negative_iterable=()),
        result_action="return_value", exit_on_error=False, print_error=False,
    )  # fmt: skip
    app["--help"].show = False
    return app


def read_settings(kind: type[S], words: Sequence[str], program: str) -> S:
    """Return settings as the words give them; print their help and exit where that is wanted."""
    try:
        settings: S | None = app_of(program, kind)(words)
    except CycloptsError as error:
        says = explain(kind, error)
    except SettingError as error:
        says = named(error)
    else:
        if settings is None:  # its help is printed
            raise SystemExit(0)
        return settings
    raise ValueError(f"{says.rstrip('.')}; see {program} --help")


def explain(kind: type[Any], error: CycloptsError) -> str:
    """Return the error in the words, named by their option."""
    if isinstance(error, UnusedCliTokensError):
        return f"nothing takes {' '.join(error.unused_tokens or ())!r}"
    if error.argument is None:
        return str(error)
    field, token = error.argument.field_info, getattr(error, "token", None)
    if isinstance(error.__cause__, ValidationError):
        return named(setting_error(kind, error.__cause__, field.name))
    if isinstance(token, Token):
        return named(refusal(kind, field.name, token.value))
    if isinstance(error, MissingArgumentError) and error.keyword:
        return named(refusal(kind, field.name, " ".join(error.tokens_so_far)))
    if isinstance(error, MissingArgumentError):
        return f"{field.name.upper() if field.is_positional else error.argument.name} is missing"
    return str(error)


def named(error: SettingError) -> str:
    """Return an error with the name of the option in place of the setting's."""
    return f"--{error.name.replace('_', '-')}{error.says}" if error.name else str(error)
