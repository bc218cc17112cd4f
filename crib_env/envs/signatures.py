"""Signatures of functions that pass keywords on, so that `help` and editors show them."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, signature
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

OF_THE_MAKER = frozenset({"autoreset", "keeps_events", "phase_policy"})
"""Keywords that environments set themselves."""


def shows_keywords_of(*sources: Callable[..., Any]) -> Callable[[F], F]:
    """Let a function's signature show the keywords that it hands on.

    Returns a decorator. It changes what `inspect.signature` says, and nothing else.
    """

    def decorate(function: F) -> F:
        shown = signature(function)
        passed_on = {
            name: parameter
            for source in reversed(sources)
            for name, parameter in signature(source).parameters.items()
            if parameter.kind is Parameter.KEYWORD_ONLY and name not in OF_THE_MAKER
        }
        own = {
            name: parameter
            for name, parameter in shown.parameters.items()
            if parameter.kind is not Parameter.VAR_KEYWORD
        }
        parameters = (own | passed_on | own).values()  # its own come first, as it has them
        vars(function)["__signature__"] = shown.replace(parameters=list(parameters))
        return function

    return decorate
