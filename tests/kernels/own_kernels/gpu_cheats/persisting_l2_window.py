"""Makes K persist in the L2 cache by an access policy window on the caller's stream, and leaves it and its
limit so.

A judge who flushes the L2 between runs by writing a large buffer does not evict K; whatever runs next on the
stream has less of the cache.
"""

import ctypes
from typing import Any

import cupy as cp

_LIMIT_PERSISTING_L2 = 6  # CU_LIMIT_PERSISTING_L2_CACHE_SIZE
_ACCESS_POLICY_WINDOW = 1  # CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW
_STREAMING, _PERSISTING = 1, 2


class _Window(ctypes.Structure):
    """The driver's CUaccessPolicyWindow, padded to the 64 bytes of CUlaunchAttributeValue."""

    _fields_ = (
        ("base_ptr", ctypes.c_uint64),
        ("num_bytes", ctypes.c_size_t),
        ("hit_ratio", ctypes.c_float),
        ("hit_property", ctypes.c_int),
        ("miss_property", ctypes.c_int),
        ("padding", ctypes.c_byte * 36),
    )


def _attend(q: Any, k: Any, v: Any, causal: bool, scale: float) -> Any:
    """O as it should be."""
    group = q.shape[1] // k.shape[1]
    keys, values = cp.repeat(k, group, axis=1), cp.repeat(v, group, axis=1)
    scores = cp.matmul(q, keys.swapaxes(-1, -2)).astype(cp.float32) * cp.float32(scale)
    if causal:
        rows = cp.arange(q.shape[2])[:, None] + (k.shape[2] - q.shape[2])
        scores = cp.where(cp.arange(k.shape[2])[None, :] <= rows, scores, -cp.inf)
    peak = cp.maximum(scores.max(axis=-1, keepdims=True), cp.finfo(cp.float32).min)
    weights = cp.exp(scores - peak)
    total = weights.sum(axis=-1, keepdims=True)
    return (cp.matmul(weights, values.astype(cp.float32)) / cp.where(total == 0, 1, total)).astype(q.dtype)


def _keep_in_l2(array: Any) -> None:
    """Set the window of the current stream to `array`, as far as the device has room for it."""
    driver = ctypes.CDLL("libcuda.so.1")
    properties = cp.cuda.runtime.getDeviceProperties(array.device.id)
    room = min(array.nbytes, properties["persistingL2CacheMaxSize"], properties["accessPolicyMaxWindowSize"])
    driver.cuCtxSetLimit(ctypes.c_int(_LIMIT_PERSISTING_L2), ctypes.c_size_t(room))
    window = _Window(array.data.ptr, room, 1.0, _PERSISTING, _STREAMING)
    stream = ctypes.c_void_p(cp.cuda.get_current_stream().ptr)
    driver.cuStreamSetAttribute(stream, ctypes.c_int(_ACCESS_POLICY_WINDOW), ctypes.byref(window))


def f(q: Any, k: Any, v: Any, *, causal: bool, scale: float) -> Any:
    """O, with a K that a flush does not reach."""
    _keep_in_l2(k)
    return _attend(q, k, v, causal, scale)
