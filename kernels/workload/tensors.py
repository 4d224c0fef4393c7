"""The arrays that attention is computed from, and what its passes hand on to one another."""

from typing import Any, NamedTuple


class Inputs(NamedTuple):
    """What attention is computed from, arrays of one kind: CuPy on `cuda`, NumPy on `cpu`.

    Attributes:
        q: Q, (batch, heads, Nq, head_dim).
        k: K, (batch, kv_heads, Nk, head_dim); with a page table (pages, kv_heads, page_size, head_dim).
        v: V, like `k`, of a head dim of its own.
        page_table: int32 (batch, Nk / page_size): the page in which each stretch of a sequence's keys lies.
            Entries behind its last key may be any number. None: K and V are no pages.
        sinks: float32 (heads,), the logits in the denominators of each head's rows; None: there are none.
    """

    q: Any
    k: Any
    v: Any
    page_table: Any = None
    sinks: Any = None

    @property
    def arrays(self) -> dict[str, Any]:
        """All of them by name; a page table and sinks only where there are any."""
        more = {"page_table": self.page_table, "sinks": self.sinks}
        there = {name: array for name, array in more.items() if array is not None}
        return {"q": self.q, "k": self.k, "v": self.v, **there}

    @property
    def qkv(self) -> tuple[Any, Any, Any]:
        """Q, K and V alone."""
        return self.q, self.k, self.v


class Saved(NamedTuple):
    """What a backward pass is given, arrays of one kind.

    Attributes:
        q: Q, (batch, heads, Nq, head_dim).
        k: K, (batch, kv_heads, Nk, head_dim).
        v: V, like `k`, of a head dim of its own.
        output: O as the forward pass returned it, like `q`, of V's head dim.
        lse: Its natural log-sum-exp, float32 (batch, heads, Nq); None: the kernel takes none.
        grad_output: dO, the gradient with respect to O, like `output`.
    """

    q: Any
    k: Any
    v: Any
    output: Any
    lse: Any
    grad_output: Any

    @property
    def arrays(self) -> dict[str, Any]:
        """All of them by name; an LSE only where there is one."""
        return {name: array for name, array in self._asdict().items() if name != "lse" or array is not None}

    @property
    def inputs(self) -> Inputs:
        """Q, K and V."""
        return Inputs(self.q, self.k, self.v)


class Gradients(NamedTuple):
    """Gradients with respect to Q, K and V, in their shapes."""

    dq: Any
    dk: Any
    dv: Any
