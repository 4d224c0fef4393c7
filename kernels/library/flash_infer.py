"""FlashInfer, the kernels that servers of language models run on, as a peer of our ladder.

Idea: kernels for one query row a sequence and for many, for keys in one piece and in pages. Each is compiled
by nvcc and ninja for its head dim and dtype when it is first asked for, which takes up to minutes and is not
timed, as its plan for the lengths of a batch is not: a server plans once for all layers of a model.
A batch of sequences as long as one another is given as the heads of one sequence, which is the same and
copies nothing. One row a sequence goes to its decoder: keys in one piece are shown to it as pages of 16.
Limit: see `kernels.catalogue.peer_limits`. Its LSE is of base 2; it is turned when it is read, not in a run.
"""

import math
import warnings
from typing import Any

import torch

from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.launching.launch import Launch
from flashscope.kernels.library.caches import keep_at_home
from flashscope.kernels.library.flash_attention import name_and_version
from flashscope.kernels.library.tensor_launch import TensorLaunch, as_array
from flashscope.kernels.workload.arrays import on_host
from flashscope.kernels.workload.errors import UnsupportedError
from flashscope.kernels.workload.lengths import pages_for
from flashscope.kernels.workload.problem import UNBOUNDED, Problem
from flashscope.kernels.workload.tensors import Inputs

keep_at_home("FLASHINFER_WORKSPACE_BASE", "flashinfer")

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of what it imports, which users cannot change
    from flashinfer.decode import BatchDecodeWithPagedKVCacheWrapper
    from flashinfer.prefill import BatchPrefillWithPagedKVCacheWrapper, single_prefill_with_kv_cache

WORKSPACE = 128 << 20  # bytes, as its documentation recommends
FEW_ROWS = 64  # up to which its Hopper kernel, which has 128 rows a tile and splits no keys, is not taken
PAGE, KEY = 16, 1  # keys of a page where they lie in one piece; one where they are no multiple of it
GROUP = 4  # query heads to a key/value head from which it recommends tensor cores for decoding
LAYOUT = "HND"  # of a page: heads, keys, head dim


class FlashInferLaunch(TensorLaunch):
    """One of FlashInfer's kernels bound to a problem's arrays.

    Attributes:
        lent_bytes: What it was given on top of the inputs.
    """

    lent_bytes = 0

    @property
    def lse(self) -> Any:
        """LSE of the newest run, natural; None before the first."""
        lse = self.results[1]
        return as_array(None if lse is None else lse * math.log(2))


class OnePieceLaunch(FlashInferLaunch):
    """Sequences of one length, keys in one piece: the batch's heads as those of one sequence."""

    def __init__(self, problem: Problem, inputs: Inputs) -> None:
        super().__init__(inputs)
        self._qkv = tuple(tensor.flatten(0, 1).transpose(0, 1) for tensor in self.tensors)
        self._heads = (problem.batch, problem.heads)
        self._options = {
            "backend": "fa2" if problem.seqlen_q <= FEW_ROWS else "auto",
            "sm_scale": problem.softmax_scale,
            "return_lse": True,
            **_mask(problem),
        }

    def attend(self) -> tuple[Any, Any]:
        """O and LSE, see TensorLaunch."""
        rows_first = single_prefill_with_kv_cache(*self._qkv, **self._options)
        output, lse = (tensor.unflatten(1, self._heads) for tensor in rows_first)
        return output.permute(1, 2, 0, 3), lse.permute(1, 2, 0)


