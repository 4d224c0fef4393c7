"""Attention among some keys and attention among others make attention among all: equations, and in NumPy.

With (O_a, LSE_a) and (O_b, LSE_b) of the same row among two sets of keys,

    LSE = ln(exp(LSE_a) + exp(LSE_b)),   O = exp(LSE_a - LSE) O_a + exp(LSE_b - LSE) O_b.

That is the online softmax of FlashAttention-2 (Dao 2023, section 2.3.1), whose O^(2) = diag(l^(1) / l^(2))
exp(m^(1) - m^(2)) O^(1) + ..., written with L = m + ln l (Algorithm 1, line 13) in place of m and l; Ring
Attention (Liu et al. 2023, section 3) takes blocks of other hosts so. O and LSE are float32 until all is in.

Gradients need no merging: P = exp(S - LSE) with the LSE of all keys (FlashAttention-2, Algorithm 2, line 11),
and so dV = P^T dO, dS = P (dP - D), dQ = dS K and dK = dS^T Q of a block of keys (lines 12 to 16) are addends
of those of all. D = rowsum(dO O) (line 4) is of a row alone, and local.
"""

from typing import Any

import numpy as np


def merge(output: Any, lse: Any, part: Any, part_lse: Any) -> None:
    """Take a part into O and LSE, NumPy float32, in place; what has met no key has LSE = -inf and O = 0."""
    highest = np.maximum(lse, part_lse)
    highest[np.isneginf(highest)] = 0  # no key yet: exp(-inf - 0) = 0 where -inf - -inf would be NaN
    before, new = np.exp(lse - highest), np.exp(part_lse - highest)
    weight = before + new
    output *= (before / np.where(weight == 0, 1, weight))[..., None]
    output += (new / np.where(weight == 0, 1, weight))[..., None] * part
    with np.errstate(divide="ignore"):  # ln 0 = -inf is the answer there
        np.log(weight, out=lse)
    lse += highest
