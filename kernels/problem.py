"""One attention workload: what is computed, however it is computed."""

import math
from typing import Literal, get_args

import msgspec

from kernels.block_mask import BlockMask
from kernels.errors import InputError
from kernels.mask import Mask

Backend = Literal["cpu", "cuda"]
Dtype = Literal["float32", "float16", "bfloat16"]
Feature = Literal["causal", "window", "gqa", "block_mask"]
Passes = Literal["forward", "backward", "both"]

DTYPES: tuple[Dtype, ...] = get_args(Dtype)
PASSES: tuple[Passes, ...] = get_args(Passes)
PRODUCTS: dict[Passes, int] = {"forward": 2, "backward": 5, "both": 7}
"""Matrix products of each as FlashAttention counts them (FA2, section 4.1): backward computes S again."""
ITEMSIZE: dict[Dtype, int] = {"float32": 4, "float16": 2, "bfloat16": 2}
PASS_WORDS: dict[Passes, str] = {"forward": "", "backward": "backward", "both": "forward + backward"}
"""Each as it stands beside a problem: the usual one goes without saying."""
LSE_ITEMSIZE = 4  # float32, whatever the dtype of the inputs
UNBOUNDED = -1  # a side of a window
MOST_ELEMENTS = 1 << 58  # of an array; what several take, in bytes, is then a 64-bit number
LARGEST_SCALE = 3.4e38  # kernels take it as float32


def unusual(passes: Passes, queries: int) -> str:
    """What of a run goes not without saying, in words: another pass than forward, other query rows than N."""
    rows = f"{queries} query row{'s' * (queries > 1)}" if queries else ""
    return ", ".join(filter(None, (PASS_WORDS[passes], rows)))


