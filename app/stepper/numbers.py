"""How the Stepper writes numbers: with fixed decimals, a real minus sign, and ∞ and NaN by name."""

import math


def number(value: float, digits: int = 3) -> str:
    """A value with some decimals; very large or small ones in powers of ten."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if abs(value) >= 1e4:  # noqa: PLR2004 - past five digits a power of ten reads better
        return power(value)
    text = f"{value:.{digits}f}"
    return text.replace("-", "−") if float(text) else text.lstrip("-")


def power(value: float) -> str:
    """A value as a·10ⁿ with superscript HTML; 0 stays 0; infinities and NaN as in `number`."""
    if not value or not math.isfinite(value):
        return number(value, 0)
    mantissa, exponent = f"{value:.1e}".split("e")
    return f"{mantissa}·10<sup>{int(exponent)}</sup>".replace("-", "−")


def brief(value: float, digits: int) -> str:
    """The same where room is short; what would be 0 and is not stands as 4e−5, which takes no more of it."""
    text = number(value, digits)
    told = not value or not math.isfinite(value) or text.strip("−0.")
    return text if told else f"{value:.0e}".replace("e-0", "e-").replace("-", "−")


def amount(value: float) -> str:
    """A value with as many decimals as it needs; small and large ones in powers of ten."""
    if not value:
        return "0"
    return number(value) if abs(value) >= 1e-3 else power(value)  # noqa: PLR2004 - three decimals


def difference(value: float, less: float) -> str:
    """One number less another, which stands in brackets where it has a sign of its own."""
    taken = number(less)
    return f"{number(value)} − {f'({taken})' if taken.startswith('−') else taken}"


def plain(text: str) -> str:
    """The text without HTML, for screen readers and for text that Qt draws as it is."""
    for old, new in (("<sup>", "^"), ("</sup>", ""), ("<sub>", ""), ("</sub>", ""), ("&nbsp;", " ")):
        text = text.replace(old, new)
    return text
