"""PyTorch's scaled_dot_product_attention as peers of our ladder.

Idea: each of PyTorch's backends is forced through the dispatcher's own switches (those that
torch.nn.attention.sdpa_kernel sets; that context alone takes tens of microseconds, too long to be timed).
One run at the start records which operators PyTorch really executed: a backend that the dispatcher refuses,
or quietly replaces, is unsupported with the dispatcher's reason; `torch-auto` says what was chosen for it.
Limit: PyTorch allocates O anew in every run, from an allocator of its own, and returns no LSE. Its
`is_causal` is aligned to the top left; ours, to the bottom right, is asked for where Nq < Nk, and a problem
whose first rows keep no key (Nq > Nk) is refused, because PyTorch answers it with NaN.
"""

import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from tempfile import TemporaryFile
from typing import Any

import torch
from torch.backends import cuda as switches
from torch.nn.attention.bias import causal_lower_right
from torch.nn.functional import scaled_dot_product_attention
from torch.utils._python_dispatch import TorchDispatchMode

from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.launching.launch import Launch
from flashscope.kernels.library.tensor_launch import TensorLaunch
from flashscope.kernels.workload.arrays import backend_of
from flashscope.kernels.workload.errors import UnsupportedError
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Inputs

AUTO = "torch-auto"
CHOICES = ("flash", "efficient", "math", "cudnn")  # in the order of `_switch`
CHOICE_OF_OPERATOR = {
    "_scaled_dot_product_flash_attention": "flash",
    "_scaled_dot_product_flash_attention_for_cpu": "flash",
    "_scaled_dot_product_efficient_attention": "efficient",
    "_efficient_attention_forward": "efficient",  # what causal_lower_right calls
    "_scaled_dot_product_cudnn_attention": "cudnn",
    "_safe_softmax": "math",  # the plain formula is made of small operators
    "_softmax": "math",
}
NEED_A_MASK = ("math", "cudnn")  # they know no causal mask aligned to the bottom right
HEADINGS = {"flash": "flash attention", "efficient": "memory efficient", "math": "math", "cudnn": "cudnn"}
REFUSED = ("No available kernel", "No viable backend", "Invalid backend", "cuDNN Frontend error")
CHECKS = {
    "flash": torch.backends.cuda.can_use_flash_attention,
    "efficient": torch.backends.cuda.can_use_efficient_attention,
    "cudnn": torch.backends.cuda.can_use_cudnn_attention,
}
STDERR = 2
Switches = tuple[bool, ...]


class TorchLaunch(TensorLaunch):
    """One backend of PyTorch; its note says what the dispatcher chose, or which cuDNN ran.

    Attributes:
        mask_bytes: Size of the mask, where one had to be materialised.
    """

    def __init__(self, problem: Problem, inputs: Inputs, choice: str | None) -> None:
        super().__init__(inputs)
        self._wanted = None if choice is None else tuple(name == choice for name in CHOICES)
        mask, self.mask_bytes = _mask(problem, choice, self.tensors[0].device)
        grouped = problem.kv_heads not in {None, problem.heads}
        self._options = {"scale": problem.softmax_scale, "enable_gqa": grouped, **mask}

    def attend(self) -> tuple[Any, Any]:
        """O, see TensorLaunch; PyTorch returns no LSE."""
        with _switched(self._wanted):
            return scaled_dot_product_attention(*self.tensors, **self._options), None

    def objections(self, backend: str | None) -> str:
        """What PyTorch's own check of a backend says against the problem; empty when it says nothing."""
        if not self.on_gpu:
            return ""
        options = self._options
        params = torch.backends.cuda.SDPAParams(
            *self.tensors,
            options.get("attn_mask"),
            0.0,
            options.get("is_causal", False),
            options["enable_gqa"],
        )
        return objections_of(params, backend)


def objections_of(params: Any, backend: str | None) -> str:
    """What PyTorch's own check of a backend says against a call (SDPAParams); empty when it says nothing."""
    check = CHECKS.get(backend or "")
    if check is None:
        return ""
    with _captured_stderr() as said:
        check(params, debug=True)
        return " ".join(_without_stamp(line) for line in said())


def prepare(spec: KernelSpec, problem: Problem, inputs: Inputs) -> Launch:
    """Bind the arrays, run once to see what PyTorch does with them, and measure what it allocates.

    Raises:
        UnsupportedError: The dispatcher refuses the problem, or would run another backend; the text says why.
        MemoryError: It does not fit.
    """
    refuse(spec, problem, inputs)
    forced = forced_by(spec)
    launch = TorchLaunch(problem, inputs, forced)
    try:
        chosen = observe(spec.name, launch, forced)
        launch.measure(spec.workspace_bytes(problem, "cpu"), launch.mask_bytes)
    finally:
        launch.release()
    launch.note = note_of(forced, chosen)
    return launch


def note_of(forced: str | None, chosen: str) -> str:
    """What the dispatcher chose where that was left to it, and which cuDNN ran."""
    library = cudnn_words(torch.backends.cudnn.version()) if chosen == "cudnn" else ""
    if forced is not None:
        return library
    return f"PyTorch {torch.__version__}{library and f' with {library}'} chose {chosen}"


def forced_by(spec: KernelSpec) -> str | None:
    """The backend that a kernel forces the dispatcher to; None: it is left to itself."""
    return None if spec.name == AUTO else spec.name.removeprefix("torch-")


