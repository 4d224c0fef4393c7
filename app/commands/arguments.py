"""What arguments may look like: options made from declared choices, and the texts of the other arguments."""

import math
import os
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeAlias

import click

from flashscope.home import in_home
from flashscope.kernels.catalogue.registry import AUTO
from flashscope.kernels.context_parallel.schemes import SCHEMES
from flashscope.kernels.cuda.design.knobs import KNOBS
from flashscope.kernels.workload.cut import BACKWARD, CUT_KERNELS
from flashscope.profiles.plan.choice import Declared
from flashscope.profiles.plan.read import read_kernels
from flashscope.profiles.results.quantities.quantity import Quantity
from flashscope.profiles.results.quantities.registry import QUANTITIES
from flashscope.profiles.store.places import never_begun
from flashscope.profiles.store.schema import SUFFIX

STDOUT = Path("-")
Callback: TypeAlias = Callable[[click.Context, click.Parameter, Any], Any]


def reading(read: Callable[[str], Any]) -> Callback:
    """A callback that makes an argument's value of its text; a ValueError is told in one line."""

    def value_of(context: click.Context, parameter: click.Parameter, text: Any) -> Any:
        if not isinstance(text, str):  # it was not given
            return None
        try:
            return read(text)
        except ValueError as error:
            raise click.BadParameter(str(error).rstrip("."), context, parameter) from error

    return value_of


def checked(read: Callable[[str], Any]) -> Callback:
    """A callback that leaves an argument the text that it is; a ValueError is told in one line."""

    def text_of(context: click.Context, parameter: click.Parameter, text: Any) -> Any:
        reading(read)(context, parameter, text)
        return text

    return text_of


def reading_each(read: Callable[[str], Any]) -> Callback:
    """The same for an option that may be given several times: a tuple of values."""

    def values_of(context: click.Context, parameter: click.Parameter, texts: Any) -> Any:
        one = reading(read)
        return tuple(one(context, parameter, text) for text in texts)

    return values_of


def option_of(declared: Declared) -> click.Option:
    """The option of a choice; what it is left at when it is not given, only its help tells."""
    choice = declared.choice
    if declared.kind is bool:
        return click.Option(
            [choice.flag, declared.name], default=declared.default, show_default=True, help=choice.help
        )
    words, default = (*choice.also, *declared.options), declared.default_text()
    return click.Option(
        [choice.flag, declared.name],
        type=click.Choice(words) if declared.options else str,
        callback=None if declared.options else reading(declared.read),
        metavar=choice.metavar or None,
        help=f"{choice.help}  [default: {default}]" if default else choice.help,
    )


def positive(text: str) -> int:
    """A whole number from 1."""
    if not (text.isascii() and text.isdecimal() and text.strip("0")):
        raise ValueError(f"{text[:40]!r} is not a whole number from 1")
    return int(text)


def token_counts(text: str) -> tuple[int, ...]:
    """Whole numbers from 1, separated by commas."""
    return tuple(map(positive, text.split(",")))


def numbers(text: str) -> tuple[float, ...]:
    """Finite numbers separated by commas."""
    try:
        values = tuple(float(part) for part in text.split(","))
    except ValueError as error:
        raise ValueError(f"{text!r} is not a list of numbers like 1,3,2,0.5") from error
    if not all(map(math.isfinite, values)):
        raise ValueError(f"{text!r} holds a number that is not finite")
    return values


def peers(text: str) -> tuple[str, ...]:
    """Names of kernels that others are compared with."""
    names = read_kernels(text)
    if names == (AUTO,):
        raise ValueError(f"{AUTO} is a choice, not a kernel: name one, or several separated by commas")
    return names


def sampled_kernels(text: str) -> tuple[str, ...]:
    """Names of kernels of the ladder that have a source in CUDA."""
    from flashscope.kernels.cuda.reading.step import steps_of  # noqa: PLC0415 - it takes NumPy

    names = peers(text)
    there = steps_of("forward")
    for name in names:
        if name not in there:
            raise ValueError(f"{name} has no source in CUDA of its own; there are {', '.join(there)}")
    return names


def quantity(text: str) -> Quantity:
    """A quantity by its key."""
    if text in QUANTITIES:
        return QUANTITIES[text]
    meant = get_close_matches(text, QUANTITIES, n=1)
    told = f"did you mean {meant[0]}?" if meant else f"there are {', '.join(QUANTITIES)}"
    raise ValueError(f"there is no quantity {text[:40]!r}; {told}")


