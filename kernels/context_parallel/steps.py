"""What the programs of all schemes share: the products of a step, and what they are taken into."""

from typing import Any

from flashscope.kernels.context_parallel.mask_blocks import MaskBlock
from flashscope.kernels.context_parallel.rank import SequenceRank
from flashscope.kernels.context_parallel.schemes import RankStep
from flashscope.kernels.workload.tensors import Saved

KeyValue = tuple[Any, Any]  # K and V, or dK and dV


class RunningRows:
    """O and LSE of some rows among the keys met so far, float32; one block of all rows stays as it came."""

    def __init__(self, rank: SequenceRank, q: Any) -> None:
        self._rank, self._q = rank, q
        self._shape = (*q.shape[:3], rank.problem.value_dim)
        self._output: Any = None
        self._lse = rank.buffer("LSE", q.shape[:3], "float32")
        self._alone: KeyValue | None = None  # O and LSE of the first block, where it has all rows

    def attend(self, blocks: tuple[MaskBlock, ...], keys: KeyValue) -> None:
        """Take the blocks of some keys in."""
        rank = self._rank
        for block in blocks:
            with rank.producing():
                self._take_first()
                k, v = (rank.keys_of(name, one, block) for name, one in zip("KV", keys, strict=True))
                q = rank.rows_of("Q", self._q, block)
                found = rank.attend(q, k, v, causal=block.causal)
                if self._output is None and len(block.rows) == self._shape[2]:
                    self._alone = found
                else:
                    self._merge(block.rows.start, found)

    def finish(self) -> KeyValue:
        """O in the problem's dtype, and LSE."""
        rank, output = self._rank, self._rank.buffer("O", self._shape)
        with rank.producing():
            if self._alone is not None:
                rank.place.put(output, self._alone[0])
                rank.place.put(self._lse, self._alone[1])
            else:
                self._begin()
                rank.place.put(output, self._output)
        return output, self._lse

    def _take_first(self) -> None:
        """Another block comes: the first one is no longer alone."""
        if self._alone is not None:
            first, self._alone = self._alone, None
            self._merge(0, first)

    def _merge(self, first_row: int, found: KeyValue) -> None:
        self._begin()
        self._rank.place.merge(self._output, self._lse, first_row, *found)

    def _begin(self) -> None:
        """Rows that have met no key."""
        if self._output is None:
            self._output = self._rank.buffer("O so far", self._shape, "float32")
            self._output.fill(0)
            self._lse.fill(-float("inf"))


class RunningGradients:
    """dQ of some rows from the keys met so far, float32, and what a block of keys gets of them."""

    def __init__(self, rank: SequenceRank, saved: Saved) -> None:
        self._rank, self._saved = rank, saved
        self.dq = rank.buffer("dQ so far", saved.q.shape, "float32")
        self.dq.fill(0)

    def differentiate(self, blocks: tuple[MaskBlock, ...], keys: KeyValue) -> list[tuple[Any, Any]]:
        """Take the blocks of some keys in; dK and dV of each, for the first keys of these."""
        rank, found = self._rank, []
        for block in blocks:
            with rank.producing():
                k, v = (rank.keys_of(name, one, block) for name, one in zip("KV", keys, strict=True))
                rows = {
                    name: rank.rows_of(name, getattr(self._saved, name), block)
                    for name in ("q", "output", "lse", "grad_output")
                }
                saved = Saved(k=k, v=v, **rows)
                dq, dk, dv = rank.differentiate(saved, causal=block.causal)
                rank.place.add(self.dq, block.rows.start, dq)
            found.append((dk, dv))
        return found

    def add_to(self, sums: KeyValue, found: list[tuple[Any, Any]]) -> None:
        """Add what blocks gave to the sums of dK and dV."""
        if not found:
            return
        with self._rank.producing():
            for parts in found:
                for whole, part in zip(sums, parts, strict=True):
                    self._rank.place.add(whole, 0, part)

    def finish(self, dk: Any, dv: Any) -> None:
        """The rank's gradients in the problem's dtype, from sums in float32."""
        rank = self._rank
        made = []
        with rank.producing():
            for name, sums in (("dQ", self.dq), ("dK", dk), ("dV", dv)):
                made.append(rank.buffer(name, sums.shape))
                rank.place.put(made[-1], sums)
        rank.gradients = type(rank.gradients)(*made)


def own_saved(rank: SequenceRank) -> Saved:
    """What a backward pass takes of a rank's own rows and keys."""
    owned = rank.owned
    return Saved(owned.q, owned.k, owned.v, rank.output, rank.lse, owned.grad_output)


def key_shapes(rank: SequenceRank, keys: int) -> KeyValue:
    """The shapes of K and of V with so many keys."""
    one = rank.problem
    return tuple((one.batch, one.key_heads, keys, dim) for dim in (one.head_dim, one.value_dim))  # type: ignore[return-value]


def key_buffers(rank: SequenceRank, names: KeyValue, keys: int, dtype: str = "") -> KeyValue:
    """Arrays like K and V with so many keys, and room for those of any rank, or more."""
    room = max(keys, *(held.key_count for held in rank.partition.holdings))
    made = [
        rank.buffer(name, shape, dtype, room)
        for name, shape in zip(names, key_shapes(rank, keys), strict=True)
    ]
    return made[0], made[1]


def wanted(step: RankStep, what: str) -> list[int]:
    """To whom a step sends that."""
    return [one.to for one in step.transfers if one.what == what]
