"""Records the bundled look inside anew: `python -m tests.inside_session FILE`, on one GPU, in a few minutes.

Points of flash3's ladder, traces and timelines of one GPU in one session, of which a story can be told.
`main.py stalls FILE` adds where warps stand. What cannot be recorded is said and left out.
"""

import sys
import time
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from flashscope.app.commands.inside.timeline import record
from flashscope.app.commands.local import answer_to, find_device, local_driver
from flashscope.app.commands.sweep import SweepRun
from flashscope.app.words.inside.timelines import overhead_text, problem_words, run_name
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.timeline import ClockedKernel, TimelineRequest
from flashscope.kernels.workload.trace import TimedKernel, TraceRequest
from flashscope.profiles.plan.plan import Plan, Protocol
from flashscope.profiles.results.model.timeline_facts import TimelineFacts
from flashscope.profiles.store import Recorder, load
from flashscope.profiles.store.keeping import keep
from flashscope.profiles.wire.events import TraceReady

LADDER = ("standard", "flash2", "flash3-a", "flash3-b", "flash3-c", "flash3")
LENGTHS = (1024, 2048, 4096, 8192, 16384)
ROUNDS = 25


def square(seqlen: int, head_dim: int, heads: int, **more: Any) -> Problem:
    """Of as many rows as keys."""
    shape: dict[str, Any] = {"heads": heads, "seqlen_q": seqlen, "seqlen_k": seqlen, "head_dim": head_dim}
    return Problem(**{"dtype": "float16", **shape, **more})


def decoding(head_dim: int, heads: int, kv_heads: int, keys: int) -> Problem:
    """One row before many keys."""
    shape: dict[str, Any] = {
        "heads": heads,
        "kv_heads": kv_heads,
        "seqlen_q": 1,
        "seqlen_k": keys,
        "head_dim": head_dim,
    }
    return Problem(**{"dtype": "float16", **shape})


PROBLEMS = tuple(
    square(seqlen, 128, 16, dtype="bfloat16", causal=causal) for causal in (False, True) for seqlen in LENGTHS
)
SMALL = square(384, 128, 1, dtype="bfloat16", causal=True, seed=1)
TRACES: tuple[tuple[TimedKernel, Problem], ...] = (
    ("flash1", square(256, 64, 8)),
    ("flash3-fp8", square(256, 64, 8)),
    ("flash3", square(512, 64, 8, causal=True, window=(96, 0))),
    ("flash3", decoding(64, 8, 2, 4096)),
    ("flash2", SMALL),
    ("flash3", replace(SMALL, heads=64)),
)
"""The last ones are the newest, which the Stepper and the story show first."""
LONG, SHORT = square(2048, 128, 16, causal=True), square(1024, 128, 8)
BACKWARD = square(1024, 128, 4, causal=True, passes="backward")
TIMELINES: tuple[tuple[ClockedKernel, Problem], ...] = (
    ("flash2", BACKWARD),
    ("flash3", BACKWARD),
    ("flash1", SHORT),
    ("flash3-a", LONG),
    ("flash3", replace(LONG, window=(512, 0))),
    ("flash3", decoding(128, 32, 8, 8192)),
    ("flash3", LONG),
    ("flash2", SHORT),
    ("flash3", SHORT),
)


def main(out: Path) -> int:
    """Record into a new file."""
    begun = time.monotonic()

    def say(text: str) -> None:
        print(f"{time.monotonic() - begun:5.0f} s  {text}", flush=True)  # noqa: T201 - a command's output

    with local_driver() as (driver, events):
        device = find_device(driver, events, "inside", "cuda")
        if isinstance(device, int):
            return device
        say(device.name)
        sweep = SweepRun(driver, events, Recorder(out, numbered=False))
        sweep.run(Plan(backend="cuda", kernels=LADDER, problems=PROBLEMS, protocol=Protocol(counters=True)))
        sweep.saved()
        session = load(out)
        say(f"{len(session.points)} points")
        for traced, problem in TRACES:
            driver.engine.trace(TraceRequest(problem=problem, backend="cuda", kernel=traced))
            answer = answer_to("trace", events, TraceReady)
            if isinstance(answer, TraceReady):
                keep(out, answer.trace, session.id)
            told = "kept" if isinstance(answer, TraceReady) else answer
            say(f"trace of {traced}, {problem_words(problem)}: {told}")
        for clocked, problem in TIMELINES:
            asked = TimelineRequest(problem=problem, backend="cuda", kernel=clocked, rounds=ROUNDS)
            found = record(driver, events, asked)
            if isinstance(found, int):
                say(f"no timeline of {clocked}, {problem_words(problem)}")
                continue
            keep(out, found, session.id)
            facts = TimelineFacts.of(found)
            say(f"{run_name(found.request)}, {problem_words(problem)}: {overhead_text(found, facts)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
