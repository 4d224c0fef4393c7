"""Which rank holds what of a sequence, what it works on when, and what it sends meanwhile: schemes as data.

- `ring`: rank r holds chunk r of n. K and V travel round the ring, a neighbour further in every step (Liu et
  al. 2023, Ring Attention with Blockwise Transformers, section 3).
- `zigzag`: the same with 2n chunks, of which rank r holds r and 2n - 1 - r, so that under a causal mask all
  ranks have the same number of pairs in every step (Llama 3, section 3.3.2, cuts so; its ring is that of the
  package ring-flash-attention).
- `all-gather`: chunks as in zigzag; each rank first gets the K and V of all others (Llama 3, section 3.3.2).
- `ulysses`: chunks as in ring; ranks trade the sequence for the heads, so that each attends to all rows with
  a part of the heads (Jacobs et al. 2023, DeepSpeed Ulysses, section 3). K/V heads fewer than ranks are
  replicated where the ranks are a multiple of them, and refused where they are not.

Gradients: in a ring the sums of dK and dV, float32, follow their K and V a step behind and come home in a
step of their own. With all-gather K and V are gathered again, and what each rank adds to a part of dK and dV
is sent to who holds it (a reduce-scatter). Ulysses keeps what it traded, gets dO and sends dQ, dK and dV
back.
"""

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Literal, NamedTuple, get_args

import msgspec

from flashscope.kernels.context_parallel.mask_blocks import MaskBlock, mask_blocks
from flashscope.kernels.workload.errors import InputError, UnsupportedError
from flashscope.kernels.workload.problem import Feature, Problem

Scheme = Literal["ring", "zigzag", "all-gather", "ulysses"]
SCHEMES: tuple[Scheme, ...] = get_args(Scheme)
TAKEN: frozenset[Feature] = frozenset({"causal", "gqa", "softcap", "head_dim_v"})
SUM_ITEMSIZE = 4  # float32, in which gradients are summed


class RankHolding(NamedTuple):
    """What a rank holds of the sequence.

    Attributes:
        rows: Stretches of query rows, sorted.
        keys: Stretches of keys, sorted.
    """

    rows: tuple[range, ...]
    keys: tuple[range, ...]

    @property
    def row_count(self) -> int:
        """Rows of all stretches."""
        return sum(map(len, self.rows))

    @property
    def key_count(self) -> int:
        """Keys of all stretches."""
        return sum(map(len, self.keys))


class Transfer(NamedTuple):
    """What a rank sends beside its product.

    Attributes:
        to: The rank that gets it.
        what: `K and V`, `dK and dV`, `Q, K and V`, `O`, `dO` or `dQ, dK and dV`.
        of: The rank that holds, or will hold, that part of the sequence.
        nbytes: Bytes.
    """

    to: int
    what: str
    of: int
    nbytes: int


class RankStep(NamedTuple):
    """What a rank does between two meetings of all ranks.

    Attributes:
        keys_of: The ranks whose K and V it works on, in the order of the sequence; empty: no product.
        blocks: Its rows and those keys; empty where the mask keeps nothing.
        transfers: What it sends meanwhile.
    """

    keys_of: tuple[int, ...]
    blocks: tuple[MaskBlock, ...]
    transfers: tuple[Transfer, ...]

    @property
    def pairs(self) -> int:
        """(query, key) pairs of one head that it computes."""
        return sum(block.pairs for block in self.blocks)


class HeadShare(NamedTuple):
    """The heads that a rank works on."""

    heads: range
    kv_heads: range


