"""Attention in 8 bits: what flash3-fp8 makes of Q, K, V and P before it multiplies them, to the bit.

Q and K are multiplied by the same matrix D H: signs D, then the Hadamard matrix H of size h, the largest
power of two that divides the head dim. (Q D H)(K D H)^T = h Q K^T, while an outlier is spread over its row
(incoherent processing: QuIP#, arXiv 2402.04396; FlashAttention-3, arXiv 2407.08608, section 3.3), which pays
where a column is large in Q and in K, as it is in some language models; on normal inputs it changes nothing.

Then a block of rows becomes e4m3 times one power of two, the smallest that brings a bound of its magnitudes
to 448 or less: for V the largest there is; for Q and K, before they are turned, the largest sum of the h
magnitudes that meet in H, which exceeds the largest turned entry by at most sqrt(h). Neither that nor a power
of two in place of the exact ratio costs precision, as e4m3 has an exponent of its own, and every step but the
rounding stays exact.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from flashscope.kernels.workload.arrays import array_module

LARGEST, MANTISSA_BITS, LOWEST_EXPONENT = 448.0, 3, -6  # of e4m3 (OCP 8-bit Floating Point Specification)
LARGEST_EXPONENT = 62  # of a block's power of two, in magnitude
P_FACTOR = 34.0  # exp(S - max) goes to e4m3 times this: 1 lies between 32 and 36 then
SCORE_BITS = 11  # of the significand of a score
QUERY_BLOCK = 64  # rows of Q that share a power of two


class Fp8Tiling(NamedTuple):
    """How flash3-fp8 cuts the score matrix.

    Attributes:
        groups: Warpgroups of 64 query rows in a tile, Br = 64 groups.
        key_block: Keys of a tile, Bc, that share a power of two.
    """

    groups: int
    key_block: int

    @property
    def query_rows(self) -> int:
        """Query rows of a tile, Br."""
        return self.groups * QUERY_BLOCK

    def tiles(self, seqlen_q: int, seqlen_k: int) -> tuple[int, int]:
        """Tiles of query rows and tiles of keys; the last of each may be filled in part."""
        return -(-seqlen_q // self.query_rows), -(-seqlen_k // self.key_block)


def fp8_tiling(head_dim: int) -> Fp8Tiling:
    """The cut for a head dim; measured on an H200 for 64, 128 and 256."""
    return Fp8Tiling(3 if head_dim <= 128 else 2, 128)  # noqa: PLR2004 - what registers hold


class Rounding(NamedTuple):
    """The 8 bits of one problem.

    Attributes:
        key_block: Rows of K, and of V, that share a power of two.
    """

    key_block: int

    def inputs(self, q: Any, k: Any, v: Any) -> tuple[Any, Any, Any]:
        """Q, K and V after a round trip through e4m3, float32; Q and K as turned, see `score_factor`."""
        return (
            _head_by_head(q, lambda x: _round_trip(turn(x), bounds(x), QUERY_BLOCK)),
            _head_by_head(k, lambda x: _round_trip(turn(x), bounds(x), self.key_block)),
            _head_by_head(v, lambda x: _round_trip(x, abs(x), self.key_block)),
        )

    @staticmethod
    def score_factor(head_dim: int) -> float:
        """What products of turned rows must be multiplied by."""
        return 1.0 / hadamard_size(head_dim)

    @staticmethod
    def scores(s: Any) -> Any:
        """Scores as rough as the tensor core's: 11 bits, where 14 bits of the largest term were kept."""
        xp = array_module(s)
        fraction, exponent = xp.frexp(s)
        return xp.ldexp(xp.rint(xp.ldexp(fraction, SCORE_BITS)), exponent - SCORE_BITS)

    @staticmethod
    def weights(p: Any) -> Any:
        """exp(S - max) after a round trip through e4m3, that loses most of a row's largest.

        A kernel that subtracts an older maximum rounds the largest like any other.
        """
        return round_e4m3(p * P_FACTOR) / P_FACTOR

    @staticmethod
    def product_error(depth: int) -> float:
        """Relative error of a sum of so many terms of one sign on Hopper's tensor cores.

        They add 32 terms at a time, cut to 13 bits behind the leading one of the largest, the sum so far
        among them (DeepSeek-V3, arXiv 2412.19437, section 3.5.2: "14 bits"): half a unit of each of 32 is
        2^-9 of the sum so far, half of that over a sum that grows evenly. On an H200 a mean of 16384 ones
        summed up that way came out at 0.61; this kernel adds a tile's sum to the others in float32.
        """
        return depth / 32 * 2.0**-10

    @staticmethod
    def score_error(head_dim: int) -> float:
        """Error of a score on the tensor cores, relative to |q||k|.

        A 32nd of `product_error`, as terms of both signs lose less: beside `scores`, for sums near 0.
        """
        return Rounding.product_error(head_dim) / 32