def cudnn_words(version: int | None) -> str:
    """The library behind `torch-cudnn` with its version, `cuDNN 9.15.1` for 91501; empty without one."""
    if version is None:
        return ""
    return f"cuDNN {version // 10_000}.{version % 10_000 // 100}.{version % 100}"


def refuse(spec: KernelSpec, problem: Problem, inputs: Inputs) -> None:
    """Say what PyTorch cannot do before it is asked to.

    Raises:
        UnsupportedError: It cannot.
    """
    if backend_of(inputs.q) == "cuda" and not torch.cuda.is_available():
        raise UnsupportedError(
            f"{spec.name} cannot use the GPU: PyTorch {torch.__version__} finds no CUDA; "
            "install a build of PyTorch that fits the driver."
        )
    if problem.window is not None or problem.block_mask is not None:
        raise UnsupportedError(f"{spec.name} takes no mask but the causal one; choose one of our kernels.")
    if problem.causal and problem.seqlen_q > problem.seqlen_k:
        raise UnsupportedError(
            f"{spec.name} answers NaN where rows keep no key: choose at least as many keys as queries."
        )


def _mask(problem: Problem, choice: str | None, device: Any) -> tuple[dict[str, Any], int]:
    """The arguments that keep the keys k <= q + Nk - Nq, and the bytes of the mask where one is made."""
    rows, keys = problem.seqlen_q, problem.seqlen_k
    if not problem.causal:
        return {}, 0
    if rows == keys:
        return {"is_causal": True}, 0
    if choice in NEED_A_MASK:
        mask = torch.ones(rows, keys, dtype=torch.bool, device=device).tril(keys - rows)
        return {"attn_mask": mask}, rows * keys
    return {"attn_mask": causal_lower_right(rows, keys)}, 0


class _Seen(TorchDispatchMode):  # type: ignore[misc]  # torch is not analysed, so its classes are Any
    """Notes the names of the operators that PyTorch executes."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        del types
        self.names.append(func.overloadpacket.__name__)
        return func(*args, **(kwargs or {}))


def observe(name: str, launch: TorchLaunch, forced: str | None) -> str:
    """Run once; the backend that PyTorch executed.

    Raises:
        UnsupportedError: It is not the one asked for; the text says why.
    """
    with warnings.catch_warnings(record=True) as said, _Seen() as seen:
        warnings.simplefilter("always")
        try:
            launch.run()
        except RuntimeError as error:
            if not str(error).startswith(REFUSED):
                raise
            reason = dispatcher_reason([str(w.message) for w in said], forced) or launch.objections(forced)
            reason = reason or _first_line(str(error))
            raise UnsupportedError(f"PyTorch refuses {name}: {reason}") from error
    chosen = next((CHOICE_OF_OPERATOR[op] for op in seen.names if op in CHOICE_OF_OPERATOR), "unknown")
    if forced not in {None, chosen}:
        raise UnsupportedError(f"PyTorch ran {chosen} in place of {name}; it does not take this problem.")
    return chosen


def dispatcher_reason(messages: Sequence[str], backend: str | None) -> str:
    """What the dispatcher said of one backend, from the warnings it gave while it tried them all.

    Each backend's reasons follow a heading like `Flash attention kernel not used because:`.
    """
    reasons: list[str] = []
    under_heading = False
    for message in messages:
        text = _first_line(message)
        if "not used because" in text:
            under_heading = backend is not None and HEADINGS[backend] in text.lower()
        elif under_heading:
            reasons.append(text)
    return " ".join(reasons)


@contextmanager
def _captured_stderr() -> Iterator[Callable[[], list[str]]]:
    """Catch what C++ writes to the process's stderr; the function given returns the lines so far.

    PyTorch's checks write there when they are called on their own, past Python's warnings.
    """
    sys.stderr.flush()
    kept = os.dup(STDERR)
    with TemporaryFile() as file:

        def lines() -> list[str]:
            file.seek(0)
            return file.read().decode(errors="replace").splitlines()

        os.dup2(file.fileno(), STDERR)
        try:
            yield lines
        finally:
            os.dup2(kept, STDERR)
            os.close(kept)


def _without_stamp(line: str) -> str:
    """A line of PyTorch's C++ log without `[W1121 20:33:29.6 file.h:91] Warning: ` and `(function f)`."""
    return re.sub(r"^\[[^\]]*\]\s*(Warning:\s*)?|\s*\(function \w+\)$", "", line).strip()


def _first_line(text: str) -> str:
    """The first line, without the place in PyTorch's source that it was triggered at."""
    return next(iter(text.splitlines()), "").partition(" (Triggered internally")[0].strip()


@contextmanager
def _switched(wanted: Switches | None) -> Iterator[None]:
    """Leave exactly one backend switched on; None leaves the switches as they are."""
    if wanted is None:
        yield
        return
    before = (
        switches.flash_sdp_enabled(),
        switches.mem_efficient_sdp_enabled(),
        switches.math_sdp_enabled(),
        switches.cudnn_sdp_enabled(),
    )
    _switch(wanted)
    try:
        yield
    finally:
        _switch(before)


def _switch(on: Switches) -> None:
    flash, efficient, math, cudnn = on
    switches.enable_flash_sdp(flash)
    switches.enable_mem_efficient_sdp(efficient)
    switches.enable_math_sdp(math)
    switches.enable_cudnn_sdp(cudnn)
