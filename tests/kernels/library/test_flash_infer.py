"""What wraps FlashInfer, on the CPU: it is given a problem in its own terms, from which a stand-in computes.

The stand-in does what FlashInfer's documentation says of its arguments, one query row after the other.
"""

import importlib
import math
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from flashscope.kernels.catalogue.peer_limits import of_flashinfer
from flashscope.kernels.catalogue.peers import FLASHINFER
from flashscope.kernels.cpu.inputs import make_inputs
from flashscope.kernels.oracle.verify import verify
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.errors import UnsupportedError
from flashscope.kernels.workload.problem import Problem

pytestmark = pytest.mark.torch
HOPPER = Device(backend="cuda", name="H100", memory_bytes=1 << 36, compute_capability=(9, 0))
MODULE = "flashscope.kernels.library.flash_infer"


def rows_of(q: Any, k: Any, v: Any, *, scale: float, causal: bool, left: int) -> tuple[Any, Any]:
    """O (rows, heads, d) and LSE of base 2 (rows, heads) of one sequence: k and v are (keys, kv_heads, d)."""
    import torch  # noqa: PLC0415 - not everywhere

    rows, keys, group = q.shape[0], k.shape[0], q.shape[1] // max(k.shape[1], 1)
    s = torch.einsum("qhd,khd->hqk", q, k.repeat_interleave(group, 1)) * scale
    at, to = torch.arange(rows)[:, None] + keys - rows, torch.arange(keys)[None, :]
    kept = (to <= at) if causal else torch.ones(rows, keys, dtype=torch.bool)
    kept &= (to >= at - left) if left >= 0 else True
    s = s.masked_fill(~kept, float("-inf"))
    lse = torch.logsumexp(s, 2)
    p = torch.exp(s - lse[:, :, None])
    return torch.einsum("hqk,khd->qhd", p, v.repeat_interleave(group, 1)), lse.t() / math.log(2)


class Planned:
    """Both of its wrappers: `plan` takes query rows' begins first where `with_rows`."""

    with_rows = False

    def __init__(self, _workspace: Any, layout: str, **options: Any) -> None:
        assert layout == "HND"
        self.options = options

    def plan(self, *arguments: Any, **options: Any) -> None:
        self.rows = arguments[0].tolist() if self.with_rows else None
        self.starts, self.pages, self.last, *self.shape = arguments[self.with_rows :]
        self.planned = options

    def run(self, q: Any, cache: tuple[Any, Any], *, return_lse: bool) -> tuple[Any, Any]:
        import torch  # noqa: PLC0415 - not everywhere

        assert return_lse
        size = self.shape[3]
        outputs, lses = [], []
        for b, last in enumerate(self.last.tolist()):
            pages = self.pages[self.starts[b] : self.starts[b + 1]]
            count = (len(pages) - 1) * size + last
            k, v = (pool[pages].transpose(1, 2).flatten(0, 1)[:count] for pool in cache)
            one = q[self.rows[b] : self.rows[b + 1]] if self.rows else q[b : b + 1]
            mask = {"causal": self.planned.get("causal", False), "left": self.planned["window_left"]}
            output, lse = rows_of(one, k, v, scale=self.planned["sm_scale"], **mask)
            outputs.append(output)
            lses.append(lse)
        return torch.cat(outputs), torch.cat(lses)


class Prefill(Planned):
    with_rows = True


def single_prefill(q: Any, k: Any, v: Any, **options: Any) -> tuple[Any, Any]:
    assert options["return_lse"]
    mask = {"causal": options["causal"], "left": options["window_left"]}
    return rows_of(q, k, v, scale=options["sm_scale"], **mask)


def stand_in(name: str, **held: object) -> ModuleType:
    module = ModuleType(name)
    vars(module).update(held)
    return module


@pytest.fixture
def wrapper(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The module that wraps FlashInfer, with the stand-in beneath it."""
    monkeypatch.delenv("FLASHSCOPE_HOME", raising=False)
    for module in (
        stand_in("flashinfer"),
        stand_in("flashinfer.decode", BatchDecodeWithPagedKVCacheWrapper=Planned),
        stand_in(
            "flashinfer.prefill",
            BatchPrefillWithPagedKVCacheWrapper=Prefill,
            single_prefill_with_kv_cache=single_prefill,
        ),
    ):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.delitem(sys.modules, MODULE, raising=False)
    yield importlib.import_module(MODULE)
    sys.modules.pop(MODULE, None)


def problem(**shape: Any) -> Problem:
    return Problem(**{"seqlen_q": 1, "seqlen_k": 64, "heads": 4, "head_dim": 64, **shape})


@pytest.mark.parametrize(
    "asked",
    [
        problem(seqlen_q=40, seqlen_k=64, causal=True, batch=2, kv_heads=2),
        problem(seqlen_q=64, window=(9, 0), batch=2),
        problem(seqlen_q=64, window=(9, -1), causal=True, scale=-0.3),
        problem(batch=3, kv_heads=2),
        problem(batch=3, seqlen_k=37),
        problem(batch=2, window=(9, 3)),
        problem(batch=3, kv_heads=1, page_size=16),
        problem(batch=3, kv_heads=2, page_size=32, key_lengths=(64, 33, 1)),
        problem(batch=2, key_lengths=(7, 64)),
        problem(seqlen_q=20, kv_heads=2, page_size=16, causal=True),
        problem(seqlen_q=20, key_lengths=(50,), causal=True),
    ],
    ids=str,
)
def test_what_it_is_told_is_the_problem(wrapper: Any, asked: Problem) -> None:
    assert of_flashinfer(asked, HOPPER) is None
    inputs = make_inputs(asked)
    launch = wrapper.prepare(FLASHINFER, asked, inputs)
    launch.run()
    assert launch.output.shape == asked.q_shape
    verdict = verify(asked, inputs, np.ascontiguousarray(launch.output), np.ascontiguousarray(launch.lse))
    assert verdict.passed, verdict


def test_a_cache_in_one_piece_is_shown_in_pages_without_a_copy(wrapper: Any) -> None:
    import torch  # noqa: PLC0415 - not everywhere

    pool = torch.arange(2.0 * 3 * 32 * 4).reshape(2, 3, 32, 4)
    pages = wrapper._pages(pool, 16)
    assert pages.data_ptr() == pool.data_ptr()
    for b, page in ((0, 0), (0, 1), (1, 0), (1, 1)):
        number = b * 3 * 32 // 16 + page
        assert torch.equal(pages[number], pool[b, :, 16 * page : 16 * page + 16])


def test_what_it_refuses_is_unsupported_with_the_last_line_that_it_says(
    wrapper: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_tensors: object, **_options: object) -> None:
        raise RuntimeError("ninja exited with 1\nerror: no nvcc\n\n")

    monkeypatch.setattr(wrapper, "single_prefill_with_kv_cache", refuse)
    asked = problem(seqlen_q=64)
    with pytest.raises(UnsupportedError, match=r"^flashinfer refuses the problem: error: no nvcc$"):
        wrapper.prepare(FLASHINFER, asked, make_inputs(asked))
