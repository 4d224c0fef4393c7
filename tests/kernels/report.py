"""The correctness report: how often each kernel met the oracle, and how near it came to its bounds.

`judged` notes every verdict, a fixture hands a test's to its pytest report, and a run ends with the table,
also where the tests ran in several processes.
"""

import math
from collections import defaultdict
from collections.abc import Iterable
from typing import Any, NamedTuple

from flashscope.kernels.oracle.verdict import ON_ROUNDED, Verdict

PROPERTY = "compared with the oracle"


class Shares(NamedTuple):
    """What a comparison used of its bounds: error / bound by output; above 1 it fails."""

    kernel: str
    used: dict[str, float]


_shares: list[Shares] = []


def note(kernel: str, verdict: Verdict) -> Verdict:
    """Remember a verdict for the report of the running test, and return it."""
    used: dict[str, float] = {}
    for one in verdict.outputs:
        name = one.output.removesuffix(ON_ROUNDED)
        used[name] = max(used.get(name, 0.0), _share(one.error, one.bound))
    _shares.append(Shares(kernel, used))
    return verdict


def taken() -> list[Shares]:
    """What was noted since the last call."""
    shares = _shares.copy()
    _shares.clear()
    return shares


def table(reports: Iterable[Any]) -> list[str]:
    """A line for each kernel of the pytest reports: comparisons, the largest share of each output's bound."""
    of_kernel: defaultdict[str, list[dict[str, float]]] = defaultdict(list)
    for report in reports:
        for name, value in getattr(report, "user_properties", ()):
            if name == PROPERTY:
                kernel, used = value
                of_kernel[kernel].append(used)
    return [
        f"{kernel:>16}  {len(all_used):5} comparisons, largest error / bound: {_largest(all_used)}"
        for kernel, all_used in sorted(of_kernel.items())
    ]


def _largest(all_used: list[dict[str, float]]) -> str:
    outputs = dict.fromkeys(output for used in all_used for output in used)
    return ", ".join(f"{output} {max(u.get(output, 0.0) for u in all_used):.3f}" for output in outputs)


def _share(error: float, bound: float) -> float:
    if bound == 0:
        return 0.0 if error == 0 else math.inf
    return error / bound
