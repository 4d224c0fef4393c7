"""The options of `kernels.attention` that are no arrays of numbers: checked, and as plain Python values."""

import reprlib
from collections.abc import Iterable, Sequence
from operator import index
from typing import Any

from flashscope.kernels.workload.arrays import backend_of, is_tensor
from flashscope.kernels.workload.errors import InputError


def whole_numbers(name: str, lengths: Sequence[int] | None) -> tuple[int, ...] | None:
    """The lengths as plain integers; Problem refuses too few or too many, and those that do not fit."""
    if lengths is None:
        return None
    try:
        return tuple(map(whole_number, _listed_lengths(lengths)))
    except TypeError:
        raise InputError(
            f"{name} must be a list, a tuple or a 1-d integer array of whole numbers, one for each sequence, "
            f"not {told(lengths)}."
        ) from None


def told(value: Any) -> str:
    """The dtype and shape of an array, or what else it is, cut short and printable."""
    if backend_of(value) is not None:
        return f"{value.dtype.name} of shape {value.shape}"
    if is_tensor(value):  # what it holds may have to come from a GPU
        return f"{value.dtype} of shape {tuple(value.shape)}"
    text = reprlib.repr(value)
    return text if text.isprintable() else repr(text)[1:-1]


def _listed_lengths(lengths: Any) -> Sequence[Any]:
    """What a sequence or an array of one axis holds; a TypeError where lengths are something else."""
    if backend_of(lengths) is not None and lengths.ndim == 1 and lengths.dtype.kind in "iu":
        return lengths.tolist()  # type: ignore[no-any-return]
    if isinstance(lengths, Sequence) and not isinstance(lengths, str | bytes | bytearray | memoryview):
        return lengths
    raise TypeError


def whole_number(value: Any) -> int:
    """A value as a plain integer; a TypeError where it is none, or a boolean."""
    if isinstance(value, bool):
        raise TypeError
    return index(value)


def yes_or_no(name: str, value: Any) -> bool:
    """An option that is either, Python's or NumPy's; any other value would be taken for one of them.

    Raises:
        InputError: It is something else; the text says what.
    """
    if _scalar_kind(value) == "b":
        return bool(value)
    raise InputError(f"{name} must be True or False, not {told(value)}.")


def _scalar_kind(value: Any) -> str:
    """What kind of single value it is, by NumPy's letters: `b` a boolean, `i`, `u` and `f` numbers."""
    if isinstance(value, bool):
        return "b"
    if getattr(value, "shape", None) == ():  # also an array of no axes, of either memory
        return str(getattr(value.dtype, "kind", ""))  # PyTorch's dtypes have none
    return "f" if hasattr(type(value), "__float__") and not hasattr(value, "dtype") else ""


def finite(name: str, number: float | None) -> float | None:
    """An option that is a number, as a plain float; Problem refuses one that is not finite.

    Raises:
        InputError: It is none; the text says what is accepted.
    """
    if number is None:
        return None
    try:
        if _scalar_kind(number) in {"i", "u", "f"}:
            return float(number)
    except OverflowError:
        raise InputError(f"{name} must be a finite number in float32, not one of so many digits.") from None
    raise InputError(f"{name} must be a finite number or None, not {told(number)}.")


def two_sides(window: tuple[int, int] | None) -> tuple[int, int] | None:
    """The window as two plain integers; Problem refuses those below -1."""
    if window is None:
        return None
    try:
        left, right = map(whole_number, _listed_lengths(window))
    except (TypeError, ValueError):
        raise InputError(
            f"window must be two whole numbers (left, right) or None, not {told(window)}."
        ) from None
    return left, right


def listed(names: Iterable[str]) -> str:
    """`q, k and v`."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
