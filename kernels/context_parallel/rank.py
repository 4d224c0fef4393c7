"""One rank: what it holds, what it was sent, and what it can do with that."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol

from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.context_parallel.mask_blocks import MaskBlock
from flashscope.kernels.context_parallel.place import RankLane, RankPlace
from flashscope.kernels.context_parallel.schemes import Partition, RankHolding
from flashscope.kernels.launching.launch import BackwardLaunch, Launch, prepare, prepare_backward
from flashscope.kernels.oracle.verify import storage_dtype
from flashscope.kernels.workload.problem import Passes, Problem
from flashscope.kernels.workload.tensors import Gradients, Inputs, Saved


class Owned(NamedTuple):
    """A rank's part of what attention is computed from, each (batch, heads, its rows or keys, d).

    Attributes:
        q: Of its rows.
        k: Of its keys.
        v: Of its keys.
        grad_output: dO of its rows; None where no gradients are asked for.
    """

    q: Any
    k: Any
    v: Any
    grad_output: Any = None

    @property
    def nbytes(self) -> int:
        """Bytes of all of them."""
        return sum(array.nbytes for array in self if array is not None)


class RankSpan(NamedTuple):
    """When something ran, in stamps of the rank's place.

    Attributes:
        lane: Product or transfer.
        step: In which step of the pass.
        begin: The stamp before it.
        end: The stamp behind it.
    """

    lane: RankLane
    step: int
    begin: Any
    end: Any


class Channel(Protocol):
    """The one way from rank to rank."""

    def exchange(self, ranks: "list[SequenceRank]") -> None:
        """Begin all that ranks have posted; it needs not be over when this returns."""

    def settle(self, rank: "SequenceRank") -> None:
        """Have the products of a rank that follow wait until all that it sends and receives is over."""


class SequenceRank:
    """One rank, which knows its own arrays and those it received, and no other rank.

    Attributes:
        index: Its number, from 0.
        partition: Who holds what.
        place: Its memory and arithmetic.
        owned: What it holds.
        output: O of its rows, after a forward pass.
        lse: LSE of its rows, float32; with ulysses of all rows of its heads.
        gradients: dQ of its rows, dK and dV of its keys, after a backward pass.
        outbox: What it has posted to whom since the last meeting.
        inbox: Into what it takes from whom.
        sent_bytes: Bytes that it sent in the pass.
        spans: When its products and transfers of the pass ran.
        step: The step that it is in.
    """

    def __init__(
        self,
        index: int,
        partition: Partition,
        place: RankPlace,
        owned: Owned,
        *,
        spec: KernelSpec,
        channel: Channel,
    ) -> None:
        self.index, self.partition, self.place, self.owned = index, partition, place, owned
        self.output: Any = None
        self.lse: Any = None
        self.gradients = Gradients(None, None, None)
        self.outbox: list[tuple[int, Any]] = []
        self.inbox: list[tuple[int, Any]] = []
        self.sent_bytes = self.step = 0
        self.spans: list[RankSpan] = []
        self._spec, self._channel = spec, channel
        self._buffers: dict[str, Any] = {}
        self._packed: set[str] = set()
        self._launches: dict[tuple[Any, ...], Launch] = {}
        self._backward: dict[tuple[Any, ...], BackwardLaunch] = {}

    @property
    def problem(self) -> Problem:
        """What all ranks compute together."""
        return self.partition.problem

    @property
    def holding(self) -> RankHolding:
        """What it holds of the sequence."""
        return self.partition.holdings[self.index]

    @property
    def held_bytes(self) -> int:
        """All memory that it took: what it owns, buffers, and outputs and workspaces of its launches."""
        forward = sum(
            one.output.nbytes + one.lse.nbytes + one.workspace_bytes for one in self._launches.values()
        )
        backward = sum(
            one.workspace_bytes + sum(gradient.nbytes for gradient in one.gradients)
            for one in self._backward.values()
        )
        buffers = sum(one.nbytes for one in self._buffers.values())
        return int(self.owned.nbytes + buffers + forward + backward)

    def begin(self) -> None:
        """A pass begins."""
        self.sent_bytes = self.step = 0
        self.spans = []
        self._packed.clear()

    def buffer(self, name: str, shape: tuple[int, ...], dtype: str = "", room: int = 0) -> Any:
        """An array that is there for good, under a name; what it holds is what was last written there.

        Args:
            name: The name.
            shape: (batch, heads, rows, ...).
            dtype: Its dtype; empty: that of the problem.
            room: Rows that it may have another time.
        """
        kind = storage_dtype(dtype or self.problem.dtype)  # type: ignore[arg-type]
        if name not in self._buffers:
            roomy = (*shape[:2], max(room, shape[2]), *shape[3:])
            self._buffers[name] = self.place.empty((math.prod(roomy),), kind)
        return self._buffers[name][: math.prod(shape)].reshape(shape)

    def packed(self, name: str, view: Any, *, kept: bool = False) -> Any:
        """The array without gaps: itself, or a copy under a name.

        Args:
            name: The name.
            view: The array.
            kept: Whether it stays as it is for the pass, so that one copy will do.
        """
        if view.flags.c_contiguous:
            return view
        key = f"{name} {'x'.join(map(str, view.shape))}"
        copy = self.buffer(key, view.shape, view.dtype.name)
        if key not in self._packed:
            self.place.put(copy, view)
            if kept:
                self._packed.add(key)
        return copy

    def send(self, to: int, *arrays: Any) -> None:
        """Post arrays without gaps to another rank; they must stay as they are until `arrived`."""
        self.outbox += [(to, array) for array in arrays]
        self.sent_bytes += sum(array.nbytes for array in arrays)

    def receive(self, source: int, *arrays: Any) -> None:
        """Have arrays filled with what another rank posts, in its order; they may be read after `arrived`."""
        self.inbox += [(source, array) for array in arrays]

    def arrived(self) -> None:
        """Go on when all that was posted is there, and away."""
        self._channel.settle(self)

    @contextmanager
    def producing(self) -> Iterator[None]:
        """Keep when a product and what belongs to it ran."""
        begin = self.place.stamp("product")
        yield
        self.spans.append(RankSpan("product", self.step, begin, self.place.stamp("product")))

    def attend(self, q: Any, k: Any, v: Any, *, causal: bool) -> tuple[Any, Any]:
        """O and LSE of a block, valid until it is computed again from arrays at the same places."""
        inputs = Inputs(q, k, v)
        key = self._key(inputs.qkv, causal)
        if key not in self._launches:
            problem = self._block_problem(inputs, "forward", causal=causal)
            self._launches[key] = prepare(self._spec, problem, inputs, self.place.device.backend)
        launch = self._launches[key]
        launch.run()
        return launch.output, launch.lse

    def differentiate(self, saved: Saved, *, causal: bool) -> Gradients:
        """What a block adds to dQ, dK and dV; valid as what `attend` returns."""
        key = self._key(saved, causal)
        if key not in self._backward:
            problem = self._block_problem(saved.inputs, "backward", causal=causal)
            self._backward[key] = prepare_backward(self._spec, problem, saved, self.place.device.backend)
        launch = self._backward[key]
        launch.run()
        return launch.gradients

    def rows_of(self, name: str, array: Any, block: MaskBlock) -> Any:
        """A block's rows of Q, O, LSE or dO, without gaps; they stay as they are for the pass."""
        rows = block.rows
        return self.packed(f"{name} from {rows.start}", array[:, :, rows.start : rows.stop], kept=True)

    def keys_of(self, name: str, array: Any, block: MaskBlock) -> Any:
        """A block's keys of K or V, without gaps."""
        return self.packed(name, array[:, :, : block.keys])

    def _key(self, arrays: tuple[Any, ...], causal: bool) -> tuple[Any, ...]:
        return (causal, *((self.place.address(one), one.shape) for one in arrays))

    def _block_problem(self, inputs: Inputs, passes: Passes, *, causal: bool) -> Problem:
        whole, (q, k, v) = self.problem, (array.shape for array in inputs.qkv)
        return Problem(
            batch=whole.batch,
            heads=q[1],
            kv_heads=None if k[1] == q[1] else k[1],
            seqlen_q=q[2],
            seqlen_k=k[2],
            head_dim=q[3],
            head_dim_v=None if v[3] == q[3] else v[3],
            dtype=whole.dtype,
            causal=causal,
            scale=whole.scale,
            softcap=whole.softcap,
            passes=passes,
        )
