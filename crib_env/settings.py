"""Types of settings, whose ranges hold in Python and on the command line alike.

Settings are a checked dataclass. A field's type says which values are allowed; its documentation
is the help of the command line. Fields before ``_: KW_ONLY`` may be given by position there.

    @checked_dataclass(frozen=True)
    class Settings:
        agent: str
        _: KW_ONLY
        pairs: Count = 2000
        until: Annotated[float, Field(gt=0, le=100)] | None = None
        out: NewFolder = Path("runs/mine")

Only modules that hold settings import this one: ``import crib_env`` needs no pydantic.
"""

# mypy: implicit-reexport

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from cyclopts import Parameter, Token
from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter, ValidationError

from crib_env.errors import nearest
from crib_env.policy import agent_names
from crib_env.registration import ENVIRONMENTS

if TYPE_CHECKING:
    from dataclasses import dataclass as checked_dataclass  # what type checkers know

    AgentName: TypeAlias = str
    AgentNames: TypeAlias = tuple[str, ...]
    EnvName: TypeAlias = str
else:
    from pydantic.dataclasses import dataclass

    # Any text; shells complete these names.
    AgentName = Annotated[str | Literal[tuple(agent_names())], Parameter(show_choices=False, metavar="AGENT")]
    AgentNames = Annotated[tuple[AgentName, ...], Parameter(show_choices=False, metavar="AGENT...")]
    EnvName = Annotated[str | Literal[tuple(ENVIRONMENTS)], Parameter(show_choices=False, metavar="ENV")]

    STRICT = ConfigDict(strict=True, allow_inf_nan=False, extra="forbid", validate_default=True)

    def checked_dataclass(**options):
        """Make a dataclass that refuses wrong values with a `SettingError`."""

        def checked(cls):
            made = dataclass(config=STRICT, **options)(cls)
            init = made.__init__

            @wraps(init)
            def __init__(self, *args, **values):
                try:
                    init(self, *args, **values)
                except ValidationError as error:
                    raise setting_error(type(self), error) from None

            made.__init__ = __init__
            return made

        return checked


A_DAY = 24 * 60 * 60.0
MANY = 10**9  # games, deals, positions: more must be a typing error
LARGEST = 2**63 - 1
# A whole number as people write it: 1e6.
WHOLE = re.compile(r"\d+(?:\.\d+)?[eE]\+?\d{1,2}")


class SettingError(ValueError):
    """The error of a setting with an invalid value: its name, and the words after the name."""

    def __init__(self, name: str, says: str) -> None:
        super().__init__(f"{name}{says}".strip())
        self.name, self.says = name, says


def setting_error(kind: type[Any], error: ValidationError, name: str = "") -> SettingError:
    """Return pydantic's first error about a dataclass, or about one field of it, in one line."""
    found = error.errors()[0]
    place = (name, *found["loc"]) if name else found["loc"]
    name = str(place[0]) if place else ""
    if found["type"] == "value_error":  # in a check's own words
        words = str(found["ctx"]["error"])
        return SettingError(name, f"{':' if name and not words.startswith('must') else ''} {words}")
    if found["type"] == "unexpected_positional_argument":
        return SettingError("", f"{found['input']!r} stands alone: name its setting")
    if found["type"].startswith("unexpected"):
        meant = nearest(name, list(kind.__dataclass_fields__))
        return SettingError(name, f" is not a setting{meant}")
    if found["type"].startswith("missing") and len(place) == 1:
        return SettingError(name, " is missing")
    return refusal(kind, name, found["input"])


def refusal(kind: type[Any], name: str, value: Any) -> SettingError:
    """Return the error of a value that a field's type does not allow."""
    schema = TypeAdapter(kind).json_schema()["properties"][name]
    parts = schema.get("anyOf", [schema.get("items", schema)])
    choices = [one for part in parts for one in part.get("enum", ())]
    meant = nearest(value, list(map(str, choices)))
    return SettingError(name, f" must be {schema_words(schema)}, got {value!r}{meant}")


def schema_words(schema: dict[str, Any]) -> str:
    """Return the values that a JSON schema allows, in words."""
    if "anyOf" in schema:
        return " or ".join(schema_words(part) for part in schema["anyOf"])
    if "const" in schema or "enum" in schema:
        choices = schema.get("enum", [schema.get("const")])
        return f"one of {', '.join(map(repr, choices))}"
    kind = schema.get("type")
    if kind == "array":
        many = f" of {schema['minItems']}" if "maxItems" in schema else ""
        parts = schema.get("prefixItems", [schema.get("items", {})])
        return f"a tuple{many}, each {schema_words(parts[0])}"
    if kind not in ("integer", "number"):
        text = "a path" if schema.get("format") == "path" else "text"
        return {"string": text, "boolean": "True or False", "null": "None"}.get(str(kind), "")
    above, least, most = (schema.get(k) for k in ("exclusiveMinimum", "minimum", "maximum"))
    words = "a whole number" if kind == "integer" else "a number" if most else "a finite number"
    if above is not None:
        return words + f" above {above:,}" + (f", up to {most:,}" if most is not None else "")
    words += f" from {least:,}" if least is not None else ""
    return words + (f" to {most:,}" if most is not None else " up" if least is not None else "")


