"""What other instruments are asked of kernels, each with its answer, as lines of JSON."""

from typing import Literal

import msgspec

from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.wire.measurement import Figure

Instrument = Literal["ncu", "torch"]
"""Nsight Compute, which counts bytes; PyTorch's profiler, which takes times."""


class ArbiterAsked(msgspec.Struct, frozen=True, kw_only=True):
    """An instrument is to measure one kernel on one problem."""

    by: Instrument
    kernel: str
    problem: Problem


class ArbiterEnded(msgspec.Struct, frozen=True, kw_only=True, tag="ended"):
    """What it says.

    Attributes:
        figures: Of Nsight Compute, by the keys of their quantities.
        times_ms: Of PyTorch's profiler: what the kernels of each run took.
        missing: Why it has no answer, a clause; empty: it has one.
        reason: Why it was not asked to the end, a sentence; empty: it was.
        detail: What else is known of that.
    """

    figures: dict[str, Figure] = {}
    times_ms: tuple[float, ...] = ()
    missing: str = ""
    reason: str = ""
    detail: str = ""


decode_request: msgspec.json.Decoder[ArbiterAsked] = msgspec.json.Decoder(ArbiterAsked)
decode_answer: msgspec.json.Decoder[ArbiterEnded] = msgspec.json.Decoder(ArbiterEnded)
