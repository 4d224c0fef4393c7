"""Traces of a right shape whose values are anything, as a file may hold them."""

import numpy as np
from hypothesis import strategies as st
from msgspec.structs import replace

from flashscope.kernels.workload.trace import Array, Trace
from tests.app.stepper.builders import random_trace

ARRAYS = ("s", "m", "l", "alpha", "o", "q", "k", "v", "output", "exact_output")
VALUES = st.floats(width=32) | st.sampled_from([0.0, np.nan, np.inf, -np.inf, 3.4e38, 1e-45])


@st.composite
def spoilt_traces(draw: st.DrawFn) -> Trace:
    """A trace of a right shape whose values are anything."""
    trace = random_trace(8, block=4, head_dim=2, order=draw(st.sampled_from(["flash1", "flash2"])))
    spoilt = draw(st.sets(st.sampled_from(ARRAYS)))
    return replace(trace, **{name: _filled(getattr(trace, name), draw) for name in spoilt})


def _filled(array: Array, draw: st.DrawFn) -> Array:
    values = array.numpy().copy()
    values.flat[:: draw(st.integers(1, 3))] = draw(VALUES)
    return Array.of(values)