def read_whole(_: type[int], tokens: Sequence[Token]) -> int | None:
    """Return the whole number that a word of the command line gives, or None."""
    word = tokens[0].value
    if word == "None":
        return None
    if WHOLE.fullmatch(word) and float(word).is_integer():
        return int(float(word))
    return int(word)


def read_path(_: type[Path], tokens: Sequence[Token]) -> Path | None:
    """Return the path that a word of the command line gives, or None."""
    word = tokens[0].value
    if not word:  # a shell variable that is not set; Path("") would be the current folder
        raise ValueError("no path")
    return None if word == "None" else Path(word)


def not_one(value: int) -> int:
    """Return a number, unless it is 1."""
    if value == 1:
        raise ValueError("must be 0, or 2 or more, for an interval needs two; got 1")
    return value


def check_file(path: Path) -> None:
    """Raise an OSError unless a file can be written there."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder: name a file")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent} to write {path.name} to")
    if path.exists():
        _check_access(path)
    if path.is_file() or not path.exists():  # a device is written to in its place
        _check_access(path.parent)


def check_folder(path: Path) -> None:
    """Raise an OSError unless a folder is there, or can be made, and files can be written to it."""
    there = path.absolute()
    while not there.exists():
        there = there.parent
    check_is_folder(there)
    _check_access(there)


def check_store_file(path: Path) -> None:
    """Raise an OSError unless a file can be written there, in a folder that is made if need be."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder: name a file")
    check_folder(path.parent)


def check_is_file(path: Path) -> None:
    """Raise an OSError unless a file is there."""
    check_exists(path)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder: name a file")


def check_is_folder(path: Path) -> None:
    """Raise an OSError unless a folder is there."""
    check_exists(path)
    if not path.is_dir():
        raise NotADirectoryError(f"{path} is a file: name a folder")


def check_exists(path: Path) -> None:
    """Raise an OSError unless something is there."""
    if not path.exists():
        raise FileNotFoundError(f"there is no {path}")


def _check_access(path: Path) -> None:
    if not os.access(path, os.W_OK):
        raise PermissionError(f"no permission to write to {path}")
    if path.is_dir():  # root, and some file systems, report permission but cannot write
        try:
            TemporaryFile(dir=path).close()
        except OSError as error:
            raise OSError(f"no file can be written to {path}: {error.strerror}") from None


def _passes(check: Callable[[Path], None]) -> AfterValidator:
    """Return a check of a path for pydantic: an OSError becomes a ValueError, which it expects."""

    def checked(path: Path) -> Path:
        try:
            check(path)
        except OSError as error:
            raise ValueError(str(error)) from None
        return path

    return AfterValidator(checked)


Whole = Annotated[int, Parameter(converter=read_whole)]
Seed = Annotated[Whole, Field(ge=0, le=LARGEST)]
Count = Annotated[Whole, Field(ge=1, le=MANY)]  # at least one
Several = Annotated[Whole, Field(ge=2, le=MANY)]  # at least two, for an interval
CountOrNone = Annotated[Whole, Field(ge=0, le=MANY)]
Pairs = Annotated[CountOrNone, AfterValidator(not_one)]
MoveSeconds = Annotated[float, Field(gt=0, le=A_DAY)]  # the longest a decision may take
Threads = Annotated[Whole, Field(ge=1, le=256)]
Workers = Annotated[Whole, Field(ge=1, le=4096)]
Positive = Annotated[float, Field(gt=0)]
NotNegative = Annotated[float, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]
Portion = Annotated[float, Field(gt=0, le=1)]  # above 0
Players = Annotated[Whole, Field(ge=2, le=4)]  # the game says which of them it has
Seat = Annotated[Whole, Field(ge=0, le=3)]  # of four; the game says how many it has
AnyPath = Annotated[Path, Field(strict=False), Parameter(converter=read_path)]  # or text
NewFile = Annotated[AnyPath, _passes(check_file)]
StoreFile = Annotated[AnyPath, _passes(check_store_file)]
NewFolder = Annotated[AnyPath, _passes(check_folder)]
File = Annotated[AnyPath, _passes(check_is_file)]
Folder = Annotated[AnyPath, _passes(check_is_folder)]
FileOrFolder = Annotated[AnyPath, _passes(check_exists)]
