"""A CuPy RawKernel: one warp a row, the online softmax over keys, O in registers; head dim 32, 64 or 128."""

from typing import Any

import cupy as cp

FLASHSCOPE = {"head_dims": (32, 64, 128), "dtypes": ("float32",), "features": ("causal", "gqa")}
_SOURCE = r"""
#define INFINITE __int_as_float(0x7f800000)
extern "C" __global__ void rows(const float* q, const float* k, const float* v, float* o, float* lse,
                                int nq, int nk, int dim, int group, int causal, float scale) {
  const int row = blockIdx.x * 4 + threadIdx.y, lane = threadIdx.x;
  if (row >= nq) return;
  const long long at = ((long long)blockIdx.y * nq + row) * dim;
  const long long keys = (long long)(blockIdx.y / group) * nk * dim;
  float mine[4], sum[4] = {0, 0, 0, 0}, m = -INFINITE, l = 0;
  const int parts = dim / 32;
  for (int i = 0; i < parts; ++i) mine[i] = q[at + 32 * i + lane] * scale;
  const int end = causal ? min(nk, row + nk - nq + 1) : nk;
  for (int j = 0; j < end; ++j) {
    const long long key = keys + (long long)j * dim;
    float s = 0;
    for (int i = 0; i < parts; ++i) s += mine[i] * k[key + 32 * i + lane];
    for (int step = 16; step; step /= 2) s += __shfl_xor_sync(~0u, s, step);
    const float top = fmaxf(m, s), keep = __expf(m - top), p = __expf(s - top);
    for (int i = 0; i < parts; ++i) sum[i] = sum[i] * keep + p * v[key + 32 * i + lane];
    l = l * keep + p;
    m = top;
  }
  for (int i = 0; i < parts; ++i) o[at + 32 * i + lane] = l > 0 ? sum[i] / l : 0;
  if (lane == 0) lse[(long long)blockIdx.y * nq + row] = l > 0 ? m + logf(l) : -INFINITE;
}
"""
_ROWS = cp.RawKernel(_SOURCE, "rows")


def f(q: Any, k: Any, v: Any, *, causal: bool, scale: float) -> tuple[Any, Any]:
    """O and LSE."""
    batch, heads, rows, dim = q.shape
    output, lse = cp.empty_like(q), cp.empty(q.shape[:3], cp.float32)
    sizes = (rows, k.shape[2], dim, heads // k.shape[1], int(causal), cp.float32(scale))
    _ROWS((-(-rows // 4), batch * heads), (32, 4), (q, k, v, output, lse, *map(_whole, sizes[:5]), sizes[5]))
    return output, lse


def _whole(size: int) -> Any:
    return cp.int32(size)
