"""What a Problem may have done to its scores besides their scale and masks, checked."""

from collections.abc import Iterable

from flashscope.kernels.workload.errors import InputError

SOFTCAPS = (0.001, 1e6)  # the smallest and the largest; models have 30 to 50
SINK_ITEMSIZE = 4  # float32, whatever the dtype of the inputs


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
