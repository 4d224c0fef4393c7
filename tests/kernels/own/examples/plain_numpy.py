"""Plain attention in NumPy, forward and backward, as a kernel of one's own."""

import numpy as np
import numpy.typing as npt

FLASHSCOPE = {"idea": "S, softmax and PV of whole matrices", "features": ("causal", "gqa")}

Floats = npt.NDArray[np.float32]


def attend(q: Floats, k: Floats, v: Floats, *, causal: bool, scale: float) -> tuple[Floats, Floats]:
    """O and LSE."""
    k, v = (np.repeat(one, q.shape[1] // k.shape[1], axis=1) for one in (k, v))
    s = _scores(q, k, causal=causal, scale=scale)
    m = s.max(axis=-1, keepdims=True)
    p = np.exp(s - m)
    total = p.sum(axis=-1, keepdims=True)
    return (p / total) @ v, (m + np.log(total))[..., 0]


def attend_backward(
    q: Floats,
    k: Floats,
    v: Floats,
    output: Floats,
    lse: Floats,
    grad_output: Floats,
    *,
    causal: bool,
    scale: float,
) -> tuple[Floats, Floats, Floats]:
    """dQ, dK and dV."""
    shared = q.shape[1] // k.shape[1]
    wide_k, wide_v = (np.repeat(one, shared, axis=1) for one in (k, v))
    p = np.exp(_scores(q, wide_k, causal=causal, scale=scale) - lse[..., None])
    dp = grad_output @ wide_v.swapaxes(-1, -2)
    ds = p * (dp - (output * grad_output).sum(axis=-1, keepdims=True)) * np.float32(scale)
    dk, dv = ds.swapaxes(-1, -2) @ q, p.swapaxes(-1, -2) @ grad_output
    by_head = (k.shape[0], k.shape[1], shared, *k.shape[2:])
    return ds @ wide_k, dk.reshape(by_head).sum(axis=2), dv.reshape(by_head).sum(axis=2)


def _scores(q: Floats, k: Floats, *, causal: bool, scale: float) -> Floats:
    s: Floats = q @ k.swapaxes(-1, -2) * np.float32(scale)
    if causal:
        rows, columns = s.shape[-2:]
        s[..., np.triu(np.ones((rows, columns), bool), columns - rows + 1)] = -np.inf
    return s