class Partition(msgspec.Struct, frozen=True, dict=True):
    """A problem on so many ranks by a scheme.

    Attributes:
        scheme: The scheme.
        problem: What is computed, all ranks together.
        ranks: How many there are.
    """

    scheme: Scheme
    problem: Problem
    ranks: int

    def __post_init__(self) -> None:
        if self.scheme not in SCHEMES:
            raise InputError(f"scheme must be one of {', '.join(SCHEMES)}, not {self.scheme!r}.")
        if self.ranks < 1:
            raise InputError(f"There must be 1 rank or more, not {self.ranks}.")
        if self.problem.features - TAKEN:
            raise UnsupportedError(
                "Ranks share plain and causal attention alone, with fewer K/V heads or not."
            )
        shortest, chunks = min(self.problem.seqlen_q, self.problem.seqlen_k), self._chunks
        if shortest < chunks:
            on = f"{self.ranks} rank{'s' * (self.ranks > 1)}"
            raise InputError(
                f"{self.scheme} on {on} cuts the sequence into {chunks} chunks, and {shortest} "
                "are not enough for that; ask for a longer one, or for fewer ranks."
            )
        if self.scheme == "ulysses":
            self._check_heads()

    def _check_heads(self) -> None:
        heads, kv_heads = self.problem.heads, self.problem.key_heads
        if heads % self.ranks:
            raise UnsupportedError(
                f"ulysses needs heads in equal parts: {heads} on {self.ranks} ranks are not."
            )
        if kv_heads % self.ranks and self.ranks % kv_heads:
            raise UnsupportedError(
                f"ulysses needs K/V heads that are a multiple or a divisor of the {self.ranks} ranks, "
                f"not {kv_heads}."
            )

    @property
    def _chunks(self) -> int:
        return self.ranks * (2 if self.scheme in {"zigzag", "all-gather"} else 1)

    @cached_property
    def holdings(self) -> tuple[RankHolding, ...]:
        """What each rank holds; chunks differ by one row at most."""
        rows, keys = (_cut(length, self._chunks) for length in (self.problem.seqlen_q, self.problem.seqlen_k))
        return tuple(
            RankHolding(tuple(rows[one] for one in of), tuple(keys[one] for one in of))
            for of in map(self._chunks_of, range(self.ranks))
        )

    def _chunks_of(self, rank: int) -> tuple[int, ...]:
        return (rank,) if self._chunks == self.ranks else (rank, self._chunks - 1 - rank)

    def head_share(self, rank: int) -> HeadShare:
        """The heads that a rank works on: all, but with ulysses."""
        heads, kv_heads = self.problem.heads, self.problem.key_heads
        if self.scheme != "ulysses":
            return HeadShare(range(heads), range(kv_heads))
        each, group = heads // self.ranks, heads // kv_heads
        own = range(rank * each, (rank + 1) * each)
        return HeadShare(own, range(own.start // group, (own.stop - 1) // group + 1))

    def forward(self, rank: int) -> tuple[RankStep, ...]:
        """The steps of a rank in a forward pass."""
        if self.scheme == "ulysses":
            return self._traded(rank, "Q, K and V", "O")
        if self.scheme == "all-gather":
            return self._gathered(rank)
        return tuple(self._ring_step(rank, turn) for turn in range(self.ranks))

    def backward(self, rank: int) -> tuple[RankStep, ...]:
        """The steps of a rank in a backward pass."""
        if self.scheme == "ulysses":
            return self._traded(rank, "dO", "dQ, dK and dV")
        if self.scheme == "all-gather":
            home = tuple(self._sums_to(one, one) for one in self._others(rank))
            return (*self._gathered(rank), RankStep((), (), home))
        following = (rank + 1) % self.ranks
        turns = [self._ring_step(rank, turn) for turn in range(self.ranks)]
        for turn in range(1, self.ranks):
            sums = self._sums_to(following, (rank - turn + 1) % self.ranks)
            turns[turn] = turns[turn]._replace(transfers=(*turns[turn].transfers, sums))
        home = (self._sums_to(following, following),) if self.ranks > 1 else ()
        return (*turns, RankStep((), (), home))

    def blocks(self, rank: int, keys_of: Sequence[int]) -> tuple[MaskBlock, ...]:
        """The rows of a rank and the keys of others, as blocks."""
        keys = sorted((one for of in keys_of for one in self.holdings[of].keys), key=lambda one: one.start)
        shift = self.problem.seqlen_k - self.problem.seqlen_q
        return mask_blocks(self.holdings[rank].rows, keys, shift, causal=self.problem.causal)

    def _others(self, rank: int) -> list[int]:
        return [one for one in range(self.ranks) if one != rank]

    def _ring_step(self, rank: int, turn: int) -> RankStep:
        """In turn t a rank works on what the rank t before it holds, and hands it on."""
        of = (rank - turn) % self.ranks
        more = turn < self.ranks - 1
        sent = (self._keys_to((rank + 1) % self.ranks, of),) if more else ()
        return RankStep((of,), self.blocks(rank, (of,)), sent)

    def _gathered(self, rank: int) -> tuple[RankStep, ...]:
        everyone = tuple(range(self.ranks))
        sent = tuple(self._keys_to(one, rank) for one in self._others(rank))
        return RankStep((), (), sent), RankStep(everyone, self.blocks(rank, everyone), ())

    def _traded(self, rank: int, there: str, back: str) -> tuple[RankStep, ...]:
        """A rank's rows go to those who have their heads; what comes of them comes back by rows."""
        others, everyone = self._others(rank), tuple(range(self.ranks))
        shift = self.problem.seqlen_k - self.problem.seqlen_q
        whole = [range(length) for length in (self.problem.seqlen_q, self.problem.seqlen_k)]
        blocks = mask_blocks([whole[0]], [whole[1]], shift, causal=self.problem.causal)
        given = tuple(Transfer(to, there, rank, self._traded_bytes(there, rank, to)) for to in others)
        returned = tuple(Transfer(to, back, to, self._traded_bytes(back, to, rank)) for to in others)
        return RankStep((), (), given), RankStep(everyone, blocks, ()), RankStep((), (), returned)

    def _traded_bytes(self, what: str, rows_of: int, heads_of: int) -> int:
        """Bytes of the rows of one rank with the heads of another."""
        one, (heads, kv_heads) = self.problem, self.head_share(heads_of)
        held, dims = self.holdings[rows_of], one.head_dim + one.value_dim
        of_keys = held.key_count * len(kv_heads) * dims
        of_rows = held.row_count * len(heads)
        counts = {
            "Q, K and V": of_rows * one.head_dim + of_keys,
            "O": of_rows * one.value_dim,
            "dO": of_rows * one.value_dim,
            "dQ, dK and dV": of_rows * one.head_dim + of_keys,
        }
        return one.batch * counts[what] * one.itemsize

    def _keys_to(self, to: int, of: int) -> Transfer:
        return Transfer(to, "K and V", of, self._key_elements(of) * self.problem.itemsize)

    def _sums_to(self, to: int, of: int) -> Transfer:
        return Transfer(to, "dK and dV", of, self._key_elements(of) * SUM_ITEMSIZE)

    def _key_elements(self, of: int) -> int:
        one = self.problem
        return one.batch * one.key_heads * self.holdings[of].key_count * (one.head_dim + one.value_dim)


def sent_bytes(steps: Iterable[RankStep]) -> int:
    """What a rank sends in all of them."""
    return sum(one.nbytes for step in steps for one in step.transfers)


def _cut(length: int, chunks: int) -> list[range]:
    """[0, length) in chunks that differ by one at most."""
    return [range(i * length // chunks, (i + 1) * length // chunks) for i in range(chunks)]
