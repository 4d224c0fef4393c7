"""What is asked of a process that compiles cuts, and what it answers; JSON, a line each."""

import msgspec

from flashscope.kernels.workload.cut import CompiledCut, Cut
from flashscope.kernels.workload.problem import Problem


class CutsAsked(msgspec.Struct, frozen=True, kw_only=True):
    """Compile these, one after the other.

    Attributes:
        problem: What they compute.
        compute_capability: (major, minor) of the GPU that they are compiled for.
        cuts: The cuts.
    """

    problem: Problem
    compute_capability: tuple[int, int]
    cuts: tuple[Cut, ...]


class CutCompiled(msgspec.Struct, frozen=True, kw_only=True, tag="compiled"):
    """One of them went through the compiler, or was refused by it."""

    compiled: CompiledCut


class CutsEnded(msgspec.Struct, frozen=True, kw_only=True, tag="ended"):
    """No more of them comes.

    Attributes:
        reason: Why not all of them were compiled, in a sentence; empty: they were.
        detail: What else is known of that.
    """

    reason: str = ""
    detail: str = ""


CutAnswer = CutCompiled | CutsEnded

decode_asked = msgspec.json.Decoder(CutsAsked).decode
decode_answer: msgspec.json.Decoder[CutAnswer] = msgspec.json.Decoder(CutAnswer)
encode_line = msgspec.json.Encoder().encode
