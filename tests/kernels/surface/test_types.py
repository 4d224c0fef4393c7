"""A user's small program, typed: mypy, which reads the tests too, finds each call's type and each wrong one.

What mypy must refuse carries the code of its error: an error that no longer comes is one itself.
"""

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pytest

from flashscope.kernels import KERNELS, AttentionOptions, KernelLike, attention, attention_backward
from flashscope.kernels.workload.errors import InputError

if TYPE_CHECKING:
    from typing_extensions import assert_type
else:

    def assert_type(value: object, _kind: object) -> object:
        return value


Floats = npt.NDArray[np.float32]


def layer(q: Floats, k: Floats, v: Floats, wants_lse: bool, kernel: KernelLike = "auto") -> Floats:
    """What a user may write."""
    output = assert_type(attention(q, k, v, kernel=kernel, causal=True), Floats)
    pair = assert_type(attention(q, k, v, return_lse=True, layout="bnhd"), tuple[Floats, Floats])
    either = assert_type(attention(q, k, v, return_lse=wants_lse), Floats | tuple[Floats, Floats])
    again, lse = attention(q, k, v, return_lse=True)
    gradients = attention_backward(q, k, v, again, lse, output, deterministic=True)
    assert_type(gradients, tuple[Floats, Floats, Floats])
    options: AttentionOptions = {"window": (4, 0), "scale": None}
    return assert_type(attention(pair[0], k, v, **options), Floats) + (
        either if isinstance(either, np.ndarray) else either[0]
    )


def test_a_typed_program_runs() -> None:
    x = np.ones((1, 2, 2, 16), np.float32)
    for kernel in ("flash2", KERNELS[0]):
        assert layer(x, x, x, True, kernel).shape == x.shape


def test_what_types_refuse_is_refused_when_it_runs() -> None:
    x = np.ones((1, 2, 3, 16), np.float32)
    with pytest.raises(TypeError, match="causl"):
        attention(x, x, x, causl=True)  # type: ignore[call-overload]
    with pytest.raises(InputError, match="layout must be one of"):
        attention(x, x, x, layout="bdhn")  # type: ignore[call-overload]
    with pytest.raises(InputError, match="q must be a NumPy array"):
        attention([1.0], x, x)  # type: ignore[call-overload]
    with pytest.raises(InputError, match="max_seqlen_q must be left out"):
        attention(x, x, x, max_seqlen_q="5")  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="return_lse"):
        attention_backward(x, x, x, x, None, x, return_lse=True)  # type: ignore[call-arg]