class PagedLaunch(FlashInferLaunch):
    """Keys in pages, or of different lengths, or one query row a sequence: planned for their lengths."""

    def __init__(self, problem: Problem, inputs: Inputs) -> None:
        super().__init__(inputs)
        q, *pools = self.tensors
        size = problem.page_size or (KEY if problem.seqlen_k % PAGE else PAGE)
        self._cache = tuple(pool if problem.page_size else _pages(pool, size) for pool in pools)
        workspace = torch.zeros(WORKSPACE, dtype=torch.uint8, device=q.device)
        self.lent_bytes = WORKSPACE
        self._one_row = problem.seqlen_q == 1
        if self._one_row:
            self._q = q.squeeze(2)
            many = problem.heads // problem.key_heads >= GROUP
            self._planned = BatchDecodeWithPagedKVCacheWrapper(workspace, LAYOUT, use_tensor_cores=many)
            options = {"window_left": _mask(problem)["window_left"]}
        else:
            self._q = q.squeeze(0).transpose(0, 1)
            few = problem.seqlen_q <= FEW_ROWS
            backend = "fa2" if few else "auto"
            self._planned = BatchPrefillWithPagedKVCacheWrapper(workspace, LAYOUT, backend=backend)
            options = _mask(problem)
        rows = () if self._one_row else (_counts([0, problem.seqlen_q]),)
        starts, pages, last = _lengths(problem, inputs, size)
        self._planned.plan(
            *rows,
            starts,
            pages.to(q.device),
            last,
            problem.heads,
            problem.key_heads,
            problem.head_dim,
            size,
            sm_scale=problem.softmax_scale,
            q_data_type=q.dtype,
            kv_data_type=q.dtype,
            **options,
        )

    def attend(self) -> tuple[Any, Any]:
        """O and LSE, see TensorLaunch."""
        output, lse = self._planned.run(self._q, self._cache, return_lse=True)
        if self._one_row:
            return output.unsqueeze(2), lse.unsqueeze(2)
        return output.transpose(0, 1).unsqueeze(0), lse.t().unsqueeze(0)


def prepare(spec: KernelSpec, problem: Problem, inputs: Inputs) -> Launch:
    """Bind the arrays, compile by running once, and measure what it allocates.

    Raises:
        UnsupportedError: FlashInfer refuses the problem, or cannot compile; the text says why.
        MemoryError: It does not fit.
    """
    made = OnePieceLaunch if problem.even and problem.seqlen_q > 1 else PagedLaunch
    try:
        launch = made(problem, inputs)
        launch.run()
        launch.measure(spec.workspace_bytes(problem, "cuda"), launch.lent_bytes)
    except torch.OutOfMemoryError as error:
        raise MemoryError(str(error)) from error
    except (RuntimeError, ValueError, AssertionError, NotImplementedError) as error:  # how it refuses
        raise UnsupportedError(f"{spec.name} refuses the problem: {_in_short(error)}") from error
    launch.release()
    launch.note = name_and_version("flashinfer-python").replace("-python", "")
    return launch


def _mask(problem: Problem) -> dict[str, Any]:
    """Which keys to keep, in its words; its causal mask is aligned to the bottom right, as ours is."""
    left, right = problem.window or (UNBOUNDED, UNBOUNDED)
    return {"causal": problem.causal or right == 0, "window_left": left}


def _pages(pool: Any, size: int) -> Any:
    """K or V (batch, kv_heads, Nk, d) as pages of so many keys, each with all heads; nothing is copied.

    Page p begins p * size rows behind the first head of the first sequence. A sequence's are those from
    b * kv_heads * Nk / size on.
    """
    batch, heads, keys, d = pool.shape
    count = ((batch - 1) * heads + 1) * keys // size
    return pool.as_strided((count, heads, size, d), (size * d, keys * d, d, 1))


def _lengths(problem: Problem, inputs: Inputs, size: int) -> tuple[Any, Any, Any]:
    """Where each sequence's pages begin in the list of all, that list, and the keys of its last page."""
    counts = [pages_for(keys, size) for keys in problem.key_counts]
    if inputs.page_table is not None:
        table = on_host(inputs.page_table)
        pages = [int(page) for row, count in zip(table, counts, strict=True) for page in row[:count]]
    else:
        step = problem.key_heads * problem.seqlen_k // size
        pages = [b * step + page for b, count in enumerate(counts) for page in range(count)]
    starts = [sum(counts[:b]) for b in range(len(counts) + 1)]
    last = [keys - (count - 1) * size for keys, count in zip(problem.key_counts, counts, strict=True)]
    return _counts(starts), _counts(pages), _counts(last)


def _counts(numbers: list[int]) -> Any:
    return torch.tensor(numbers, dtype=torch.int32)


def _in_short(error: Exception) -> str:
    """The last line of what it says that says something: above it may stand a whole compiler's output."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__
