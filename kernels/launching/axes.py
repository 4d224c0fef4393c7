"""The orders in which the axes of Q, K, V and O may stand: layouts by name."""

from typing import Any, Literal, NamedTuple, get_args

from flashscope.kernels.launching.options import told
from flashscope.kernels.workload.errors import InputError

LayoutName = Literal["bhnd", "bnhd", "thd"]


class AxisOrder(NamedTuple):
    """How the axes of Q, K, V and O are ordered, and those of what goes with them.

    Attributes:
        name: The layout's name.
        axes: Those of Q, K, V and O; `heads` are kv_heads of K and V. Without a batch the sequences lie one
            behind the other, `tokens`.
        pages: Those of K and V in pages; empty where they cannot lie in pages.
        lse: Those of LSE.
    """

    name: LayoutName
    axes: tuple[str, ...]
    pages: tuple[str, ...]
    lse: tuple[str, ...]

    @property
    def varlen(self) -> bool:
        """Whether the sequences of a batch lie one behind the other, without padding."""
        return "tokens" in self.axes

    @property
    def length_axis(self) -> str:
        """What its axis of rows is called."""
        return "tokens" if self.varlen else "seqlen"

    def place(self, axis: str) -> int:
        """Where an axis stands."""
        return self.axes.index(axis)

    def size(self, array: Any, axis: str) -> int:
        """How long an axis of an array is."""
        return array.shape[self.axes.index(axis)]  # type: ignore[no-any-return]

    def lse_shape(self, q: Any) -> tuple[int, ...]:
        """The shape of the LSE of Q."""
        return tuple(self.size(q, "seqlen" if axis == "Nq" else axis) for axis in self.lse)

    def heads_first(self, array: Any) -> Any:
        """A view as (batch, heads, seqlen, head_dim) of an array that has a batch; or one of such back."""
        return array.swapaxes(1, 2) if self.axes[1] == "seqlen" else array


BHND = AxisOrder(
    "bhnd",
    ("batch", "heads", "seqlen", "head_dim"),
    ("pages", "kv_heads", "page_size", "head_dim"),
    ("batch", "heads", "Nq"),
)
BNHD = AxisOrder(
    "bnhd",
    ("batch", "seqlen", "heads", "head_dim"),
    ("pages", "page_size", "kv_heads", "head_dim"),
    ("batch", "heads", "Nq"),
)
THD = AxisOrder("thd", ("tokens", "heads", "head_dim"), (), ("heads", "tokens"))
ORDERS: dict[str, AxisOrder] = {order.name: order for order in (BHND, BNHD, THD)}


def order_named(layout: LayoutName) -> AxisOrder:
    """The layout of that name.

    Raises:
        InputError: There is none.
    """
    if isinstance(layout, str) and layout in ORDERS:
        return ORDERS[layout]
    raise InputError(f"layout must be one of {', '.join(get_args(LayoutName))}, not {told(layout)}.")


def written(axes: tuple[str, ...]) -> str:
    """`(batch, heads, seqlen, head_dim)`."""
    return f"({', '.join(axes)})"
