"""Which kernel a call means: a name, a spec, a file of the user's own, or a function."""

import os
from functools import lru_cache
from pathlib import Path
from typing import Any

from flashscope.home import in_home
from flashscope.kernels.catalogue.own_kernel import ArrayKind
from flashscope.kernels.catalogue.registry import AUTO, KERNELS, own_kernel
from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.launching.options import told
from flashscope.kernels.own.consent import obstacle_to_run
from flashscope.kernels.own.functions import spec_of_function
from flashscope.kernels.own.references import is_reference, own_names, read_reference
from flashscope.kernels.own.spec import spec_of
from flashscope.kernels.workload.errors import InputError
from flashscope.kernels.workload.problem import Backend, Passes

OURS = {spec.name: spec for spec in KERNELS}
MOST_FILES = 64  # that are kept as they were read


def kernel_of(kernel: Any, arrays: ArrayKind, backend: Backend, passes: Passes) -> KernelSpec | None:
    """The kernel that is meant; None for the one that is chosen by itself.

    Args:
        kernel: As `SharedOptions` tells.
        arrays: The kind of arrays that a function is to be given.
        backend: Where they lie.
        passes: What a function computes: `forward` or `backward`.

    Raises:
        InputError: There is no such kernel, or its file declares none; the text says what there is.
    """
    if isinstance(kernel, KernelSpec):
        return _named_by_user(kernel)
    if isinstance(kernel, os.PathLike):
        path = os.fsdecode(kernel)
        if not is_reference(path):
            raise InputError(f"kernel must be a .py or .cu file where it is a path, not {told(path)}.")
        return _of_file(path)
    if isinstance(kernel, str):
        return None if kernel == AUTO else _of_name(kernel)
    if callable(kernel):
        return spec_of_function(kernel, arrays, backend, passes)
    raise InputError(f"kernel must be a name, a KernelSpec, a path or a function, not {told(kernel)}.")


def _of_name(name: str) -> KernelSpec:
    """The kernel of a name, or of the file that it is a path of."""
    if name in OURS:
        return OURS[name]
    if is_reference(name):
        return _of_file(name)
    registered = own_kernel(name)
    if registered is not None:
        return _named_by_user(registered)
    if name in own_names():
        return spec_of(read_reference(name))
    there = ", ".join((AUTO, *OURS))
    raise InputError(f"kernel must be one of {there}, or a path to a .py or .cu file, not {told(name)}.")


def _named_by_user(spec: KernelSpec) -> KernelSpec:
    """The spec, unless it is of a file that the user has not named to this process."""
    obstacle = obstacle_to_run(spec.own) if spec.own is not None else ""
    if obstacle:
        raise InputError(obstacle)
    return spec


def _of_file(reference: str) -> KernelSpec:
    """The kernel of a file, read again only where the file has changed."""
    path = reference if reference.endswith((".py", ".cu")) else reference.rpartition(":")[0]
    try:
        found = in_home(Path(path)).stat()
    except OSError:
        return spec_of(read_reference(reference))  # which says what is wrong
    return _read(reference, (found.st_mtime_ns, found.st_size, found.st_ino))


@lru_cache(maxsize=MOST_FILES)
def _read(reference: str, version: tuple[int, ...]) -> KernelSpec:
    """The kernel of a file as it was when it had this time, size and place."""
    del version
    return spec_of(read_reference(reference))
