"""What can be traced on a machine, in words."""

from flashscope.app.words.faults import title_of
from flashscope.kernels.workload.problem import Backend
from flashscope.kernels.workload.trace import Fault, TraceRequest
from flashscope.profiles.plan.machine import Machine

MEMORIES: dict[Backend, tuple[str, str]] = {"cuda": ("HBM", "SRAM"), "cpu": ("memory", "core’s cache")}
"""What the arrays of a problem are in, and what a tile is computed in."""
DEVICES = {"cuda": "a GPU", "cpu": "a CPU"}
LAST_GPU_IDEA = "One head of the problem that the session on show ran last, at most 256 rows of it"
NO_TRACE_YET = (
    "No trace yet. Choose a preset above: one head is computed in tiles, every tile is recorded, "
    "and you step through the result here."
)
NO_GPU_SESSION = "No session on show ran on a GPU: run or open one"
MACHINE_UNKNOWN = "The devices of this machine are still being looked for"


def trace_words(request: TraceRequest) -> str:
    """What was traced, as a list names it."""
    problem = request.problem
    masks = [word for word, there in (("causal", problem.causal), ("window", problem.window)) if there]
    kernel = request.kernel or f"{request.order} order"
    fault = (broken(request.fault),) if request.fault else ()
    return ", ".join((*fault, f"{kernel} on {DEVICES[request.backend]}", f"N = {problem.seqlen_k}", *masks))


def broken(fault: Fault) -> str:
    """What a trace with a fault is called, as `BROKEN: forget the rescale`; empty: it has none."""
    title = title_of(fault)
    return f"BROKEN: {title[:1].lower()}{title[1:]}" if fault else ""


def no_gpu_text(machine: Machine) -> str:
    """Why a machine cannot trace on a GPU, with the remedy; empty: it can."""
    return "" if machine.device("cuda") else f"No usable GPU here: {machine.why_no_gpu()}"
