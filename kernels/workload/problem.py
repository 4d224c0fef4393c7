"""One attention workload: what is computed, however it is computed."""

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, get_args

import msgspec
from msgspec.structs import replace

from flashscope.kernels.workload.block_mask import BlockMask
from flashscope.kernels.workload.errors import InputError
from flashscope.kernels.workload.lengths import check_lengths, check_page_size, differ, is_spread, pages_for
from flashscope.kernels.workload.mask import Mask
from flashscope.kernels.workload.scoring import SINK_ITEMSIZE, alibi_slopes, check_sinks, check_softcap
from flashscope.kernels.workload.sequences import alike, alone, different_lengths, kept_pairs

Backend = Literal["cpu", "cuda"]
Dtype = Literal["float32", "float16", "bfloat16"]
Feature = Literal[
    "causal", "window", "gqa", "block_mask", "ragged", "paged", "softcap", "sinks", "alibi", "head_dim_v"
]
Passes = Literal["forward", "backward", "both"]

DTYPES: tuple[Dtype, ...] = get_args(Dtype)
PASSES: tuple[Passes, ...] = get_args(Passes)
ONE_PASS: tuple[Passes, ...] = ("forward", "backward")  # each has a source of its own
PRODUCTS: dict[Passes, int] = {"forward": 2, "backward": 5, "both": 7}
"""Matrix products of each as FlashAttention counts them (FA2, section 4.1): backward computes S again."""
ITEMSIZE: dict[Dtype, int] = {"float32": 4, "float16": 2, "bfloat16": 2}
LAYOUTS: frozenset[Feature] = frozenset({"ragged", "paged"})  # how long sequences are, where their keys lie
SCORING: frozenset[Feature] = frozenset(
    {"softcap", "sinks", "alibi"}
)  # done to scores beside scale and masks
NOT_TRACED: frozenset[Feature] = SCORING | {"head_dim_v"}  # what no trace shows, and most kernels do not take
LSE_ITEMSIZE = 4  # float32, whatever the dtype of the inputs
PAGE_ITEMSIZE = 4  # int32, an entry of a page table
UNBOUNDED = -1  # a side of a window
MOST_ELEMENTS = 1 << 58  # of an array; what several take, in bytes, is then a 64-bit number
LARGEST_SCALE = 3.4e38  # kernels take it as float32


