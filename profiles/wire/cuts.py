"""What is asked of a process that compiles or times cuts, and what it answers; JSON, a line each.

It does one request after the other, and ends each with `CutsEnded`.
"""

import msgspec

from flashscope.kernels.workload.cut import CompiledCut, Cut
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.problem import Backend, Problem

ROUNDS, FRESH_ROUNDS, FINALISTS = 7, 21, 5


class CutsAsked(msgspec.Struct, frozen=True, kw_only=True, tag="compile"):
    """Compile these, one after the other.

    Attributes:
        problem: What they compute.
        compute_capability: (major, minor) of the GPU that they are compiled for.
        cuts: The cuts.
    """

    problem: Problem
    compute_capability: tuple[int, int]
    cuts: tuple[Cut, ...]


class CutsToTime(msgspec.Struct, frozen=True, kw_only=True, tag="time"):
    """Run these in turns, round after round; then the fastest of them anew, on fresh rounds.

    Whoever was fastest in the first rounds was lucky, too: only the fresh ones say how fast it is.

    Attributes:
        problem: What they compute.
        backend: Where; one of a GPU is that of this machine.
        cuts: The cuts.
        shipped: The one that takes part in the fresh rounds however fast it was.
        rounds: First rounds.
        fresh_rounds: Rounds of those that are run anew.
        finalists: How many are run anew.
        seed: What the orders are drawn by.
    """

    problem: Problem
    backend: Backend
    cuts: tuple[Cut, ...]
    shipped: Cut
    rounds: int = ROUNDS
    fresh_rounds: int = FRESH_ROUNDS
    finalists: int = FINALISTS
    seed: int = 0


class CutCompiled(msgspec.Struct, frozen=True, kw_only=True, tag="compiled"):
    """One of them went through the compiler, or was refused by it."""

    compiled: CompiledCut


class CutTimes(msgspec.Struct, frozen=True, kw_only=True):
    """How long a cut took.

    Attributes:
        cut: The cut.
        ms: A time for each round that counts.
        anew: Whether these are of the fresh rounds.
        failure: Why there is none, in a sentence; empty: there is.
    """

    cut: Cut
    ms: tuple[float, ...] = ()
    anew: bool = False
    failure: str = ""


class CutTimed(msgspec.Struct, frozen=True, kw_only=True, tag="timed"):
    """One of them has been timed, in the first rounds or anew."""

    timed: CutTimes


class CutsRound(msgspec.Struct, frozen=True, kw_only=True, tag="round"):
    """So much of the work is done, of so much: cuts that were checked, and runs that were timed."""

    done: int
    total: int


class CutsEnded(msgspec.Struct, frozen=True, kw_only=True, tag="ended"):
    """No more of them comes.

    Attributes:
        reason: Why not all of them were done, in a sentence; empty: they were.
        detail: What else is known of that.
        timer: What timed them, in words; empty: nothing was timed.
        device: On what; None: nothing was timed.
        build: The digest of the kernel's source, as `kernels.catalogue.sources` has it.
    """

    reason: str = ""
    detail: str = ""
    timer: str = ""
    device: Device | None = None
    build: str = ""


CutRequest = CutsAsked | CutsToTime
CutAnswer = CutCompiled | CutTimed | CutsRound | CutsEnded

decode_request: msgspec.json.Decoder[CutRequest] = msgspec.json.Decoder(CutRequest)
decode_answer: msgspec.json.Decoder[CutAnswer] = msgspec.json.Decoder(CutAnswer)
encode_line = msgspec.json.Encoder().encode
