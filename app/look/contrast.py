"""How far colours stand out from each other, and what makes one stand out further."""

from functools import cache

STEPS = 64


@cache
def luminance(colour: str) -> float:
    """Relative luminance of #RRGGBB, 0 to 1 (WCAG 2.1)."""
    red, green, blue = (_linear(part) for part in _parts(colour))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Contrast ratio of two colours, 1 to 21 (WCAG 2.1)."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@cache
def mixed(colour: str, other: str, ground: str, least: float) -> str:
    """The colour with as little of another as makes it stand out from the ground by at least this ratio."""
    blends = (_blend(colour, other, step / STEPS) for step in range(STEPS + 1))
    return next((blend for blend in blends if contrast(blend, ground) >= least), other)


def _parts(colour: str) -> list[float]:
    return [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4  # noqa: PLR2004 - sRGB


def _blend(colour: str, other: str, share: float) -> str:
    pairs = zip(_parts(colour), _parts(other), strict=True)
    return "#" + "".join(f"{round(255 * (a + (b - a) * share)):02X}" for a, b in pairs)