class Problem(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One attention workload; arrays are (batch, heads, seqlen, head_dim), row-major.

    The masks combine: a pair is kept where causal, window and block mask all keep it. D is Nk - Nq.

    Attributes:
        seqlen_q: Number of query rows, Nq.
        seqlen_k: Number of key and value rows, Nk.
        batch: Number of independent sequences.
        heads: Number of query heads.
        head_dim: Width of one head, d.
        dtype: Element type of Q, K, V and O.
        causal: Keep only keys k <= q + Nk - Nq (aligned to the bottom right).
        scale: Factor on the scores; None means 1/sqrt(head_dim).
        seed: Seed of the random inputs, from 0.
        kv_heads: Number of key and value heads, a divisor of `heads` (grouped-query attention): query head h
            attends to K/V head h // (heads // kv_heads). None: as many as query heads.
        window: (left, right): keep only keys q + D - left <= k <= q + D + right (sliding window); -1 is
            unbounded, and causal bounds the right by 0.
        block_mask: Keep only these blocks of the score matrix, in every head.
        passes: What is computed: O and LSE, or from these and a random dO the gradients dQ, dK and dV, or
            both. In files and on the wire it is called `pass`; where it is missing, it is forward.
    """

    seqlen_q: int
    seqlen_k: int
    batch: int = 1
    heads: int = 1
    head_dim: int = 64
    dtype: Dtype = "float32"
    causal: bool = False
    scale: float | None = None
    seed: int = 0
    kv_heads: int | None = None
    window: tuple[int, int] | None = None
    block_mask: BlockMask | None = None
    passes: Passes = msgspec.field(default="forward", name="pass")

    def __post_init__(self) -> None:
        for name in ("seqlen_q", "seqlen_k", "batch", "heads", "head_dim"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} must be at least 1, not {getattr(self, name)}.")
        if self.seed < 0:
            raise InputError(f"seed must be at least 0, not {self.seed}.")
        if self.dtype not in ITEMSIZE:
            raise InputError(f"dtype must be one of {', '.join(DTYPES)}, not {self.dtype!r}.")
        if self.passes not in PASSES:
            raise InputError(f"pass must be one of {', '.join(PASSES)}, not {self.passes!r}.")
        if self.scale is not None and not abs(self.scale) <= LARGEST_SCALE:
            raise InputError(f"scale must be a finite number in float32, not {self.scale}.")
        if self.kv_heads is not None and (self.kv_heads < 1 or self.heads % self.kv_heads):
            raise InputError(f"kv_heads must divide the {self.heads} heads, not be {self.kv_heads}.")
        if self.window is not None and min(self.window) < UNBOUNDED:
            raise InputError(
                f"Both sides of window must be at least 0, or {UNBOUNDED} for unbounded, not "
                f"{self.window[0]} and {self.window[1]}."
            )
        if self.block_mask is not None:
            self.block_mask.check_fits(self.seqlen_q, self.seqlen_k)
        self._check_size()

    def _check_size(self) -> None:
        """Refuse arrays of more elements than any machine could hold."""
        arrays = {
            "Q": math.prod(self.q_shape),
            "K": math.prod(self.k_shape),
            "The score matrix": self.score_elements,
        }
        for name, count in arrays.items():
            if count > MOST_ELEMENTS:
                raise InputError(
                    f"{name} would have {count:.1e} elements; choose fewer tokens, heads or batches."
                )

    @property
    def key_heads(self) -> int:
        """The number of key and value heads that is really used."""
        return self.heads if self.kv_heads is None else self.kv_heads

    @property
    def mask(self) -> Mask:
        """Causal, window and block mask as one."""
        return Mask.of(
            self.seqlen_q, self.seqlen_k, causal=self.causal, window=self.window, blocks=self.block_mask
        )

    @property
    def features(self) -> frozenset[Feature]:
        """What a kernel must support beyond plain attention."""
        asked: dict[Feature, bool] = {
            "causal": self.causal,
            "window": self.window not in {None, (UNBOUNDED, UNBOUNDED)},
            "gqa": self.key_heads != self.heads,
            "block_mask": self.block_mask is not None,
        }
        return frozenset(feature for feature, used in asked.items() if used)

    @property
    def place(self) -> str:
        """N and what is unusual: `N = 64`, `N = 64, backward, 1 query row`."""
        return ", ".join(filter(None, (f"N = {self.seqlen}", self.unusual)))

    @property
    def unusual(self) -> str:
        """The pass where it is not forward, and the query rows where they are not N; in words."""
        return unusual(self.passes, self.queries)

    @property
    def seqlen(self) -> int:
        """N: the number of keys, and of query rows where a problem does not say otherwise."""
        return self.seqlen_k

    @property
    def queries(self) -> int:
        """The number of query rows where it is not N, as in decoding; 0 where it is."""
        return 0 if self.seqlen_q == self.seqlen_k else self.seqlen_q

    @property
    def runs_forward(self) -> bool:
        """Whether a run computes O and LSE."""
        return self.passes != "backward"

    @property
    def runs_backward(self) -> bool:
        """Whether a run computes gradients."""
        return self.passes != "forward"

    @property
    def softmax_scale(self) -> float:
        """The factor on the scores that is really used."""
        return 1.0 / math.sqrt(self.head_dim) if self.scale is None else self.scale

    @property
    def itemsize(self) -> int:
        """Bytes of one element of Q, K, V or O."""
        return ITEMSIZE[self.dtype]

    @property
    def q_shape(self) -> tuple[int, int, int, int]:
        """Shape of Q and of O."""
        return (self.batch, self.heads, self.seqlen_q, self.head_dim)

    @property
    def k_shape(self) -> tuple[int, int, int, int]:
        """Shape of K and of V."""
        return (self.batch, self.key_heads, self.seqlen_k, self.head_dim)

    @property
    def rows(self) -> int:
        """Number of softmax rows: batch * heads * seqlen_q."""
        return self.batch * self.heads * self.seqlen_q

    @property
    def score_elements(self) -> int:
        """Elements of the full score matrix: batch * heads * Nq * Nk."""
        return self.rows * self.seqlen_k

    @property
    def input_bytes(self) -> int:
        """Exact bytes of Q, K and V."""
        return (math.prod(self.q_shape) + 2 * math.prod(self.k_shape)) * self.itemsize

    @property
    def drawn_bytes(self) -> int:
        """Exact bytes of what is drawn: Q, K and V, and where gradients are asked for dO."""
        return self.input_bytes + (math.prod(self.q_shape) * self.itemsize if self.runs_backward else 0)

    @property
    def output_bytes(self) -> int:
        """Exact bytes of O and of the log-sum-exp (float32)."""
        return math.prod(self.q_shape) * self.itemsize + self.rows * LSE_ITEMSIZE

    @property
    def kept_pairs(self) -> int:
        """Number of (query, key) pairs of one head that the masks keep, exactly."""
        return self.mask.kept_pairs()

    @property
    def dense_equivalent_flops(self) -> int:
        """`flops` of the same problem without its block mask: what a kernel that skips nothing would do."""
        return msgspec.structs.replace(self, block_mask=None).flops

    @property
    def kept_share(self) -> float:
        """Kept pairs over all pairs: 1 without a mask."""
        return self.kept_pairs / (self.seqlen_q * self.seqlen_k)

    @property
    def flops(self) -> int:
        """Floating-point operations of the matrix products, 2 * d each for each kept pair.

        The usual convention (forward 4 B H Nq Nk d, halved when causal, backward 2.5 times that) counted
        exactly: for causal squares the two differ by 1/N. A kernel that keeps P does one product less.
        """
        pairs = self.batch * self.heads * self.kept_pairs
        return 2 * PRODUCTS[self.passes] * pairs * self.head_dim
