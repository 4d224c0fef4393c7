"""`gradients`: a backward pass tile by tile, recorded here without a window.

Exit codes: 0; 1 where it could not be recorded; 2 for what is no such request; 128 plus the signal's number
after Ctrl-C or SIGTERM.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from flashscope.app.commands.exit_codes import SIGNALLED
from flashscope.app.commands.hosts import Hosts
from flashscope.app.commands.local import answer_to, find_device, local_driver, say_failure
from flashscope.app.commands.messages import say, say_json
from flashscope.app.commands.printed.printing import print_table
from flashscope.app.words.figures import NOTHING
from flashscope.app.words.inside.timelines import problem_words
from flashscope.kernels.catalogue.registry import AUTO
from flashscope.kernels.workload.backward_trace import (
    BackwardKernel,
    BackwardTrace,
    BackwardTraceRequest,
    DqPass,
)
from flashscope.profiles.plan.request import Request
from flashscope.profiles.wire.events import BackwardTraceReady

TITLES = ("tile", "head", "i", "j", "sum P", "max |dP|", "max |dS|", "|dQ|", "|dK|", "|dV|")
GRADIENTS, SUMS = ("q", "k", "v"), ("dq", "dk", "dv")


def run(
    kernel: BackwardKernel,
    choices: Mapping[str, Any],
    *,
    seqlen: int,
    head: int,
    block: int,
    as_json: bool,
    connect: str | None = None,
) -> int:
    """Record the backward pass and print each tile, and how far the gradients are from the exact ones."""
    with local_driver(Hosts.one(connect)) as (driver, events):
        device = find_device(driver, events, "gradients", choices.get("backend", AUTO))
        if isinstance(device, int):
            return device
        asked = {**choices, "backend": device.backend, "passes": "backward"}
        request = BackwardTraceRequest(
            problem=Request.of(**asked).problem(seqlen),
            backend=device.backend,
            kernel=kernel,
            head=head,
            block_q=block,
            block_k=block,
        )
        driver.engine.backward_trace(request)
        answer = answer_to("backward-trace", events, BackwardTraceReady)
    if isinstance(answer, int):
        return SIGNALLED + answer
    if not isinstance(answer, BackwardTraceReady):
        return say_failure("gradients", answer)
    if as_json:
        say_json(document(answer.trace))
    else:
        _print(answer.trace)
    return 0


def document(trace: BackwardTrace) -> dict[str, Any]:
    """A backward pass as a JSON document: its tiles in the order they ran, and how far the gradients are off.

    `dq`, `dk` and `dv` of a tile are the norms of what the rows of its queries, or its keys, have so far, the
    scale left out of the first two; `dq` is null where a launch of its own computes dQ: `dq_pass` has the
    tiles of that one, else it is null. `errors` are the largest differences from the exact gradients.
    """
    return {
        "kernel": trace.request.kernel,
        "problem": trace.request.problem,
        "device": trace.device,
        "source": trace.source,
        "kv_head": trace.request.head,
        "block_q": trace.request.block_q,
        "block_k": trace.request.block_k,
        "tiles": [_tile(trace, t) for t in range(trace.tile.shape[0])],
        "dq_pass": None if trace.dq_pass is None else _dq_pass(trace.dq_pass),
        "errors": {f"d{name}": _error(trace, name) for name in GRADIENTS},
    }


def _tile(trace: BackwardTrace, t: int) -> dict[str, Any]:
    sums = {name: getattr(trace, name) for name in SUMS}
    return {
        **_weights(trace, t),
        "delta": [float(one) for one in trace.delta.numpy()[t]],
        **{name: None if array is None else _norm(array.numpy()[t]) for name, array in sums.items()},
        "sm": _sm(trace, t),
    }


def _dq_pass(one: DqPass) -> dict[str, Any]:
    """A launch that computes dQ alone: its tile's size, and its tiles in their order."""
    tiles = [
        {**_weights(one, t), "dq": _norm(one.dq.numpy()[t]), "sm": _sm(one, t)}
        for t in range(one.tile.shape[0])
    ]
    return {"block_q": one.block_q, "block_k": one.block_k, "tiles": tiles}


def _weights(held: BackwardTrace | DqPass, t: int) -> dict[str, Any]:
    """Which tile it is, and what P, dP and dS of it are."""
    head, i, j = held.tile.numpy()[t].tolist()
    return {
        "head": head,
        "i": i,
        "j": j,
        "sum_p": float(held.p.numpy()[t].sum()),
        "largest_dp": float(np.abs(held.dp.numpy()[t]).max()),
        "largest_ds": float(np.abs(held.ds.numpy()[t]).max()),
    }


def _sm(held: BackwardTrace | DqPass, t: int) -> int | None:
    return None if held.sm is None else int(held.sm.numpy()[t])


def _norm(array: Any) -> float:
    return float(np.linalg.norm(array.astype(np.float64)))


def _error(trace: BackwardTrace, name: str) -> float:
    """The largest difference of a gradient from the exact one."""
    found, exact = getattr(trace, f"grad_{name}").numpy(), getattr(trace, f"exact_{name}").numpy()
    return float(np.abs(found - exact).max())


def _print(trace: BackwardTrace) -> None:
    asked, told = trace.request, document(trace)
    say(f"{problem_words(asked.problem)}, {asked.problem.dtype}, on {trace.device}")
    say(f"{asked.kernel}, K/V head {asked.head}, tiles of {asked.block_q} x {asked.block_k}: {trace.source}")
    print_table(TITLES, [_line(number, one) for number, one in enumerate(told["tiles"], 1)])
    apart = told["dq_pass"]
    if apart is not None:
        say(f"dQ, by a launch of its own in tiles of {apart['block_q']} x {apart['block_k']}:")
        print_table(TITLES, [_line(number, one) for number, one in enumerate(apart["tiles"], 1)])
    errors = ", ".join(f"{name} {error:.2e}" for name, error in told["errors"].items())
    say(f"largest differences from the exact gradients: {errors}")


def _line(number: int, tile: Mapping[str, Any]) -> tuple[str, ...]:
    places = (str(tile[name]) for name in ("head", "i", "j"))
    names = ("sum_p", "largest_dp", "largest_ds", *SUMS)
    figures = (NOTHING if tile.get(name) is None else f"{tile[name]:.4g}" for name in names)
    return (str(number), *places, *figures)
