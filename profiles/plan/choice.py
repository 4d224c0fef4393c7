"""A choice of a sweep, declared once: what people see of it, how they spell it, which values it takes.

A declaration is metadata of a struct's field, `repeats: Annotated[int, Choice(...)] = 10`. Form, command
line, `--help` and copied commands are made from `choices_of` the struct; none of them names a choice.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from types import NoneType
from typing import Any, Literal, get_args, get_origin

import msgspec

from flashscope.kernels.workload.problem import Backend

LARGEST = 2**31 - 1  # of whole numbers: what is measured with them is told in 64 bits


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What a field's name, type and default do not say.

    Attributes:
        label: Its name in the form.
        help: One sentence for the form's tool tip and for `--help`, without the full stop.
        flag: Its option; of a switch both, the one for True first: `--verify/--no-verify`.
        metavar: What stands for its value in `--help`.
        low: The smallest number it takes.
        high: The largest number it takes.
        step: What an arrow key adds to the number in the form.
        unit: Unit of the number; empty: it has none.
        words: What True and False are called where the form offers two words; empty: it is a box to tick.
        also: Words that the command line takes besides, and whose meaning depends on the machine.
        defaults: Its default by backend, where that differs.
        unset: What it means to leave it open, for a choice that may be None.
        needs: Name of the choice without which it says nothing.
        read: Makes the value of a text; raises ValueError with one sentence. None: by the field's type.
        write: The text that `read` makes the same value of.
    """

    label: str
    help: str
    flag: str
    metavar: str = ""
    low: float = 0
    high: float = LARGEST
    step: int = 1
    unit: str = ""
    words: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    defaults: Mapping[Backend, Any] | None = None
    unset: str = ""
    needs: str = ""
    read: Callable[[str], Any] | None = None
    write: Callable[[Any], str] | None = None


@dataclass(frozen=True, kw_only=True)
class Declared:
    """A choice as a struct declares it.

    Attributes:
        name: Name of the field.
        kind: Type of the value; of a choice that may be None, the type of the others.
        default: What it is when nothing is said; None where that depends on the backend or machine.
        choice: Everything else.
    """

    name: str
    kind: Any
    default: Any
    choice: Choice

    @property
    def options(self) -> tuple[str, ...]:
        """The words it takes; empty when it is no choice among words."""
        return get_args(self.kind) if get_origin(self.kind) is Literal else ()

    @property
    def span(self) -> str:
        """The range of a number as people read it; empty for anything else."""
        if self.kind not in {int, float}:
            return ""
        low, high = (_number_text(number) for number in (self.choice.low, self.choice.high))
        unit = f" {self.choice.unit}" if self.choice.unit else ""
        return f"from {low}{unit}" if self.choice.high == LARGEST else f"{low} to {high}{unit}"

    def default_on(self, backend: Backend) -> Any:
        """What it is on a backend when nothing is said."""
        return self.choice.defaults[backend] if self.choice.defaults else self.default

    def default_text(self) -> str:
        """The default as `--help` shows it; empty when that is None and needs no word."""
        if self.choice.defaults:
            return "; ".join(f"{self.write(v)} on {backend}" for backend, v in self.choice.defaults.items())
        if self.default is None:
            return self.choice.unset or "".join(self.choice.also[:1])
        return " ".join(filter(None, (self.write(self.default), self.choice.unit)))

    def read(self, text: str) -> Any:
        """The value that a text on the command line means.

        Raises:
            ValueError: It means none; the text is one sentence.
        """
        if self.choice.read is not None:
            return self.choice.read(text)
        if self.kind in {int, float}:
            return self._read_number(text)
        if text not in self.options:
            raise ValueError(f"{text!r} is none of {', '.join(self.options)}")
        return text

    def write(self, value: Any) -> str:
        """The text that `read` makes this value of."""
        if self.choice.write is not None:
            return self.choice.write(value)
        return _number_text(value) if self.kind in {int, float} else str(value)

    def command_words(self, value: Any) -> list[str]:
        """What makes this choice on the command line; nothing for None and for a switch left as it is."""
        if value is None or (self.kind is bool and value == self.default):
            return []
        on, _, off = self.choice.flag.partition("/")
        if self.kind is bool:
            return [on if value else off]
        return [on, self.write(value)]

    def _read_number(self, text: str) -> float:
        low, high = self.choice.low, self.choice.high
        try:
            number: float = self.kind(text)
        except (ValueError, OverflowError):
            number = low - 1
        if not low <= number <= high:
            what = "whole number" if self.kind is int else "number"
            raise ValueError(
                f"{text[:40]!r} is not a {what} from {_number_text(low)} to {_number_text(high)}"
            )
        return number


@cache
def choices_of(struct: type[msgspec.Struct]) -> tuple[Declared, ...]:
    """Every choice that a struct declares, those of the structs it embeds where these stand in it."""
    declared: list[Declared] = []
    for field in msgspec.structs.fields(struct):
        choice = next((m for m in getattr(field.type, "__metadata__", ()) if isinstance(m, Choice)), None)
        if choice is not None:
            default = None if field.default is msgspec.NODEFAULT else field.default
            kind = _without_none(get_args(field.type)[0])
            declared.append(Declared(name=field.name, kind=kind, default=default, choice=choice))
        elif isinstance(field.type, type) and issubclass(field.type, msgspec.Struct):
            declared.extend(choices_of(field.type))
    return tuple(declared)


def _without_none(kind: Any) -> Any:
    """X of `X | None`, any other type as it is."""
    members = get_args(kind)
    return next(m for m in members if m is not NoneType) if NoneType in members else kind


def _number_text(number: float) -> str:
    """The shortest text of a number that is read back as the same one."""
    short = f"{number:g}"
    return short if float(short) == number and "e" not in short else str(number)
