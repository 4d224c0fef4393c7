"""What can be traced on a machine, in words."""

from flashscope.app.words.inside.faults import title_of
from flashscope.kernels.workload.backward_trace import BackwardTraceRequest
from flashscope.kernels.workload.problem import Backend
from flashscope.kernels.workload.trace import Fault, Trace, TraceRequest
from flashscope.profiles.plan.machine import Machine

MEMORIES: dict[Backend, tuple[str, str]] = {"cuda": ("HBM", "SRAM"), "cpu": ("memory", "core’s cache")}
"""What the arrays of a problem are in, and what a tile is computed in."""
DEVICES = {"cuda": "a GPU", "cpu": "a CPU"}
LAST_GPU_IDEA = (
    "The problem that the session on show ran last, at most 256 rows of it; in 16 bits all of its heads are "
    "launched, else one"
)
BLOCKS_ALONE = "Blocks alone shows a trace with keys in parts, of heads that share tiles, or in 8 bits"
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
    share = filter(None, (share_words(request),))
    named = f"{kernel} on {DEVICES[request.backend]}", _lengths(*request.lengths)
    return ", ".join((*fault, *named, *masks, *share))


def backward_words(request: BackwardTraceRequest) -> str:
    """What was traced of a backward pass, as a list names it."""
    problem = request.problem
    masks = [word for word, there in (("causal", problem.causal), ("window", problem.window)) if there]
    heads = problem.batch * problem.key_heads
    head = (f"K/V head {request.head} of {heads}",) if heads > 1 else ()
    deterministic = ("deterministic",) if problem.deterministic else ()
    named = (
        f"{request.kernel} backward on {DEVICES[request.backend]}",
        _lengths(problem.seqlen_q, problem.seqlen_k),
    )
    bits = () if problem.dtype == "float32" else (problem.dtype,)
    return ", ".join((*named, *bits, *masks, *deterministic, *head))


def _lengths(rows: int, keys: int) -> str:
    return f"N = {keys}" if rows == keys else f"N = {rows} × {keys}"


def row_words(request: TraceRequest, row: int) -> str:
    """A row on show: its number, or of packed heads which head it is of, and which of its query rows."""
    if request.packed == 1:
        return f"row {row}"
    head, query = divmod(row, request.problem.seqlen_q)
    return f"head {request.heads[head] % request.problem.heads}, query {query}"


def share_words(request: TraceRequest) -> str:
    """Which heads of how many are on show, of which sequence, and how many parts keys are in."""
    problem, heads = request.problem, [one % request.problem.heads for one in request.heads]
    told = []
    if problem.heads > 1:
        of = f"heads {heads[0]} to {heads[-1]}" if len(heads) > 1 else f"head {heads[0]}"
        told.append(f"{of} of {problem.heads}")
    if problem.batch > 1:
        told.append(f"sequence {request.sequence} of {problem.batch}")
    if request.splits > 1:
        told.append(f"keys in {request.splits} parts")
    return ", ".join(told)


def page_words(trace: Trace, j: int) -> str:
    """The pages that the keys of block j lie in, in their order; empty: in none."""
    size = trace.request.problem.page_size
    if trace.pages is None or size is None:
        return ""
    first, last = (
        j * trace.request.block_k,
        min((j + 1) * trace.request.block_k, trace.request.lengths[1]) - 1,
    )
    pages = [str(page) for page in trace.pages.numpy()[first // size : last // size + 1]]
    return f"page{'s' * (len(pages) > 1)} {', '.join(pages)}"


def key_words(trace: Trace, key: int) -> str:
    """A key: its number, and the page that it lies in where it lies in one."""
    size = trace.request.problem.page_size
    if trace.pages is None or size is None:
        return str(key)
    return f"{key} in page {trace.pages.numpy()[key // size]}"


def broken(fault: Fault) -> str:
    """What a trace with a fault is called, as `BROKEN: forget the rescale`; empty: it has none."""
    title = title_of(fault)
    return f"BROKEN: {title[:1].lower()}{title[1:]}" if fault else ""


def no_gpu_text(machine: Machine) -> str:
    """Why a machine cannot trace on a GPU, with the remedy; empty: it can."""
    return "" if machine.device("cuda") else f"No usable GPU here: {machine.why_no_gpu()}"
