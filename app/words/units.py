"""Quantities as text, with their unit: every number that the app shows is written here."""

import re
from collections.abc import Sequence

from flashscope.profiles.plan.seqlens import short_seqlen

KIB = 1024
MOST_DIGITS, MOST_WHOLE = 1e6, 1e9  # from which on a number has a power of ten
KILO = 1000
_BYTE_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
_TRAFFIC_UNITS = ("B", "kB", "MB", "GB", "TB")


def digits(value: float, more: int = 0) -> str:
    """Three significant digits and some more; up to a million before the point, then a power of ten."""
    size = abs(float(f"{value:.3g}"))  # as it is rounded
    if 0 < size < 0.1 or size >= MOST_DIGITS:  # noqa: PLR2004 - too small for three decimals
        return f"{value:.{3 + more}g}"
    decimals = 0 if size >= 100 else 1 if size >= 10 else 2 if size >= 1 else 3  # noqa: PLR2004 - decades
    return f"{value:.{decimals + more}f}"


def whole_text(value: float) -> str:
    """A whole number, from a thousand million on in three digits and a power of ten."""
    return f"{value:.0f}" if abs(value) < MOST_WHOLE else f"{value:.3g}"


def bytes_text(value: float) -> str:
    """Bytes that are held, in the largest binary unit that leaves at least 1."""
    return _in_units(value, KIB, _BYTE_UNITS)


def traffic_text(value: float) -> str:
    """Bytes that are moved, in the largest decimal unit that leaves at least 1, as rates have them."""
    return _in_units(value, KILO, _TRAFFIC_UNITS)


def _in_units(value: float, step: int, units: Sequence[str], more: int = 0) -> str:
    unit = 0
    while abs(value) >= step and unit + 1 < len(units):
        value, unit = value / step, unit + 1
    return f"{whole_text(value)} {units[0]}" if unit == 0 else f"{digits(value, more)} {units[unit]}"


def bytes_short(value: float) -> str:
    """Bytes in two or three digits, for narrow columns."""
    unit = 0
    while abs(value) >= KIB and unit + 1 < len(_BYTE_UNITS):
        value, unit = value / KIB, unit + 1
    text = f"{value:.1f}" if abs(value) < 10 and unit else whole_text(value)  # noqa: PLR2004 - one digit
    return f"{text} {_BYTE_UNITS[unit]}"


def bytes_tick(value: float, more: int = 0) -> str:
    """A power of two of bytes, short enough for an axis."""
    return _without_zeros(_in_units(value, KIB, _BYTE_UNITS, more))


def traffic_tick(value: float, more: int = 0) -> str:
    """A round number of bytes that are moved, short enough for an axis."""
    return _without_zeros(_in_units(value, KILO, _TRAFFIC_UNITS, more))


def _without_zeros(text: str) -> str:
    return re.sub(r"\.0+ ", " ", text)


def ms_text(value: float) -> str:
    """Milliseconds, in µs below 0.1 ms and in s from 10 s; nothing at all is 0 ms."""
    if not value:
        return "0 ms"
    factor, unit = _time_unit(value)
    return f"{digits(value * factor)} {unit}"


def ms_between_text(value: float, low: float, high: float) -> str:
    """Milliseconds and two ends around them, all in the same unit: `77.5 µs (76.4 to 78.5)`."""
    factor, unit = _time_unit(value)
    value, low, high = (one * factor for one in (value, low, high))
    return f"{digits(value)} {unit} ({digits(low)} to {digits(high)})"


def _time_unit(ms: float) -> tuple[float, str]:
    """What milliseconds are multiplied by, and the unit of the product."""
    if ms < 0.1:  # noqa: PLR2004 - three digits of µs read better
        return 1000, "µs"
    return (1 / 1000, "s") if ms >= 10_000 else (1, "ms")  # noqa: PLR2004 - 10 s


def plain_tick(value: float, more: int = 0) -> str:
    """A tick of an axis whose title names the unit."""
    return f"{value:.{6 + more}g}" if abs(value) < 100_000 else f"{value:.{more}e}"  # noqa: PLR2004 - five digits fit


def ratio_text(value: float) -> str:
    """How many times as fast."""
    return f"{digits(value)}×"


def share_text(value: float) -> str:
    """A share in percent."""
    return f"{digits(100 * value)}%"


def share_tick(value: float, more: int = 0) -> str:
    """A share in percent as an axis shows it."""
    return f"{100 * value:.{4 + more}g}%"


def tflops_text(value: float) -> str:
    """TFLOP/s, however few: the unit of the plots' axis and of every heading."""
    return f"{digits(value)} TFLOP/s"


def gbs_text(value: float) -> str:
    """GB/s, in TB/s from 1000."""
    return f"{digits(value / 1000)} TB/s" if value >= 1000 else f"{digits(value)} GB/s"  # noqa: PLR2004 - 1 TB/s


def energy_text(value: float) -> str:
    """Millijoules, in J from 1000."""
    return f"{digits(value / 1000)} J" if value >= 1000 else f"{digits(value)} mJ"  # noqa: PLR2004 - 1 J


def efficiency_text(value: float) -> str:
    """Tokens that a joule pays for."""
    return f"{digits(value)} tokens/J"


def watts_text(value: float) -> str:
    """A power in whole watts."""
    return f"{whole_text(value)} W"


def temperature_text(value: float) -> str:
    """A temperature in whole degrees."""
    return f"{whole_text(value)} °C"


def clock_text(value: float) -> str:
    """A clock in whole MHz."""
    return f"{whole_text(value)} MHz"


def error_text(value: float, more: int = 0) -> str:
    """An error, with two digits and some more, and its power of ten."""
    return f"{value:.{1 + more}e}"


seqlen_text = short_seqlen


def thousands(number: int) -> str:
    """A whole number, with a comma between thousands."""
    return f"{number:,}"
