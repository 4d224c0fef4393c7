"""`trace`: the online softmax of one row of scores, block by block, beside the exact result."""

import math
import sys
from typing import Any

from msgspec.structs import replace

from flashscope.app.commands.exit_codes import USAGE_ERROR
from flashscope.app.commands.messages import complain, say, say_json
from flashscope.app.commands.printed.printing import print_table
from flashscope.app.stepper.comparison import FaultComparison
from flashscope.app.stepper.lesson import at_the_end, hidden, of_row
from flashscope.app.stepper.numbers import plain
from flashscope.app.stepper.own_scores import LARGEST
from flashscope.app.stepper.presets import score_row
from flashscope.app.stepper.recording import Recording
from flashscope.app.stepper.step_view import SteppedTrace
from flashscope.app.words.inside.faults import WORDS
from flashscope.app.words.inside.tracing import broken
from flashscope.app.words.symbols import spelled
from flashscope.kernels.cpu.trace import record
from flashscope.kernels.workload.trace import Fault, LoopOrder, Trace


def run(
    *,
    scores: tuple[float, ...],
    values: tuple[float, ...] | None,
    block: int,
    reverse: bool,
    order: LoopOrder,
    fault: Fault | None,
    as_json: bool,
) -> int:
    """Trace the row on the CPU backend and print it."""
    values_given = values is not None
    values = values or tuple(float(n) for n in range(1, len(scores) + 1))
    if len(values) != len(scores):
        complain("trace", f"{len(scores)} scores need as many values, not {len(values)}")
        return USAGE_ERROR
    if max(map(abs, (*scores, *values))) > LARGEST:
        complain("trace", f"the kernel computes in float32: give numbers of at most {LARGEST:g}")
        return USAGE_ERROR
    block = min(block, len(scores))
    request = score_row(scores, values, block, reverse=reverse, order=order)
    trace = record(replace(request, fault=fault or ""))
    pair = FaultComparison.of(SteppedTrace.of(Recording.of(record(request))), trace) if fault else None
    document = trace_document(trace) | _judged(pair)
    document |= {"scores": list(scores), "values": list(values), "block_size": block}
    if as_json:
        say_json(document)
    else:
        _print(document, values_given=values_given)
        if pair is not None:
            _print_fault(pair)
    return 0


def trace_document(trace: Trace) -> dict[str, Any]:
    """The trace of one row with one value column as a JSON document; blocks count from 1 as they ran.

    A block's `output` is O normalised by l; `accumulator` is O as the kernel holds it, which is the same for
    flash1 and not yet normalised for flash2. A number that is none, as a fault may leave it, is null.
    """
    m, l, alpha, o = (array.numpy() for array in (trace.m, trace.l, trace.alpha, trace.o))
    size, keys = trace.request.block_k, trace.request.problem.seqlen_k
    blocks = [
        {
            "block": t + 1,
            "keys": list(range(j * size, min((j + 1) * size, keys))),
            "m": float(m[t, 0]),
            "l": float(l[t, 0]),
            "alpha": float(alpha[t, 0]),
            "accumulator": float(o[t, 0, 0]),
            "output": float(o[t, 0, 0] if trace.normalised or not l[t, 0] else o[t, 0, 0] / l[t, 0]),
        }
        for t, (_, j) in enumerate(trace.tile.numpy().tolist())
    ]
    lse = float(trace.exact_lse.numpy()[0])
    return {
        "order": trace.request.order,
        "reverse": trace.request.reverse,
        "fault": trace.request.fault,
        "blocks": blocks,
        "softmax": [math.exp(score - lse) for score in trace.k.numpy()[:, 0].tolist()],
        "output": float(trace.exact_output.numpy()[0, 0]),
    }


def _judged(pair: FaultComparison | None) -> dict[str, Any]:
    """Of a fault: whether the check of kernels passes the answer, and the block that makes it wrong first."""
    if pair is None:
        return {}
    wrong = pair.row(0).first_wrong
    return {"passes": pair.verdict.passed, "first_wrong_block": None if wrong is None else wrong.t + 1}


def _print_fault(pair: FaultComparison) -> None:
    encoding = getattr(sys.stdout, "encoding", None)
    words = WORDS[pair.broken.recording.fault]
    why = hidden(pair) if pair.verdict.passed else ""
    told = (
        broken(pair.broken.recording.fault),
        words.does,
        words.note,
        of_row(pair, 0),
        at_the_end(pair),
        why,
    )
    for line in filter(None, told):
        say(spelled(plain(line), encoding))


def _print(document: dict[str, Any], *, values_given: bool) -> None:
    if not values_given:
        say(f"No --values given: V = 1 .. {len(document['values'])}.")
    encoding = getattr(sys.stdout, "encoding", None)
    titles = [spelled(title, encoding) for title in ("block", "scores", "m", "α", "ℓ", "O / ℓ")]
    print_table(titles, [_line(block, document["scores"]) for block in document["blocks"]])
    say("exact softmax: " + ", ".join(f"{p:.6f}" for p in document["softmax"]))
    say(f"exact output:  {document['output']:.6f}")


def _line(block: dict[str, Any], scores: list[float]) -> tuple[str, ...]:
    numbers = (f"{block[name]:.6g}" for name in ("m", "alpha", "l", "output"))
    return (str(block["block"]), ", ".join(f"{scores[k]:g}" for k in block["keys"]), *numbers)
