"""What a Problem may have done to its scores besides their scale and masks: its limits and numbers."""

from collections.abc import Iterable
from functools import lru_cache

from flashscope.kernels.workload.errors import InputError

SOFTCAPS = (0.001, 1e6)  # the smallest and the largest; models have 30 to 50
SINK_ITEMSIZE = 4  # float32, whatever the dtype of the inputs


@lru_cache(maxsize=64)
def alibi_slopes(heads: int) -> tuple[float, ...]:
    """ALiBi's slope of each head (Press, Smith, Lewis 2022, section 3): 2^(-8 i / n), i = 1 .. n.

    Where n heads are no power of two, its authors' code takes those of the power below, and then every other
    one of the power above.
    """
    power = 1 << heads.bit_length() - 1
    of_power = tuple(2.0 ** (-8 * i / power) for i in range(1, power + 1))
    if power == heads:
        return of_power
    return of_power + alibi_slopes(2 * power)[::2][: heads - power]


def check_softcap(softcap: float | None) -> None:
    """Refuse a bound that float32 cannot tell from none, or from 0.

    Raises:
        InputError: The text has the range.
    """
    lowest, highest = SOFTCAPS
    if softcap is not None and not lowest <= softcap <= highest:
        raise InputError(f"softcap must be from {lowest:g} to {highest:g}, not {softcap}.")


def check_sinks(counts: Iterable[tuple[int, int]]) -> None:
    """Refuse sinks in a batch with a sequence that has query rows and no keys, given both of each.

    Raises:
        InputError: There is one.
    """
    if any(rows and not keys for rows, keys in counts):
        raise InputError("sinks are for sequences that have keys: give each with query rows a key or more.")
