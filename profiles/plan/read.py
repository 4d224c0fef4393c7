"""Values of choices from the texts that a command line spells them with."""

from collections.abc import Sequence

from flashscope.kernels.catalogue.registry import AUTO, KERNELS, find_kernel, own_kernel
from flashscope.kernels.own.references import introduced, is_reference, own_names
from flashscope.kernels.workload.errors import InputError
from flashscope.kernels.workload.lengths import PAGE_SIZES
from flashscope.kernels.workload.problem import UNBOUNDED
from flashscope.profiles.plan.choice import LARGEST


def read_kernels(text: str) -> tuple[str, ...]:
    """Names of kernels separated by commas, or `auto` alone.

    A file of the user's own stands for its kernel, and so does the name of one in the user's folder or of a
    package's entry point. That does not allow it to run (`kernels.own.consent`): stories hold such texts.

    Raises:
        ValueError: It names none, an unknown one, or one twice, or a file declares nothing that can be used.
    """
    names = tuple(part.strip() for part in text.split(",") if part.strip())
    if names == (AUTO,):
        return names
    if not names:
        raise ValueError("name at least one kernel")
    if AUTO in names:
        raise ValueError(f"{AUTO} stands for one kernel and alone, not as in {text!r}")
    names = tuple(map(_known, names))
    if len(set(names)) < len(names):
        raise ValueError(f"a kernel is listed twice in {text!r}")
    return names


def _known(name: str) -> str:
    """The name of the kernel that a name or a file stands for."""
    ours = any(spec.name == name for spec in KERNELS)
    try:
        if is_reference(name) or (not ours and name in own_names()):
            return introduced(name).name
        return find_kernel(name).name
    except InputError as error:
        raise ValueError(str(error)) from error
    except KeyError as error:
        raise ValueError(str(error.args[0])) from error


def write_kernels(names: Sequence[str]) -> str:
    """The text that `read_kernels` makes the same names of: of one's own kernels it names the files."""
    specs = {name: own_kernel(name) for name in names}
    return ",".join(spec.own.reference if spec and spec.own else name for name, spec in specs.items())


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
