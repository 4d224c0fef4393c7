"""Stall profiles of four instructions, of the sources that are here."""

from collections.abc import Sequence
from functools import cache

import numpy as np

from flashscope.app.pages.ladder.source_diff import PROBLEMS
from flashscope.kernels.cuda.reading.step import StepSource, source_of
from flashscope.kernels.workload.stalls import ISSUED, StallProfile, StallRequest, text_digest
from flashscope.kernels.workload.trace import Array

DEVICE = "NVIDIA H100 80GB HBM3"
REASONS = (ISSUED, "barrier", "long_scoreboard", "membar")
LINES = (60, 60, 70, 0)
TEXTS = (
    "HGMMA.64x128x16.F32.BF16 R4, gdesc[UR4], R4",
    "BAR.SYNC.DEFER_BLOCKING 0x0",
    "MUFU.EX2 R4, R4",
    "EXIT",
)
SAMPLES = ((10, 0, 20, 0), (5, 50, 0, 0), (10, 0, 0, 5), (0, 0, 0, 0))
FEWER = ((10, 0, 5, 0), (20, 60, 0, 0), (5, 0, 0, 0), (0, 0, 0, 0))


def profile(
    kernel: str = "flash3-b",
    label: str = "d 64, no mask",
    samples: Sequence[Sequence[int]] = SAMPLES,
    *,
    source: str | None = None,
    took_ms: float = 1.0,
) -> StallProfile:
    """A profile of a kernel; `source` is the digest of the source of its lines, left out: today's."""
    problem = PROBLEMS[label]
    text = _source(kernel, label)
    counted = np.array(samples, np.int32)
    return StallProfile(
        request=StallRequest(problem=problem, kernel=kernel),
        device=DEVICE,
        sampler="Nsight Compute 2025.3.1",
        build="0123456789ab",
        file=text.file,
        source=text_digest(text.text) if source is None else source,
        entry="flash3",
        others=0,
        interval=128,
        launches=2,
        reasons=REASONS,
        address=Array.of(np.arange(0, 64, 16, dtype=np.int32)),
        text=TEXTS,
        line=Array.of(np.array(LINES, np.int32)),
        samples=Array.of(counted),
        idle=Array.of((counted.sum(axis=1) // 2).astype(np.int32)),
        plain_ns=Array.of(np.array([round(took_ms * 1e6)] * 3, np.int64)),
        profiled_ns=round(took_ms * 1e6),
        sampled_ns=round(took_ms * 1.02e6),
    )


@cache  # many tests show the same two
def _source(kernel: str, label: str) -> StepSource:
    return source_of(kernel, PROBLEMS[label])