class Problem(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, cache_hash=True):
    """One attention workload; arrays are (batch, heads, seqlen, head_dim), row-major.

    The masks combine: a pair is kept where causal, window and block mask all keep it. D is Nk - Nq, those
    of each sequence where they differ.

    Attributes:
        seqlen_q: Number of query rows, Nq; of the longest sequence where they differ, or more.
        seqlen_k: Number of key and value rows, Nk; of the longest sequence where they differ, or more.
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
        query_lengths: The rows of each sequence that hold a query; those behind are padding, with O = 0 and
            LSE = -inf. None: all are.
        key_lengths: The keys of each sequence that count; those behind are padding, which may hold NaN and
            never enters a result. None: all do.
        page_size: Keys of a page of a K/V cache, one of `PAGE_SIZES`; seqlen_k is a multiple of it. K and V
            are then (pages, kv_heads, page_size, head_dim), and a page table, int32 (batch, seqlen_k /
            page_size), names the page of each stretch of a sequence's keys. None: K and V lie as arrays.
        passes: What is computed: O and LSE, or from these and a random dO the gradients dQ, dK and dV, or
            both. In files and on the wire it is called `pass`; where it is missing, it is forward.
        deterministic: Every run must give the same bits of the gradients, which are then computed.
        softcap: Bound of the scores (Gemma 2): the scaled score s becomes softcap * tanh(s / softcap), before
            masks and softmax; O, LSE and gradients are those of what it has become. None: scores are taken
            as they are.
        sinks: Each query head has a learned logit (gpt-oss), which enters the denominator of its rows alone:
            with x the sink, O = sum exp(s) v / (exp(x) + sum exp(s)) and LSE = ln(exp(x) + sum exp(s)). So a
            row that keeps no key has O = 0 and LSE = x. dQ, dK and dV are those of that O; the gradient with
            respect to the sinks is not computed.
        alibi: Add slope * (k - q - D) to the score of query q and key k, behind a softcap and before the
            masks, with the head's slope (`kernels.workload.scoring.alibi_slopes`): the last query is aligned
            with the last key. LSE is that of the biased scores.
        head_dim_v: Width of V, O and dO, where it is not that of Q and K (DeepSeek has 192 beside 128); None:
            it is.
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
    query_lengths: tuple[int, ...] | None = None
    key_lengths: tuple[int, ...] | None = None
    page_size: int | None = None
    passes: Passes = msgspec.field(default="forward", name="pass")
    deterministic: bool = False
    softcap: float | None = None
    sinks: bool = False
    alibi: bool = False
    head_dim_v: int | None = None

    def __post_init__(self) -> None:
        for name in ("seqlen_q", "seqlen_k", "batch", "heads", "head_dim", "head_dim_v"):
            count = getattr(self, name)
            if count is not None and count < 1:
                raise InputError(f"{name} must be at least 1, not {count}.")
        if self.seed < 0:
            raise InputError(f"seed must be at least 0, not {self.seed}.")
        if self.dtype not in ITEMSIZE:
            raise InputError(f"dtype must be one of {', '.join(DTYPES)}, not {self.dtype!r}.")
        if self.scale is not None and not abs(self.scale) <= LARGEST_SCALE:
            raise InputError(f"scale must be a finite number in float32, not {self.scale}.")
        if self.kv_heads is not None and (self.kv_heads < 1 or self.heads % self.kv_heads):
            raise InputError(f"kv_heads must divide the {self.heads} heads, not be {self.kv_heads}.")
        if self.window is not None and min(self.window) < UNBOUNDED:
            raise InputError(
                f"Both sides of window must be at least 0, or {UNBOUNDED} for unbounded, not "
                f"{self.window[0]} and {self.window[1]}."
            )
        self._check_passes()
        check_softcap(self.softcap)
        check_lengths("query_lengths", self.query_lengths, self.batch, self.seqlen_q)
        check_lengths("key_lengths", self.key_lengths, self.batch, self.seqlen_k)
        check_page_size(self.page_size, self.seqlen_k)
        if self.sinks and self.key_lengths is not None:
            check_sinks(zip(self.row_counts, self.key_counts, strict=True))
        if self.block_mask is not None:
            self._check_blocks(self.block_mask)
        self._check_size()

    def _check_passes(self) -> None:
        if self.passes not in PASSES:
            raise InputError(f"pass must be one of {', '.join(PASSES)}, not {self.passes!r}.")
        if self.deterministic and not self.runs_backward:
            raise InputError("deterministic is about gradients: take it with pass backward or both.")

    def _check_blocks(self, blocks: BlockMask) -> None:
        blocks.check_fits(self.seqlen_q, self.seqlen_k)
        if not self.even:
            remedy = "leave it out, or the lengths and the page size"
            raise InputError(f"A block mask is for sequences of one length without pages: {remedy}.")

    def _check_size(self) -> None:
        """Refuse arrays of more elements than any machine could hold."""
        arrays = {
            "Q": math.prod(self.q_shape),
            "K": math.prod(self.k_shape),
            "V": math.prod(self.v_shape),
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
        """Causal, window and block mask as one; of a batch of different lengths each sequence has its own."""
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
            "ragged": differ(self.query_lengths, self.seqlen_q) or differ(self.key_lengths, self.seqlen_k),
            "paged": self.page_size is not None,
            "softcap": self.softcap is not None,
            "sinks": self.sinks,
            "alibi": self.alibi,
            "head_dim_v": self.value_dim != self.head_dim,
        }
        return frozenset(feature for feature, used in asked.items() if used)

    @property
    def row_counts(self) -> tuple[int, ...]:
        """Query rows of each sequence, without padding."""
        return (self.seqlen_q,) * self.batch if self.query_lengths is None else self.query_lengths

    @property
    def key_counts(self) -> tuple[int, ...]:
        """Keys of each sequence, without padding."""
        return (self.seqlen_k,) * self.batch if self.key_lengths is None else self.key_lengths

    @property
    def longest_keys(self) -> int:
        """Keys of the sequence that has most."""
        return self.seqlen_k if self.key_lengths is None else max(self.key_lengths)

    @property
    def queries_in_all(self) -> int:
        """Query rows of all sequences, without padding."""
        return self.batch * self.seqlen_q if self.query_lengths is None else sum(self.query_lengths)

    @property
    def even(self) -> bool:
        """Whether all sequences are as long as the arrays, and K and V lie as arrays."""
        return not self.features & LAYOUTS

    @property
    def sequences(self) -> Mapping[int, "Problem"]:
        """The sequences that have rows and keys, by their place in the batch: each a problem of its own.

        The rows of a sequence that is not among them have O = 0 and LSE = -inf.
        """
        return alone(self)

    @property
    def alike(self) -> Mapping["Problem", int]:
        """The same without their places: each different problem, and how many sequences are such."""
        return alike(self)

    @property
    def different_lengths(self) -> Mapping[tuple[int, int], int]:
        """The rows and keys of these, and how many sequences have them."""
        if "ragged" not in self.features:
            return MappingProxyType({(self.seqlen_q, self.seqlen_k): self.batch})
        return different_lengths(self.row_counts, self.key_counts)

    @property
    def spreads_lengths(self) -> bool:
        """Whether the lengths of keys are `spread`, and those of query rows too where these are N."""
        if self.batch == 1 or not is_spread(self.key_lengths, self.seqlen_k):
            return False
        rows = self.query_lengths
        return rows is None if self.queries else is_spread(rows, self.seqlen_q)

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

    def bias(self, head: int) -> float:
        """ALiBi's slope of a query head; 0 without one."""
        return alibi_slopes(self.heads)[head] if self.alibi else 0.0

    @property
    def value_dim(self) -> int:
        """The width of V, O and dO that is really used."""
        return self.head_dim if self.head_dim_v is None else self.head_dim_v

    @property
    def itemsize(self) -> int:
        """Bytes of one element of Q, K, V or O."""
        return ITEMSIZE[self.dtype]

    @property
    def q_shape(self) -> tuple[int, int, int, int]:
        """Shape of Q."""
        return (self.batch, self.heads, self.seqlen_q, self.head_dim)

    @property
    def widest_dim(self) -> int:
        """The larger of both head dims, by which tiles are cut."""
        return max(self.head_dim, self.value_dim)

    @property
    def o_shape(self) -> tuple[int, int, int, int]:
        """Shape of O and of dO."""
        return (*self.q_shape[:3], self.value_dim)

    @property
    def k_shape(self) -> tuple[int, int, int, int]:
        """Shape of K, where it lies as an array."""
        return (self.batch, self.key_heads, self.seqlen_k, self.head_dim)

    @property
    def v_shape(self) -> tuple[int, int, int, int]:
        """Shape of V, where it lies as an array."""
        return (*self.k_shape[:3], self.value_dim)

    @property
    def pages(self) -> int:
        """Pages of the pool that is drawn: those in use, and a spare one for each sequence; 0: no pages."""
        size, lengths = self.page_size, self.key_lengths
        if size is None:
            return 0
        alike, counts = (self.batch, (self.seqlen_k,)) if lengths is None else (1, lengths)
        return alike * sum(pages_for(keys, size) + 1 for keys in counts)

    @property
    def pool_shape(self) -> tuple[int, int, int, int]:
        """Shape of K as drawn: `k_shape`, or (pages, kv_heads, page_size, head_dim); V has its own width."""
        if self.page_size is None:
            return self.k_shape
        return (self.pages, self.key_heads, self.page_size, self.head_dim)

    @property
    def page_table_shape(self) -> tuple[int, int]:
        """Shape of the page table: (batch, stretches of seqlen_k keys); (batch, 0) without pages."""
        return (self.batch, 0 if self.page_size is None else self.seqlen_k // self.page_size)

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
        """Exact bytes of Q, K and V as drawn, padding and spare pages too, a page table and sinks."""
        table = math.prod(self.page_table_shape) * PAGE_ITEMSIZE
        return self.gradient_bytes + table + self.sinks * self.heads * SINK_ITEMSIZE

    @property
    def gradient_bytes(self) -> int:
        """Exact bytes of Q, K and V alone, and so of dQ, dK and dV."""
        keys = math.prod(self.pool_shape[:3]) * (self.head_dim + self.value_dim)
        return (math.prod(self.q_shape) + keys) * self.itemsize

    @property
    def drawn_bytes(self) -> int:
        """Exact bytes of what is drawn: Q, K and V, and where gradients are asked for dO."""
        return self.input_bytes + (math.prod(self.o_shape) * self.itemsize if self.runs_backward else 0)

    @property
    def output_bytes(self) -> int:
        """Exact bytes of O and of the log-sum-exp (float32)."""
        return math.prod(self.o_shape) * self.itemsize + self.rows * LSE_ITEMSIZE

    @property
    def kept_pairs(self) -> int:
        """Number of (query, key) pairs of one head of a sequence that the masks keep; not for ragged ones."""
        return self.mask.kept_pairs()

    @property
    def all_kept_pairs(self) -> int:
        """Number of (query, key) pairs that the masks keep in all heads of all sequences, exactly."""
        if "ragged" not in self.features:
            return self.batch * self.heads * self.kept_pairs
        counts = self.row_counts, self.key_counts
        return self.heads * kept_pairs(*counts, causal=self.causal, window=self.window)

    @property
    def dense_equivalent_flops(self) -> int:
        """`flops` of the same problem without its block mask: what a kernel that skips nothing would do."""
        return self.flops if self.block_mask is None else replace(self, block_mask=None).flops

    @property
    def kept_share(self) -> float:
        """Kept pairs over all pairs: 1 without a mask, 0 where there are none."""
        if "ragged" not in self.features:
            return self.kept_pairs / (self.seqlen_q * self.seqlen_k)
        pairs = self.heads * sum(q * k * count for (q, k), count in self.different_lengths.items())
        return self.all_kept_pairs / pairs if pairs else 0.0

    @property
    def flops(self) -> int:
        """Floating-point operations of the matrix products, 2 * d each for each kept pair, or 2 * d of V.

        The usual convention (forward 4 B H Nq Nk d, halved when causal, backward 2.5 times that) counted
        exactly: for causal squares the two differ by 1/N. A kernel that keeps P does one product less. V's
        head dim is that of PV forward, of dV and dP backward.
        """
        of_values = self.runs_forward + 2 * self.runs_backward
        widths = (PRODUCTS[self.passes] - of_values) * self.head_dim + of_values * self.value_dim
        return 2 * widths * self.all_kept_pairs
