"""Sequences that lie one behind the other: where each begins, and which of them are computed together."""

from itertools import groupby, pairwise
from typing import Any, NamedTuple

from msgspec.structs import replace

from flashscope.kernels.launching.axes import AxisOrder
from flashscope.kernels.launching.options import listed, told, whole_number
from flashscope.kernels.surface.callers import Caller
from flashscope.kernels.workload.arrays import backend_of
from flashscope.kernels.workload.errors import InputError
from flashscope.kernels.workload.problem import Problem

NONE = (0, 0)  # no sequences are computed as one that has no tokens


class Offsets(NamedTuple):
    """What a call says of sequences that lie one behind the other; None each where they do not.

    Attributes:
        cu_seqlens_q: Where the rows of each sequence begin: int32 (batch + 1,), from 0 to total_q.
        cu_seqlens_k: The same of its keys, up to total_k.
        max_seqlen_q: The rows of the longest sequence, or more.
        max_seqlen_k: The keys of the longest sequence, or more.
    """

    cu_seqlens_q: Any
    cu_seqlens_k: Any
    max_seqlen_q: int | None
    max_seqlen_k: int | None

    def read(self, order: AxisOrder, caller: Caller, q: Any, k: Any) -> "Sequences | None":
        """Where the sequences of Q and K begin; None in layouts in which each has a place in a batch.

        Offsets on a GPU are copied to the host, which waits for all that its current stream has to do.

        Raises:
            InputError: Some are missing, there are some where none belong, or they are not those of sequences
                one behind the other; the text says what is accepted.
        """
        given = [name for name, value in zip(self._fields, self, strict=True) if value is not None]
        if not order.varlen:
            if given:
                raise InputError(
                    f'{listed(given)} must be left out with layout="{order.name}", or take "thd".'
                )
            return None
        missing = [name for name in self._fields if name not in given]
        if missing:
            raise InputError(f'layout="{order.name}" needs {listed(self._fields)}: give {listed(missing)}.')
        rows = _starts("cu_seqlens_q", caller, self.cu_seqlens_q, order.size(q, "tokens"), "q")
        keys = _starts("cu_seqlens_k", caller, self.cu_seqlens_k, order.size(k, "tokens"), "k")
        if len(rows) != len(keys):
            raise InputError(
                "cu_seqlens_q and cu_seqlens_k must be of the same batch, as long as each other, not "
                f"{len(rows)} and {len(keys)}."
            )
        sequences = Sequences(rows, keys) if len(rows) > 1 else Sequences(NONE, NONE)
        _check_longest("max_seqlen_q", self.max_seqlen_q, sequences.query_lengths)
        _check_longest("max_seqlen_k", self.max_seqlen_k, sequences.key_lengths)
        return sequences


def refuse_lengths(order: AxisOrder, **lengths: Any) -> None:
    """Refuse what goes with sequences that have a place in a batch, in a layout in which they have none.

    Raises:
        InputError: There are some.
    """
    given = [name for name, value in lengths.items() if value is not None]
    if given:
        raise InputError(f'{listed(given)} must be left out with layout="{order.name}".')


class Sequences(NamedTuple):
    """Where the rows and keys of each sequence begin, and behind the last where it ends."""

    rows: tuple[int, ...]
    keys: tuple[int, ...]

    @property
    def query_lengths(self) -> tuple[int, ...]:
        """Rows of each sequence."""
        return tuple(end - start for start, end in pairwise(self.rows))

    @property
    def key_lengths(self) -> tuple[int, ...]:
        """Keys of each sequence."""
        return tuple(end - start for start, end in pairwise(self.keys))

    def parts(self, problem: Problem) -> list["SequenceRun"]:
        """Those that have rows and keys, neighbours of the same lengths together: each part one problem."""
        parts = []
        plain = replace(problem, query_lengths=None, key_lengths=None)
        lengths = list(zip(self.query_lengths, self.key_lengths, strict=True))
        for (rows, keys), group in groupby(range(len(lengths)), key=lengths.__getitem__):
            first, *_ = members = [*group]
            if rows and keys:
                one = replace(plain, batch=len(members), seqlen_q=rows, seqlen_k=keys)
                parts.append(SequenceRun(one, self.rows[first], self.keys[first]))
        return parts


class SequenceRun(NamedTuple):
    """Neighbouring sequences of the same lengths.

    Attributes:
        problem: What they are by themselves.
        first_row: Where their rows begin among the tokens of Q.
        first_key: Where their keys begin among those of K.
    """

    problem: Problem
    first_row: int
    first_key: int

    def rows_of(self, array: Any) -> Any:
        """Theirs of an array like Q, a view (batch, heads, rows, head_dim)."""
        return _cut(array, self.first_row, self.problem.batch, self.problem.seqlen_q)

    def keys_of(self, array: Any) -> Any:
        """Theirs of an array like K, a view (batch, kv_heads, keys, head_dim)."""
        return _cut(array, self.first_key, self.problem.batch, self.problem.seqlen_k)

    def lse_of(self, lse: Any) -> Any:
        """Theirs of an LSE (heads, tokens), a view (batch, heads, rows)."""
        return self.rows_of(lse.swapaxes(0, 1)[..., None])[..., 0]


def _cut(array: Any, first: int, batch: int, length: int) -> Any:
    """Tokens of an array (tokens, heads, width) as (batch, heads, length, width), without a copy."""
    own = array[first : first + batch * length]
    return own.reshape(batch, length, *own.shape[1:]).swapaxes(1, 2)


def _starts(name: str, caller: Caller, given: Any, total: int, of: str) -> tuple[int, ...]:
    """The offsets as plain integers, in host memory."""
    array = caller.borrow(name, given)
    if backend_of(array) is None or array.ndim != 1 or array.dtype.name != "int32" or not len(array):
        raise InputError(f"{name} must be an int32 array of shape (batch + 1,), not {told(given)}.")
    starts = tuple(array.tolist())
    if starts[0] != 0:
        raise InputError(f"{name} must begin with 0, not {starts[0]}.")
    for b, (start, end) in enumerate(pairwise(starts)):
        if end < start:
            raise InputError(f"{name} must never fall, not from {start} to {end} as of sequence {b}.")
    if starts[-1] != total:
        raise InputError(f"{name} must end with the {total} tokens of {of}, not {starts[-1]}.")
    return starts


def _check_longest(name: str, given: Any, lengths: tuple[int, ...]) -> None:
    """Refuse a maximum that a sequence is longer than."""
    try:
        most = whole_number(given)
    except TypeError:
        raise InputError(f"{name} must be a whole number, not {told(given)}.") from None
    if most < max(lengths):
        b = lengths.index(max(lengths))
        raise InputError(f"{name} must be at least {max(lengths)}, the length of sequence {b}, not {most}.")
