"""The correctness report: how often each kernel met the oracle, and how near it came to its bounds.

`judged` notes every verdict, a fixture hands a test's to its pytest report, and a run ends with the table,
also where the tests ran in several processes.
"""

import math
from collections import defaultdict
from collections.abc import Iterable
from typing import Any, NamedTuple

from kernels.verify import ON_ROUNDED, Verdict

PROPERTY = "compared with the oracle"


class Share(NamedTuple):
    """What a comparison used of its bounds: error / bound; above 1 it fails."""

    kernel: str
    output: float
    lse: float


_shares: list[Share] = []


def note(kernel: str, verdict: Verdict) -> Verdict:
    """Remember a verdict for the report of the running test, and return it."""
    output, lse = (_largest_share(verdict, name) for name in ("O", "LSE"))
    _shares.append(Share(kernel, output, lse))
    return verdict


def taken() -> list[Share]:
    """What was noted since the last call."""
    shares = _shares.copy()
    _shares.clear()
    return shares


def table(reports: Iterable[Any]) -> list[str]:
    """A line for each kernel of the pytest reports: comparisons, largest share of O's and of LSE's bound."""
    of_kernel: defaultdict[str, list[Share]] = defaultdict(list)
    for report in reports:
        for name, value in getattr(report, "user_properties", ()):
            if name == PROPERTY:
                of_kernel[value[0]].append(Share(*value))
    return [
        f"{kernel:>16}  {len(shares):5} comparisons, largest error / bound: "
        f"O {max(s.output for s in shares):.3f}, LSE {max(s.lse for s in shares):.3f}"
        for kernel, shares in sorted(of_kernel.items())
    ]


def _largest_share(verdict: Verdict, output: str) -> float:
    """Of an output, also of its error on rounded inputs."""
    names = (output, output + ON_ROUNDED)
    return max((_share(one.error, one.bound) for one in verdict.outputs if one.output in names), default=0.0)


def _share(error: float, bound: float) -> float:
    if bound == 0:
        return 0.0 if error == 0 else math.inf
    return error / bound
