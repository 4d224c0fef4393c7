"""The process that compiles and disassembles: it can be ended at any time, and takes no window with it."""

import os
import sys
from pathlib import Path

import msgspec

from flashscope.kernels.cuda.reading.cards import GpuCard
from flashscope.kernels.cuda.sass.listing import BuildListing, listing_of
from flashscope.kernels.workload.errors import CompileError, KernelError
from flashscope.kernels.workload.problem import Problem

MAIN = "flashscope.kernels.cuda.sass.child:main"


class ListingAnswer(msgspec.Struct, frozen=True):
    """What came of it.

    Attributes:
        listing: The build; None: there is none.
        refused: Why there is none, in a sentence.
        log: What the compiler said to that.
    """

    listing: BuildListing | None = None
    refused: str = ""
    log: str = ""


def main(kernel: str, problem: str, card: str, folder: str) -> None:
    """Print the answer as JSON.

    Args:
        kernel: A kernel of the ladder.
        problem: A `Problem` as JSON.
        card: A `GpuCard` as JSON.
        folder: Where files may be made on the way.
    """
    os.environ["CUDA_CACHE_DISABLE"] = "1"  # of what NVRTC has in its cache ptxas says nothing
    decode = msgspec.json.decode
    try:
        listing = listing_of(kernel, decode(problem, type=Problem), decode(card, type=GpuCard), Path(folder))
        answer = ListingAnswer(listing)
    except CompileError as error:
        answer = ListingAnswer(refused=str(error), log=error.log)
    except KernelError as error:
        answer = ListingAnswer(refused=str(error))
    sys.stdout.buffer.write(msgspec.json.encode(answer))
