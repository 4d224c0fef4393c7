"""Student's t distribution with a whole number of degrees of freedom, in closed form.

Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4.
"""

import math
from functools import cache

LARGEST = 1e9  # a t beyond which no quantile is looked for
HALVINGS = 200


def p_value(t: float, freedom: int) -> float:
    """How probable a t at least as far from 0 as this is by chance (two-sided), to about 1e-15.

    Args:
        t: Of any sign; infinite where there is no error at all.
        freedom: Degrees of freedom, at least 1.
    """
    angle = math.atan(abs(t) / math.sqrt(freedom))
    cosine, sine = math.cos(angle), math.sin(angle)
    odd = freedom % 2
    term = total = cosine if odd else 1.0
    for k in range(2 + odd, freedom - 1, 2):
        term *= (k - 1) / k * cosine**2
        total += term
    inside = 2 / math.pi * (angle + sine * (total if freedom > 1 else 0)) if odd else sine * total
    return min(1.0, max(0.0, 1 - inside))


@cache
def quantile(p: float, freedom: int) -> float:
    """The t whose two-sided p-value this is; infinite where it is beyond 1e9.

    Args:
        p: Above 0, at most 1.
        freedom: Degrees of freedom, at least 1.
    """
    low, high = 0.0, 1.0
    while p_value(high, freedom) > p:
        low, high = high, 2 * high
        if high > LARGEST:
            return math.inf
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if p_value(middle, freedom) > p else (low, middle)
    return high
