"""What a device reaches, in words."""

from collections.abc import Iterator

from flashscope.app.words.units import clock_text, digits, gbs_text, tflops_text
from flashscope.kernels.workload.problem import DTYPES
from flashscope.profiles.wire.ceilings import (
    COPY,
    CORE_CACHE,
    EXPONENTIALS,
    L2_READS,
    LAST_CACHE,
    LEVELS,
    SHARED_READS,
    Ceiling,
    Ceilings,
    matmul_key,
)

NAMES = {
    COPY: "copy",
    L2_READS: "L2 reads",
    SHARED_READS: "shared memory reads",
    LAST_CACHE: "copy in the last cache",
    CORE_CACHE: "copy in a core's cache",
    **{matmul_key(dtype): f"matmul {dtype}" for dtype in DTYPES},
    EXPONENTIALS: "exponentials",
}


def ceiling_name(key: str) -> str:
    """What is measured, by its key."""
    return NAMES.get(key, key)


def rate_text(key: str, value: float) -> str:
    """A rate with its unit."""
    if key in LEVELS:
        return gbs_text(value)
    return f"{digits(value)} G/s" if key == EXPONENTIALS else tflops_text(value)


def ceiling_text(key: str, ceiling: Ceiling) -> str:
    """A ceiling with its spread and its clock, or why there is none."""
    figure = ceiling.figure
    if figure.value is None:
        return f"{ceiling_name(key)}: none ({figure.missing})"
    ends = [] if figure.low is None or figure.high is None else [figure.low, figure.high]
    spread = f" ({' .. '.join(rate_text(key, end) for end in ends)})" if ends else ""
    clock = f" at {clock_text(ceiling.sm_clock_mhz)}" if ceiling.sm_clock_mhz else ""
    return f"{ceiling_name(key)} {rate_text(key, figure.value)}{spread}{clock}"


def ceilings_lines(ceilings: dict[int, Ceilings]) -> Iterator[str]:
    """A line for each part of a session of which they are known."""
    for part, known in sorted(ceilings.items()):
        of_part = f" in part {part}" if len(ceilings) > 1 or part > 1 else ""
        told = ", ".join(ceiling_text(key, one) for key, one in known.rates.items())
        if told:
            yield f"Ceilings{of_part}: {told}"
