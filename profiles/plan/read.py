"""Values of choices from the texts that a command line spells them with."""

from flashscope.kernels.catalogue.registry import AUTO, find_kernel
from flashscope.kernels.workload.lengths import PAGE_SIZES
from flashscope.kernels.workload.problem import UNBOUNDED
from flashscope.profiles.plan.choice import LARGEST


def read_kernels(text: str) -> tuple[str, ...]:
    """Names of kernels separated by commas, or `auto` alone.

    Raises:
        ValueError: It names none, an unknown one, or one twice.
    """
    names = tuple(part.strip() for part in text.split(",") if part.strip())
    if names == (AUTO,):
        return names
    if not names:
        raise ValueError("name at least one kernel")
    if AUTO in names:
        raise ValueError(f"{AUTO} stands for one kernel and alone, not as in {text!r}")
    try:
        for name in names:
            find_kernel(name)
    except KeyError as error:
        raise ValueError(str(error.args[0])) from error
    if len(set(names)) < len(names):
        raise ValueError(f"a kernel is listed twice in {text!r}")
    return names


def read_window(text: str) -> tuple[int, int]:
    """Two whole numbers from -1 to LARGEST, separated by a comma.

    Raises:
        ValueError: It is not that.
    """
    try:
        left, right = map(int, text.split(","))
    except ValueError as error:
        raise ValueError(f"{text[:40]!r} is not a window like 128,0") from error
    if min(left, right) < UNBOUNDED:
        raise ValueError(f"a side of the window {text!r} is below {UNBOUNDED} (unbounded)")
    if max(left, right) > LARGEST:
        raise ValueError(f"a side of the window {text:.40} is more than {LARGEST}; {UNBOUNDED}: all keys")
    return left, right


def read_page_size(text: str) -> int:
    """One of `PAGE_SIZES`.

    Raises:
        ValueError: It is not one.
    """
    if text not in map(str, PAGE_SIZES):
        raise ValueError(f"{text[:40]!r} is none of {', '.join(map(str, PAGE_SIZES))}")
    return int(text)
