"""The programs of `ulysses`: rows are traded for heads, and what comes of them is traded back.

Where K/V heads are replicated, several ranks send gradients of one head; who holds the keys adds them up.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from flashscope.kernels.context_parallel.rank import SequenceRank
from flashscope.kernels.context_parallel.schemes import RankStep
from flashscope.kernels.context_parallel.steps import RunningGradients, RunningRows
from flashscope.kernels.workload.tensors import Saved


class Traded(NamedTuple):
    """An array that is cut by rows where it is held, and by heads where it is worked on.

    Attributes:
        name: What it is.
        of_keys: Whether its rows are keys, and its heads K/V heads.
        dim: Its width.
    """

    name: str
    of_keys: bool
    dim: int


def forward(rank: SequenceRank) -> Iterator[None]:
    """O of the rank's rows, and LSE of all rows of its heads."""
    give, product, back = rank.partition.forward(rank.index)
    owned, traded = rank.owned, _inputs(rank)
    yield from _by_heads(rank, give, dict(zip(traded, (owned.q, owned.k, owned.v), strict=True)))
    rank.step = 1
    q, k, v = (_whole(rank, one) for one in traded)
    rows = RunningRows(rank, q)
    rows.attend(product.blocks, (k, v))
    output, rank.lse = rows.finish()
    rank.step = 2
    made = _output(rank, "O")
    rank.output = rank.buffer("O of rows", (*owned.q.shape[:3], made.dim))
    yield from _by_rows(rank, back, [(made, output, rank.output)])


def backward(rank: SequenceRank) -> Iterator[None]:
    """The gradients of the rank's rows and keys; Q, K, V, O and LSE of its heads are there still."""
    give, product, back = rank.partition.backward(rank.index)
    grad = _output(rank, "dO")
    yield from _by_heads(rank, give, {grad: rank.owned.grad_output})
    rank.step = 1
    q, k, v = (_whole(rank, one) for one in _inputs(rank))
    output = rank.buffer("O", (*q.shape[:3], rank.problem.value_dim))
    rows = RunningGradients(rank, Saved(q, k, v, output, rank.lse, _whole(rank, grad)))
    sums = tuple(rank.buffer(f"d{name} of heads", one.shape, "float32") for name, one in (("K", k), ("V", v)))
    for one in sums:
        one.fill(0)
    rows.add_to((sums[0], sums[1]), rows.differentiate(product.blocks, (k, v)))
    rows.finish(*sums)
    rank.step = 2
    owned = rank.owned
    homes = [
        rank.buffer(f"{name} of rows", one.shape)
        for name, one in (("dQ", owned.q), ("dK", owned.k), ("dV", owned.v))
    ]
    yield from _by_rows(
        rank,
        back,
        [
            (one._replace(name=f"d{one.name}"), made, home)
            for one, made, home in zip(_inputs(rank), rank.gradients, homes, strict=True)
        ],
    )
    rank.gradients = type(rank.gradients)(*homes)


def _inputs(rank: SequenceRank) -> tuple[Traded, Traded, Traded]:
    one = rank.problem
    return (
        Traded("Q", of_keys=False, dim=one.head_dim),
        Traded("K", of_keys=True, dim=one.head_dim),
        Traded("V", of_keys=True, dim=one.value_dim),
    )


def _output(rank: SequenceRank, name: str) -> Traded:
    return Traded(name, of_keys=False, dim=rank.problem.value_dim)


def _by_heads(rank: SequenceRank, step: RankStep, given: dict[Traded, Any]) -> Iterator[None]:
    """From this rank's rows of all heads to all rows of this rank's heads."""
    others = [one.to for one in step.transfers]
    for other in others:
        for traded, array in given.items():
            heads = _heads(rank, traded, other)
            with rank.producing():
                leaving = rank.packed(
                    f"{traded.name} to {other}", array[:, heads.start : heads.stop], kept=True
                )
            rank.send(other, leaving)
            rank.receive(other, _to_heads(rank, traded, other))
    yield
    rank.arrived()
    with rank.producing():
        for traded, array in given.items():
            heads, whole = _heads(rank, traded, rank.index), _whole(rank, traded)
            for other in (rank.index, *others):
                rows, own = _rows(rank, traded, other), other == rank.index
                part = array[:, heads.start : heads.stop] if own else _to_heads(rank, traded, other)
                rank.place.put(whole[:, :, rows.start : rows.stop], part)


def _by_rows(rank: SequenceRank, step: RankStep, made: list[tuple[Traded, Any, Any]]) -> Iterator[None]:
    """From all rows of this rank's heads to this rank's rows of all heads; each with where that goes."""
    others = [one.to for one in step.transfers]
    for other in others:
        for traded, array, _ in made:
            rows = _rows(rank, traded, other)
            with rank.producing():
                name = f"{traded.name} home to {other}"
                leaving = rank.packed(name, array[:, :, rows.start : rows.stop], kept=True)
            rank.send(other, leaving)
            rank.receive(other, _to_rows(rank, traded, other))
    yield
    rank.arrived()
    with rank.producing():
        for traded, array, home in made:
            _put_heads(rank, traded, array, home)


def _put_heads(rank: SequenceRank, traded: Traded, array: Any, home: Any) -> None:
    """The heads of all ranks, one behind the other; those of a replicated head are added up."""
    rows = _rows(rank, traded, rank.index)
    sums = rank.buffer(f"{traded.name} in sum", home.shape, "float32") if _replicated(rank, traded) else None
    if sums is not None:
        sums.fill(0)
    for other in range(rank.partition.ranks):
        heads = _heads(rank, traded, other)
        own = other == rank.index
        part = array[:, :, rows.start : rows.stop] if own else _to_rows(rank, traded, other)
        if sums is None:
            rank.place.put(home[:, heads.start : heads.stop], part)
        else:
            sums[:, heads.start : heads.stop] += part.astype("float32")
    if sums is not None:
        rank.place.put(home, sums)


def _replicated(rank: SequenceRank, traded: Traded) -> bool:
    return traded.of_keys and rank.problem.key_heads % rank.partition.ranks > 0


def _heads(rank: SequenceRank, traded: Traded, of: int) -> range:
    share = rank.partition.head_share(of)
    return share.kv_heads if traded.of_keys else share.heads


def _rows(rank: SequenceRank, traded: Traded, of: int) -> range:
    held = rank.partition.holdings[of]
    return (held.keys if traded.of_keys else held.rows)[0]


def _to_heads(rank: SequenceRank, traded: Traded, other: int) -> Any:
    """Where the rows of another rank arrive, with this rank's heads."""
    return _part(rank, f"{traded.name} of rows from {other}", traded, (rank.index, other))


def _to_rows(rank: SequenceRank, traded: Traded, other: int) -> Any:
    """Where this rank's rows arrive, with the heads of another."""
    return _part(rank, f"{traded.name} of heads from {other}", traded, (other, rank.index))


def _part(rank: SequenceRank, name: str, traded: Traded, of: tuple[int, int]) -> Any:
    heads, rows = _heads(rank, traded, of[0]), _rows(rank, traded, of[1])
    return rank.buffer(name, (rank.problem.batch, len(heads), len(rows), traded.dim))


def _whole(rank: SequenceRank, traded: Traded) -> Any:
    """All rows of this rank's heads."""
    one, heads = rank.problem, _heads(rank, traded, rank.index)
    length = one.seqlen_k if traded.of_keys else one.seqlen_q
    return rank.buffer(f"{traded.name} of heads", (one.batch, len(heads), length, traded.dim))
