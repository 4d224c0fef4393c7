"""What a kernel of the user's own declares of itself: plain data that a plan, a worker and a file carry."""

import re
from typing import Literal

import msgspec

from flashscope.kernels.workload.problem import Backend, Dtype, Feature

OWN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")
LONGEST_PATH = 4096  # characters, as file systems have it
SHA256 = re.compile(r"[0-9a-f]{64}")
ArrayKind = Literal["numpy", "cupy", "torch"]
ScalarType = Literal["bool", "int32", "uint32", "int64", "uint64", "float32", "float64"]


class OwnArgument(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One argument of a raw CUDA kernel.

    Attributes:
        value: Name of a tensor for a pointer; for a scalar an expression over sizes (`own.expression`).
        scalar: Type of a scalar; None: it is a pointer.
    """

    value: str
    scalar: ScalarType | None = None


class OwnLaunch(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One launch of a raw CUDA kernel; numbers are expressions over sizes (`own.expression`).

    Attributes:
        entry: The kernel's name in the source, as the linker knows it (extern "C").
        grid: Blocks along x, y and z.
        threads: Threads of a block along x, y and z.
        shared: Dynamic shared memory of a block in bytes.
        arguments: In the kernel's order.
    """

    entry: str
    grid: tuple[str, ...]
    threads: tuple[str, ...]
    shared: str = "0"
    arguments: tuple[OwnArgument, ...] = ()


class OwnBuffer(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A workspace that a raw CUDA kernel asks for; its shape is made of expressions over sizes."""

    name: str
    shape: tuple[str, ...]
    dtype: Dtype | Literal["int32", "uint8"]


class OwnKernel(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One kernel of the user's own, as its file declares it. Nothing of it is code that runs.

    Attributes:
        name: Its name in plans, files, tables and on the command line.
        path: The file, absolute; below the user's folder it begins with `~`.
        sha256: Of the file's bytes, in hex: what runs has this hash, or nothing runs.
        function: The function of a `.py` file; empty: it is a `.cu` file.
        backward: The function of its backward pass; empty: it has none. Of a `.cu` file see `launches`.
        arrays: What kind of arrays the function takes; of a `.cu` file CuPy's.
        keywords: The keyword arguments that the function takes.
        module: The dotted module that a package's entry point names; empty: the file is no package's.
        idea: One line a reader learns from.
        backends: Where it runs.
        dtypes: The element types it takes, as far as the backend has them.
        head_dims: The head dims it takes; empty: any.
        features: What it takes beyond plain attention.
        min_compute_capability: The oldest GPU it runs on.
        length_multiple: Sequence lengths, of queries and of keys, are multiples of this.
        launches: Of a `.cu` file, the launches of the forward pass in order.
        backward_launches: Those of its backward pass; empty: it has none.
        workspace: Of a `.cu` file, its buffers besides inputs and outputs.
        defines: Of a `.cu` file, names and expressions for the preprocessor.
        commit: The git commit that was checked out around the file, in hex; empty: none is known.
        differs: Whether the file is other than in that commit; None: no commit is known.
        source: The file's text, where it was asked to be kept.
    """

    name: str
    path: str
    sha256: str
    function: str = ""
    backward: str = ""
    arrays: ArrayKind = "cupy"
    keywords: tuple[str, ...] = ()
    module: str = ""
    idea: str = ""
    backends: tuple[Backend, ...]
    dtypes: tuple[Dtype, ...]
    head_dims: tuple[int, ...] = ()
    features: tuple[Feature, ...] = ()
    min_compute_capability: tuple[int, int] = (7, 5)
    length_multiple: int = 1
    launches: tuple[OwnLaunch, ...] = ()
    backward_launches: tuple[OwnLaunch, ...] = ()
    workspace: tuple[OwnBuffer, ...] = ()
    defines: tuple[tuple[str, str], ...] = ()
    commit: str = ""
    differs: bool | None = None
    source: str | None = None

    def __post_init__(self) -> None:
        if not OWN_NAME.fullmatch(self.name):
            raise ValueError(f"{self.name[:60]!r} is no name: letters, digits and . _ - alone, 60 at most")
        named = self.path.isprintable() and 0 < len(self.path) <= LONGEST_PATH
        if not SHA256.fullmatch(self.sha256) or not named:
            raise ValueError(f"{self.name} needs a path that can be printed and a sha256 in hex")
        if not self.backends or not self.dtypes or bool(self.function) == bool(self.launches):
            raise ValueError(f"{self.name} declares no backend or no dtype, or not one thing that runs")
        if any(dim < 1 for dim in self.head_dims):
            raise ValueError(f"{self.name} declares a head dim below 1")
        if self.length_multiple < 1:
            raise ValueError(f"{self.name} declares a length_multiple below 1")

    @property
    def reference(self) -> str:
        """What names it on the command line."""
        return f"{self.path}:{self.function}" if self.function else self.path

    @property
    def has_backward(self) -> bool:
        """Whether it has a backward pass."""
        return bool(self.backward or self.backward_launches)
