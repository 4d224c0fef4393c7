"""What one kernel is: its name, idea, needs and limits, without importing the code that runs it."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.machinery import PathFinder
from importlib.util import find_spec
from typing import Literal

from flashscope.installation import install_command
from flashscope.kernels.catalogue.buffers import Buffer
from flashscope.kernels.catalogue.environments import environment_of
from flashscope.kernels.catalogue.fp8 import Rounding
from flashscope.kernels.catalogue.marks import MarkSpec
from flashscope.kernels.catalogue.own_kernel import OwnKernel
from flashscope.kernels.catalogue.shared_traffic import SharedTraffic
from flashscope.kernels.catalogue.traffic import LoopTraffic
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.errors import UnsupportedError
from flashscope.kernels.workload.problem import (
    LAYOUTS,
    LSE_ITEMSIZE,
    NOT_TRACED,
    Backend,
    Dtype,
    Feature,
    Passes,
    Problem,
)

Family = Literal["standard", "tiled", "library", "own"]
HEAD_DIMS = range(16, 257, 8)  # of our kernels

FEATURES: Mapping[Feature, str] = {
    "causal": "a causal mask",
    "window": "a sliding window",
    "gqa": "fewer key/value heads than query heads",
    "block_mask": "a block mask",
    "ragged": "ragged lengths",
    "paged": "a paged K/V cache",
    "softcap": "softcapped scores",
    "sinks": "attention sinks",
    "alibi": "ALiBi's bias",
    "head_dim_v": "values of another head dim",
}
CAUSAL_ONLY: frozenset[Feature] = frozenset({"causal"})
EVERY_FEATURE: frozenset[Feature] = frozenset(FEATURES)
EVERY_LAYOUT: frozenset[Feature] = EVERY_FEATURE - NOT_TRACED  # every mask, too, and fewer key/value heads
EVERY_MASK: frozenset[Feature] = EVERY_LAYOUT - LAYOUTS
DTYPES_BY_BACKEND: dict[Backend, tuple[Dtype, ...]] = {
    "cuda": ("float32", "float16", "bfloat16"),
    "cpu": ("float32",),
}
ON_A_CPU: frozenset[Backend] = frozenset({"cpu"})
ON_A_GPU: dict[Backend, tuple[Dtype, ...]] = {"cuda": DTYPES_BY_BACKEND["cuda"]}
SIXTEEN_BIT: tuple[Dtype, ...] = ("float16", "bfloat16")


def listed(features: Collection[Feature]) -> str:
    """Features in words: `a causal mask and ragged lengths`."""
    return " and ".join(text for feature, text in FEATURES.items() if feature in features)


def installed(module: str) -> bool:
    """Whether a module can be imported: it and those above it are looked for, not imported."""
    top, *below = module.split(".")
    found = find_spec(top)
    for name in below:
        if found is None or found.submodule_search_locations is None:
            return False
        found = PathFinder.find_spec(f"{found.name}.{name}", found.submodule_search_locations)
    return found is not None


def _listed(dims: Sequence[int]) -> str:
    """Head dims in words."""
    if isinstance(dims, range):
        return f"{dims[0]} to {dims[-1]} in steps of {dims.step}"
    return ", ".join(map(str, dims))


@dataclass(frozen=True)
class Backward:
    """The backward pass of a kernel.

    Attributes:
        idea: One line a reader learns from.
        dtypes: As in `KernelSpec`.
        workspace: Buffers it allocates besides what it is given and the gradients.
        kept: What a forward pass leaves for it besides Q, K and V.
        implementation: As in `KernelSpec`.
        head_dims: The head dims it takes, by backend; one that is missing has those of the forward pass.
        features: What it supports beyond plain attention, by backend; one that is missing has those of the
            forward pass.
        min_compute_capability: The oldest GPU it runs on.
        needs_lse: Whether it is given LSE; else it keeps something else, or a library keeps its own.
        deterministic: The backends on which it can give the same bits in every run.
        recomputes: Whether it computes S and P again; else its forward pass kept P.
        limit: Why it does not take a problem that the rest allows, in words behind its name; None where it
            does.
    """

    idea: str
    dtypes: Mapping[Backend, tuple[Dtype, ...]]
    workspace: Callable[[Problem, Backend], tuple[Buffer, ...]]
    kept: Callable[[Problem, Backend], tuple[Buffer, ...]]
    implementation: Mapping[Backend, str]
    head_dims: Mapping[Backend, Sequence[int]] = field(default_factory=dict)
    features: Mapping[Backend, frozenset[Feature]] = field(default_factory=dict)
    min_compute_capability: tuple[int, int] = (8, 0)
    needs_lse: bool = True
    deterministic: frozenset[Backend] = frozenset({"cpu", "cuda"})
    recomputes: bool = True
    limit: Callable[[Problem], str | None] = lambda _: None

    def kept_bytes(self, problem: Problem, backend: Backend) -> int:
        """Exact bytes of what is kept between the two passes."""
        return sum(buffer.nbytes for buffer in self.kept(problem, backend))

    def workspace_bytes(self, problem: Problem, backend: Backend) -> int:
        """Exact bytes of all workspace buffers."""
        return sum(buffer.nbytes for buffer in self.workspace(problem, backend))

    def predicted_bytes(self, problem: Problem, backend: Backend) -> int:
        """Footprint before a launch: inputs, O, LSE, dO, the gradients and the workspace, in bytes."""
        given = (
            problem.input_bytes + problem.output_bytes + problem.output_bytes - problem.rows * LSE_ITEMSIZE
        )
        return given + problem.gradient_bytes + self.workspace_bytes(problem, backend)


@dataclass(frozen=True)
class KernelSpec:
    """One implementation of attention.

    Attributes:
        name: The name used in plans, files, tables and on the command line.
        family: `standard` (S and P in memory), `tiled` (they never lie in memory whole), `library`, or `own`:
            a file of the user's.
        idea: One line a reader learns from.
        dtypes: The element types it takes, by backend; a backend that is missing is not implemented.
        workspace: Buffers it allocates besides inputs and outputs, for a problem on a backend.
        implementation: Dotted module that implements it, by backend (imported when it is used).
        head_dims: The head dims it takes, by backend.
        features: What it supports beyond plain attention, by backend.
        strided: The backends on which it reads arrays of any strides where they lie; elsewhere they must be
            row-major, and so must those of its backward pass.
        min_compute_capability: The oldest GPU it runs on.
        max_compute_capability: The newest GPU it runs on; None: any.
        extra: The optional extra that installs the library it wraps, named like it; None: no library.
        module: What that library is imported as; None: as the extra.
        compile_s: Seconds that the library may take to compile when it is first asked for a problem, on top
            of a point's deadline.
        written_here: Whether a kernel that needs a library is code of ours all the same.
        traffic: The formula of the bytes that its loops move between SM and L2; None: there is none.
        shared_traffic: The formula of those that they move in shared memory on a GPU; None: there is none.
        predecessor: The kernel of the ladder that it goes on from; None: it begins one.
        rank: Its place when "auto" looks for the fastest kernel, the lowest first; None: it is not tried.
        mark: How it is drawn; None: as all that have no mark of their own.
        products: The dtype of the factors of its matrix products; None: that of its inputs.
        rounding: How it rounds its inputs to 8 bits, and is judged (`kernels.oracle.verify`); None: it takes
            them as they are.
        backward: Its backward pass; None: it has none.
        limit: Why a problem that it takes otherwise is too large for a device, None where it is not.
        own: What a kernel of the user's own declares; None: it is one of the project's.
    """

    name: str
    family: Family
    idea: str
    dtypes: Mapping[Backend, tuple[Dtype, ...]]
    workspace: Callable[[Problem, Backend], tuple[Buffer, ...]]
    implementation: Mapping[Backend, str]
    head_dims: Mapping[Backend, Sequence[int]] = field(
        default_factory=lambda: {"cuda": HEAD_DIMS, "cpu": HEAD_DIMS}
    )
    features: Mapping[Backend, frozenset[Feature]] = field(
        default_factory=lambda: {"cuda": CAUSAL_ONLY, "cpu": CAUSAL_ONLY}
    )
    strided: frozenset[Backend] = frozenset()
    min_compute_capability: tuple[int, int] = (7, 5)
    max_compute_capability: tuple[int, int] | None = None
    extra: str | None = None
    module: str | None = None
    compile_s: float = 0.0
    written_here: bool = False
    traffic: LoopTraffic | None = None
    shared_traffic: SharedTraffic | None = None
    predecessor: str | None = None
    rank: int | None = None
    mark: MarkSpec | None = None
    products: Dtype | Literal["float8"] | None = None
    rounding: Callable[[Problem], Rounding] | None = None
    backward: Backward | None = None
    limit: Callable[[Problem, Device], str | None] | None = None
    own: OwnKernel | None = None

    def idea_of(self, passes: Passes) -> str:
        """The idea of what is run: a backward pass alone has its own."""
        return self.backward.idea if self.backward and passes == "backward" else self.idea

    @property
    def allocates_unseen(self) -> bool:
        """Whether it is a function of the user's own, whose workspace nobody knows before it runs."""
        return self.own is not None and bool(self.own.function)

    def library_is_here(self) -> bool:
        """Whether the library that it wraps is there, in its own folder or beside us; or it wraps none."""
        extra = self.extra
        return extra is None or installed(self.module or extra) or environment_of(extra) is not None

    def library_is_at(self, device: Device | None) -> bool:
        """Whether the library that it wraps is where the device is; unknown devices are of this machine."""
        if device is None or device.libraries is None:
            return self.library_is_here()
        return self.own is not None or self.name in device.libraries

    def unsupported(self, problem: Problem, device: Device) -> str | None:
        """Why this kernel cannot run the problem's passes on the device, or None when it can."""
        reason = self.unsupported_forward(problem, device)  # a backward pass alone starts from its O and LSE
        return reason or (self.unsupported_backward(problem, device) if problem.runs_backward else None)

    def require(self, problem: Problem, device: Device) -> None:
        """Refuse a problem that it cannot run on the device.

        Raises:
            UnsupportedError: It cannot; the text says why.
        """
        _refuse(self.unsupported(problem, device))

    def require_backward(self, problem: Problem, device: Device) -> None:
        """Refuse a problem whose backward pass it cannot run on the device.

        Raises:
            UnsupportedError: It cannot; the text says why.
        """
        _refuse(self.unsupported_backward(problem, device))

    def unsupported_forward(self, problem: Problem, device: Device) -> str | None:
        """Why its forward pass cannot run the problem on the device, or None when it can."""
        dtypes = self.dtypes.get(device.backend)
        if dtypes is None:
            return f"{self.name} is not implemented on the {device.backend} backend"
        if not self.library_is_at(device):
            return f"{self.name} needs {self.extra}: {install_command(self.extra or '')}"
        if problem.dtype not in dtypes:
            return f"{self.name} takes {', '.join(dtypes)} on {device.backend}, not {problem.dtype}"
        dims = self.head_dims[device.backend]
        if problem.head_dim not in dims:
            return f"{self.name} takes head dims {_listed(dims)} on {device.backend}, not {problem.head_dim}"
        missing = problem.features - self.features[device.backend]
        if missing:
            return f"{self.name} does not take {listed(missing)} on {device.backend}"
        return self._unsupported_gpu(problem, device) or (self.limit(problem, device) if self.limit else None)

    def unsupported_backward(self, problem: Problem, device: Device) -> str | None:
        """Why its backward pass cannot run the problem on the device, or None when it can."""
        own = self.backward
        if own is None:
            return f"{self.name} has no backward pass"
        reason = replace(
            self,
            name=f"{self.name}'s backward pass",
            dtypes=own.dtypes,
            head_dims={**self.head_dims, **own.head_dims},
            features={**self.features, **own.features},
            min_compute_capability=max(self.min_compute_capability, own.min_compute_capability),
        ).unsupported_forward(problem, device)
        if reason is None and problem.deterministic and device.backend not in own.deterministic:
            return f"{self.name} offers no deterministic backward pass on {device.backend}"
        limit = own.limit(problem)
        return reason or (f"{self.name}'s backward pass {limit}" if limit else None)

    def _unsupported_gpu(self, problem: Problem, device: Device) -> str | None:
        found = device.compute_capability
        if found is None:
            return None
        if found < self.min_compute_capability:
            need, have = (".".join(map(str, c)) for c in (self.min_compute_capability, found))
            return f"{self.name} needs compute capability {need} or newer, this GPU has {have}"
        if self.max_compute_capability is not None and found > self.max_compute_capability:
            newest, have = (".".join(map(str, c)) for c in (self.max_compute_capability, found))
            return f"{self.name} runs up to compute capability {newest}, this GPU has {have}"
        if problem.dtype == "bfloat16" and found < (8, 0):
            return "bfloat16 needs compute capability 8.0 or newer"
        return None

    def workspace_bytes(self, problem: Problem, backend: Backend) -> int:
        """Exact bytes of all workspace buffers."""
        return sum(buffer.nbytes for buffer in self.workspace(problem, backend))

    def predicted_bytes(self, problem: Problem, backend: Backend) -> int:
        """Footprint before a launch of the problem's passes: inputs + outputs + workspace, in bytes."""
        if problem.runs_backward and self.backward is not None:
            forward = self.workspace_bytes(problem, backend) if problem.runs_forward else 0
            return forward + self.backward.predicted_bytes(problem, backend)
        return problem.input_bytes + problem.output_bytes + self.workspace_bytes(problem, backend)


def _refuse(reason: str | None) -> None:
    if reason is not None:
        raise UnsupportedError(f"{reason}.")