def hadamard_size(head_dim: int) -> int:
    """The largest power of two that divides the head dim."""
    return head_dim & -head_dim


def round_e4m3(x: Any) -> Any:
    """The nearest numbers that e4m3 has, ties to even; beyond 448 it is 448."""
    xp = array_module(x)
    exponent = xp.maximum(xp.frexp(x)[1] - 1, LOWEST_EXPONENT) - MANTISSA_BITS
    return xp.clip(xp.ldexp(xp.rint(xp.ldexp(x, -exponent)), exponent), -LARGEST, LARGEST)


def signs(head_dim: int, xp: Any) -> Any:
    """D: -1 or 1 a column, by the top bit of MurmurHash3's final mix of the column's number."""
    mixed = xp.arange(1, head_dim + 1, dtype="uint32")
    mixed = (mixed ^ mixed >> 16) * xp.uint32(0x85EBCA6B)
    mixed = (mixed ^ mixed >> 13) * xp.uint32(0xC2B2AE35)
    return 1 - 2 * ((mixed ^ mixed >> 16) >> 31).astype("float32")


def turn(x: Any) -> Any:
    """X D H of float32 rows (..., head_dim), by butterflies in the kernel's order, so to the bit."""
    xp, head_dim = array_module(x), x.shape[-1]
    x = x * signs(head_dim, xp)
    h = 1
    while h < hadamard_size(head_dim):
        pairs = x.reshape(*x.shape[:-1], head_dim // (2 * h), 2, h)
        low, high = pairs[..., 0, :], pairs[..., 1, :]
        x = xp.stack((low + high, low - high), axis=-2).reshape(x.shape)
        h *= 2
    return x


def bounds(x: Any) -> Any:
    """Sums of the magnitudes that meet in H, (..., head_dim / h), added in the kernel's order."""
    sums = abs(x)
    for _ in range(hadamard_size(x.shape[-1]).bit_length() - 1):
        sums = sums[..., 0::2] + sums[..., 1::2]
    return sums


def block_exponent(largest: Any) -> Any:
    """The exponent of the power of two of blocks with these bounds of their magnitudes, float32."""
    xp = array_module(largest)
    fraction, exponent = xp.frexp(largest)
    exponent = exponent - 9 + (fraction > LARGEST / 512)  # 448 is 7/8 of 2^9
    return xp.clip(exponent, -LARGEST_EXPONENT, LARGEST_EXPONENT)


def _head_by_head(array: Any, rounded: Callable[[Any], Any]) -> Any:
    """What becomes of each head (N, columns) in float32; one at a time, to need little memory."""
    found = array_module(array).empty(array.shape, "float32")
    for sequence, into in zip(array, found, strict=True):
        for head, x in enumerate(sequence):
            into[head] = rounded(x.astype("float32"))
    return found


def _round_trip(x: Any, bounds: Any, block: int) -> Any:
    """Float32 (N, columns) through e4m3 and back, one power of two a block of rows."""
    xp = array_module(x)
    padded = xp.pad(bounds, ((0, -len(x) % block), (0, 0)))
    exponent = block_exponent(padded.reshape(-1, block * bounds.shape[1]).max(axis=1))
    exponent = xp.repeat(exponent, block)[: len(x), None]
    return xp.ldexp(round_e4m3(xp.ldexp(x, -exponent)), exponent)