def cut_kernels(text: str) -> tuple[str, ...]:
    """Kernels whose cuts can be timed, once each."""
    return _each_of(text, [one for one in CUT_KERNELS if not one.endswith(BACKWARD)], "kernel with cuts")


def cut_rows(text: str) -> tuple[str, ...]:
    """Numbers of a cut in which rows of a landscape can differ, once each."""
    return _each_of(
        text, sorted({knob.name for knobs in KNOBS.values() for knob in knobs}), "number of a cut"
    )


def head_dims(text: str) -> tuple[int, ...]:
    """Whole numbers from 1, once each, separated by commas."""
    return tuple(dict.fromkeys(token_counts(text)))


def ranks_schemes(text: str) -> tuple[str, ...]:
    """Schemes of attention on several ranks, once each."""
    return _each_of(text, SCHEMES, "scheme")


def _each_of(text: str, known: Sequence[str], what: str) -> tuple[str, ...]:
    for name in (names := tuple(dict.fromkeys(text.split(",")))):
        if name not in known:
            raise ValueError(f"there is no {what} {name[:40]!r}; there are {', '.join(known)}")
    return names


def percentage(text: str) -> float:
    """Percent as a share: 5 is 0.05."""
    try:
        value = float(text)
    except ValueError as error:
        raise ValueError(f"{text[:40]!r} is not a number of percent") from error
    if not 0 <= value < math.inf:
        raise ValueError(f"{text[:40]!r} is not a number of percent from 0")
    return value / 100


def version_pair(text: str) -> tuple[int, int]:
    """Two versions by their numbers: `1,3`, also `v1,v3`."""
    numbers = [part.strip().removeprefix("v") for part in text.split(",")]
    if len(numbers) != 2 or not all(one.isdecimal() and one.isascii() for one in numbers):  # noqa: PLR2004
        raise ValueError(f"{text[:40]!r} is no pair of versions, as 1,3 is")
    older, newer = (int(one[:9]) for one in numbers)
    if older == newer:
        raise ValueError("these are one version; name another")
    return older, newer


def folder(text: str) -> Path:
    """A path that can be named: an empty one would mean the current folder."""
    if not text.strip():
        raise ValueError("the name of the folder is empty")
    return in_home(Path(text))


def export_target(text: str) -> Path:
    """A path to write to, in a folder that exists, or `-`: stdout."""
    return STDOUT if text == str(STDOUT) else export_file(text)


def export_file(text: str) -> Path:
    """A path to write to, in a folder that exists."""
    if text == str(STDOUT):
        raise ValueError(f"{text} is no file; name one, or ./{text} if it is to be called so")
    return _in_a_folder(_named_file(text, "name a file to write"))


def _in_a_folder(path: Path) -> Path:
    if not path.parent.is_dir():
        raise ValueError(f"there is no folder {path.parent}; make it first, or name another")
    return path


def _named(text: str, remedy: str) -> Path:
    """A path that the system can look at."""
    if not text.strip():
        raise ValueError(f"the name of the file is empty; {remedy}")
    path = in_home(Path(text))
    try:
        path.parent.is_dir()
    except (OSError, ValueError) as error:
        raise ValueError(f"{text} cannot be used ({error}); name another file") from error
    return path


def _named_file(text: str, remedy: str) -> Path:
    """The same, where there is no folder."""
    path = _named(text, remedy)
    if path.is_dir():
        raise ValueError(f"{text} is a folder; name a file in it")
    return path


def kept_file(text: str) -> Path:
    """A path of a session that is there, or of a new one in a folder that exists."""
    path = export_file(text)
    return path if path.exists() else _session_file(path)


def new_file(text: str) -> Path:
    """A path of a session where there is nothing yet, in a folder that exists."""
    path = _named_file(text, "leave --out out to save among your sessions")
    if os.path.lexists(path) and not never_begun(path):
        raise ValueError(f"{text} exists already; name another file or remove it")
    return _in_a_folder(_session_file(path))


def _session_file(path: Path) -> Path:
    """The path, if it is called as sessions are."""
    if path.suffix != SUFFIX:
        raise ValueError(f"a session is a {SUFFIX} file: name it {path.name}{SUFFIX}")
    return path
