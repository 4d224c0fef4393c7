"""How the Stepper writes numbers: what is not 0 never stands as 0, minus signs are real, ∞ and NaN named."""

import math

LEAST, LARGE = 1e-3, 1e4  # below and from here on a power of ten reads better


def number(value: float, digits: int = 3) -> str:
    """A value with some decimals, or two digits where those would leave 0; powers of ten are HTML."""
    if not value:
        return "0"
    if not math.isfinite(value):
        return _named(value)
    size = abs(value)
    if size >= LARGE or size < LEAST:
        return power(value)
    text = f"{value:.2g}" if size < 0.1**digits else f"{value:.{digits}f}"
    return text.replace("-", "−")


def power(value: float) -> str:
    """A value as a·10ⁿ with superscript HTML; 0 stays 0."""
    if not value or not math.isfinite(value):
        return number(value)
    mantissa, exponent = f"{value:.1e}".split("e")
    return f"{mantissa}·10<sup>{int(exponent)}</sup>".replace("-", "−")


def brief(value: float, digits: int) -> str:
    """A value where room is short: as `number` has it, or as 4e−5, which takes no more room."""
    size = abs(value)
    if not value or not math.isfinite(value) or 0.1**digits <= size < LARGE:
        return number(value, digits)
    mantissa, exponent = f"{value:.0e}".split("e")
    return f"{mantissa}e{int(exponent)}".replace("-", "−")


def _named(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    return "∞" if value > 0 else "−∞"


def difference(value: float, less: float) -> str:
    """One number less another, which stands in brackets where it has a sign of its own."""
    taken = number(less)
    return f"{number(value)} − {f'({taken})' if taken.startswith('−') else taken}"


def plain(text: str) -> str:
    """The text without HTML, for screen readers and for text that Qt draws as it is."""
    for old, new in (("<sup>", "^"), ("</sup>", ""), ("<sub>", ""), ("</sub>", ""), ("&nbsp;", " ")):
        text = text.replace(old, new)
    return text
