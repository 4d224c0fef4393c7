"""What arguments may look like; each function raises what argparse turns into one line."""

import math
from argparse import ArgumentTypeError
from pathlib import Path

from kernels.block_pattern import BlockPattern
from kernels.errors import InputError
from kernels.problem import UNBOUNDED
from kernels.registry import AUTO, find_kernel
from profiles.seqlens import SeqlenError, parse_seqlens

LARGEST = 2**31 - 1  # of whole numbers, as in the form: what is measured with them is told in 64 bits


def positive(text: str) -> int:
    """A whole number from 1 to LARGEST."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise ArgumentTypeError(f"{text!r} is not a whole number from 1")
    if number > LARGEST:
        raise ArgumentTypeError(f"{text:.40} is more than {LARGEST}")
    return number


def seed(text: str) -> int:
    """A whole number from 0 to LARGEST."""
    if not (text.isascii() and text.isdecimal()) or len(text) > len(str(LARGEST)) or int(text) > LARGEST:
        raise ArgumentTypeError(f"{text!r} is not a whole number from 0 to {LARGEST}")
    return int(text)


def seconds(text: str) -> float:
    """A finite time longer than 0 s."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < math.inf:
        raise ArgumentTypeError(f"{text!r} is not a number of seconds above 0")
    return number


def numbers(text: str) -> tuple[float, ...]:
    """Finite numbers separated by commas."""
    try:
        found = tuple(float(part) for part in text.split(","))
    except ValueError as error:
        raise ArgumentTypeError(f"{text!r} is not a list of numbers like 1,3,2,0.5") from error
    if not all(map(math.isfinite, found)):
        raise ArgumentTypeError(f"{text!r} holds a number that is not finite")
    return found


def peers(text: str) -> tuple[str, ...]:
    """Names of kernels that others are compared with."""
    names = kernel_list(text)
    if names == (AUTO,):
        raise ArgumentTypeError(f"{AUTO} is a choice, not a kernel: name one, or several separated by commas")
    return names


def window(text: str) -> tuple[int, int]:
    """Two whole numbers from -1 to LARGEST, separated by a comma."""
    try:
        left, right = map(int, text.split(","))
    except ValueError as error:
        raise ArgumentTypeError(f"{text!r} is not a window like 128,0") from error
    if min(left, right) < UNBOUNDED:
        raise ArgumentTypeError(f"a side of the window {text!r} is below {UNBOUNDED} (unbounded)")
    if max(left, right) > LARGEST:
        raise ArgumentTypeError(f"a side of the window {text:.40} is more than {LARGEST}; -1: all keys")
    return left, right


def block_pattern(text: str) -> BlockPattern:
    """A pattern of blocks, by the grammar of the form."""
    try:
        return BlockPattern.parse(text)
    except InputError as error:
        raise ArgumentTypeError(str(error).rstrip(".")) from error


def kernel_list(text: str) -> tuple[str, ...]:
    """Names of kernels separated by commas, or `auto`."""
    names = tuple(part.strip() for part in text.split(",") if part.strip())
    if names == (AUTO,):
        return names
    if not names:
        raise ArgumentTypeError("name at least one kernel")
    if AUTO in names:
        raise ArgumentTypeError(f"{AUTO} stands for one kernel and alone, not as in {text!r}")
    try:
        for name in names:
            find_kernel(name)
    except KeyError as error:
        raise ArgumentTypeError(str(error.args[0])) from error
    if len(set(names)) < len(names):
        raise ArgumentTypeError(f"a kernel is listed twice in {text!r}")
    return names


def seqlen_list(text: str) -> tuple[int, ...]:
    """Sequence lengths, by the grammar of the form."""
    try:
        return parse_seqlens(text)
    except SeqlenError as error:
        raise ArgumentTypeError(str(error).rstrip(".")) from error


def folder(text: str) -> Path:
    """A path that can be named: an empty one would mean the current folder."""
    if not text.strip():
        raise ArgumentTypeError("the name of the folder is empty")
    return Path(text)


def new_file(text: str) -> Path:
    """A path where there is nothing yet, in a folder that exists or can be made."""
    if not text.strip():
        raise ArgumentTypeError("the name of the file is empty; leave --out out to save among your sessions")
    path = Path(text)
    try:
        taken = path.exists()
    except (OSError, ValueError) as error:
        raise ArgumentTypeError(f"{text} cannot be used ({error}); name another file") from error
    if taken:
        raise ArgumentTypeError(f"{text} exists already; name another file or remove it")
    return path
